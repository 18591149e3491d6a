"""How many rollouts a second? The same physics, run in ways between which a speed-up of almost any size can be had.

Each way is fair by itself. What differs is whether Python interprets every operation, whether many rollouts share that
cost, and whether derivatives are computed as well. Whoever measures has the clock; this module only does the work.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from .bench import Bench
from .control import Settings
from .gradient import value_and_grad
from .problem import Problem


@dataclass(frozen=True)
class Way:
    """One way to run rollouts.

    Attributes:
        label: what it does, in a few words.
        run: runs so many rollouts of a problem.
        batch: whether they run side by side.
    """

    label: str
    run: Callable[[Problem, int], object]
    batch: bool = False


def _by_tape(problem: Problem, count: int) -> None:
    for _ in range(count):
        value_and_grad(lambda *values: problem.loss(problem.predict(_named(problem, values))), *problem.start.values())


def _by_hand(problem: Problem, count: int) -> None:
    for _ in range(count):
        problem.predict(problem.start)


def _compiled(problem: Problem, count: int) -> None:
    for _ in range(count):
        _program(problem).predict(problem.record.drive, list(problem.start.values()))


def _compiled_with_gradient(problem: Problem, count: int) -> None:
    for _ in range(count):
        problem.differentiate(np.array(list(problem.start.values())))


def _batch(problem: Problem, count: int) -> None:
    values = [np.full(count, value) for value in problem.start.values()]
    _program(problem).batch_predict(problem.record.drive, values)


def _batch_with_gradient(problem: Problem, count: int) -> None:
    values = [np.full(count, value) for value in problem.start.values()]
    _program(problem).batch_gradient(problem.record.drive, values, problem.record.measured.values)


WAYS: Mapping[str, Way] = {
    "tape": Way("one at a time, with its gradient by the tape", _by_tape),
    "interpreted": Way("one at a time, forward, as written", _by_hand),
    "compiled": Way("one at a time, forward, compiled", _compiled),
    "compiled-gradient": Way("one at a time, with its gradient, compiled", _compiled_with_gradient),
    "batch": Way("side by side in a batch, forward", _batch, batch=True),
    "batch-gradient": Way("side by side in a batch, with gradients", _batch_with_gradient, batch=True),
}


def run(bench: Bench, settings: Settings, way: str, count: int) -> None:
    """Run rollouts of a bench.

    Args:
        bench: whose record and plant are used; its rollout must compile.
        settings: of the bench.
        way: a key of `WAYS`.
        count: how many; the size of the batch for those side by side.
    """
    WAYS[way].run(bench.problem(settings), count)


def _named(problem: Problem, values: tuple[Any, ...]) -> dict[str, Any]:
    return dict(zip(problem.start, values, strict=True))


def _program(problem: Problem) -> Any:
    if problem.compiled is None:
        raise ValueError(problem.engine)
    return problem.compiled
