"""A figure: one question about what the lesson does, answered by pictures of the package's own numbers.

A figure module declares the question and a function that computes the answer. Nothing in it depends on the reader, so
the build computes it once and the page only draws.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from .dataset import Array
from .panel import Panel


@dataclass(frozen=True, eq=False)
class Drawing:
    """What answers the question.

    Attributes:
        caption: the answer in a sentence or two, with numbers from the same computation.
        panels: the pictures.
        columns: name -> the data that their lines draw.
    """

    caption: str
    panels: tuple[Panel, ...]
    columns: Mapping[str, Array]


@dataclass(frozen=True, eq=False)
class Figure:
    """One question and its answer.

    Attributes:
        question: as a sentence.
        draw: computes the answer; the same one on every call.
        name: the module's name; given by the registry that finds it.
    """

    question: str
    draw: Callable[[], Drawing]
    name: str = field(default="", kw_only=True)
