"""Scripts and styles bundled by esbuild, other assets copied; every name bears a hash of its content.

A hashed name can be cached for ever by any host, and a page never meets another edition's script.
"""

import hashlib
import json
import shutil
from pathlib import Path

from building.commands import ROOT, run

SITE = ROOT / "site"
ENTRIES = (
    SITE / "main.js",
    SITE / "worker.js",
    SITE / "editor" / "codemirror.js",
    SITE / "style" / "lesson.css",
    SITE / "style" / "noscript.css",
)


def bundle(dist: Path) -> dict[str, str]:
    """Bundle the entry points into ``dist/assets``.

    Returns:
        For each entry point, as a path from the repository's root, its address in the site.
    """
    report = dist / "esbuild.json"
    run(
        ROOT / "node_modules" / ".bin" / "esbuild",
        *ENTRIES,
        "--bundle",
        "--format=esm",
        "--target=es2022",
        "--minify",
        "--log-level=warning",
        "--entry-names=[name]-[hash]",
        f"--outdir={dist / 'assets'}",
        f"--metafile={report}",
    )
    outputs = json.loads(report.read_text("utf-8"))["outputs"]
    report.unlink()
    return {
        output["entryPoint"]: (ROOT / path).resolve().relative_to(dist.resolve()).as_posix()
        for path, output in outputs.items()
        if "entryPoint" in output
    }


def copy_hashed(source: Path, dist: Path) -> str:
    """Copy a file into ``dist/assets`` under a name with its hash; return its address in the site."""
    return write_hashed(source.stem, source.suffix, source.read_bytes(), dist)


def write_hashed(stem: str, suffix: str, content: bytes, dist: Path) -> str:
    """Write bytes into ``dist/assets`` under a name with their hash; return their address in the site."""
    path = dist / "assets" / f"{stem}-{hashlib.sha256(content).hexdigest()[:8]}{suffix}"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path.relative_to(dist).as_posix()


def hash_folder(folder: Path) -> Path:
    """Rename a folder so that its name bears a hash of the files in it; return where it is now."""
    digest = hashlib.sha256()
    for path in sorted(folder.iterdir()):
        digest.update(path.name.encode() + b"\0" + hashlib.sha256(path.read_bytes()).digest())
    return Path(shutil.move(folder, folder.with_name(f"{folder.name}-{digest.hexdigest()[:8]}")))
