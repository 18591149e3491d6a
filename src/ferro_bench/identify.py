"""The training loop, as a generator.

Whoever pulls it sets the pace: a page pulls one iterate a frame, a terminal pulls them all, a test pulls three. The
loop knows nothing of time or buttons. It ends in a named way, with a sentence, and never with an exception: training
that diverges is a result.

A search is told what is seen from where it stands, and moves on. It does not evaluate anything itself, so that
`identify` can run one of them and `identify_from` many side by side, all their rollouts in one batch.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, partial
from itertools import islice

import numpy as np

from .dataset import Array
from .optimizer import Optimizer, View
from .problem import Problem


class Ending(StrEnum):
    """How an identification ended."""

    CONVERGED = "converged"
    BUDGET = "budget"
    DIVERGED = "diverged"
    STOPPED = "stopped"


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


class _Search:
    """One search, from its start to its ending.

    `see` tells it what is seen from its position, `move` lets it take a step from there.

    Attributes:
        iteration: how many steps it has taken.
        position: where it stands, shape (k,).
        step: what it saw there.
        result: how it ended; None while it goes on.
    """

    step: Step
    _view: View
    _best: Step

    def __init__(self, start: Array, optimizer: Optimizer, budget: int) -> None:
        self.iteration = 0
        self.position = start
        self.result: Identified | None = None
        self._optimizer = optimizer
        self._budget = budget
        self._progress = _Progress()
        self._first_loss = np.inf
        self._quiet = 0  # steps in a row that changed nothing that matters

    def see(self, step: Step, view: View) -> None:
        """Take in what is seen from the position."""
        if self.iteration == 0:
            self._first_loss, self._best = step.loss, step
        if step.loss < self._best.loss:
            self._best = step
        self.step, self._view = step, view

    def stop(self) -> None:
        """End where it stands."""
        self._end(Ending.STOPPED, f"Stopped on request at iteration {self.iteration}.")

    def move(self) -> None:
        """Take the optimizer's step, or end."""
        with np.errstate(all="ignore"):
            change = self._optimizer.step(self._view)
            ahead = self.position + change
        is_lost = not (self._optimizer.returns_to_best or np.isfinite(self.step.loss))
        if is_lost or not np.all(np.isfinite(ahead)):
            return self._diverge(f"at iteration {self.iteration} the search left the range of numbers.")
        self._quiet = self._quiet + 1 if np.all(np.abs(change) <= TOLERANCE * (1 + np.abs(self.position))) else 0
        if self._quiet == QUIET:
            return self._end(
                Ending.CONVERGED,
                f"Converged after {self.iteration} iterations: further steps would change nothing that matters.",
            )
        if not self._optimizer.returns_to_best:  # a failed trial is no overshooting
            with np.errstate(all="ignore"):
                self._progress.note(self.step.loss, self._view.gradient, change)
            if self._progress.circles:
                return self._diverge(f"each step overshoots the minimum, and the last {WINDOW} brought it no closer.")
        if self.iteration == self._budget:
            return self._give_up()
        self.iteration += 1
        self.position = ahead
        return None

    def _give_up(self) -> None:
        overshoots = self._progress.overshot and not self._progress.approaches
        if self._outcome.loss > self._first_loss or overshoots:
            self._diverge(f"it overshot the minimum, and after {self._budget} iterations it has not come back.")
            return
        if self._optimizer.returns_to_best:
            advice = "Start over from another value."
        elif self._progress.overshot:
            advice = "Its steps overshoot the minimum: a smaller learning rate settles sooner."
        else:
            advice = "The loss is still falling: a larger learning rate goes faster."
        self._end(Ending.BUDGET, f"Not converged within {self._budget} iterations. {advice}")

    def _diverge(self, how: str) -> None:
        way_back = (
            "Start over from another value."
            if self._optimizer.returns_to_best
            else "Choose a smaller learning rate and start over."
        )
        self._end(Ending.DIVERGED, f"Training diverged: {how} {way_back}")

    @property
    def _outcome(self) -> Step:
        return self._best if self._optimizer.returns_to_best else self.step

    def _end(self, ending: Ending, sentence: str) -> None:
        self.result = Identified(ending, sentence, self._outcome)


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
    search = _Search(problem.position(problem.start), optimizer, budget)
    while True:
        _look(problem, search)
        if (yield search.step):
            search.stop()
        else:
            search.move()
        if search.result:
            return search.result


def identify_from(
    problem: Problem, starts: Sequence[Mapping[str, float]], optimizer: Callable[[], Optimizer], budget: int
) -> Generator[tuple[Step, ...], bool | None, tuple[Identified, ...]]:
    """As `identify`, from many starts side by side; where the rollout could be compiled, as one batch.

    Args:
        problem: what is sought, and the data; its own start is not used.
        starts: for each search, symbol -> value where it begins.
        optimizer: makes a fresh optimizer for each search.
        budget: how many steps each of them may take at most.

    Yields:
        The iterate of every search; one that has ended stays at its last. Sending ``True`` back stops them all.

    Returns:
        How each of them ended, in the order of the starts.
    """
    searches = [_Search(problem.position(start), optimizer(), budget) for start in starts]
    while under_way := [search for search in searches if search.result is None]:
        _look_side_by_side(problem, under_way)
        stop = yield tuple(search.step for search in searches)
        for search in under_way:
            if stop:
                search.stop()
            else:
                search.move()
    return tuple(search.result for search in searches if search.result)


def spread(problem: Problem, count: int, seed: int) -> list[dict[str, float]]:
    """Starts all over the ranges that make sense, in a Latin hypercube: each parameter's range is cut into as many
    slices as there are starts, and each slice is begun from once. A positive parameter's slices are equal factors.

    Source: McKay, Beckman and Conover, "A comparison of three methods for selecting values of input variables",
    *Technometrics* 21(2), 1979, pages 239-245.

    Args:
        problem: whose plant says what makes sense.
        count: how many.
        seed: of the draw.
    """
    low, high = (
        problem.position({symbol: problem.plant.parameter(symbol).bounds[end] for symbol in problem.start})
        for end in (0, 1)
    )
    rng = np.random.default_rng(seed)
    slices = np.array([rng.permutation(count) for _ in low])
    places = low[:, None] + (high - low)[:, None] * (slices + rng.random(slices.shape)) / count
    return [dict(zip(problem.start, values, strict=True)) for values in problem.values(places).T.tolist()]


def _look(problem: Problem, search: _Search) -> None:
    """Tell a search what is seen from its position."""
    with np.errstate(all="ignore"):
        values = problem.values(search.position)
        _tell(problem, search, values, problem.differentiate(values), lambda: problem.jacobian(values))


def _look_side_by_side(problem: Problem, searches: Sequence[_Search]) -> None:
    """Tell each search what is seen from its position, from one batch of rollouts if they could be compiled."""
    compiled, drive = problem.compiled, problem.record.drive
    if compiled is None:
        for search in searches:
            _look(problem, search)
        return
    with np.errstate(all="ignore"):
        values = problem.values(np.stack([search.position for search in searches], axis=1))
        predicted, losses, gradients = compiled.batch_gradient(drive, list(values), problem.record.measured.values)
        jacobians = cache(lambda: compiled.batch_jacobian(drive, list(values))[1])  # for all, once one of them asks
        for i, search in enumerate(searches):
            seen = predicted[:, i], float(losses[i]), gradients[:, i]
            _tell(problem, search, values[:, i], seen, partial(lambda i: jacobians()[:, :, i], i))


def _tell(
    problem: Problem,
    search: _Search,
    values: Array,
    seen: tuple[Array, float, Array],
    jacobian: Callable[[], Array],
) -> None:
    """What is seen at some values: to whoever watches by the parameters, to the optimizer by its own coordinates."""
    predicted, loss, gradient = seen
    stretch = np.where(problem.positive, values, 1.0)  # ∂value/∂position
    step = Step(
        iteration=search.iteration,
        parameters=dict(zip(problem.start, values.tolist(), strict=True)),
        loss=loss,
        gradient=dict(zip(problem.start, gradient.tolist(), strict=True)),
        predicted=predicted,
    )
    residual = predicted - problem.record.measured.values
    search.see(step, View(search.position, loss, gradient * stretch, residual, lambda: jacobian() * stretch))
