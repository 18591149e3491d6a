"""What several test modules share: the reference problem, and a way to pull a training to its end."""

from __future__ import annotations

from collections.abc import Callable, Generator

import hypothesis
import numpy as np
import pytest

from ferro_bench import Identified, Record, Step
from ferro_bench.benches import friction

# The same examples on every run and every machine: a red build then means that something changed.
hypothesis.settings.register_profile("unit", derandomize=True, deadline=None)
hypothesis.settings.load_profile("unit")


@pytest.fixture(scope="session")
def reference() -> Record:
    """The reference problem of the design notes: the chirp, 120 steps of 0.02 s, no noise."""
    return friction.measure(friction.chirp(friction.DT * np.arange(friction.STEPS)), np.zeros(friction.STEPS))


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
