"""Compiled programs against the tape, finite differences and plain NumPy, for every primitive by one sweep."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferro_bench import value_and_grad
from ferro_bench.gradient import (
    Recurrence,
    TraceError,
    central_difference,
    compile_arrays,
    compile_floats,
    ops,
    recurrence,
    write_arrays,
    write_floats,
)
from ferro_bench.gradient.trace import Constant, Operation, trace
from tests.unit.domains import DOMAINS

START, INPUTS = (0.3, -0.2), [0.5, -0.4, 0.9]


def once(step: Callable[[Any, Any, Any], Any]) -> Recurrence:
    """A recurrence of one state, one input and one parameter."""
    return recurrence(lambda x, u, p: [step(x, u, p)], ["x"], "u", ["p"], 0)


def test_every_elementwise_primitive_has_a_domain() -> None:
    assert set(DOMAINS) == set(ops.UFUNCS)


@pytest.mark.parametrize("ufunc", ops.UFUNCS, ids=lambda ufunc: ufunc.__name__)
@given(data=st.data())
def test_each_primitive_agrees_with_numpy_the_tape_and_finite_differences(ufunc: Any, data: st.DataObject) -> None:
    """One step whose result is the primitive, with the parameter in each of its operands in turn."""
    values = [data.draw(domain) for domain in DOMAINS[ufunc]]
    for place, at in enumerate(values):

        def step(x: Any, u: Any, p: Any, place: int = place) -> Any:
            operands: list[Any] = [u] * len(values)
            operands[place] = x + p
            return ufunc(*operands)

        p, start = 0.25, at - 0.25
        inputs = [values[1 - place] if len(values) == 2 else 0.0]
        expected = ufunc(*[start + p if i == place else inputs[0] for i in range(len(values))])
        _, (by_tape,) = value_and_grad(lambda p, step=step, x=start, u=inputs[0]: step(x, u, p), p)
        (numeric,) = central_difference(lambda p, step=step, x=start, u=inputs[0]: step(x, u, p), p)
        assert by_tape == pytest.approx(numeric, rel=1e-6, abs=1e-7)
        written = once(step)
        for functions, parameter in (
            (compile_floats(write_floats(written)), p),
            (compile_floats(write_floats(written, fused=True)), p),
            (compile_arrays(write_arrays(written)), np.array([p, p])),
        ):
            outputs, kept = functions["forward"]((start,), inputs, (parameter,))
            (adjoint,) = functions["adjoint"](inputs, (parameter,), kept, np.ones_like(outputs))
            along, (tangent,) = functions["tangents"]((start,), inputs, (parameter,))
            for found, wanted in (
                (outputs[0], expected),
                (along[0], expected),
                (adjoint, by_tape),
                (tangent[0], by_tape),
            ):
                np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-13)


STEPS: dict[str, Callable[[Any, Any, Any, Any, Any], list[Any]]] = {
    "where": lambda x, v, u, a, b: [np.where(x > v, a * x, b * v) + u, np.where((x < 1) & (v > -1), v * x, a)],
    "clip": lambda x, v, u, a, b: [np.clip(x + u, -0.3, 0.3) * a, v + b],
    "states that change places": lambda x, v, u, a, b: [v, x],
    "a state that becomes a parameter": lambda x, v, u, a, b: [a, x * b],
    "a state that becomes a function of a parameter": lambda x, v, u, a, b: [x * v + u, np.exp(a)][::-1],
    "a constant state": lambda x, v, u, a, b: [2.0, v * b + a * u],
    "an unused parameter": lambda x, v, u, a, b: [x * a, v + u],
    "the input alone": lambda x, v, u, a, b: [u, x + v],
    "powers": lambda x, v, u, a, b: [(x * x + 1.0) ** 1.5 * a, v**2 - b**3],
    "shared products": lambda x, v, u, a, b: [a * v * abs(v) + b * v * abs(v), a * x * abs(v) - u * b * v],
    "deep": lambda x, v, u, a, b: [np.sin(np.exp(-(np.tanh(a * x) ** 2)) + u) / (1.0 + b * b), np.hypot(x, v) * a],
}


@pytest.mark.parametrize("fused", [False, True])
@pytest.mark.parametrize("name", STEPS)
def test_whole_recurrences_agree_with_the_tape(name: str, fused: bool) -> None:
    step, weights, values = STEPS[name], np.array([0.7, -1.1, 0.4]), (0.8, -0.6)

    def weighted(a: Any, b: Any) -> Any:
        x, v = START
        total: Any = 0.0
        for u, weight in zip(INPUTS, weights, strict=True):
            x, v = step(x, v, u, a, b)
            total = total + weight * v
        return total

    value, wanted = value_and_grad(weighted, *values)
    written = recurrence(step, ["x", "v"], "u", ["a", "b"], observed=1)
    singles = compile_floats(write_floats(written, fused))
    outputs, kept = singles["forward"](START, INPUTS, values)
    assert weights @ np.array(outputs) == pytest.approx(value, rel=1e-12)
    np.testing.assert_allclose(
        singles["adjoint"](INPUTS, values, kept, weights.tolist()), wanted, rtol=1e-11, atol=1e-14
    )
    _, columns = singles["tangents"](START, INPUTS, values)
    np.testing.assert_allclose([weights @ np.array(column) for column in columns], wanted, rtol=1e-11, atol=1e-14)

    batch = compile_arrays(write_arrays(written))
    many = (np.array([0.8, 0.1, 0.8]), -0.6)
    outputs, kept = batch["forward"](START, INPUTS, many)
    assert np.shape(outputs) == (3, 3)
    outputs[...] = np.nan  # the caller's own from here on
    by = batch["adjoint"](INPUTS, many, kept, np.broadcast_to(weights[:, None], (3, 3)))
    for share, want in zip(by, wanted, strict=True):
        np.testing.assert_allclose(np.broadcast_to(share, 3)[[0, 2]], want, rtol=1e-11, atol=1e-14)
    _, columns = batch["tangents"](START, INPUTS, many)
    for column, want in zip(columns, wanted, strict=True):
        np.testing.assert_allclose((weights @ column)[[0, 2]], want, rtol=1e-11, atol=1e-14)


# What is written


def test_what_is_computed_twice_is_written_once() -> None:
    record = trace(lambda x, y: [np.sin(x * y) + np.sin(x * y) * np.cos(x * y)], ["x", "y"])
    assert [operation.name for operation in record.operations].count("sin") == 1
    assert [operation.name for operation in record.operations].count("multiply") == 2


def test_what_is_constant_is_computed_beforehand() -> None:
    record = trace(lambda x: [x * (np.sin(0.5) * 2.0) / 4.0 * 2.0], ["x"])
    assert record.operations == (Operation("multiply", (0, Constant(pytest.approx(np.sin(0.5))))),)


def test_what_nobody_needs_is_left_out() -> None:
    record = trace(lambda x, y: [x + y, np.exp(x) * 0.0 + y][:1], ["x", "y"])
    assert [operation.name for operation in record.operations] == ["add"]


def test_x_times_its_sign_is_its_magnitude() -> None:
    written = recurrence(lambda v, u, c: [v - 0.1 * c * v * np.abs(v)], ["v"], "u", ["c"], 0)
    assert "sign" not in {operation.name for operation in written.adjoint.operations}


def test_the_program_reads_well() -> None:
    source = write_floats(once(lambda x, u, p: x + 0.1 * (u - p * x)))
    assert "x = x + " in source
    for line in source.splitlines():
        signs = sum(line.count(f" {sign} ") for sign in "+-*/")
        assert signs <= 1, line


def test_what_depends_on_parameters_alone_stands_before_the_loop() -> None:
    source = write_floats(once(lambda x, u, p: x + np.exp(p) * u))
    assert source.index("exp(p)") < source.index("for u in inputs")


def test_a_batch_is_written_where_it_will_lie() -> None:
    """Where the way back reads the velocity alone, and the output is the position, nothing is copied in the loop."""
    written = recurrence(lambda x, v, u, c: [x + 0.1 * v, v - 0.1 * c * v * np.abs(v)], ["x", "v"], "u", ["c"], 0)
    forward = write_arrays(written).split("def adjoint")[0]
    assert "for u, v_next, x_next in zip(inputs, v_kept[1:], outputs):" in forward
    assert "out=v_next" in forward and "out=x_next" in forward
    assert "[...]" not in forward and "copy" not in forward


def test_the_derivative_of_a_step_is_taken_once_for_all_tangents() -> None:
    def step(x: Any, u: Any, a: Any, b: Any, c: Any) -> list[Any]:
        return [x + 0.1 * np.tanh(np.sin(a * x) * u - b * x * np.abs(x) + c)]

    tangents = recurrence(step, ["x"], "u", ["a", "b", "c"], 0).tangents
    for parameter in "abc":
        slot = tangents.inputs.index(f"x_by_{parameter}")
        assert sum(operation.operands.count(slot) for operation in tangents.operations) == 1


def test_a_very_long_step_can_be_written_and_run() -> None:
    """A sum of a thousand terms nests as deep, if it is put into one expression."""

    def step(x: Any, u: Any, p: Any) -> Any:
        total = x
        for i in range(1000):
            total = total * 0.999 + p * (i % 7)
        return total

    written = once(step)
    for fused in (False, True):
        functions = compile_floats(write_floats(written, fused))
        outputs, kept = functions["forward"]((0.3,), [0.0], (0.2,))
        assert outputs[0] == pytest.approx(step(0.3, 0.0, 0.2), rel=1e-12)
        _, wanted = value_and_grad(lambda p: step(0.3, 0.0, p), 0.2)
        assert functions["adjoint"]([0.0], (0.2,), kept, [1.0]) == pytest.approx(wanted, rel=1e-10)


# What cannot be written


@pytest.mark.parametrize(
    ("step", "said"),
    [
        (lambda x, u, p: x if x > 0 else p, "branches on a value.*np.where"),
        (lambda x, u, p: max(x, p), "branches on a value"),
        (lambda x, u, p: math.sin(x), r"float\(\) or math"),
        (lambda x, u, p: np.sum(x), "np.sum"),
        (lambda x, u, p: np.linalg.norm(x), "np.norm|np.linalg.norm"),
        (lambda x, u, p: np.gcd(x, 2), "np.gcd"),
        (lambda x, u, p: np.add.reduce(x), "np.add"),
        (lambda x, u, p: x * np.ones(3), "an array"),
        (lambda x, u, p: np.array([x, p]), "array"),
        (lambda x, u, p: x * 1j, "complex"),
        (lambda x, u, p: [1.0, 2.0][x], "index"),
    ],
)
def test_what_has_no_place_in_a_straight_line_is_named(step: Callable[..., Any], said: str) -> None:
    with pytest.raises(TraceError, match=said):
        once(step)


def test_a_next_state_of_parameters_alone_does_not_trade_places_with_the_old_one() -> None:
    """exp(q) is the same at every step and stands before the loop; the old x is still read in it."""
    traced = recurrence(lambda x, w, u, q: [np.exp(q), True & (x > 9.0) | False], ["x", "w"], "u", ["q"], 0)
    outputs, _ = compile_arrays(write_arrays(traced))["forward"]((5.0, 1.0), [0.0] * 4, [np.array([0.0, 1.0])])
    np.testing.assert_allclose(outputs, np.exp([[0.0, 1.0]] * 4))
