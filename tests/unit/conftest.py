"""What several test modules share: the reference problem, and a way to pull a training to its end."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any

import hypothesis
import numpy as np
import pytest

from ferro_bench import Channel, Identified, Record, Step, rollout, semi_implicit_euler
from ferro_bench.benches import friction

# The same examples on every run and every machine: a red build then means that something changed.
hypothesis.settings.register_profile("unit", derandomize=True, deadline=None)
hypothesis.settings.load_profile("unit")


def noise_free(drive: Any) -> Record:
    """What the friction bench's true plant does from rest under a drive, measured without noise."""
    force = Channel("u", "force", "N", drive)
    blank = Record(friction.DT, (0.0, 0.0), force, Channel("x", "position", "m", np.zeros(len(drive))))
    position = rollout(friction.PLANT, semi_implicit_euler, friction.TRUTH, blank)
    return Record(friction.DT, (0.0, 0.0), force, Channel("x", "position", "m", position))


@pytest.fixture(scope="session")
def reference() -> Record:
    """The reference problem of the design notes: the chirp, 120 steps of 0.02 s, no noise."""
    return noise_free(friction.chirp(friction.DT * np.arange(friction.STEPS)))


Training = Generator[Step, bool | None, Identified]


@pytest.fixture(scope="session")
def pull() -> Callable[[Training], tuple[list[Step], Identified]]:
    """Pull a training to its end: every iterate, and the result."""

    def to_the_end(training: Training) -> tuple[list[Step], Identified]:
        steps = []
        while True:
            try:
                steps.append(next(training))
            except StopIteration as end:
                return steps, end.value

    return to_the_end
