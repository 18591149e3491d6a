"""The exercises, one module each. A module in this folder that defines ``EXERCISE`` is one, named after the module.

A module whose name begins with an underscore is none; it holds what the others share.
"""

from __future__ import annotations

import importlib
import pkgutil
from dataclasses import replace
from functools import cache

from ..exercise import Exercise
from ._experiment import experiment, scope, space

__all__ = ["BENCH", "experiment", "load", "names", "scope", "space"]

BENCH = "friction"  # whose record the cells see


@cache
def _all() -> dict[str, Exercise]:
    modules = [module.name for module in pkgutil.iter_modules(__path__) if not module.name.startswith("_")]
    found = {name: importlib.import_module(f"{__name__}.{name}").EXERCISE for name in modules}
    ordered: dict[str, Exercise] = {}
    for name, exercise in sorted(found.items(), key=lambda item: item[1].number):
        ordered[name] = replace(exercise, name=name, earlier=tuple(ordered.values()))
    return ordered


def names() -> list[str]:
    """The names of all exercises, in the order in which they are done."""
    return list(_all())


def load(name: str) -> Exercise:
    """The exercise of that name.

    Raises:
        LookupError: if there is none; the message lists those that exist.
    """
    if name not in _all():
        raise LookupError(f"There is no exercise {name!r}; there is {', '.join(names())}.")
    return _all()[name]
