"""The rollout against the reference problem, a closed form and a regression that needs no rollout."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from ferro_bench import (
    Drive,
    GradientDescent,
    Problem,
    Record,
    Var,
    identify,
    mean_squared_error,
    rollout,
    semi_implicit_euler,
    value_and_grad,
)
from ferro_bench.benches import friction
from ferro_bench.gradient import central_difference
from ferro_bench.identify import TOLERANCE

C, M = 0.85, 1.4


def predicted(c: Any, drive: Drive, observed: str = "x") -> Any:
    return rollout(friction.PLANT, semi_implicit_euler, {"c": c, "m": M}, drive, observed)


def test_the_reference_problem_has_its_known_loss_and_gradient(reference: Record) -> None:
    def squared_error(c: Any) -> Any:
        residual = predicted(c, reference.drive) - reference.measured.values
        return np.sum(residual * residual)

    loss, (gradient,) = value_and_grad(squared_error, 0.20)
    assert loss == pytest.approx(51.548, abs=0.0005)
    assert gradient == pytest.approx(-268.3810365, rel=1e-7)


def test_without_drag_the_rollout_is_a_double_sum(reference: Record) -> None:
    """x after step n is (dt²/m) Σ Σ u, since every step adds dt u/m to v and dt v to x."""
    double_sum = friction.DT**2 / M * np.cumsum(np.cumsum(reference.drive.input.values))
    np.testing.assert_allclose(predicted(0.0, reference.drive), double_sum, rtol=1e-12, atol=1e-15)


def test_it_begins_at_the_drives_own_start(reference: Record) -> None:
    """Coasting without drag and force keeps the velocity."""
    coasting = replace(reference.drive.input, values=np.zeros(friction.STEPS))
    drive = Drive(friction.DT, (2.0, -3.0), coasting)
    np.testing.assert_allclose(predicted(0.0, drive), 2.0 - 3.0 * drive.time, rtol=1e-12)


def test_it_gives_the_state_that_is_asked_for(reference: Record) -> None:
    velocity = predicted(C, reference.drive, "v")
    position = predicted(C, reference.drive)
    np.testing.assert_allclose(np.diff(position), velocity[1:] * friction.DT, rtol=1e-9, atol=1e-14)


def test_a_batch_of_parameters_is_as_many_rollouts(reference: Record) -> None:
    cs = np.array([0.0, 0.2, 0.85, 2.5])
    batch = predicted(cs, reference.drive)
    assert batch.shape == (reference.drive.steps, len(cs))
    for column, c in zip(batch.T, cs.tolist(), strict=True):
        np.testing.assert_array_equal(column, predicted(c, reference.drive))


def test_a_variable_goes_through_it_unchanged(reference: Record) -> None:
    def end(c: Any) -> Any:
        path = predicted(c, reference.drive)
        assert isinstance(path, Var)
        np.testing.assert_array_equal(path.value, predicted(0.3, reference.drive))
        return path[-1]

    (numeric,) = central_difference(lambda c: predicted(c, reference.drive)[-1], 0.3)
    _, (gradient,) = value_and_grad(end, 0.3)
    assert gradient == pytest.approx(float(numeric), rel=1e-8)


def test_the_rollout_fit_and_a_regression_find_the_same_drag(reference: Record, pull: Callable[..., Any]) -> None:
    """The law is linear in c, so on noise-free data differenced positions give it without any rollout."""
    velocity = np.diff(reference.measured.values, prepend=0.0) / reference.drive.dt
    before = np.concatenate([[0.0], velocity[:-1]])
    unexplained = reference.drive.input.values - M * (velocity - before) / reference.drive.dt
    drag = before * np.abs(before)
    regression = float(drag @ unexplained / (drag @ drag))
    assert regression == pytest.approx(C, rel=1e-12)

    def loss(c: float) -> float:
        return float(mean_squared_error(predicted(c, reference.drive), reference.measured.values))

    h = 1e-3
    curvature = (loss(C + h) - 2 * loss(C) + loss(C - h)) / h**2
    rate = 0.35
    problem = Problem(friction.PLANT, semi_implicit_euler, reference, {"m": M}, {"c": 0.2})
    _, result = pull(identify(problem, GradientDescent(rate), 200))
    # It stops once rate · curvature · |c - truth| is within the tolerance.
    assert abs(result.step.parameters["c"] - regression) <= 1.01 * TOLERANCE * (1 + C) / (rate * curvature)
    assert loss(regression) < 1e-20
