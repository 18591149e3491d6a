"""A bench trained with a reader's own code: the four functions of the exercises in place of ours.

Their ``rollout`` predicts, their ``loss`` is what falls, their ``training_step`` moves. If their ``accel`` can be
traced and stepping it gives what their rollout and loss give, the gradient comes from a compiled program of *their*
plant; otherwise the tape records their loss. Nothing here is trusted with the verdict, which follows from the
parameters alone and is found elsewhere.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from . import exercises
from .bench import Bench
from .cell import run_through, trouble
from .compiled import CompiledRollout
from .control import Settings
from .dataset import Array
from .exercise import Inputs
from .gradient import value_and_grad
from .identify import Identified, Step, identify
from .optimizer import View
from .plant import State
from .problem import Problem
from .quantity import quantity
from .verdict import Check

FUNCTIONS = ("accel", "rollout", "loss", "training_step")  # which take the place of ours
STREAM = 5  # of random numbers; the exercises have those of their own numbers
PULLS = 200  # training steps after which a rehearsal counts as endless
REHEARSAL_START = 0.2  # kg/m
NEAR = 0.02  # share of c by which a rehearsal may miss it: the search stops a little short, as it may
AGREEMENT = 1e-9  # share of the largest number by which the compiled rollout may differ from the reader's


class OwnCodeError(Exception):
    """The reader's code cannot be trained with; the message says what is in the way, and in which cell."""


def space(bench: Bench, settings: Settings) -> dict[str, Any]:
    """What the reader's cells have in scope, with the data of a bench as it is set.

    Raises:
        OwnCodeError: if the settings ask for more than c; the cells know of no other unknown.
    """
    known = bench.known(settings)
    if "m" not in known:
        raise OwnCodeError("Your cells take the mass as known: set it to known on the Bench to train with them.")
    return exercises.scope(bench.data(settings).fit, known["m"], float(settings["learning_rate"]))


def exercises_of(bench: Bench) -> list[str]:
    """The exercises whose code a bench can be trained with, in their order; none for most benches."""
    if bench.name != exercises.BENCH:
        return []
    return [name for name in exercises.names() if exercises.load(name).function in FUNCTIONS]


def problem(bench: Bench, settings: Settings, sources: Mapping[str, str]) -> OwnProblem:
    """Run the cells and take their functions for the bench's own.

    Args:
        bench: whose data, start value and learning rate are used.
        settings: of the bench.
        sources: exercise -> what is in its cell.

    Raises:
        OwnCodeError: if a cell is missing or does not define its function.
    """
    names = space(bench, settings)
    for name in exercises_of(bench):
        exercise = exercises.load(name)
        outcome = run_through(sources.get(name, ""), name, names)
        if callable(names.get(exercise.function)):
            continue
        reason = f" ({outcome.trouble.kind}: {outcome.trouble.message})" if outcome.trouble else ""
        raise OwnCodeError(
            f"The cell of exercise {exercise.number} does not define {exercise.function}{reason}. Run it and see."
        )
    posed = bench.problem(settings)
    own = OwnProblem(posed.plant, posed.solver, posed.record, posed.known, posed.start, names)
    names["value_and_grad"] = own.value_and_grad
    return own


def train(own: OwnProblem, budget: int) -> Generator[Step, bool | None, Identified]:
    """The identification with the reader's functions, ready to be pulled.

    Raises:
        OwnCodeError: when pulled, if one of the functions raises or returns something else than it should.
    """
    return identify(own, OwnStep(own), budget)


# Once more, on data that nobody has seen: a published number would pass on the visible ones.


def rehearsal(seed: int) -> Inputs:
    """Another experiment, drawn from a seed, without the c that it was made with."""
    inputs = exercises.experiment(np.random.default_rng([seed, STREAM]))
    return {name: value for name, value in inputs.items() if name != "minimum"}


def rehearse(inputs: Inputs, sources: Mapping[str, str]) -> float:
    """The c at which the reader's training ends in another experiment; NaN where it does not end, or raises.

    Args:
        inputs: from `rehearsal`.
        sources: exercise -> what is in its cell.
    """
    names = exercises.space(inputs)
    for name in exercises.names():
        run_through(sources.get(name, ""), name, names)
    c = REHEARSAL_START
    try:
        for _ in range(PULLS):
            c, done = names["training_step"](c)
            if done:
                return float(c)
    except BaseException:  # whatever the reader's code raises, it has found nothing
        pass
    return math.nan


def found_again(seed: int, found: float) -> Check:
    """Did the reader's code find what another experiment was made with?

    Args:
        seed: as given to `rehearsal`.
        found: what `rehearse` returned; it comes from where the reader's code ran, so anything is possible.
    """
    minimum = float(exercises.experiment(np.random.default_rng([seed, STREAM]))["minimum"])
    return Check(
        name="Distance of c from the truth, in an experiment drawn anew",
        value=abs(found - minimum),
        limit=NEAR * minimum,
        unit="kg/m",
        because=f"your code was run on other data, made with c = {quantity(minimum, 'kg/m', 3)}",
        advice="On other data your code does not find the c behind them. Does it use the data, or a number?",
    )


@dataclass(frozen=True, eq=False)
class OwnProblem(Problem):
    """The problem of a bench, seen through a reader's functions.

    Attributes:
        names: the namespace in which the reader's cells have run.
    """

    names: dict[str, Any]

    def call(self, function: str, *arguments: Any) -> Any:
        """What one of the reader's functions returns.

        Raises:
            OwnCodeError: if it raises.
        """
        return self._guarded(self.names[function], *arguments)

    def predict(self, sought: Mapping[str, Any]) -> Any:
        """The reader's rollout."""
        predicted = self.call("rollout", sought["c"])
        try:
            positions = np.asarray(predicted, dtype=np.float64)
        except (TypeError, ValueError):
            positions = np.empty(0)
        if positions.shape != self.record.measured.values.shape:
            raise OwnCodeError(
                f"rollout should return an array of shape {self.record.measured.values.shape}, one position for each "
                f"step, and not {_kind(predicted)}. Check its cell."
            )
        return positions

    def differentiate(self, values: Array) -> tuple[Array, float, Array]:
        """As for any problem, by the compiled program or by the tape through the reader's loss."""
        if self.compiled is not None:
            with np.errstate(all="ignore"), suppress(ArithmeticError, ValueError):
                return self.compiled.gradient(self.record.drive, values.tolist(), self.record.measured.values)
        c = float(values[0])
        loss, (slope,) = self._guarded(value_and_grad, self.names["loss"], c)
        return self.predict({"c": c}), float(loss), np.array([slope])

    def value_and_grad(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """What the cells have under that name: of their own loss it is the compiled one, where there is one."""
        if self.compiled is None or function is not self.names.get("loss"):
            return value_and_grad(function, *arguments)
        _, loss, slopes = self.differentiate(np.array(arguments, dtype=np.float64))
        return loss, tuple(slopes.tolist())

    @property
    def engine(self) -> str:
        """Which engine differentiates, in a sentence, and why if it is the tape."""
        if self.compiled is not None:
            return (
                "Your accel was traced. The gradient comes from a program that was compiled from it and that gives "
                "what your rollout and your loss give."
            )
        return f"The tape records your loss as it runs, because {self._compilation}"

    @cached_property
    def _compilation(self) -> CompiledRollout | str:
        def rates(state: State, u: Any, c: Any, m: Any) -> State:
            _, v = state
            return v, self.names["accel"](v, u, c)

        try:
            stepped = Problem(replace(self.plant, rates=rates), self.solver, self.record, self.known, self.start)
            compiled = stepped.compiled
        except BaseException as error:  # tracing runs the reader's accel
            return f"your accel could not be traced: {_first_line(error)}"
        if compiled is None:
            return f"your accel could not be traced. {stepped.engine}"
        for c in (self.start["c"], 0.5 * self.start["c"] + 0.3):
            positions, loss, _ = stepped.differentiate(np.array([c]))
            if not _agree(self.predict({"c": c}), positions):
                return "your rollout does not give what stepping your accel gives."
            if not _agree(self.call("loss", c), loss):
                return "your loss is not the mean squared distance from the data."
        return compiled

    def _guarded(self, function: Callable[..., Any], *arguments: Any) -> Any:
        try:
            return function(*arguments)
        except OwnCodeError:
            raise
        except BaseException as error:  # exit() too
            found = trouble(error, self.names)
            place = f" in the cell {found.cell}, line {found.line}" if found.cell else ""
            raise OwnCodeError(f"Your code raised {found.kind}{place}: {found.message} {found.explanation}") from None


class OwnStep:
    """The reader's ``training_step`` as an optimizer. Once it says that it is done, it stays where it is."""

    returns_to_best = False

    def __init__(self, own: OwnProblem) -> None:
        self._own = own
        self._done = False

    def step(self, view: View) -> Array:
        c = float(view.position[0])
        if self._done:
            return np.zeros(1)
        returned = self._own.call("training_step", c)
        try:
            new_c, done = returned
            if isinstance(new_c, str) or not isinstance(done, bool | np.bool):
                raise TypeError
            new_c, self._done = float(new_c), bool(done)
        except (TypeError, ValueError):
            raise OwnCodeError(
                f"training_step should return (new_c, done), a number and whether it has arrived, and not "
                f"{_kind(returned)}. Check its cell."
            ) from None
        return np.array([new_c - c])


def _agree(theirs: Any, ours: Any) -> bool:
    try:
        return bool(np.allclose(np.asarray(theirs, dtype=np.float64), ours, rtol=AGREEMENT, atol=AGREEMENT))
    except (TypeError, ValueError):
        return False


def _kind(value: Any) -> str:
    return f"an array of shape {value.shape}" if isinstance(value, np.ndarray) else f"a {type(value).__name__[:40]}"


def _first_line(error: BaseException) -> str:
    lines = str(error).splitlines()
    return f"{type(error).__name__}: {lines[0]}" if lines else f"{type(error).__name__}."
