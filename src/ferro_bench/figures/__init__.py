"""The figures, one module each. A module in this folder that defines ``FIGURE`` is one, named after the module."""

from __future__ import annotations

import importlib
import pkgutil
from dataclasses import replace

from ..figure import Figure


def names() -> list[str]:
    """The names of all figures, in alphabetical order."""
    return sorted(module.name for module in pkgutil.iter_modules(__path__))


def load(name: str) -> Figure:
    """The figure of that name.

    Raises:
        LookupError: if there is none; the message lists those that exist.
    """
    if name not in names():
        raise LookupError(f"There is no figure {name!r}; there is {', '.join(names())}.")
    figure: Figure = importlib.import_module(f"{__name__}.{name}").FIGURE
    return replace(figure, name=name)
