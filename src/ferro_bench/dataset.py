"""What was applied, what was measured, and on which clock.

A `Drive` is what was applied; a `Record` adds what was measured under it. A `Dataset` is the pair that an
identification needs: one record to fit, and one that the fit never sees, on which the result has to predict.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.floating[Any]]

FEWEST = 3  # samples in a record
JITTER = 0.15  # share of a time step by which one may differ from the others: rounding to milliseconds leaves less


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

    def __post_init__(self) -> None:
        if self.values.ndim != 1:
            raise ValueError(f"channel {self.symbol} must be one row of samples, not shape {self.values.shape}")
        if self.values.size == 0:
            raise ValueError(f"channel {self.symbol} has no samples")
        bad = np.flatnonzero(~np.isfinite(self.values))
        if bad.size:
            raise ValueError(
                f"channel {self.symbol} has {self.values[bad[0]]} in row {bad[0]}; every sample must be a finite number"
            )


@dataclass(frozen=True, eq=False)
class Drive:
    """What was applied, on a uniform clock: the input is held from t = k dt to t = (k + 1) dt.

    Attributes:
        dt: time between samples, in seconds.
        start: the state at t = 0, one number a state of the plant.
        input: the signal that was applied, shape (steps,).
    """

    dt: float
    start: tuple[float, ...]
    input: Channel

    def __post_init__(self) -> None:
        if not (np.isfinite(self.dt) and self.dt > 0):
            raise ValueError(f"the time step must be a positive number of seconds, not {self.dt}")
        if not np.all(np.isfinite(self.start)):
            raise ValueError(f"the state at t = 0 must be made of finite numbers, not {self.start}")

    @property
    def steps(self) -> int:
        return len(self.input.values)

    @cached_property
    def inputs(self) -> list[float]:
        """The input as plain floats, on which Python's arithmetic is fastest."""
        inputs: list[float] = self.input.values.tolist()
        return inputs

    @property
    def time(self) -> Array:
        """The end of each step, in seconds, shape (steps,)."""
        return self.dt * np.arange(1, self.steps + 1)


def step_of(time: Array) -> float:
    """The time step of a uniform clock.

    Args:
        time: when each sample was taken, in seconds, shape (samples,).

    Raises:
        ValueError: if there are fewer than three samples, or if they are not evenly spaced; the message names the row.
    """
    clock = Channel("t", "time", "s", time)
    _refuse_too_few(clock)
    for row in np.flatnonzero(np.diff(time) <= 0)[:1] + 1:
        raise ValueError(f"the clock does not go on in row {row}: {time[row]:g} s follows {time[row - 1]:g} s")
    steps = np.diff(time)
    usual = float(np.median(steps))
    for row in np.flatnonzero(np.abs(steps - usual) > JITTER * usual)[:1] + 1:
        raise ValueError(
            f"the clock is not uniform: row {row} comes {steps[row - 1]:g} s after the one before it, where most come "
            f"{usual:g} s after; a sample may be missing, or the record needs resampling"
        )
    return float((time[-1] - time[0]) / (len(time) - 1))


def _refuse_too_few(channel: Channel) -> None:
    if len(channel.values) < FEWEST:
        raise ValueError(
            f"channel {channel.symbol} has {len(channel.values)} samples; a record needs at least {FEWEST}"
        )


@dataclass(frozen=True, eq=False)
class Record:
    """One experiment: a drive, and what was measured under it.

    Attributes:
        drive: what was applied. It may be constant.
        measured: the signal that was measured at the end of each step, shape (steps,); one that never changes tells
            nothing and is refused.
    """

    drive: Drive
    measured: Channel

    def __post_init__(self) -> None:
        _refuse_too_few(self.drive.input)
        if len(self.measured.values) != self.drive.steps:
            raise ValueError(
                f"channel {self.drive.input.symbol} has {self.drive.steps} samples and channel "
                f"{self.measured.symbol} has {len(self.measured.values)}; they must be as many"
            )
        if np.ptp(self.measured.values) == 0:
            raise ValueError(
                f"channel {self.measured.symbol} is {self.measured.values[0]:g} {self.measured.unit} in every row; a "
                "measurement that never changes tells nothing about the model"
            )


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
