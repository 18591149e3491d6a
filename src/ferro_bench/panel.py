"""What a picture shows: axes, and lines that draw named columns of data. How it looks is the page's business."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Role(StrEnum):
    """What a line stands for; the page gives each role its colour and mark."""

    MEASURED = "measured"
    PREDICTED = "predicted"
    START = "start"
    TRUTH = "truth"
    BAND = "band"
    HISTORY = "history"
    DRIVE = "drive"
    HELD_OUT = "held-out"
    INTERVAL = "interval"
    CURVE = "curve"  # what is neither measured nor predicted
    OTHER = "other"  # what another line is compared with
    POINT = "point"
    STEPS = "steps"  # of a search, across the plane


@dataclass(frozen=True)
class Axis:
    """One axis of a panel. The domain's ends are fixed where they are numbers and follow the data where None."""

    label: str
    unit: str
    scale: str = "linear"
    domain: tuple[float | None, float | None] | None = None


@dataclass(frozen=True)
class Line:
    """One line of a panel: two columns drawn against each other, or one value, or a band from low to high.

    A line of two columns may have an error bar at each of its points, which ends in two further columns. Nothing asks x
    to grow: a line may turn back, or close.
    """

    role: Role
    label: str
    x: str | None = None
    y: str | None = None
    value: float | None = None
    low: float | None = None
    high: float | None = None
    lower: str | None = None
    upper: str | None = None


@dataclass(frozen=True)
class Panel:
    """One picture: a title, two axes, and the lines in them."""

    key: str
    title: str
    x: Axis
    y: Axis
    lines: tuple[Line, ...]
