"""What the user of a bench may set, and what each setting accepts."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass

Settings = Mapping[str, float | str]  # a control's key -> its value


class SettingsError(ValueError):
    """Settings that a bench cannot run with; the message names the setting and what it accepts."""


_LARGEST = sys.float_info.max  # JSON may bring integers beyond it


@dataclass(frozen=True)
class NumberControl:
    """A number that the user may set.

    Attributes:
        key: its name in the settings.
        symbol: its letter, as printed.
        name: what it is called.
        unit: SI unit as text, or empty.
        default: its value at first.
        bounds: lowest and highest value.
        increment: how far one key press goes.
    """

    key: str
    symbol: str
    name: str
    unit: str
    default: float
    bounds: tuple[float, float]
    increment: float

    def refusal(self, value: object) -> str | None:
        """Why a value cannot be used, or None where it can."""
        low, high = self.bounds
        if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= _LARGEST:
            return f"The {self.name} must be a number from {low:g} to {high:g}, not {value!r}."
        if not low <= value <= high:
            unit = f" {self.unit}" if self.unit else ""
            return f"The {self.name} must lie from {low:g} to {high:g}{unit}, but {value:g} does not."
        return None


@dataclass(frozen=True)
class ChoiceControl:
    """One of a few named options; the first is the default.

    Attributes:
        key: its name in the settings.
        name: what it is called.
        options: value -> label.
    """

    key: str
    name: str
    options: Mapping[str, str]

    @property
    def default(self) -> str:
        return next(iter(self.options))

    def refusal(self, value: object) -> str | None:
        """Why a value cannot be used, or None where it can."""
        if isinstance(value, str) and value in self.options:
            return None
        return f"The {self.name} must be one of {', '.join(self.options)}, not {value!r}."


Control = NumberControl | ChoiceControl
