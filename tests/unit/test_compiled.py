"""Compiled rollouts of real plants against the tape, and the way back to the tape where there is no compiling."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from ferro_bench import GradientDescent, Problem, Record, identify, mean_squared_error, value_and_grad
from ferro_bench.benches import friction
from ferro_bench.compiled import compile_rollout
from ferro_bench.gradient import central_difference
from ferro_bench.rollout import rollout
from ferro_bench.solvers import explicit_euler, rk4, semi_implicit_euler

SOLVERS = [explicit_euler, semi_implicit_euler, rk4]


def by_tape(solver: Any, record: Record, c: float, m: float) -> tuple[float, Any]:
    def loss(c: Any, m: Any) -> Any:
        predicted = rollout(friction.PLANT, solver, {"c": c, "m": m}, record.drive, "x")
        return mean_squared_error(predicted, record.measured.values)

    return value_and_grad(loss, c, m)


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_rollout_compiled_with_any_solver_agrees_with_the_tape(solver: Any, reference: Record) -> None:
    compiled = compile_rollout(friction.PLANT, solver, friction.DT, "x", {}, ["c", "m"])
    _, loss, gradient = compiled.gradient(reference.drive, (0.2, 1.3), reference.measured.values)
    wanted_loss, wanted = by_tape(solver, reference, 0.2, 1.3)
    assert loss == pytest.approx(wanted_loss, rel=1e-11)
    np.testing.assert_allclose(gradient, wanted, rtol=1e-10)
    predicted, columns = compiled.jacobian(reference.drive, (0.2, 1.3))
    weights = 2 * (predicted - reference.measured.values) / len(predicted)
    np.testing.assert_allclose(columns.T @ weights, wanted, rtol=1e-10)


def test_the_reference_problem_has_its_known_gradient(reference: Record) -> None:
    compiled = compile_rollout(friction.PLANT, semi_implicit_euler, friction.DT, "x", {"m": 1.4}, ["c"])
    _, loss, gradient = compiled.gradient(reference.drive, (0.2,), reference.measured.values)
    assert 120 * loss == pytest.approx(51.548, abs=0.0005)
    assert 120 * gradient[0] == pytest.approx(-268.3810365, rel=1e-8)


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_batch_is_as_many_single_rollouts(solver: Any, reference: Record) -> None:
    compiled = compile_rollout(friction.PLANT, solver, friction.DT, "x", {}, ["c", "m"])
    cs = np.array([0.0, 0.2, 0.85, 2.5])
    predicted, losses, gradients = compiled.batch_gradient(reference.drive, (cs, 1.4), reference.measured.values)
    for i, c in enumerate(cs.tolist()):
        single, loss, gradient = compiled.gradient(reference.drive, (c, 1.4), reference.measured.values)
        np.testing.assert_allclose(predicted[:, i], single, rtol=1e-12, atol=1e-14)
        assert losses[i] == pytest.approx(loss, rel=1e-11)
        np.testing.assert_allclose(gradients[:, i], gradient, rtol=1e-10, atol=1e-15)


def test_a_batch_beyond_the_range_of_numbers_says_so_and_spoils_no_neighbour(reference: Record) -> None:
    compiled = compile_rollout(friction.PLANT, semi_implicit_euler, friction.DT, "x", {"m": 1.4}, ["c"])
    _, losses, gradients = compiled.batch_gradient(reference.drive, (np.array([-1e3, 0.2]),), reference.measured.values)
    assert not np.isfinite(losses[0])
    assert 120 * gradients[0, 1] == pytest.approx(-268.3810365, rel=1e-8)


@pytest.mark.parametrize(
    "symbols", [("λ", "class"), ("v_next", "len"), ("x_kept", "by_c"), ("s4", "lambda"), ("a1", "np")]
)
def test_symbols_that_the_program_cannot_use_are_renamed(symbols: tuple[str, str], reference: Record) -> None:
    def rates(state: Any, u: Any, **p: Any) -> Any:
        return state[1], (u - p[symbols[0]] * state[1] * np.abs(state[1])) / p[symbols[1]]

    c, m = (replace(p, symbol=symbol) for p, symbol in zip(friction.PLANT.parameters, symbols, strict=True))
    plant = replace(friction.PLANT, parameters=(c, m), rates=rates)
    compiled = compile_rollout(plant, semi_implicit_euler, friction.DT, "x", {}, symbols)
    _, _, gradient = compiled.gradient(reference.drive, (0.2, 1.4), reference.measured.values)
    assert 120 * gradient[0] == pytest.approx(-268.3810365, rel=1e-8)
    _, columns = compiled.jacobian(reference.drive, (0.2, 1.4))
    _, _, gradients = compiled.batch_gradient(reference.drive, (np.array([0.2, 0.3]), 1.4), reference.measured.values)
    np.testing.assert_allclose(gradients[:, 0], gradient, rtol=1e-9)


def test_a_problem_that_branches_falls_back_to_the_tape_and_says_why(reference: Record) -> None:
    def rates(state: Any, u: Any, c: Any, m: Any) -> Any:
        drag = c * state[1] ** 2 if state[1] > 0 else -c * state[1] ** 2
        return state[1], (u - drag) / m

    branching = replace(friction.PLANT, rates=rates)
    problem = Problem(branching, semi_implicit_euler, reference, {"m": 1.4}, {"c": 0.2})
    assert problem.compiled is None
    assert "np.where" in problem.engine
    step = next(identify(problem, GradientDescent(0.35), 10))
    assert 120 * step.gradient["c"] == pytest.approx(-268.3810365, rel=1e-7)
    numeric = problem.jacobian(np.array([0.2]))
    assert 2 * numeric[:, 0] @ (step.predicted - reference.measured.values) == pytest.approx(-268.3810365, rel=1e-6)


def test_a_compiled_problem_says_so_and_its_jacobian_agrees_with_finite_differences(reference: Record) -> None:
    problem = Problem(friction.PLANT, semi_implicit_euler, reference, {}, {"c": 0.2, "m": 1.0})
    assert "compiled" in problem.engine
    found = problem.jacobian(np.array([0.7, 1.2]))
    for row in (10, 60, 119):
        numeric = central_difference(lambda c, m, row=row: problem.predict({"c": c, "m": m})[row], 0.7, 1.2)
        np.testing.assert_allclose(found[row], numeric, rtol=1e-6, atol=1e-9)


def test_a_parameter_that_never_reaches_the_model_has_no_gradient(reference: Record) -> None:
    def rates(state: Any, u: Any, c: Any, m: Any) -> Any:
        return state[1], u / m

    problem = Problem(replace(friction.PLANT, rates=rates), semi_implicit_euler, reference, {"m": 1.4}, {"c": 0.2})
    assert next(identify(problem, GradientDescent(0.35), 10)).gradient == {"c": 0.0}
