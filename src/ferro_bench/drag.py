"""A mass that is pushed and slowed down by drag, and the fit of that to a measured motion.

    m v̇ = u - b v - c v |v|        ẋ = v

The linear law has b only, the quadratic one c only, the mixed one both. Drag and mass do not depend on where the mass
is, so the position at the start is a plain offset. It is always fitted: the first reading bears as much noise as any
other, and a rollout that began exactly there would carry that noise along as an offset of everything. The velocity at
the start is fitted as well, unless it is known that the mass was at rest.

A rollout of 200,000 steps takes Python seconds. Everything here that rolls out is therefore a generator that yields
after every slice of a few thousand steps, so that whoever pulls it can show how far it is, or let go of it.

Sources: Madsen, Nielsen and Tingleff (see `optimizer`) for the search; Bates and Watts, "A relative offset
orthogonality convergence criterion for nonlinear least squares", *Technometrics* 23 (1981), 179-183, for when it has
arrived: what is left to go is compared with the noise and not with the size of a number.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .dataset import Array
from .gradient import compile_floats, recurrence, write_resumable
from .identify import Ending
from .optimizer import LevenbergMarquardt, View
from .plant import Parameter, Plant, State, StateVariable
from .quantity import quantity
from .solvers import rk4
from .uncertainty import Uncertainty, estimate

LAWS = {"linear": ("b",), "quadratic": ("c",), "mixed": ("b", "c")}
SLICE = 2000  # steps of a rollout between two yields
COARSE = 2000  # steps that are enough to come close to the fit of a long record
BUDGET = 60  # iterations
DAMPING = 1e-6  # λ at the start: the guess is good, and what the data hardly tell apart should not creep
ARRIVED = 1e-3  # standard errors that may be left to go
ROUNDING = 1e-11  # share of the motion below which a change of the prediction is rounding
REACH = 100.0  # how many times beyond what the size of the motion suggests a drag may be sought


@dataclass(frozen=True, eq=False)
class Motion:
    """A measured motion on a uniform clock.

    Attributes:
        dt: time between two samples, in seconds.
        force: what acts from each sample to the next, in newton, shape (n - 1,).
        position: in metres, shape (n,).
    """

    dt: float
    force: Array
    position: Array

    def until(self, samples: int) -> Motion:
        """The first so many samples of it."""
        return Motion(self.dt, self.force[: samples - 1], self.position[:samples])

    def thinned(self, times: int) -> Motion:
        """Every so manieth sample of it; the force between two of these is the mean."""
        position = self.position[::times]
        force = self.force[: (len(position) - 1) * times].reshape(-1, times).mean(axis=1)
        return Motion(self.dt * times, force, position)


@dataclass(frozen=True)
class Model:
    """What is to be fitted.

    Attributes:
        law: the drag, a key of `LAWS`.
        mass: in kilogram; None where it is fitted too.
        at_rest: whether the motion is known to begin from rest.
    """

    law: str
    mass: float | None
    at_rest: bool

    @property
    def constants(self) -> tuple[str, ...]:
        """The parameters of the plant that are sought."""
        return (*LAWS[self.law], *(() if self.mass else ("m",)))

    @property
    def sought(self) -> tuple[str, ...]:
        """All that is sought, in the order of every array here."""
        return (*self.constants, "x0", *(() if self.at_rest else ("v0",)))

    def parameters(self, motion: Motion) -> dict[str, Parameter]:
        """What is sought, with the ranges that make sense for such a motion; v0 even where it is not sought."""
        length, speed, force, mass = self._sizes(motion)
        low, high = float(np.min(motion.position)), float(np.max(motion.position))
        drag, rate = force / speed, 10 * speed
        found = {
            "b": Parameter("b", "linear drag", "N·s/m", drag, (0.0, REACH * drag)),
            "c": Parameter("c", "quadratic drag", "kg/m", drag / speed, (0.0, REACH * drag / speed)),
            "m": Parameter("m", "mass", "kg", mass, (mass / 1000, mass * 1000), positive=True),
            "x0": Parameter("x0", "position at the start", "m", low, (low - 10 * length, high + 10 * length)),
            "v0": Parameter("v0", "velocity at the start", "m/s", 0.0, (-rate, rate)),
        }
        return {symbol: found[symbol] for symbol in (*self.constants, "x0", "v0")}

    def _sizes(self, motion: Motion) -> tuple[float, float, float, float]:
        """Length, speed, force and mass of a motion, in SI units, each to about a factor of a few."""
        length = float(np.ptp(motion.position))
        duration = motion.dt * len(motion.force)
        # In steps that noise cannot dominate; a record that oscillates is faster than its length over its duration.
        speed = max(float(np.max(np.abs(_velocity(motion)))), length / duration)
        pushed = float(np.max(np.abs(motion.force)))
        mass = self.mass or pushed * duration / speed
        return length, speed, max(pushed, mass * speed / duration), mass


def _velocity(motion: Motion) -> Array:
    """The velocity at each sample, in m/s, from a difference over a fiftieth of the record, shape (n,)."""
    n = len(motion.position)
    reach = max(1, n // 100)
    after, before = np.minimum(np.arange(n) + reach, n - 1), np.maximum(np.arange(n) - reach, 0)
    velocity: Array = (motion.position[after] - motion.position[before]) / (motion.dt * (after - before))
    return velocity


# Rollouts --------------------------------------------------------------------------------------------------------

_STATES = (StateVariable("x", "position", "m", rate="v"), StateVariable("v", "velocity", "m/s"))


def _rates(law: str) -> Callable[..., State]:
    drags: dict[str, Callable[..., Any]] = {
        "linear": lambda v, b: b * v,
        "quadratic": lambda v, c: c * v * np.abs(v),
        "mixed": lambda v, b, c: (b + c * np.abs(v)) * v,
    }

    def rates(state: State, input: Any, m: Any, **drag: Any) -> State:
        x, v = state
        return v, (input - drags[law](v, **drag)) / m

    return rates


@lru_cache(maxsize=8)
def _program(model: Model, dt: float) -> Callable[..., Any]:
    """Goes along a part of the rollout; `v0` is a parameter on which no step depends, the tangents begin with it."""
    plant = Plant(_STATES, (), _rates(model.law))
    known = {"m": model.mass} if model.mass else {}

    def step(x: Any, v: Any, u: Any, *values: Any) -> State:
        return rk4(plant, (x, v), u, {**known, **dict(zip(model.constants, values, strict=False))}, dt)

    return compile_floats(write_resumable(recurrence(step, ["x", "v"], "u", [*model.constants, "v0"], 0)))["advance"]


@dataclass(frozen=True, eq=False)
class Sight:
    """What is seen of a motion from given values.

    Attributes:
        position: the prediction, in metres, shape (n,).
        velocity: likewise, in m/s, shape (n,).
        jacobian: derivative of the position by the constants, x0 and v0, shape (n, constants + 2).
    """

    position: Array
    velocity: Array
    jacobian: Array


def look(model: Model, motion: Motion, values: Mapping[str, float]) -> Generator[int, None, Sight]:
    """Roll out over a whole motion. Beyond the range of numbers it gives NaN.

    Args:
        model: what is sought.
        motion: clock and force; the measured positions are not used.
        values: of the constants, x0 and v0.

    Yields:
        How many steps were taken since the last time.
    """
    advance = _program(model, motion.dt)
    constants = [values[symbol] for symbol in (*model.constants, "v0")]
    n, count = len(motion.force) + 1, len(constants)
    states = np.full((2, n), np.nan)
    jacobian = np.zeros((n, count + 1))
    jacobian[:, -2] = 1.0  # by x0
    jacobian[1:, [*range(count - 1), count]] = np.nan
    states[:, 0] = values["x0"], values["v0"]
    moving = [values["x0"], values["v0"], *[0.0, 0.0] * (count - 1), 0.0, 1.0]
    for begin in range(0, n - 1, SLICE):
        inputs = motion.force[begin : begin + SLICE].tolist()
        here = slice(begin + 1, begin + 1 + len(inputs))
        try:
            moving, kept, by = advance(moving, inputs, constants)
        except ArithmeticError:
            break
        states[:, here] = kept
        jacobian[here, : count - 1] = np.transpose(by[:-1])
        jacobian[here, count] = by[-1]
        yield len(inputs)
    return Sight(states[0], states[1], jacobian)


# The fit ---------------------------------------------------------------------------------------------------------


def guess(model: Model, motion: Motion) -> dict[str, float]:
    """Where to begin: the law integrated twice over time is linear in all that is sought, but for the drag's v |v|.

        m x = m x0 + m v0 t + ∬u - b ∫x - c ∬v|v|        (x counted from x0 in the integral)

    Integrals smooth where derivatives would amplify the noise, and the velocity under them may be rough.
    """
    t, x = motion.dt * np.arange(len(motion.position)), motion.position - motion.position[0]
    pushed = _integral(_integral(np.append(motion.force, motion.force[-1]), motion.dt), motion.dt)
    v = _velocity(motion)
    columns = {"b": _integral(x, motion.dt), "c": _integral(_integral(v * np.abs(v), motion.dt), motion.dt)}
    ranges = model.parameters(motion)
    chosen = {symbol: columns[symbol] for symbol in LAWS[model.law]} | {"x": -np.ones_like(t), "v": -t}
    if model.at_rest:
        del chosen["v"]
    if model.mass is None:
        chosen["m"] = x
    matrix = np.stack(list(chosen.values()), axis=1)
    unit = np.linalg.norm(matrix, axis=0) + np.finfo(float).tiny
    right = pushed if model.mass is None else pushed - model.mass * x
    found = dict(zip(chosen, (np.linalg.lstsq(matrix / unit, right, rcond=None)[0] / unit).tolist(), strict=True))
    mass = model.mass or found["m"]
    if model.mass is None and not mass > ranges["m"].bounds[0]:
        mass = ranges["m"].start  # noise in x makes this least squares lean; a mass below zero is no place to begin
    start = {"m": mass, "x0": float(motion.position[0]) + found["x"] / mass, "v0": found.get("v", 0.0) / mass}
    start |= {symbol: max(found[symbol], 1e-3 * ranges[symbol].start) for symbol in LAWS[model.law]}
    return {symbol: float(np.clip(start[symbol], *ranges[symbol].bounds)) for symbol in ranges}


def _integral(values: Array, dt: float) -> Array:
    """From the beginning to each sample, by the trapezoidal rule, shape (n,)."""
    return np.concatenate([[0.0], np.cumsum((values[1:] + values[:-1]) * (dt / 2))])


@dataclass(frozen=True, eq=False)
class Glance:
    """How far a fit is.

    Attributes:
        steps: of rollouts, since the last time.
        iteration: of the search on the whole record; 0 before.
        values: symbol -> value of all that is sought, at the best point so far.
        rms: of the residual there, in metres; infinite before there is one.
    """

    steps: int
    iteration: int
    values: dict[str, float]
    rms: float


@dataclass(frozen=True, eq=False)
class Fit:
    """The end of a search.

    Attributes:
        ending: how it ended.
        sentence: that, in words.
        iterations: how many it took on the whole record.
        values: symbol -> value of the constants, x0 and v0; of the best point.
        sight: what is seen from there of the record that was fitted.
        uncertainty: of all that was sought; None beyond the range of numbers.
        warnings: a sentence for whatever the data leave open.
    """

    model: Model
    ending: Ending
    sentence: str
    iterations: int
    values: dict[str, float]
    sight: Sight
    uncertainty: Uncertainty | None
    warnings: tuple[str, ...]


def fit(model: Model, motion: Motion) -> Generator[Glance, None, Fit]:
    """Search for the values with which the rollout matches the motion, from one good guess.

    A long record is first fitted on a thinned copy of itself: what that leaves to do takes an iteration or two.
    """
    start = guess(model, motion)
    times = len(motion.force) // COARSE
    if times > 1:
        rough = yield from _search(model, motion.thinned(times), start, is_rough=True)
        if rough.ending is Ending.CONVERGED:
            start = rough.values
    return (yield from _search(model, motion, start))


@dataclass(frozen=True, eq=False)
class _Coordinates:
    """What a search moves in: the mass by its logarithm, everything else in units of the motion; drags down to zero.

    Attributes:
        sought: the parameters, shape (k,).
        scale: the unit of each, 1 for one that is sought by its logarithm.
        logarithmic: which are, shape (k,).
    """

    sought: tuple[Parameter, ...]
    scale: Array
    logarithmic: NDArray[np.bool_]

    @staticmethod
    def of(model: Model, motion: Motion) -> _Coordinates:
        ranges = model.parameters(motion)
        sought = tuple(ranges[symbol] for symbol in model.sought)
        scale = np.array([1.0 if p.positive else (p.bounds[1] - p.bounds[0]) / REACH for p in sought])
        return _Coordinates(sought, scale, np.array([p.positive for p in sought]))

    def position(self, numbers: ArrayLike) -> Array:
        given = np.asarray(numbers, dtype=np.float64)
        return np.where(self.logarithmic, np.log(np.where(self.logarithmic, given, 1.0)), given) / self.scale

    def numbers(self, position: Array) -> Array:
        return np.where(self.logarithmic, np.exp(np.where(self.logarithmic, position, 0.0)), position * self.scale)

    @property
    def bounds(self) -> tuple[Array, Array]:
        low, high = np.array([p.bounds for p in self.sought]).T
        return self.position(low), self.position(high)


@dataclass(frozen=True, eq=False)
class _Point:
    """A place of the search, and what is seen from there.

    Attributes:
        position: in the search's coordinates, shape (k,).
        values: symbol -> value of the constants, x0 and v0.
        sight: what is seen.
        residual: predicted - measured, in metres, shape (n,).
        slopes: derivative of the prediction by the coordinates, shape (n, k).
    """

    position: Array
    values: dict[str, float]
    sight: Sight
    residual: Array
    slopes: Array

    @property
    def squares(self) -> float:
        return float(self.residual @ self.residual)

    @property
    def is_finite(self) -> bool:
        return bool(np.all(np.isfinite(self.residual)) and np.all(np.isfinite(self.slopes)))

    def is_as_good_as(self, ahead: Array, rounding: float) -> bool:
        """Whether the prediction at another place differs by next to nothing, in standard errors or at all."""
        n, k = self.slopes.shape
        sigma = math.sqrt(self.squares / max(1, n - k))
        return bool(np.linalg.norm(self.slopes @ (ahead - self.position)) <= max(ARRIVED * sigma, rounding))


def _search(
    model: Model, motion: Motion, start: Mapping[str, float], *, is_rough: bool = False
) -> Generator[Glance, None, Fit]:
    """Levenberg and Marquardt's method, in slices; a rough search only says where it ended."""
    coordinates = _Coordinates.of(model, motion)
    optimizer = LevenbergMarquardt(DAMPING, coordinates.bounds)
    position = np.clip(coordinates.position([start[symbol] for symbol in model.sought]), *coordinates.bounds)
    n = len(motion.position)
    rounding = ROUNDING * float(np.ptp(motion.position)) * math.sqrt(n)
    best: _Point | None = None
    for iteration in range(BUDGET + 1):
        numbers = coordinates.numbers(position)
        values = {"v0": 0.0} | dict(zip(model.sought, numbers.tolist(), strict=True))
        looking = look(model, motion, values)
        while True:
            try:
                steps = next(looking)
            except StopIteration as end:
                sight: Sight = end.value
                break
            rms = math.sqrt(best.squares / n) if best else math.inf
            yield Glance(steps, 0 if is_rough else iteration, best.values if best else values, rms)
        with np.errstate(all="ignore"):
            # v0 comes last, and is left out where it is not sought.
            slopes = sight.jacobian[:, : len(numbers)] * np.where(coordinates.logarithmic, numbers, coordinates.scale)
            point = _Point(position, values, sight, sight.position - motion.position, slopes)
            if point.is_finite and (best is None or point.squares < best.squares):
                best = point
            change = optimizer.step(_view(point))
        if best is None or not np.all(np.isfinite(change)):
            return _ended(model, motion, best or point, Ending.DIVERGED, iteration, is_rough)
        if best.is_as_good_as(position + change, rounding):
            return _ended(model, motion, best, Ending.CONVERGED, iteration, is_rough)
        position = position + change
    return _ended(model, motion, best or point, Ending.BUDGET, BUDGET, is_rough)


def _view(point: _Point) -> View:
    n = len(point.residual)
    gradient = point.slopes.T @ point.residual * (2 / n)
    return View(point.position, point.squares / n, gradient, point.residual, lambda: point.slopes)


def _ended(model: Model, motion: Motion, point: _Point, ending: Ending, iterations: int, is_rough: bool) -> Fit:
    uncertainty: Uncertainty | None = None
    warnings: tuple[str, ...] = ()
    if point.is_finite and not is_rough:
        ranges = model.parameters(motion)
        sought = [ranges[symbol] for symbol in model.sought]
        uncertainty, warnings = _uncertainty(point, sought), _warnings(point, sought)
    count = f"{iterations} iteration" if iterations == 1 else f"{iterations} iterations"
    sentence = _SENTENCES[ending].format(count)
    return Fit(model, ending, sentence, iterations, point.values, point.sight, uncertainty, warnings)


_SENTENCES = {
    Ending.CONVERGED: "Converged after {}: what is left to go is far below the noise.",
    Ending.BUDGET: "Not converged within {}. Look at the units, at the mass and at the sign of the force.",
    Ending.DIVERGED: "The search left the range of numbers. Look at the units, at the mass and at the sign of the "
    "force.",
}


def _uncertainty(point: _Point, sought: Sequence[Parameter]) -> Uncertainty:
    values = [point.values[p.symbol] for p in sought]
    return estimate(point.residual, point.sight.jacobian[:, : len(sought)], sought, values)


def _warnings(point: _Point, sought: Sequence[Parameter]) -> tuple[str, ...]:
    """What the data leave open once x0, which nobody asked for, is out of the way.

    An offset that is fitted along takes the mean from everything else (Frisch and Waugh, *Econometrica* 1, 1933).
    """
    residual = point.residual
    kept = [i for i, parameter in enumerate(sought) if parameter.symbol != "x0"]
    slopes = point.sight.jacobian[:, kept]
    parameters = [sought[i] for i in kept]
    values = [point.values[p.symbol] for p in parameters]
    return estimate(residual - residual.mean(), slopes - slopes.mean(axis=0), parameters, values).warnings


def moving_start(fit: Fit, motion: Motion) -> str | None:
    """A warning where a record contradicts a start from rest: Rao's score test, once in a thousand records by chance.

    Were v0 freed, one Gauss-Newton step would lower the squares by a part that is χ² distributed with one degree of
    freedom, in units of the residual's variance. Source: Seber and Wild, *Nonlinear Regression*, Wiley 1989, section
    5.8 (there with F, to which this tends for many samples).
    """
    if not fit.model.at_rest or fit.uncertainty is None:
        return None
    slopes = fit.sight.jacobian
    unit = np.linalg.norm(slopes, axis=0)
    residual = fit.sight.position - motion.position
    steps, left, *_ = np.linalg.lstsq(slopes / unit, residual, rcond=1e-10)
    rest = residual - (slopes / unit) @ steps
    variance = float(rest @ rest) / (len(residual) - slopes.shape[1])
    gained = float(residual @ residual - rest @ rest)
    if not gained > 10.83 * variance:
        return None
    return (
        f"The record contradicts a start from rest: it moves at about "
        f"{quantity(float(-steps[-1] / unit[-1]), 'm/s', 2)} in its first row. Choose a start in motion."
    )
