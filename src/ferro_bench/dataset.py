"""What was applied, what was measured, and on which clock.

A `Record` is one experiment. A `Dataset` is the pair that an identification needs: one record to fit, and one that the
fit never sees, on which the result has to predict.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.floating[Any]]


@dataclass(frozen=True, eq=False)
class Channel:
    """One signal: a sample a step.

    Attributes:
        symbol: its letter in the equations; a measured channel bears the symbol of the state that it shows.
        name: what it is called in a sentence.
        unit: SI unit as text.
        values: shape (steps,).
    """

    symbol: str
    name: str
    unit: str
    values: Array


@dataclass(frozen=True, eq=False)
class Record:
    """One experiment on a uniform clock.

    The input is held from t = k dt to t = (k + 1) dt; the measurement of row k is taken at the end of that interval.

    Attributes:
        dt: time between samples, in seconds.
        start: the state at t = 0, one number a state of the plant.
        input: the signal that was applied, shape (steps,).
        measured: the signal that was measured, shape (steps,).
    """

    dt: float
    start: tuple[float, ...]
    input: Channel
    measured: Channel

    def __post_init__(self) -> None:
        if not (np.isfinite(self.dt) and self.dt > 0):
            raise ValueError(f"the time step must be a positive number of seconds, not {self.dt}")
        for channel in (self.input, self.measured):
            if channel.values.ndim != 1:
                raise ValueError(
                    f"channel {channel.symbol} must be one row of samples, not shape {channel.values.shape}"
                )
            bad = np.flatnonzero(~np.isfinite(channel.values))
            if bad.size:
                raise ValueError(
                    f"channel {channel.symbol} has {channel.values[bad[0]]} in row {bad[0]}; "
                    "every sample must be a finite number"
                )
        if len(self.input.values) != len(self.measured.values):
            raise ValueError(
                f"channel {self.input.symbol} has {len(self.input.values)} samples and channel "
                f"{self.measured.symbol} has {len(self.measured.values)}; they must be as many"
            )

    @property
    def steps(self) -> int:
        return len(self.input.values)

    @property
    def time(self) -> Array:
        """When each measurement was taken, in seconds, shape (steps,)."""
        return self.dt * np.arange(1, self.steps + 1)


@dataclass(frozen=True, eq=False)
class Dataset:
    """A record to fit, a record to be predicted, and how noisy the measurements are.

    Attributes:
        fit: what the identification sees.
        held_out: what it never sees; the verdict asks for it.
        noise: standard deviation of the measurement noise, in the unit of the measured channel.
    """

    fit: Record
    held_out: Record
    noise: float
