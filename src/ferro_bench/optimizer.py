"""From what is seen at a point to the next step. Arrays in, steps out: an optimizer knows neither tape nor plant.

The loop evaluates one point an iterate, shows it as a `View` and asks for a step. The first-order methods answer from
the gradient and always go on from where they are. `LBFGS` and `LevenbergMarquardt` also judge the point: if it is worse
than the best one so far, or left the range of numbers, their step leads back, to a more careful trial from the best
point. An iterate of theirs is thus a trial; the loss of the iterates need not fall, that of the best one does.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .dataset import Array


@dataclass(frozen=True, eq=False)
class View:
    """What is seen from one point of a search over k parameters, with n measured samples.

    Attributes:
        position: the parameters there, shape (k,).
        loss: the mean squared error there, in the measured unit squared.
        gradient: ∂loss/∂parameter, shape (k,).
        residual: predicted - measured, in the measured unit, shape (n,).
        jacobian: computes ∂predicted/∂parameter, shape (n, k); only when asked.
    """

    position: Array
    loss: float
    gradient: Array
    residual: Array
    jacobian: Callable[[], Array]


class Optimizer(Protocol):
    """Turns the views of one run, in order, into steps. It may remember earlier views: make one a run.

    Attributes:
        returns_to_best: whether a point that is no better than the best so far is a failed trial, from which the next
            step leads back.
    """

    returns_to_best: bool

    def step(self, view: View) -> Array:
        """What to add to `view.position`, shape (k,). It raises nothing; it may hold NaN where the view does."""


class GradientDescent:
    """Step against the gradient: Δp = -rate ∇L.

    Near a minimum with curvature h this shrinks the error by the factor 1 - rate·h a step, so it needs rate < 2/h;
    above that every step overshoots by more than it gained (Nocedal and Wright, *Numerical Optimization*, 2nd ed.,
    Springer 2006, section 3.3).

    Args:
        rate: the learning rate, in parameter units squared per unit of loss.
    """

    returns_to_best = False

    def __init__(self, rate: float) -> None:
        self.rate = rate

    def step(self, view: View) -> Array:
        return -self.rate * view.gradient


class Momentum:
    """The heavy ball: Δp = -rate ∇L + keep · (the step before).

    Along a valley the steps add up, to 1 / (1 - keep) times those of gradient descent; across it they cancel. Near a
    minimum with curvature h it needs rate < 2 (1 + keep) / h.

    Source: Polyak, "Some methods of speeding up the convergence of iteration methods", USSR Computational Mathematics
    and Mathematical Physics 4(5), 1964, pages 1-17.

    Args:
        rate: the learning rate, in parameter units squared per unit of loss.
        keep: the share of the last step that goes on, from 0 to below 1.
    """

    returns_to_best = False

    def __init__(self, rate: float, keep: float = 0.9) -> None:
        self.rate = rate
        self.keep = keep
        self._last: Array | float = 0.0

    def step(self, view: View) -> Array:
        step = self.keep * self._last - self.rate * view.gradient
        self._last = step
        return step


class Adam:
    """Step by the running mean of the gradient over the running root mean square, both corrected for their start.

    The step has about the length of the rate whatever the gradient's scale.

    Source: Kingma and Ba, "Adam: A Method for Stochastic Optimization", ICLR 2015, arXiv:1412.6980, algorithm 1.

    Args:
        rate: the learning rate, in units of the parameter.
    """

    returns_to_best = False

    MEAN_DECAY = 0.9
    SQUARE_DECAY = 0.999
    FLOOR = 1e-8

    def __init__(self, rate: float) -> None:
        self.rate = rate
        self._steps = 0
        self._mean: Array | float = 0.0
        self._square: Array | float = 0.0

    def step(self, view: View) -> Array:
        self._steps += 1
        self._mean = self.MEAN_DECAY * self._mean + (1 - self.MEAN_DECAY) * view.gradient
        self._square = self.SQUARE_DECAY * self._square + (1 - self.SQUARE_DECAY) * view.gradient * view.gradient
        mean = self._mean / (1 - self.MEAN_DECAY**self._steps)
        square = self._square / (1 - self.SQUARE_DECAY**self._steps)
        return -self.rate * mean / (np.sqrt(square) + self.FLOOR)


# Methods that come back to the best point -------------------------------------------------------------------------


Bounds = tuple[ArrayLike, ArrayLike]  # the lowest and the highest values, (k,) each or one number for all


class _Box:
    """Where the parameters may be. Each trial is projected into it.

    A parameter at its bound that the loss would push beyond is held there while the step is made, and so does not
    distort the step of the others. Source: Bertsekas, "Projected Newton methods for optimization problems with simple
    constraints", SIAM Journal on Control and Optimization 20(2), 1982, pages 221-246.
    """

    ROUNDING = 4 * float(np.finfo(np.float64).eps)

    def __init__(self, bounds: Bounds | None) -> None:
        low, high = (-np.inf, np.inf) if bounds is None else bounds
        self.low, self.high = np.asarray(low, dtype=np.float64), np.asarray(high, dtype=np.float64)
        if not np.all(self.low <= self.high):
            raise ValueError(f"each lower bound must lie below its upper bound, but they are {low} and {high}")

    def nearest(self, position: Array) -> Array:
        """The point of the box that is nearest to a position, shape (k,)."""
        return np.minimum(np.maximum(position, self.low), self.high)

    def free(self, position: Array, gradient: Array) -> NDArray[np.bool_]:
        """Which parameters may move against the gradient, shape (k,)."""
        rounding = self.ROUNDING * np.abs(position)  # position + (bound - position) may miss the bound by so much
        against_low = (position - rounding <= self.low) & (gradient > 0)
        against_high = (position + rounding >= self.high) & (gradient < 0)
        return ~(against_low | against_high)


@dataclass(frozen=True, eq=False)
class _Point:
    position: Array  # (k,)
    loss: float
    gradient: Array  # (k,)


class LBFGS:
    """Step by an inverse Hessian that is built from the last few changes of the gradient (limited-memory BFGS).

    The two-loop recursion turns the gradient into the step. A pair of changes enters the memory only if it shows
    positive curvature, sᵀy > 0, which keeps the inverse Hessian positive definite and the step downhill.

    The published method searches along each step for a point that meets Wolfe's conditions. Here the loop evaluates
    one point an iterate, so instead: a step has at most the length `cap`; a trial whose loss is no lower is answered by
    half the step, from the best point so far; and after `PATIENCE` of these in a row the memory, which has then misled,
    is dropped, and the next half is taken straight down the gradient. As long as the memory is empty, the step is
    -∇L · L / |∇L|² (Polyak), which has the right unit and, for a loss that can fall to zero, about the right length.

    Sources: Nocedal and Wright, *Numerical Optimization*, 2nd ed., Springer 2006, algorithms 7.4 and 7.5. Polyak,
    "Minimization of unsmooth functionals", USSR Computational Mathematics and Mathematical Physics 9(3), 1969,
    pages 14-29.

    Args:
        cap: how far one step may move each parameter, in its unit, one number or shape (k,); a longer step is shortened
            in its direction.
        memory: how many pairs of changes are kept.
        bounds: the lowest and the highest values of the parameters, one number or shape (k,) each.

    Raises:
        ValueError: if a lower bound lies above its upper bound.
    """

    returns_to_best = True

    PATIENCE = 8
    CURVATURE = 1e-10  # sᵀy must exceed this share of |s| |y|

    def __init__(self, cap: ArrayLike, memory: int = 10, bounds: Bounds | None = None) -> None:
        self.cap = np.asarray(cap, dtype=np.float64)
        self._box = _Box(bounds)
        self._pairs: deque[tuple[Array, Array]] = deque(maxlen=memory)  # change of position, change of gradient
        self._best: _Point | None = None
        self._trial: Array | float = 0.0  # the last step from there
        self._rises = 0  # trials in a row whose loss was no lower

    def step(self, view: View) -> Array:
        inside = self._box.nearest(view.position)
        best = self._best
        if best is None and not np.array_equal(inside, view.position):
            return inside - view.position
        if _is_finite(view.loss, view.gradient) and (best is None or view.loss < best.loss):
            point = _Point(view.position, view.loss, view.gradient)
            if best is not None:
                self._learn(point.position - best.position, point.gradient - best.gradient)
            self._best, self._trial, self._rises = point, self._fresh_trial(point), 0
        elif best is not None:
            point = best
            self._rises += 1
            self._trial = self._shorter_trial(point)
        else:
            return np.full_like(view.position, np.nan)
        return self._box.nearest(point.position + self._trial) - view.position

    def _learn(self, s: Array, y: Array) -> None:
        if s @ y > self.CURVATURE * np.sqrt((s @ s) * (y @ y)):
            self._pairs.append((s, y))

    def _fresh_trial(self, point: _Point) -> Array:
        free = self._box.free(point.position, point.gradient)
        gradient = np.where(free, point.gradient, 0.0)
        if not np.any(gradient):
            return gradient
        step = np.where(free, self._recursion(gradient) if self._pairs else _polyak(gradient, point.loss), 0.0)
        return step / max(1.0, float(np.max(np.abs(step) / self.cap)))

    def _shorter_trial(self, point: _Point) -> Array:
        half = np.asarray(self._trial) / 2
        if self._rises % self.PATIENCE:
            return half
        self._pairs.clear()
        gradient = np.where(self._box.free(point.position, point.gradient), point.gradient, 0.0)
        steepness = np.linalg.norm(gradient)
        return -gradient * (np.linalg.norm(half) / steepness) if steepness > 0 else half

    def _recursion(self, gradient: Array) -> Array:
        """Minus the inverse Hessian times the gradient: algorithm 7.4, begun with the scale of equation 7.20."""
        product = gradient
        shares = []
        for s, y in reversed(self._pairs):
            shares.append((s @ product) / (s @ y))
            product = product - shares[-1] * y
        s, y = self._pairs[-1]
        product = product * ((s @ y) / (y @ y))
        for (s, y), share in zip(self._pairs, reversed(shares), strict=True):
            product = product + (share - (y @ product) / (s @ y)) * s
        return -product


def _polyak(gradient: Array, loss: float) -> Array:
    """-∇L · L / |∇L|², without squaring what might then be out of range."""
    largest = np.max(np.abs(gradient))
    direction = gradient / largest
    step: Array = -direction * (loss / largest / (direction @ direction))
    return step


@dataclass(frozen=True, eq=False)
class _Linearized:
    """The residual to first order around a position, r + J h, with J = Q R.

    Attributes:
        position: where, shape (k,).
        squares: rᵀr, in the measured unit squared.
        factor: R, shape (min(n, k), k).
        projected: Qᵀr, shape (min(n, k),).
    """

    position: Array
    squares: float
    factor: Array
    projected: Array

    @property
    def half_gradient(self) -> Array:
        """Jᵀr, shape (k,)."""
        return self.factor.T @ self.projected

    @property
    def lengths(self) -> Array:
        """√diag(JᵀJ), the length of each column, shape (k,)."""
        lengths: Array = np.linalg.norm(self.factor, axis=0)
        return lengths

    def step(self, damping: float, free: NDArray[np.bool_]) -> Array:
        """The minimizer of |r + J h|² + damping · hᵀ diag(JᵀJ) h over the parameters that are free, shape (k,).

        In units of its own column's length each parameter has a damped, and hence well-determined, problem. A parameter
        whose column is all zero does not occur in it, and stays.
        """
        lengths = self.lengths
        moving = free & (lengths > 0)
        step = np.zeros(len(lengths))
        if np.any(moving):
            columns = self.factor[:, moving] / lengths[moving]
            count = columns.shape[1]
            rows = np.vstack([columns, np.sqrt(damping) * np.eye(count)])
            values = np.concatenate([-self.projected, np.zeros(count)])
            step[moving] = np.linalg.lstsq(rows, values, rcond=None)[0] / lengths[moving]
        return step

    def promised(self, step: Array) -> float:
        """By how much a step would lower rᵀr, were the residual linear: |r|² - |r + J h|²."""
        change = self.factor @ step
        return -float(2 * (change @ self.projected) + change @ change)


class LevenbergMarquardt:
    """Step to the minimum of the linearized residual, on a leash: (JᵀJ + λ diag(JᵀJ)) Δp = -Jᵀr.

    With a small λ this is Gauss and Newton's step, with a large one a short step downhill. diag(JᵀJ) makes it the same
    step whatever the units of the parameters. λ follows the gain ratio, what a step lowered the squares by over what
    the linearization promised (Nielsen's rule): a step that kept its promise divides λ by up to three; one that raised
    the squares, or left the range of numbers, multiplies it by 2, 4, 8, … in a row, and is answered by the shorter step
    from the best point so far. The equations are solved as the least-squares problem that they are the normal equations
    of, from a QR factorization, which loses no digits to squaring J.

    A singular J raises nothing: a parameter whose column is all zero stays where it is, and of parameters that trade
    against each other the damping picks the shortest change.

    Sources: Madsen, Nielsen and Tingleff, *Methods for Non-Linear Least Squares Problems*, 2nd ed., Technical
    University of Denmark 2004, section 3.2. Marquardt, "An algorithm for least-squares estimation of nonlinear
    parameters", SIAM Journal 11(2), 1963, pages 431-441, and Moré, "The Levenberg-Marquardt algorithm: implementation
    and theory", in *Numerical Analysis*, Springer 1978, pages 105-116, for the scaling and the least-squares form.

    Args:
        damping: λ at the start, without unit: small where the start is trusted, 1 where it is not.
        bounds: the lowest and the highest values of the parameters, one number or shape (k,) each.

    Raises:
        ValueError: if a lower bound lies above its upper bound.
    """

    returns_to_best = True

    RANGE = (1e-15, 1e100)  # of λ

    def __init__(self, damping: float = 1e-3, bounds: Bounds | None = None) -> None:
        self.damping = damping
        self._box = _Box(bounds)
        self._best: _Linearized | None = None
        self._growth = 2.0
        self._promised = 0.0

    def step(self, view: View) -> Array:
        inside = self._box.nearest(view.position)
        if self._best is None and not np.array_equal(inside, view.position):
            return inside - view.position
        better = self._improvement(view)
        if better is not None:
            if self._best is not None:
                self._loosen(self._best.squares - better.squares)
            self._best = better
        elif self._best is not None:
            self._tighten()
        else:
            return np.full_like(view.position, np.nan)
        best = self._best
        free = self._box.free(best.position, best.half_gradient)
        ahead = self._box.nearest(best.position + best.step(self.damping, free))
        self._promised = best.promised(ahead - best.position)
        return ahead - view.position

    def _improvement(self, view: View) -> _Linearized | None:
        """The view, linearized, if it is the best so far; only then the Jacobian is asked for."""
        squares = float(view.residual @ view.residual)
        if not squares < (np.inf if self._best is None else self._best.squares):  # NaN is not less
            return None
        q, r = np.linalg.qr(view.jacobian())
        linearized = _Linearized(view.position, squares, factor=r, projected=q.T @ view.residual)
        return linearized if _is_finite(linearized.lengths, linearized.half_gradient) else None

    def _loosen(self, gained: float) -> None:
        # Cut short by a bound, a step may gain what was not promised: that says nothing about λ.
        ratio = min(1.0, gained / self._promised) if self._promised > 0 else 0.5
        self._set_damping(self.damping * max(1 / 3, 1 - (2 * ratio - 1) ** 3))
        self._growth = 2.0

    def _tighten(self) -> None:
        self._set_damping(self.damping * self._growth)
        self._growth *= 2.0

    def _set_damping(self, damping: float) -> None:
        lowest, highest = self.RANGE
        self.damping = min(max(damping, lowest), highest)


def _is_finite(*numbers: Any) -> bool:
    return all(bool(np.all(np.isfinite(number))) for number in numbers)
