"""The tape: the graph's shape, what may stand beside a variable, and what is refused by name."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from ferro_bench import Tape, Var, value_and_grad
from ferro_bench.gradient import ops

# The graph's shape -----------------------------------------------------------------------------------------------


def test_fan_out_adds_up() -> None:
    assert value_and_grad(lambda a: 2 * a + 3 * a + 5 * a, 7.0) == (70.0, (10.0,))


def test_a_variable_may_meet_itself() -> None:
    assert value_and_grad(lambda a: a * a + a - a, 3.0) == (9.0, (6.0,))


def test_paths_that_part_and_meet_again_are_both_followed() -> None:
    def diamond(a: Any) -> Any:
        b = a * a
        return (b + 1) * (b - 2)  # b² - b - 2, hence (2b - 1) 2a

    assert value_and_grad(diamond, 3.0) == (70.0, (102.0,))


def test_a_chain_of_diamonds_costs_no_more_than_its_length() -> None:
    def doubled(a: Any) -> Any:
        for _ in range(500):  # 2^500 paths
            a = a + a
        return a

    assert value_and_grad(doubled, 1.0) == (2.0**500, (2.0**500,))


def test_fan_out_of_an_array_leaves_the_shares_of_others_alone() -> None:
    """Both operands of a sum receive the very same adjoint; adding to one must not change the other."""

    def shared(a: Any, b: Any) -> Any:
        return np.sum((a + b) + a * a)

    _, (by_a, by_b) = value_and_grad(shared, np.array([1.0, 2.0]), np.array([5.0, 6.0]))
    np.testing.assert_array_equal(by_a, [3.0, 5.0])
    np.testing.assert_array_equal(by_b, [1.0, 1.0])


def test_a_constant_output_has_no_gradient() -> None:
    assert value_and_grad(lambda a: 4.0, 3.0) == (4.0, (0.0,))


def test_an_unused_argument_has_gradient_zero_in_its_shape() -> None:
    value, (by_a, by_b) = value_and_grad(lambda a, b: 2 * a, 3.0, np.ones((2, 3)))
    assert (value, by_a) == (6.0, 2.0)
    np.testing.assert_array_equal(by_b, np.zeros((2, 3)))


def test_an_output_may_be_a_variable() -> None:
    assert value_and_grad(lambda a, b: a, 3.0, 4.0) == (3.0, (1.0, 0.0))


def test_a_variable_made_after_the_output_has_gradient_zero() -> None:
    tape = Tape()
    a = tape.variable(3.0)
    output = a * a
    assert tape.gradient(output, [a, tape.variable(1.0)]) == [6.0, 0.0]


def test_a_tape_can_be_walked_back_twice() -> None:
    tape = Tape()
    a = tape.variable(3.0)
    b = a * a
    assert (tape.gradient(b, [a]), tape.gradient(b * a, [a, b]), tape.gradient(b, [a])) == ([6.0], [27.0, 3.0], [6.0])


def test_the_depth_is_not_limited_by_recursion() -> None:
    def deep(a: Any) -> Any:
        for _ in range(100_000):
            a = a * 1.00001
        return a

    value, (gradient,) = value_and_grad(deep, 2.0)
    assert gradient == pytest.approx(1.00001**100_000, rel=1e-9)
    assert value == pytest.approx(2.0 * gradient, rel=1e-9)


def test_later_changes_to_an_array_do_not_reach_the_tape() -> None:
    constant, start = np.array([1.0, 2.0]), np.array([3.0, 4.0])
    tape = Tape()
    a = tape.variable(start)
    output = np.sum(constant * a * a) + constant @ a
    constant[:], start[:] = 0.0, 0.0
    np.testing.assert_array_equal(tape.gradient(output, [a])[0], [2 * 3 + 1, 2 * 2 * 4 + 2])


def test_a_gradient_is_the_callers_own_array() -> None:
    _, (first, second) = value_and_grad(lambda a, b: np.sum(a + b), np.ones(2), np.ones(2))
    first[:] = 9.0
    np.testing.assert_array_equal(second, [1.0, 1.0])


# What may stand beside a variable --------------------------------------------------------------------------------

OTHERS = [
    2,
    2.0,
    np.float64(2.0),
    np.int64(2),
    True,
    np.array(2.0),
    np.array([2, 3]),
    np.array([[2.0], [3.0]]),
    [2.0, 3.0],
]
OPERATORS = [operator.add, operator.sub, operator.mul, operator.truediv, operator.pow]


@pytest.mark.parametrize("other", OTHERS, ids=lambda x: f"{type(x).__name__}{np.shape(x)}")
@pytest.mark.parametrize("operation", OPERATORS)
@pytest.mark.parametrize("mine", [1.5, np.array([1.5, 2.5])], ids=["number", "array"])
def test_operators_take_numbers_and_arrays_on_either_side(
    operation: Callable[[Any, Any], Any], mine: Any, other: Any
) -> None:
    variable = Tape().variable(mine)
    plain = np.asarray(other, dtype=np.float64)
    for result, expected in (
        (operation(variable, other), operation(mine, plain)),
        (operation(other, variable), operation(plain, mine)),
    ):
        assert isinstance(result, Var)
        assert np.asarray(result.value).dtype == np.float64
        np.testing.assert_array_equal(result.value, expected)


def test_matrix_products_take_arrays_and_lists_on_either_side() -> None:
    v = Tape().variable(np.array([1.0, 2.0]))
    weights = [[1, 2], [3, 4]]
    for left in (weights, np.array(weights), np.array(weights, dtype=np.float64)):
        np.testing.assert_array_equal((left @ v).value, [5.0, 11.0])
        np.testing.assert_array_equal((v @ left).value, [7.0, 10.0])
        _, (gradient,) = value_and_grad(lambda a, w=left: np.sum(np.matmul(w, a)), [1.0, 2.0])
        np.testing.assert_array_equal(gradient, [4.0, 6.0])


def test_two_variables_meet_in_every_operator() -> None:
    a, b = 1.5, 2.5
    expected = {
        operator.add: (1.0, 1.0),
        operator.sub: (1.0, -1.0),
        operator.mul: (b, a),
        operator.truediv: (1 / b, -a / b**2),
        operator.pow: (b * a ** (b - 1), a**b * math.log(a)),
    }
    for operation in OPERATORS:
        assert value_and_grad(operation, a, b)[1] == pytest.approx(expected[operation], rel=1e-14)
    assert value_and_grad(operator.neg, a)[1] == (-1.0,)
    assert value_and_grad(operator.pos, a)[1] == (1.0,)
    assert value_and_grad(operator.abs, -a)[1] == (-1.0,)


@pytest.mark.parametrize("shape", [(), (1,), (3,), (1, 3), (2, 1), (1, 1), (2, 3)])
def test_a_gradient_has_its_arguments_shape_whatever_it_was_broadcast_to(shape: tuple[int, ...]) -> None:
    weights = np.array([[1.0, 2.0, 4.0], [8.0, 16.0, 32.0]])
    _, (gradient,) = value_and_grad(lambda a: np.sum(a * weights), np.ones(shape))
    # Each element of the argument stands for all those weights that it was multiplied with.
    flags = np.broadcast_to(np.arange(math.prod(shape)).reshape(shape), weights.shape)
    expected = [weights[flags == i].sum() for i in range(math.prod(shape))]
    np.testing.assert_array_equal(gradient, np.reshape(expected, shape))


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        (1, [0, 1, 0, 0]),
        (-1, [0, 0, 0, 1]),
        (slice(1, 3), [0, 1, 2, 0]),
        (slice(None, None, -2), [0, 2, 0, 1]),
        ([0, 0, 2, 0], [1 + 2 + 4, 0, 3, 0]),
        ([-1, 3], [0, 0, 0, 1 + 2]),
        (np.array([True, False, False, True]), [1, 0, 0, 2]),
        (..., [1, 2, 3, 4]),
    ],
)
def test_indexing_hands_the_adjoint_back_to_where_it_came_from(key: Any, expected: list[float]) -> None:
    def picked(a: Any) -> Any:
        part = a[key]
        return np.sum(part * np.arange(1.0, part.size + 1).reshape(part.shape))

    np.testing.assert_array_equal(value_and_grad(picked, np.arange(4.0))[1][0], expected)


def test_a_variable_unpacks_and_stacks_like_an_array() -> None:
    def swapped(a: Any) -> Any:
        x, y = a
        return np.sum(np.stack([y, 3.0, x]) * np.array([1.0, 10.0, 100.0]))

    value, (gradient,) = value_and_grad(swapped, [2.0, 5.0])
    assert value == 5 + 30 + 200
    np.testing.assert_array_equal(gradient, [100.0, 1.0])


def test_methods_and_attributes_are_those_of_an_array() -> None:
    array = np.arange(6.0).reshape(2, 3)
    variable = Tape().variable(array)
    assert (variable.shape, variable.ndim, variable.size, len(variable)) == ((2, 3), 2, 6, 2)
    assert (np.shape(variable), np.ndim(variable), np.size(variable)) == ((2, 3), 2, 6)
    for result, expected in (
        (variable.T, array.T),
        (variable.sum(axis=0), array.sum(axis=0)),
        (variable.sum(keepdims=True), array.sum(keepdims=True)),
        (variable.mean(), array.mean()),
        (variable.mean(axis=1, keepdims=True), array.mean(axis=1, keepdims=True)),
        (variable.reshape(3, 2), array.reshape(3, 2)),
        (variable.reshape((3, -1)), array.reshape((3, -1))),
    ):
        assert isinstance(result, Var)
        assert result.shape == np.shape(expected)
        np.testing.assert_array_equal(result.value, expected)


def test_the_gradient_by_a_number_is_a_float_and_by_an_array_an_array() -> None:
    value, (by_number, by_array) = value_and_grad(lambda a, b: np.sum(a * b), 2.0, [1.0, 3.0])
    assert (type(value), type(by_number), type(by_array)) == (float, float, np.ndarray)


@pytest.mark.parametrize("question", sorted(ops.QUESTIONS, key=lambda f: f.__name__), ids=lambda f: f.__name__)
def test_questions_about_a_variable_get_plain_answers(question: Any) -> None:
    array = np.array([[1.0, 5.0], [2.0, 0.0]])
    tape = Tape()
    variable, number = tape.variable(array), tape.variable(2.0)
    two = {np.isclose, np.allclose, np.array_equal}
    for others, plain in (([number], [2.0]), ([[number, 5.0]], [[2.0, 5.0]])) if question in two else [([], [])]:
        answer = question(variable, *others)
        assert not isinstance(answer, Var)
        np.testing.assert_array_equal(answer, question(array, *plain), strict=True)
    assert len(tape) == 2


COMPARISONS = [operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne]


@pytest.mark.parametrize("compare", COMPARISONS)
@pytest.mark.parametrize("other", [1, 2.0, np.float64(2.0), np.array([1.0, 2.0, 3.0])], ids=str)
def test_comparisons_give_plain_booleans(compare: Callable[[Any, Any], Any], other: Any) -> None:
    tape = Tape()
    variable = tape.variable(2.0)
    for result, expected in (
        (compare(variable, other), compare(2.0, other)),
        (compare(other, variable), compare(other, 2.0)),
        (compare(variable, tape.variable(other)), compare(2.0, other)),
    ):
        assert not isinstance(result, Var)
        np.testing.assert_array_equal(result, expected, strict=True)
    assert len(tape) == 2  # the variables alone: a comparison records nothing


def test_where_on_a_comparison_takes_each_elements_own_branch() -> None:
    def branches(a: Any) -> Any:
        return np.sum(np.where(a > 0, a * a, -3 * a))

    _, (gradient,) = value_and_grad(branches, [-1.0, 2.0, -4.0])
    np.testing.assert_array_equal(gradient, [-3.0, 4.0, -3.0])


def test_a_branch_on_a_variable_follows_its_value() -> None:
    def branch(a: Any) -> Any:
        return a * a if a > 0 else -3 * a

    assert (value_and_grad(branch, 2.0)[1], value_and_grad(branch, -2.0)[1]) == ((4.0,), (-3.0,))


# What is refused -------------------------------------------------------------------------------------------------

BY_NAME: dict[str, Callable[[Any], Any]] = {
    "np.linalg.svd": np.linalg.svd,
    "np.fft.fft": np.fft.fft,
    "np.prod": np.prod,
    "np.max": np.max,
    "np.einsum": lambda v: np.einsum("ij->i", v),
    "np.copyto": lambda v: np.copyto(np.zeros((2, 2)), v),
    "np.spacing": np.spacing,
    "np.add.reduce": np.add.reduce,
    "np.multiply.outer": lambda v: np.multiply.outer(v, v),
    "np.add.at": lambda v: np.add.at(np.zeros((2, 2)), 0, v),
    "np.exp with out=": lambda v: np.exp(v, out=np.zeros((2, 2))),
    "np.exp with where=": lambda v: np.exp(v, where=True),
    "np.exp with dtype=": lambda v: np.exp(v, dtype=np.float32),
    "np.multiply with out=": lambda v: operator.imul(np.ones((2, 2)), v),
    "np.sum in this form": lambda v: np.sum(v, out=np.zeros(())),
}


@pytest.mark.parametrize("name", BY_NAME)
def test_what_has_no_rule_is_refused_by_name(name: str) -> None:
    variable = Tape().variable(np.eye(2))
    with pytest.raises(TypeError) as refusal:
        BY_NAME[name](variable)
    assert str(refusal.value).startswith(f"{name} has no derivative rule here")


LOSING: dict[str, Callable[[Any], Any]] = {
    "float()": float,
    "int()": int,
    "math.sin": math.sin,
    "range": range,
    "np.array": np.array,
    "np.array of objects": lambda v: np.array(v, dtype=object),
    "np.asarray of a list": lambda v: np.asarray([v, v]),
    "np.array of objects in a list": lambda v: np.array([v, 1.0], dtype=object),
    "np.sum of a list": lambda v: np.sum([v, v]),
    "np.full": lambda v: np.full(2, v),
    "a list of them in an operator": lambda v: v * [v, v],
    "as an index": lambda v: np.arange(3)[v],
    "as an index of a variable": lambda v: v.tape.variable([1.0, 2.0])[v],
    "as part of an index": lambda v: v.tape.variable([[1.0, 2.0]])[0, v],
}


@pytest.mark.parametrize("way", LOSING)
def test_a_variable_never_turns_into_something_without_a_derivative(way: str) -> None:
    with pytest.raises(TypeError, match=r"^a tape variable was about to become .* which would lose its derivative"):
        LOSING[way](Tape().variable(1.0))


@pytest.mark.parametrize("value", [1.0, [1.0], [1.0, 2.0, 3.0]], ids=str)
@pytest.mark.parametrize("key", [0, slice(None)], ids=str)
def test_a_variable_is_not_written_into_a_plain_array(key: Any, value: Any) -> None:
    array = np.zeros(3)
    with pytest.raises((TypeError, ValueError)):
        array[key] = Tape().variable(value)
    np.testing.assert_array_equal(array, np.zeros(3))


def test_a_variable_is_not_changed_in_place() -> None:
    variable = Tape().variable([1.0, 2.0])
    with pytest.raises(TypeError, match=r"cannot be changed in place; .* np\.stack"):
        variable[0] = 5.0


@pytest.mark.parametrize("other", [1j, "2", None, np.array([1j]), np.array(["2"]), np.array([None, 1.0])], ids=repr)
def test_what_is_not_a_real_number_is_refused(other: Any) -> None:
    variable = Tape().variable(1.0)
    for operation in (operator.mul, operator.add):
        for pair in ((variable, other), (other, variable)):
            with pytest.raises(TypeError, match="not made of real numbers"):
                operation(*pair)


@pytest.mark.parametrize("value", ["2", 1j, None, True, [1j], ["a"], np.array([None])], ids=repr)
def test_a_variable_starts_at_real_numbers_only(value: Any) -> None:
    with pytest.raises(TypeError, match="holds real numbers"):
        Tape().variable(value)


def test_variables_of_two_tapes_do_not_mix() -> None:
    mine, other = Tape().variable(1.0), Tape().variable(2.0)
    for meeting in (
        lambda: mine + other,
        lambda: np.hypot(mine, other),
        lambda: np.stack([mine, other]),
        lambda: mine.tape.gradient(other, [mine]),
        lambda: mine.tape.gradient(mine * mine, [other]),
        lambda: value_and_grad(lambda a: mine, 1.0),
    ):
        with pytest.raises(ValueError, match="different tapes"):
            meeting()


@pytest.mark.parametrize("output", [lambda a: a * a, lambda a: np.ones((2, 3))], ids=["variable", "constant"])
def test_a_gradient_of_many_numbers_is_refused_with_their_shape(output: Callable[[Any], Any]) -> None:
    with pytest.raises(ValueError, match=r"one number, but this output has shape \(2, 3\)"):
        value_and_grad(output, np.ones((2, 3)))


def test_a_power_of_zero_is_flat_everywhere() -> None:
    value, (slope,) = value_and_grad(lambda v: v**0, 0.0)
    assert (value, slope) == (1.0, 0.0)


@pytest.mark.parametrize("key", [np.array([0, 0]), [0, 0]], ids=["array", "list"])
def test_later_changes_to_an_index_change_nothing(key: Any) -> None:
    tape = Tape()
    a = tape.variable([1.0, 2.0])
    y = np.sum(a[key])
    key[0] = key[1] = 1
    np.testing.assert_array_equal(tape.gradient(y, [a])[0], [2.0, 0.0])


def test_later_changes_to_a_condition_change_nothing() -> None:
    tape = Tape()
    a = tape.variable([1.0, 2.0])
    condition = np.array([True, False])
    y = np.sum(np.where(condition, a, 0.0))
    condition[:] = ~condition
    np.testing.assert_array_equal(tape.gradient(y, [a])[0], [1.0, 0.0])


def test_zero_to_a_growing_power_stays_zero() -> None:
    value, (slope,) = value_and_grad(lambda b: 0.0**b, 2.0)
    assert (value, slope) == (0.0, 0.0)


def test_a_number_has_no_length_but_can_be_indexed_as_numpy_does() -> None:
    v = Tape().variable(1.5)
    with pytest.raises(TypeError, match="single number and has no length"):
        len(v)
    assert v[()].value == 1.5
    with pytest.raises(IndexError):
        v[0]


def test_the_opposite_of_a_comparison_is_its_opposite() -> None:
    """Of Python's own True it would be −2, which counts as true."""
    value, (slope,) = value_and_grad(lambda a: np.where(~(a > 0), 10 * a, 2 * a), 0.5)
    assert (value, slope) == (1.0, 2.0)
    value, (slope,) = value_and_grad(lambda a: np.where(True & (a > 0) | False, 10 * a, 2 * a), 0.5)
    assert (value, slope) == (5.0, 10.0)
