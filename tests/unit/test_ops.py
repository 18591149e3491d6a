"""One sweep over the whole table: what the tape says against central differences of plain NumPy.

Every primitive needs an entry in `CASES`; one that is added to the table without it fails here.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from ferro_bench import Var, value_and_grad
from ferro_bench.gradient import central_difference, ops
from tests.unit.domains import DOMAINS, FIRST, SECOND

Case = tuple[Callable[..., Any], list[Any]]  # a call of NumPy's own function, and the operands to differentiate by

SHAPES = hnp.array_shapes(min_dims=0, max_dims=3, min_side=1, max_side=3)


def filled(shape: tuple[int, ...], domain: st.SearchStrategy[float] = FIRST) -> st.SearchStrategy[Any]:
    """An array of that shape with values from a domain, or a float where the shape has no axes."""
    return hnp.arrays(np.float64, shape, elements=domain).map(lambda x: x if x.ndim else float(x))


def elementwise(ufunc: Any, *domains: st.SearchStrategy[float]) -> st.SearchStrategy[Case]:
    """Operands of shapes that broadcast: scalars, axes of length one, missing axes."""
    shapes = hnp.mutually_broadcastable_shapes(num_shapes=len(domains), max_dims=2, min_side=1, max_side=3)
    return shapes.flatmap(
        lambda drawn: st.tuples(*map(filled, drawn.input_shapes, domains)).map(lambda xs: (ufunc, list(xs)))
    )


@st.composite
def reduction(draw: st.DrawFn, function: Any) -> Case:
    a = draw(SHAPES.flatmap(filled))
    some = st.integers(-np.ndim(a), np.ndim(a) - 1) | hnp.valid_tuple_axes(np.ndim(a)) if np.ndim(a) else st.none()
    axis, keepdims = draw(some | st.none()), draw(st.booleans())
    return lambda x: function(x, axis=axis, keepdims=keepdims), [a]


@st.composite
def cumsum(draw: st.DrawFn) -> Case:
    a = draw(SHAPES.flatmap(filled))
    axis = draw(st.none() | st.integers(-np.ndim(a), np.ndim(a) - 1)) if np.ndim(a) else None
    return lambda x: np.cumsum(x, axis=axis), [a]


@st.composite
def where(draw: st.DrawFn) -> Case:
    shapes = draw(hnp.mutually_broadcastable_shapes(num_shapes=3, max_dims=3, min_side=1, max_side=3)).input_shapes
    condition = draw(hnp.arrays(np.bool_, shapes[0]))
    return lambda x, y: np.where(condition, x, y), [draw(filled(shapes[1])), draw(filled(shapes[2]))]


@st.composite
def stack(draw: st.DrawFn) -> Case:
    shape = draw(SHAPES)
    axis = draw(st.integers(-len(shape) - 1, len(shape)))
    return lambda *xs: np.stack(xs, axis=axis), draw(st.lists(filled(shape), min_size=1, max_size=3))


@st.composite
def concatenate(draw: st.DrawFn) -> Case:
    shape = draw(hnp.array_shapes(min_dims=1, max_dims=3, max_side=3))
    axis = draw(st.integers(-len(shape), len(shape) - 1))

    def of_length(n: int) -> tuple[int, ...]:
        return tuple(n if i == axis % len(shape) else side for i, side in enumerate(shape))

    lengths = draw(st.lists(st.integers(1, 3), min_size=1, max_size=3))
    return lambda *xs: np.concatenate(xs, axis=axis), [draw(filled(of_length(n))) for n in lengths]


@st.composite
def reshape(draw: st.DrawFn) -> Case:
    a = draw(SHAPES.flatmap(filled))
    shape = draw(st.permutations(np.shape(a)) | st.sampled_from([(-1,), (1, -1), (-1, 1)]))
    return lambda x: np.reshape(x, tuple(shape)), [a]


@st.composite
def transpose(draw: st.DrawFn) -> Case:
    a = draw(SHAPES.flatmap(filled))
    order = st.permutations(range(np.ndim(a))).map(tuple)
    from_the_end = order.map(lambda axes: tuple(axis - len(axes) for axis in axes))
    axes = draw(st.none() | order | from_the_end)
    return lambda x: np.transpose(x, axes), [a]


@st.composite
def expand_dims(draw: st.DrawFn) -> Case:
    a = draw(SHAPES.flatmap(filled))
    axis = draw(st.integers(-np.ndim(a) - 1, np.ndim(a)))
    return lambda x: np.expand_dims(x, axis), [a]


@st.composite
def broadcast_to(draw: st.DrawFn) -> Case:
    shape = draw(SHAPES)
    target = draw(hnp.broadcastable_shapes(shape, min_dims=len(shape), max_dims=3, min_side=1, max_side=3))
    return lambda x: np.broadcast_to(x, np.broadcast_shapes(shape, target)), [draw(filled(shape))]


@st.composite
def matmul(draw: st.DrawFn) -> Case:
    drawn = draw(hnp.mutually_broadcastable_shapes(signature=np.matmul.signature, max_dims=1, max_side=3))
    left, right = drawn.input_shapes
    return np.matmul, [draw(filled(left)), draw(filled(right, SECOND))]


@st.composite
def dot(draw: st.DrawFn) -> Case:
    inner = draw(st.integers(1, 3))
    plain = st.sampled_from([((), ()), ((), (inner,)), ((2, 3), ())])
    products = st.sampled_from([((inner,), (inner,)), ((2, inner), (inner,)), ((2, 3, inner), (inner, 2))])
    left, right = draw(plain | products | st.just(((inner,), (2, inner, 3))))
    return np.dot, [draw(filled(left)), draw(filled(right, SECOND))]


@st.composite
def item(draw: st.DrawFn) -> Case:
    a = draw(hnp.array_shapes(max_dims=3, max_side=3).flatmap(filled))
    basic = hnp.basic_indices(a.shape, allow_newaxis=True).filter(lambda key: np.size(a[key]))
    repeated = hnp.integer_array_indices(a.shape)
    masks = hnp.arrays(np.bool_, a.shape).filter(np.any)
    key = draw(basic | repeated | masks)
    return lambda x: x[key], [a]


@st.composite
def clip(draw: st.DrawFn) -> Case:
    low = draw(st.integers(-2, 0))
    high = low + draw(st.integers(1, 2))  # integers, where no value of FIRST is
    return lambda x: np.clip(x, low, high), [draw(SHAPES.flatmap(filled))]


@st.composite
def diff(draw: st.DrawFn) -> Case:
    shape = (*draw(hnp.array_shapes(min_dims=0, max_dims=2, max_side=3)), draw(st.integers(2, 4)))
    return np.diff, [draw(filled(shape))]


CASES: dict[Any, st.SearchStrategy[Case]] = {
    **{ufunc: elementwise(ufunc, *domains) for ufunc, domains in DOMAINS.items()},
    np.sum: reduction(np.sum),
    np.mean: reduction(np.mean),
    np.cumsum: cumsum(),
    np.where: where(),
    np.stack: stack(),
    np.concatenate: concatenate(),
    np.reshape: reshape(),
    np.transpose: transpose(),
    np.expand_dims: expand_dims(),
    np.broadcast_to: broadcast_to(),
    np.matmul: matmul(),
    "getitem": item(),
    np.dot: dot(),
    np.clip: clip(),
    np.diff: diff(),
    np.ravel: SHAPES.flatmap(filled).map(lambda a: (np.ravel, [a])),
}

TABLE = [*ops.UFUNCS, np.matmul, "getitem", *ops.FUNCTIONS, *ops.COMPOSITIONS]


def test_the_sweep_covers_the_whole_table() -> None:
    """Every primitive of the module is in one of the places that `TABLE` reads."""
    found = {id(entry) for entry in vars(ops).values() if isinstance(entry, ops.Elementwise | ops.Linear)}
    assert found == {id(ops.MATMUL), id(ops.ITEM)}
    assert set(CASES) == set(TABLE)


def weighted(result: Any) -> Any:
    """One number of a result of any shape, in which every element counts differently."""
    return np.sum(result * np.linspace(0.5, 1.5, max(np.size(result), 1)).reshape(np.shape(result)))


@pytest.mark.parametrize("primitive", ops.UFUNCS, ids=lambda p: p.__name__)
@settings(max_examples=40)
@given(data=st.data())
def test_elementwise_primitives_agree_with_finite_differences(primitive: Any, data: st.DataObject) -> None:
    assert_every_subset_agrees(primitive, data)


# These have axes, keys and shapes to go wrong with, hence more examples.
@pytest.mark.parametrize("primitive", TABLE[len(ops.UFUNCS) :], ids=lambda p: getattr(p, "__name__", p))
@settings(max_examples=100)
@given(data=st.data())
def test_linear_primitives_and_compositions_agree_with_finite_differences(primitive: Any, data: st.DataObject) -> None:
    assert_every_subset_agrees(primitive, data)


def assert_every_subset_agrees(primitive: Any, data: st.DataObject) -> None:
    """With any one, any two, ... or all of the operands as variables."""
    assert primitive in CASES, "this primitive needs an entry in CASES"
    call, operands = data.draw(CASES[primitive])
    numeric = central_difference(lambda *xs: weighted(call(*xs)), *operands)
    for count in range(1, len(operands) + 1):
        for varied in itertools.combinations(range(len(operands)), count):
            assert_agrees(call, operands, varied, numeric)


def assert_agrees(call: Callable[..., Any], operands: list[Any], varied: tuple[int, ...], numeric: list[Any]) -> None:
    """With these operands as variables and the others as constants, value and gradient are right."""
    plain = call(*operands)

    def loss(*variables: Any) -> Any:
        mixed = dict(enumerate(operands)) | dict(zip(varied, variables, strict=True))
        result = call(*mixed.values())
        assert isinstance(result, Var)
        assert result.shape == np.shape(plain)
        np.testing.assert_array_equal(result.value, plain)
        return weighted(result)

    _, gradients = value_and_grad(loss, *(operands[i] for i in varied))
    for i, gradient in zip(varied, gradients, strict=True):
        assert np.shape(gradient) == np.shape(operands[i])
        np.testing.assert_allclose(gradient, numeric[i], rtol=1e-6, atol=1e-7)


# What the sweep stays away from. ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("function", "at", "derivative"),
    [
        (np.abs, 0.0, 0.0),
        (lambda a: np.maximum(a, 0.0), 0.0, 0.5),
        (lambda a: np.maximum(0.0, a), 0.0, 0.5),
        (lambda a: np.minimum(a, 0.0), 0.0, 0.5),
        (lambda a: np.minimum(0.0, a), 0.0, 0.5),
    ],
)
def test_at_a_kink_the_rule_is_the_mean_of_the_one_sided_derivatives(
    function: Any, at: float, derivative: float
) -> None:
    h = 1e-3
    mean = ((function(at + h) - function(at)) / h + (function(at) - function(at - h)) / h) / 2
    assert value_and_grad(function, at)[1] == (derivative,)
    assert mean == pytest.approx(derivative, abs=1e-12)


@pytest.mark.parametrize("base", [-1.5, 0.0, 2.0])
def test_a_power_with_a_whole_exponent_takes_any_base(base: float) -> None:
    value, (gradient,) = value_and_grad(lambda a: a**3, base)
    assert (value, gradient) == (pytest.approx(base**3, rel=1e-15), pytest.approx(3 * base**2, rel=1e-15))


@pytest.mark.parametrize(
    ("function", "at", "size"),
    [
        (lambda a: a / np.float64(0.0), 1.0, np.inf),
        (lambda a: 1.0 / a, 0.0, np.inf),
        (np.log, 0.0, np.inf),
        (np.log1p, -1.0, np.inf),
        (np.sqrt, 0.0, np.inf),
        (np.arctanh, 1.0, np.inf),
        (np.arctan2, (0.0, 0.0), np.nan),
    ],
)
def test_at_a_pole_the_gradient_is_not_finite_and_nothing_is_raised(function: Any, at: Any, size: float) -> None:
    with np.errstate(all="ignore"):
        _, gradients = value_and_grad(function, *np.atleast_1d(at).tolist())
    np.testing.assert_array_equal(np.abs(gradients), size)


@pytest.mark.parametrize(
    ("function", "spelling"),
    [
        (lambda a: np.dot(a, np.ones((2, 3, 2))), "np.dot in this form"),
        (lambda a: np.diff(a, axis=0), "np.diff in this form"),
        (lambda a: np.concatenate([a, a], axis=None), "np.concatenate in this form"),
        (lambda a: np.reshape(a, (4,), order="F"), "np.reshape in this form"),
        (lambda a: np.sum(a, where=np.array([True, False])), "np.sum in this form"),
        (lambda a: np.mean(a, dtype=np.float32), "np.mean in this form"),
        (lambda a: np.where(a, 1.0, 2.0), "np.where with a tape variable as an option"),
    ],
)
def test_a_form_that_a_primitive_does_not_cover_is_refused_by_name(function: Any, spelling: str) -> None:
    with pytest.raises(TypeError, match=f"^{spelling} has no derivative rule here"):
        value_and_grad(function, np.ones((2, 3)) if "dot" in spelling else np.ones((2, 2)))
