"""The benches, one module each. A module in this folder that defines ``BENCH`` is a bench; its name is the module's."""

from __future__ import annotations

import importlib
import pkgutil
from dataclasses import replace

from ..bench import Bench


def names() -> list[str]:
    """The names of all benches, in alphabetical order."""
    return sorted(module.name for module in pkgutil.iter_modules(__path__))


def load(name: str) -> Bench:
    """The bench of that name.

    Raises:
        LookupError: if there is none; the message lists those that exist.
    """
    if name not in names():
        raise LookupError(f"There is no bench {name!r}; there is {', '.join(names())}.")
    bench: Bench = importlib.import_module(f"{__name__}.{name}").BENCH
    return replace(bench, name=name)
