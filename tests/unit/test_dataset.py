"""Records: the clock, and refusal of bad ones with channel and row named."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ferro_bench import Channel, Drive, Record
from ferro_bench.dataset import step_of


def record(u: Any = (1.0, 2.0, 3.0), x: Any = (0.0, 0.1, 0.2), dt: float = 0.5) -> Record:
    drive = Drive(dt, (0.0, 0.0), Channel("u", "force", "N", np.array(u)))
    return Record(drive, Channel("x", "position", "m", np.array(x)))


def test_row_k_was_measured_at_the_end_of_its_interval() -> None:
    assert record().drive.steps == 3
    np.testing.assert_array_equal(record().drive.time, [0.5, 1.0, 1.5])


@pytest.mark.parametrize("dt", [0.0, -0.02, np.nan, np.inf])
def test_a_time_step_that_is_no_duration_is_refused(dt: float) -> None:
    with pytest.raises(ValueError, match=f"time step must be a positive number of seconds, not {dt}"):
        record(dt=dt)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_sample_that_is_no_number_is_refused_with_channel_and_row(bad: float) -> None:
    with pytest.raises(ValueError, match=f"channel u has {bad} in row 1"):
        record(u=(1.0, bad, bad))
    with pytest.raises(ValueError, match=f"channel x has {bad} in row 2"):
        record(x=(0.0, 0.1, bad))


def test_channels_of_different_length_are_refused_with_both_lengths() -> None:
    with pytest.raises(ValueError, match="channel u has 3 samples and channel x has 2"):
        record(x=(0.0, 0.1))


def test_a_channel_of_more_than_one_row_is_refused_with_its_shape() -> None:
    with pytest.raises(ValueError, match=r"channel x must be one row of samples, not shape \(3, 1\)"):
        record(x=[[0.0], [0.1], [0.2]])


def test_an_empty_channel_is_refused() -> None:
    with pytest.raises(ValueError, match="channel u has no samples"):
        record(u=(), x=())


@pytest.mark.parametrize("start", [(np.nan, 0.0), (0.0, np.inf)])
def test_a_start_that_is_no_state_is_refused(start: tuple[float, float]) -> None:
    with pytest.raises(ValueError, match="the state at t = 0 must be made of finite numbers"):
        Drive(0.5, start, Channel("u", "force", "N", np.ones(3)))


def test_two_samples_are_refused() -> None:
    with pytest.raises(ValueError, match="channel u has 2 samples; a record needs at least 3"):
        record(u=(1.0, 2.0), x=(0.0, 0.1))


def test_a_measurement_that_never_changes_is_refused_and_a_constant_drive_is_not() -> None:
    with pytest.raises(ValueError, match=r"channel x is 0\.3 m in every row; .* tells nothing about the model"):
        record(x=(0.3, 0.3, 0.3))
    assert record(u=(6.0, 6.0, 6.0)).drive.inputs == [6.0, 6.0, 6.0]


# The clock


def test_a_uniform_clock_has_its_step_whatever_it_starts_at() -> None:
    assert step_of(7.3 + 0.02 * np.arange(500)) == pytest.approx(0.02, rel=1e-12)


def test_rounding_in_a_file_is_no_jitter() -> None:
    assert step_of(np.round(np.arange(600) / 60, 3)) == pytest.approx(1 / 60, rel=1e-3)


@pytest.mark.parametrize(
    ("time", "sentence"),
    [
        ([0.0, 0.1], "channel t has 2 samples; a record needs at least 3"),
        ([0.0, 0.1, np.nan], "channel t has nan in row 2"),
        ([0.0, 0.1, 0.2, 0.4, 0.5], "not uniform: row 3 comes 0.2 s after the one before it, where most come 0.1 s"),
        ([0.0, 0.1, 0.2, 0.3, 0.32], "not uniform: row 4 comes 0.02 s after the one before it"),
        ([0.0, 0.1, 0.2, 0.2, 0.3], "does not go on in row 3: 0.2 s follows 0.2 s"),
        ([0.0, 0.1, 0.2, 0.15, 0.3], "does not go on in row 3: 0.15 s follows 0.2 s"),
    ],
)
def test_a_clock_that_is_not_uniform_is_refused_with_its_row(time: list[float], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        step_of(np.array(time))
