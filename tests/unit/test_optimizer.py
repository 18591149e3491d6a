"""The optimizers against what is known beforehand: closed forms, published algorithms, fits with a known answer."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest

from ferro_bench.optimizer import LBFGS, Adam, GradientDescent, LevenbergMarquardt, Momentum, Optimizer, View

Array = np.ndarray


@dataclass
class Fit:
    """A least-squares problem: its residual and Jacobian by position, and how often the latter was asked for."""

    residual: Callable[[Array], Array]
    jacobian: Callable[[Array], Array]
    asked: list[Array] = field(default_factory=list)

    def view(self, position: Array) -> View:
        with np.errstate(all="ignore"):
            residual = self.residual(position)
            gradient = 2 / len(residual) * self.jacobian(position).T @ residual
            loss = float(np.mean(residual * residual))
        return View(position, loss, gradient, residual, lambda: self.ask(position))

    def ask(self, position: Array) -> Array:
        self.asked.append(position)
        return self.jacobian(position)


def run(fit: Fit, optimizer: Optimizer, start: Any, steps: int) -> list[View]:
    """What is seen on the way, the start first; as in the loop, what leaves the range of numbers does so quietly."""
    views = [fit.view(np.array(start, dtype=float))]
    for _ in range(steps):
        with np.errstate(all="ignore"):
            ahead = views[-1].position + optimizer.step(views[-1])
        views.append(fit.view(ahead))
    return views


def best(views: list[View]) -> View:
    return min(views, key=lambda view: view.loss)


def seen(gradient: Array) -> View:
    """A view of which all but the gradient must not matter."""

    def refuse() -> Array:
        raise AssertionError("a first-order method asked for the Jacobian")

    nothing = np.full(len(gradient), np.nan)
    return View(nothing, math.nan, gradient, nothing, refuse)


def linear(matrix: Array, values: Array) -> Fit:
    return Fit(lambda p: matrix @ p - values, lambda p: matrix)


# First-order methods on the quadratic ½ Σ h p²

CURVATURES = np.array([0.5, 2.0, 8.0])
START = np.array([1.0, -2.0, 0.5])


def descend(optimizer: Optimizer, steps: int) -> Array:
    position = START
    for _ in range(steps):
        position = position + optimizer.step(seen(CURVATURES * position))
    return position


def test_gradient_descent_shrinks_each_error_by_its_own_factor() -> None:
    for steps in (1, 2, 10):
        expected = (1 - 0.1 * CURVATURES) ** steps * START
        np.testing.assert_allclose(descend(GradientDescent(0.1), steps), expected, rtol=1e-12)


def test_gradient_descent_is_stable_up_to_two_over_the_curvature() -> None:
    limit = 2 / CURVATURES.max()
    assert np.all(np.abs(descend(GradientDescent(0.99 * limit), 2000)) < 1e-12)
    assert np.max(np.abs(descend(GradientDescent(1.01 * limit), 2000))) > 1e12


@pytest.mark.parametrize("keep", [0.0, 0.5, 0.9])
def test_momentum_solves_its_recurrence(keep: float) -> None:
    """p' = p - rate h p + keep (p - p before) has p = a r₁ⁿ + b r₂ⁿ, with r² - (1 + keep - rate h) r + keep = 0."""
    rate = 0.1
    for h, start, found in zip(CURVATURES, START, descend(Momentum(rate, keep), 25), strict=True):
        roots = np.roots([1.0, -(1 + keep - rate * h), keep])
        shares = np.linalg.solve([[1.0, 1.0], roots], [start, start - rate * h * start])
        assert found == pytest.approx((shares @ roots**25).real, rel=1e-9, abs=1e-12)


def test_momentum_is_stable_up_to_two_times_one_plus_keep_over_the_curvature() -> None:
    limit = 2 * (1 + 0.5) / CURVATURES.max()
    assert np.all(np.abs(descend(Momentum(0.98 * limit, 0.5), 3000)) < 1e-9)
    assert np.max(np.abs(descend(Momentum(1.02 * limit, 0.5), 3000))) > 1e9


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e6])
def test_the_first_step_of_adam_has_the_size_of_the_rate_whatever_the_gradients(scale: float) -> None:
    step = Adam(0.1).step(seen(scale * np.array([1.0, -3.0])))
    np.testing.assert_allclose(step, [-0.1, 0.1], rtol=1e-4)


def test_adam_follows_the_published_algorithm() -> None:
    """Kingma and Ba, algorithm 1, number by number, against 20 steps on a bent bowl."""

    def gradient(position: list[float]) -> list[float]:
        return [h * p + math.sin(3 * p) for h, p in zip(CURVATURES.tolist(), position, strict=True)]

    alpha, beta1, beta2, epsilon = 0.05, 0.9, 0.999, 1e-8
    theta, m, v = START.tolist(), [0.0] * 3, [0.0] * 3
    optimizer, position = Adam(alpha), START
    for t in range(1, 21):
        g = gradient(theta)
        for i in range(3):
            m[i] = beta1 * m[i] + (1 - beta1) * g[i]
            v[i] = beta2 * v[i] + (1 - beta2) * g[i] ** 2
            m_hat = m[i] / (1 - beta1**t)
            v_hat = v[i] / (1 - beta2**t)
            theta[i] = theta[i] - alpha * m_hat / (math.sqrt(v_hat) + epsilon)
        position = position + optimizer.step(seen(np.array(gradient(position.tolist()))))
        np.testing.assert_allclose(position, theta, rtol=1e-13)


# Fits with a known answer

ROSENBROCK = Fit(
    lambda p: np.array([10 * (p[1] - p[0] ** 2), 1 - p[0]]),
    lambda p: np.array([[-20 * p[0], 10.0], [-1.0, 0.0]]),
)


@pytest.mark.parametrize(
    ("optimizer", "steps"), [(LevenbergMarquardt(), 60), (LBFGS(cap=1.0), 100)], ids=["LM", "L-BFGS"]
)
def test_rosenbrocks_valley_is_followed_to_its_end(optimizer: Optimizer, steps: int) -> None:
    np.testing.assert_allclose(run(ROSENBROCK, optimizer, [-1.2, 1.0], steps)[-1].position, [1.0, 1.0], rtol=1e-8)


TIMES = np.linspace(0.0, 4.0, 25)
DECAY = Fit(
    lambda p: p[0] * np.exp(-p[1] * TIMES) - 2.5 * np.exp(-1.3 * TIMES),
    lambda p: np.stack([np.exp(-p[1] * TIMES), -p[0] * TIMES * np.exp(-p[1] * TIMES)], axis=1),
)


@pytest.mark.parametrize(
    ("optimizer", "steps"), [(LevenbergMarquardt(), 15), (LBFGS(cap=1.0), 40)], ids=["LM", "L-BFGS"]
)
def test_an_exponential_decay_is_recovered(optimizer: Optimizer, steps: int) -> None:
    np.testing.assert_allclose(run(DECAY, optimizer, [1.0, 0.2], steps)[-1].position, [2.5, 1.3], rtol=1e-7)


BASIS = np.exp(-TIMES)
A_WHERE_B_IS_1 = BASIS @ (2.5 * np.exp(-1.3 * TIMES)) / (BASIS @ BASIS)  # a linear fit

MISRA_X = np.array([77.6, 114.9, 141.1, 190.8, 239.9, 289.0, 332.8, 378.4, 434.8, 477.3, 536.8, 593.1, 689.1, 760.0])
MISRA_Y = np.array([10.07, 14.73, 17.94, 23.93, 29.61, 35.18, 40.02, 44.82, 50.76, 55.05, 61.01, 66.4, 75.47, 81.78])
MISRA = Fit(
    lambda p: p[0] * (1 - np.exp(-p[1] * MISRA_X)) - MISRA_Y,
    lambda p: np.stack([1 - np.exp(-p[1] * MISRA_X), p[0] * MISRA_X * np.exp(-p[1] * MISRA_X)], axis=1),
)


@pytest.mark.parametrize("start", [(500.0, 1e-4), (250.0, 5e-4)])
def test_levenberg_and_marquardt_reach_the_certified_fit_of_parameters_that_differ_a_millionfold(
    start: tuple[float, float],
) -> None:
    """NIST Statistical Reference Datasets, Misra1a, with the two starts that come with it."""
    found = best(run(MISRA, LevenbergMarquardt(), start, 30))
    np.testing.assert_allclose(found.position, [2.3894212918e2, 5.5015643181e-4], rtol=1e-7)
    assert found.residual @ found.residual == pytest.approx(1.2455138894e-1, rel=1e-9)


RANDOM = np.random.default_rng(5)
MATRIX, VALUES = RANDOM.standard_normal((20, 3)), RANDOM.standard_normal(20)


@pytest.mark.parametrize(
    ("optimizer", "steps"), [(LevenbergMarquardt(), 6), (LBFGS(cap=10.0), 20)], ids=["LM", "L-BFGS"]
)
def test_a_linear_fit_is_the_least_squares_solution(optimizer: Optimizer, steps: int) -> None:
    expected = np.linalg.lstsq(MATRIX, VALUES)[0]
    np.testing.assert_allclose(run(linear(MATRIX, VALUES), optimizer, START, steps)[-1].position, expected, rtol=1e-8)


@pytest.mark.parametrize("make", [LevenbergMarquardt, lambda bounds: LBFGS(1.0, bounds=bounds)], ids=["LM", "L-BFGS"])
@pytest.mark.parametrize("low", [[-0.05, -0.1, 0.02], [0.1, -1.0, -0.3], [-1.0, -1.0, -1.0], [0.0, 0.0, 0.0]])
def test_within_bounds_it_finds_the_constrained_minimum(make: Any, low: list[float]) -> None:
    """By trying every choice of parameters at a bound: the best of the feasible solutions is the constrained one."""
    bounds = np.array(low), np.array(low) + 0.25
    mixed = MATRIX @ np.array([[1.0, 0.9, 0.0], [0.0, 1.0, 0.9], [0.5, 0.0, 1.0]])  # correlates the columns
    fit = linear(mixed, VALUES)
    candidates = []
    for sides in product([None, 0, 1], repeat=3):
        position = np.array([0.0 if side is None else bounds[side][i] for i, side in enumerate(sides)])
        moving = [i for i, side in enumerate(sides) if side is None]
        position[moving] = np.linalg.lstsq(mixed[:, moving], VALUES - mixed @ position)[0]
        if np.all((bounds[0] <= position) & (position <= bounds[1])):
            candidates.append(fit.view(position))
    views = run(fit, make(bounds=bounds), bounds[0] + 0.2, 60)
    np.testing.assert_allclose(views[-1].position, best(candidates).position, atol=1e-7)
    for view in views:
        assert np.all((bounds[0] - 1e-12 <= view.position) & (view.position <= bounds[1] + 1e-12))


# L-BFGS


def test_with_full_memory_it_is_bfgs() -> None:
    """Nocedal and Wright, equation 6.17, with the whole inverse Hessian, begun anew from γ I at each step."""
    views = run(DECAY, LBFGS(cap=0.2), [1.9, 1.0], 9)
    pairs: list[tuple[Array, Array]] = []
    compared = 0
    for now, ahead in pairwise(views):
        step = ahead.position - now.position
        assert ahead.loss < now.loss  # no trial failed, so that each step starts from the point before
        if pairs:
            s, y = pairs[-1]
            inverse = (s @ y) / (y @ y) * np.eye(2)
            for s, y in pairs[-10:]:
                skew = np.eye(2) - np.outer(s, y) / (s @ y)
                inverse = skew @ inverse @ skew.T + np.outer(s, s) / (s @ y)
            full = -inverse @ now.gradient
            shortened = full * min(1.0, 0.2 / np.max(np.abs(full)))
            np.testing.assert_allclose(step, shortened, rtol=1e-7)
            compared += 1
        pairs.append((step, ahead.gradient - now.gradient))
    assert compared == 8


def test_its_first_step_is_polyaks() -> None:
    """On p² it goes halfway to the minimum, whatever the unit of the loss."""
    for unit in (1e-6, 1.0, 1e6):
        fit = Fit(lambda p, u=unit: u * p, lambda p, u=unit: u * np.eye(1))
        np.testing.assert_allclose(LBFGS(cap=10.0).step(fit.view(np.array([3.0]))), [-1.5], rtol=1e-12)


def test_no_step_is_longer_than_the_cap_of_any_parameter() -> None:
    cap = np.array([0.3, 0.01])
    steps = np.diff([view.position for view in run(ROSENBROCK, LBFGS(cap), [-1.2, 1.0], 10)], axis=0)
    assert np.all(np.abs(steps) <= cap * (1 + 1e-12))
    assert np.max(np.abs(steps) / cap) > 0.999


def test_negative_curvature_does_not_enter_its_memory() -> None:
    """The loss 2 + cos p is concave at first; a pair with sᵀy < 0 would turn the step uphill."""
    wave = Fit(lambda p: np.sqrt(2 + np.cos(p)), lambda p: np.diag(-np.sin(p) / (2 * np.sqrt(2 + np.cos(p)))))
    views = run(wave, LBFGS(cap=0.4), [0.3], 30)
    assert views[1].gradient[0] < views[0].gradient[0] < 0  # concave: ahead it falls more steeply
    assert np.all(np.diff([view.position[0] for view in views[:4]]) > 0)
    assert best(views).position[0] == pytest.approx(math.pi, abs=1e-6)


def test_its_failed_trials_are_halved_and_in_the_end_taken_straight_down() -> None:
    optimizer = LBFGS(cap=1.0)
    start, ahead = run(ROSENBROCK, optimizer, [-1.2, 1.0], 1)
    trial = optimizer.step(ahead)
    assert abs(np.cross(np.append(trial, 0), np.append(ahead.gradient, 0))[2]) > 0.01  # a direction of its own
    for failure in range(1, 2 * LBFGS.PATIENCE):
        elsewhere = ahead.position + np.array([failure, -failure])
        risen = View(elsewhere, ahead.loss if failure == 1 else math.inf, start.gradient, start.residual, list)
        half = elsewhere + optimizer.step(risen) - ahead.position
        if failure < LBFGS.PATIENCE:
            np.testing.assert_allclose(half, trial / 2**failure, atol=1e-14)
        else:
            down = -ahead.gradient / np.linalg.norm(ahead.gradient)
            np.testing.assert_allclose(half, down * np.linalg.norm(trial) / 2**failure, atol=1e-14)
    # The memory is empty: after a pair without curvature, which it does not learn from, the step is the first one's.
    concave = View(ahead.position + half, ahead.loss / 2, 2 * ahead.gradient, ahead.residual, list)
    np.testing.assert_allclose(optimizer.step(concave), LBFGS(cap=1.0).step(concave), rtol=1e-14)


# Levenberg and Marquardt


@pytest.mark.parametrize(("fit", "start"), [(MISRA, (500.0, 1e-4)), (DECAY, (0.3, 5.0))], ids=["Misra", "decay"])
def test_each_trial_solves_the_damped_normal_equations_and_damping_follows_nielsen(
    fit: Fit, start: tuple[float, float]
) -> None:
    """Madsen, Nielsen and Tingleff, algorithm 3.16, with diag(JᵀJ) in place of I, written with the normal equations."""
    optimizer = LevenbergMarquardt()
    position = x = np.array(start)
    mu, nu = 1e-3, 2.0
    accepted = []
    for _ in range(14):
        position = position + optimizer.step(fit.view(position))
        r, jacobian = fit.residual(x), fit.jacobian(x)
        normal, g = jacobian.T @ jacobian, jacobian.T @ r
        scale = np.diag(np.diag(normal))
        h = np.linalg.solve(normal + mu * scale, -g)
        np.testing.assert_allclose(position, x + h, rtol=1e-6)
        with np.errstate(all="ignore"):
            ahead = fit.residual(x + h)
            ratio = (r @ r - ahead @ ahead) / (h @ (mu * scale @ h - g))
        accepted.append(bool(ratio > 0))
        if ratio > 0:
            x, mu, nu = x + h, mu * max(1 / 3, 1 - (2 * ratio - 1) ** 3), 2.0
        else:
            mu, nu = mu * nu, nu * 2
    assert True in accepted and False in accepted


def test_what_a_step_promised_is_reckoned_up_to_where_a_bound_cut_it_short() -> None:
    """On a linear fit every promise is kept, which divides λ by three."""
    optimizer = LevenbergMarquardt(bounds=(START - 0.1, START + 0.1))
    run(linear(MATRIX, VALUES), optimizer, START, 2)
    assert optimizer.damping == pytest.approx(1e-3 / 3)


@pytest.mark.parametrize("second", [1e-60, 0.0])
def test_a_gain_where_next_to_nothing_was_promised_raises_nothing(second: float) -> None:
    optimizer = LevenbergMarquardt()
    for residual in ([1.0, second], [0.5, 0.0]):
        residuals = np.array(residual)
        step = optimizer.step(View(np.zeros(1), 0.0, np.zeros(1), residuals, lambda: np.array([[0.0], [1.0]])))
    assert np.all(np.isfinite(step))


def test_the_units_of_the_parameters_do_not_matter() -> None:
    scale = np.array([1e6, 1e-3])
    scaled = Fit(lambda p: DECAY.residual(p / scale), lambda p: DECAY.jacobian(p / scale) / scale)
    views = run(DECAY, LevenbergMarquardt(), [1.0, 0.2], 5)
    others = run(scaled, LevenbergMarquardt(), scale * [1.0, 0.2], 5)
    for view, other in zip(views, others, strict=True):
        np.testing.assert_allclose(other.position / scale, view.position, rtol=1e-9)


def test_a_parameter_that_never_reached_the_model_stays_and_the_others_are_found() -> None:
    idle = Fit(
        lambda p: DECAY.residual(p[[0, 2]]),
        lambda p: np.insert(DECAY.jacobian(p[[0, 2]]), 1, 0.0, axis=1),
    )
    views = run(idle, LevenbergMarquardt(), [1.0, 0.7, 0.2], 15)
    assert {view.position[1] for view in views} == {0.7}
    np.testing.assert_allclose(views[-1].position, [2.5, 0.7, 1.3], rtol=1e-7)
    none = Fit(lambda p: np.ones(4), lambda p: np.zeros((4, 2)))
    np.testing.assert_array_equal(LevenbergMarquardt().step(none.view(np.array([3.0, 4.0]))), [0.0, 0.0])


def test_of_two_parameters_that_act_as_their_sum_each_takes_half_the_change() -> None:
    column = np.exp(-1.3 * TIMES)
    twins = Fit(lambda p: (p[0] + p[1] - 2.5) * column, lambda p: np.stack([column, column], axis=1))
    views = run(twins, LevenbergMarquardt(), [1.0, 0.5], 100)
    np.testing.assert_allclose(views[-1].position, [1.5, 1.0], rtol=1e-6)


def test_fewer_samples_than_parameters_raise_nothing() -> None:
    matrix = MATRIX[:2]
    found = run(linear(matrix, VALUES[:2]), LevenbergMarquardt(), START, 20)[-1]
    np.testing.assert_allclose(found.residual, 0.0, atol=1e-9)


def test_the_jacobian_is_asked_for_at_improvements_only() -> None:
    fit = Fit(MISRA.residual, MISRA.jacobian)
    views = run(fit, LevenbergMarquardt(), (500.0, 1e-4), 12)
    lowest = np.minimum.accumulate([view.loss for view in views])
    improved = [views[0], *(view for i, view in enumerate(views[1:-1], 1) if view.loss < lowest[i - 1])]
    assert len(improved) < len(views) - 1
    np.testing.assert_array_equal(fit.asked, [view.position for view in improved])


# Both: trials that fail, and bad input

returning = pytest.mark.parametrize(
    "make",
    [LevenbergMarquardt, lambda bounds=None: LBFGS(cap=1.0, bounds=bounds)],
    ids=["LM", "L-BFGS"],
)


@returning
@pytest.mark.parametrize("spoilt", [1e6, math.inf, math.nan])
def test_a_failed_trial_is_answered_by_a_shorter_one_from_the_best_point(make: Any, spoilt: float) -> None:
    """The first two trials come back spoilt; the search goes on as if it had never been there, with shorter steps."""
    optimizer, start = make(), np.array([1.0, 0.2])
    first = optimizer.step(DECAY.view(start))
    lengths = [np.linalg.norm(first)]
    position = start + first
    for _ in range(2):
        bad = View(position, spoilt, np.full(2, spoilt), np.full(25, spoilt), lambda: np.full((25, 2), spoilt))
        with np.errstate(all="ignore"):
            position = position + optimizer.step(bad)
        lengths.append(np.linalg.norm(position - start))
        assert (position - start) @ DECAY.view(start).gradient < 0
    assert lengths[2] < lengths[1] < lengths[0]
    np.testing.assert_allclose(run(DECAY, optimizer, position, 40)[-1].position, [2.5, 1.3], rtol=1e-7)


@returning
def test_a_finite_loss_without_a_finite_derivative_is_no_place_to_go_on_from(make: Any) -> None:
    optimizer, start = make(), np.array([1.0, 0.2])
    ahead = start + optimizer.step(DECAY.view(start))
    better = DECAY.view(ahead)
    lost = View(
        ahead, better.loss / 2, np.array([0.1, math.nan]), better.residual / 2, lambda: np.full((25, 2), math.inf)
    )
    position = ahead + optimizer.step(lost)
    assert 0 < np.linalg.norm(position - start) < np.linalg.norm(ahead - start)


@returning
@pytest.mark.parametrize("spoilt", [math.inf, math.nan])
def test_a_start_outside_the_range_of_numbers_raises_nothing_and_claims_nothing(make: Any, spoilt: float) -> None:
    view = View(START, spoilt, np.full(3, spoilt), np.full(4, spoilt), lambda: np.full((4, 3), spoilt))
    with np.errstate(all="ignore"):
        assert np.all(np.isnan(make().step(view)))


def test_a_jacobian_whose_squares_leave_the_range_of_numbers_raises_nothing() -> None:
    view = View(START, 1.0, START, np.ones(4), lambda: np.full((4, 3), 1e200))
    with np.errstate(all="ignore"):
        assert np.all(np.isnan(LevenbergMarquardt().step(view)))


@returning
def test_at_the_minimum_it_stays(make: Any) -> None:
    views = run(DECAY, make(), [2.5, 1.3], 3)
    np.testing.assert_array_equal([view.position for view in views], [[2.5, 1.3]] * 4)


@returning
def test_trials_that_never_succeed_end_in_steps_of_nothing(make: Any) -> None:
    optimizer, start = make(), np.array([1.0, 0.2])
    position = start + optimizer.step(DECAY.view(start))
    for _ in range(1500):
        position = position + optimizer.step(View(position, math.nan, START[:2], np.full(25, math.nan), list))
    np.testing.assert_allclose(position, start, rtol=1e-12)


@returning
def test_a_start_outside_the_bounds_is_first_brought_inside_and_not_remembered(make: Any) -> None:
    """Not even where the loss is nowhere lower: b is held at 1, and a is then a linear fit."""
    views = run(DECAY, make(bounds=(0.0, [9.0, 1.0])), [2.5, 1.3], 40)
    np.testing.assert_allclose(views[1].position, [2.5, 1.0], rtol=1e-15)
    np.testing.assert_allclose(views[-1].position, [A_WHERE_B_IS_1, 1.0], rtol=1e-7)


@returning
def test_a_parameter_at_its_bound_waits_there_while_the_others_move(make: Any) -> None:
    found = run(DECAY, make(bounds=(0.0, [9.0, 1.0])), [1.0, 0.2], 40)[-1]
    np.testing.assert_allclose(found.position, [A_WHERE_B_IS_1, 1.0], rtol=1e-7)


@returning
def test_a_parameter_that_misses_its_bound_by_rounding_is_at_it(make: Any) -> None:
    at, beside = [
        make(bounds=(0.0, [9.0, 1.0])).step(DECAY.view(np.array([2.5, b]))) for b in (1.0, np.nextafter(1.0, 0.0))
    ]
    np.testing.assert_allclose(beside, at, rtol=1e-12, atol=1e-15)


@returning
@pytest.mark.parametrize("bounds", [(1.0, 0.0), ([0.0, 2.0], [1.0, 1.0]), (math.nan, 1.0)])
def test_bounds_the_wrong_way_round_are_refused(make: Any, bounds: Any) -> None:
    with pytest.raises(ValueError, match="lower bound"):
        make(bounds=bounds)


@pytest.mark.parametrize(
    "make",
    [lambda: GradientDescent(0.1), lambda: Momentum(0.1), lambda: Adam(0.1), lambda: LBFGS(1.0), LevenbergMarquardt],
    ids=["gradient descent", "momentum", "Adam", "L-BFGS", "LM"],
)
def test_two_optimizers_share_nothing_and_leave_what_they_see_alone(make: Callable[[], Optimizer]) -> None:
    first, second = make(), make()
    run(DECAY, first, [1.0, 0.2], 3)
    view = DECAY.view(np.array([2.0, 1.0]))
    before = [view.position.copy(), view.gradient.copy(), view.residual.copy()]
    np.testing.assert_array_equal(second.step(view), make().step(view))
    for was, now in zip(before, [view.position, view.gradient, view.residual], strict=True):
        np.testing.assert_array_equal(was, now)
