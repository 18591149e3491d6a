"""What the page shows of benches, exercises and figures before Python is there, and one recorded run of each bench."""

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from building.assets import write_hashed
from building.commands import ROOT, run
from ferro_bench import Session, exercises, figures, names, project

Message = dict[str, Any]


def describe_benches(dist: Path) -> dict[str, Message]:
    """Run every bench natively; return its description, with the address of a recording of the run."""
    return {name: _describe(name, dist) for name in names()}


def describe_others(dist: Path) -> dict[str, dict[str, Message]]:
    """What the page shows of everything else: kind of element -> name -> description."""
    session = Session()
    sample = write_hashed("motion", ".csv", project.sample().encode(), dist)  # a file to try the project with
    return {
        "exercise": {name: _ask(session, kind="exercise", exercise=name) for name in exercises.names()},
        "figure": {name: _ask(session, kind="figure", figure=name) for name in figures.names()},
        "project": {"project": _ask(session, kind="project") | {"sample": sample}},
        "speed": {"speed": _ask(session, kind="ways", bench=exercises.BENCH)},
    }


def prerender(descriptions: Mapping[str, Message]) -> dict[str, str]:
    """The HTML of each of these, made by the page's own scripts: nothing moves when these take over."""
    given = json.dumps(list(descriptions.values()))
    return dict(zip(descriptions, json.loads(run("node", ROOT / "site" / "prerender.js", given=given)), strict=True))


def _describe(name: str, dist: Path) -> Message:
    session = Session()
    description = _ask(session, kind="describe", bench=name)
    settings = {control["key"]: control["default"] for control in description["controls"]}
    opened = _ask(session, kind="open", run=name, bench=name, settings=settings)
    advanced = [_ask(session, kind="advance", run=name, steps=1)]
    while advanced[-1]["result"] is None:
        advanced.append(_ask(session, kind="advance", run=name, steps=1))
    recording = json.dumps({"opened": opened, "advanced": advanced}, ensure_ascii=False, separators=(",", ":"))
    return description | {"recording": write_hashed(f"{name}-run", ".json", recording.encode(), dist)}


def _ask(session: Session, **request: Any) -> Message:
    reply: Message = json.loads(asyncio.run(session.answer(json.dumps(request))), parse_float=_short)
    if reply["kind"] == "refused":
        raise ValueError(reply["sentence"])
    return reply


def _short(text: str) -> float:
    """Seven digits are more than a picture can show, and halve what the page has to carry."""
    return float(f"{float(text):.7g}")
