"""The training loop, as a generator.

Whoever pulls it sets the pace: a page pulls one iterate a frame, a terminal pulls them all, a test pulls three. The
loop knows nothing of time or buttons. It ends in a named way, with a sentence, and never with an exception: training
that diverges is a result.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from itertools import islice
from typing import Any

import numpy as np

from .compiled import CompiledRollout, compile_rollout
from .dataset import Array, Record
from .gradient import Tape, TraceError, Var
from .loss import mean_squared_error
from .optimizer import Optimizer, View
from .plant import Plant
from .rollout import rollout
from .solvers import Solver


class Ending(StrEnum):
    """How an identification ended."""

    CONVERGED = "converged"
    BUDGET = "budget"
    DIVERGED = "diverged"
    STOPPED = "stopped"


@dataclass(frozen=True, eq=False)
class Problem:
    """What is to be identified.

    Attributes:
        plant: the model.
        solver: how it is stepped.
        record: the data.
        known: symbol -> value of the parameters that are given.
        start: symbol -> value where the search for the others begins.
    """

    plant: Plant
    solver: Solver
    record: Record
    known: Mapping[str, float]
    start: Mapping[str, float]

    def predict(self, sought: Mapping[str, Any]) -> Any:
        """The rollout with these values of the sought parameters, as floats, arrays of a batch, or tape variables."""
        parameters = {**self.known, **sought}
        return rollout(self.plant, self.solver, parameters, self.record.drive, self.record.measured.symbol)

    @cached_property
    def compiled(self) -> CompiledRollout | None:
        """The rollout as a program, by the sought parameters in the order of `start`; None where the tape has to do."""
        outcome = self._compilation
        return outcome if isinstance(outcome, CompiledRollout) else None

    @property
    def engine(self) -> str:
        """Which engine differentiates, in a sentence, and why if it is the tape."""
        outcome = self._compilation
        if isinstance(outcome, CompiledRollout):
            return "The rollout and its adjoint run as a compiled program."
        return f"The tape differentiates, because the rollout could not be compiled: {outcome}"

    @cached_property
    def _compilation(self) -> CompiledRollout | str:
        drive, observed = self.record.drive, self.record.measured.symbol
        try:
            return compile_rollout(self.plant, self.solver, drive.dt, observed, self.known, list(self.start))
        except TraceError as error:
            return str(error)

    def loss(self, predicted: Any) -> Any:
        """How far a prediction is from the measured channel: the mean squared error, in its unit squared."""
        return mean_squared_error(predicted, self.record.measured.values)


@dataclass(frozen=True, eq=False)
class Step:
    """One iterate: where the search stands, and what it sees from there.

    Attributes:
        iteration: 0 for the start.
        parameters: symbol -> value of the parameters that are sought.
        loss: mean squared error there, in the measured unit squared.
        gradient: symbol -> derivative of the loss by that parameter.
        predicted: the rollout there, shape (steps,).
    """

    iteration: int
    parameters: dict[str, float]
    loss: float
    gradient: dict[str, float]
    predicted: Array


@dataclass(frozen=True, eq=False)
class Identified:
    """The result of an identification.

    Attributes:
        ending: how it ended.
        sentence: that, in words, with the way on.
        step: the last iterate.
    """

    ending: Ending
    sentence: str
    step: Step


TOLERANCE = 1e-6  # converged once a step changes no parameter by more than this share of 1 + |parameter|
QUIET = 3  # such steps in a row are needed: momentum may stand still for one at its turning point
WINDOW = 25  # iterations over which a search has to come closer than over as many before
PROGRESS = 1e-3  # by which share its loss or its steps must shrink to count as closer


class _Progress:
    """Tells a search that comes closer from one that circles its minimum.

    A gradient that reverses its direction has stepped across the minimum. That alone is fine: a convergent search may
    do so at every step, while its steps or its loss shrink. Crossing without either shrinking, over a whole window, is
    the mark of a learning rate beyond the limit of stability. The far walls of a valley can keep such a search finite
    for ever, so waiting for infinity would not do.
    """

    def __init__(self) -> None:
        self._losses: deque[float] = deque(maxlen=2 * WINDOW)
        self._lengths: deque[float] = deque(maxlen=2 * WINDOW)
        self._crossings: deque[bool] = deque(maxlen=WINDOW)
        self._previous: Array | None = None
        self.overshot = False  # whether it has ever stepped across its minimum

    def note(self, loss: float, gradient: Array, change: Array) -> None:
        """Take one more iterate into account."""
        self._losses.append(loss)
        self._lengths.append(float(np.max(np.abs(change))))
        self._crossings.append(self._previous is not None and float(gradient @ self._previous) < 0)
        self._previous = gradient
        self.overshot = self.overshot or self._crossings[-1]

    @property
    def circles(self) -> bool:
        """Whether the search has crossed its minimum lately and yet came no closer."""
        return any(self._crossings) and not self.approaches and not self._falls

    @property
    def approaches(self) -> bool:
        """Whether its steps shrink; supposed of a search that is too young to tell."""
        return not self._is_full or _later(self._lengths, max) < _earlier(self._lengths, max) * (1 - PROGRESS)

    @property
    def _falls(self) -> bool:
        return _later(self._losses, min) < _earlier(self._losses, min) * (1 - PROGRESS)

    @property
    def _is_full(self) -> bool:
        return len(self._losses) == 2 * WINDOW


def _earlier(values: Iterable[float], extreme: Callable[[Iterable[float]], float]) -> float:
    return extreme(islice(values, 0, WINDOW))


def _later(values: Iterable[float], extreme: Callable[[Iterable[float]], float]) -> float:
    return extreme(islice(values, WINDOW, None))


def identify(problem: Problem, optimizer: Optimizer, budget: int) -> Generator[Step, bool | None, Identified]:
    """Search for the parameters with which the rollout matches the record.

    Args:
        problem: what is sought, where the search begins, and the data.
        optimizer: how a gradient becomes a step; a fresh one.
        budget: how many steps it may take at most.

    Yields:
        Every iterate, the start first. Sending ``True`` back stops the search there.

    Returns:
        How it ended, with the last iterate.
    """
    way_back = (
        "Start over from another value."
        if optimizer.returns_to_best
        else "Choose a smaller learning rate and start over."
    )
    position = np.array(list(problem.start.values()), dtype=np.float64)
    progress = _Progress()
    first_loss = np.inf
    quiet = 0  # steps in a row that changed nothing that matters
    best: Step | None = None

    def end(ending: Ending, sentence: str) -> Identified:
        assert best is not None
        return Identified(ending, sentence, best if optimizer.returns_to_best else step)

    for iteration in range(budget + 1):
        step, view = _evaluate(problem, position, iteration)
        if best is None or step.loss < best.loss:
            best = step
        if (yield step):
            return end(Ending.STOPPED, f"Stopped on request at iteration {iteration}.")
        with np.errstate(all="ignore"):
            change = optimizer.step(view)
            ahead = position + change
        if not np.all(np.isfinite(ahead)):
            return end(
                Ending.DIVERGED,
                f"Training diverged: at iteration {iteration} the search left the range of numbers. {way_back}",
            )
        quiet = quiet + 1 if np.all(np.abs(change) <= TOLERANCE * (1 + np.abs(position))) else 0
        if quiet == QUIET:
            return end(
                Ending.CONVERGED,
                f"Converged after {iteration} iterations: further steps would change nothing that matters.",
            )
        if not optimizer.returns_to_best:  # a failed trial is no overshooting
            with np.errstate(all="ignore"):
                progress.note(step.loss, view.gradient, change)
            if progress.circles:
                return end(
                    Ending.DIVERGED,
                    f"Training diverged: each step overshoots the minimum, and the last {WINDOW} brought it no closer. "
                    f"{way_back}",
                )
        if iteration == 0:
            first_loss = step.loss
        position = ahead
    if end(Ending.BUDGET, "").step.loss > first_loss or (progress.overshot and not progress.approaches):
        return end(
            Ending.DIVERGED,
            f"Training diverged: it overshot the minimum, and after {budget} iterations it has not come back. "
            f"{way_back}",
        )
    if optimizer.returns_to_best:
        advice = "Start over from another value."
    elif progress.overshot:
        advice = "Its steps overshoot the minimum: a smaller learning rate settles sooner."
    else:
        advice = "The loss is still falling: a larger learning rate goes faster."
    return end(Ending.BUDGET, f"Not converged within {budget} iterations. {advice}")


def _evaluate(problem: Problem, position: Array, iteration: int) -> tuple[Step, View]:
    """What is seen from a position; numbers beyond range become inf or NaN there, quietly."""
    symbols = list(problem.start)
    with np.errstate(all="ignore"):
        predicted, loss, gradient = _differentiate(problem, position)
        residual = predicted - problem.record.measured.values
    step = Step(
        iteration=iteration,
        parameters=dict(zip(symbols, position.tolist(), strict=True)),
        loss=loss,
        gradient=dict(zip(symbols, gradient.tolist(), strict=True)),
        predicted=predicted,
    )
    return step, View(position, loss, gradient, residual, lambda: jacobian(problem, position))


def _differentiate(problem: Problem, position: Array) -> tuple[Array, float, Array]:
    if problem.compiled is not None:
        try:
            return problem.compiled.gradient(problem.record.drive, position.tolist(), problem.record.measured.values)
        except (ArithmeticError, ValueError):
            pass  # plain floats stop where they leave the range of numbers; the tape goes on with inf and NaN
    tape = Tape()
    variables = [tape.variable(value) for value in position]
    predicted = problem.predict(dict(zip(problem.start, variables, strict=True)))
    if not isinstance(predicted, Var):  # the parameters never reached the model
        return np.asarray(predicted), float(problem.loss(predicted)), np.zeros(len(position))
    loss = problem.loss(predicted)
    return predicted.value, float(loss.value), np.array(tape.gradient(loss, variables))


def jacobian(problem: Problem, position: Array) -> Array:
    """How the prediction changes with each sought parameter, shape (steps, parameters).

    Args:
        problem: the rollout.
        position: values of the sought parameters, in the order of the problem's ``start``.

    Returns:
        From the compiled tangents; by central differences where there is no compiled program.
    """
    if problem.compiled is not None:
        try:
            return problem.compiled.jacobian(problem.record.drive, position.tolist())[1]
        except (ArithmeticError, ValueError):
            pass

    def predict(values: Array) -> Array:
        with np.errstate(all="ignore"):
            return np.asarray(problem.predict(dict(zip(problem.start, values.tolist(), strict=True))))

    columns = []
    for i, centre in enumerate(position):
        shift = np.zeros(len(position))
        shift[i] = 6e-6 * max(1.0, abs(centre))  # as in gradient.check
        columns.append((predict(position + shift) - predict(position - shift)) / (2 * shift[i]))
    return np.stack(columns, axis=1)
