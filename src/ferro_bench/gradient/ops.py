"""The one table of what can be differentiated: each primitive beside its derivative rule.

Two kinds of primitive are enough.

* An *elementwise* primitive y = f(a, b, ...) works number by number. Its rule is its partial derivatives, written as
  plain NumPy of the output and the inputs. Reverse mode multiplies the incoming adjoint by a partial; forward mode
  multiplies a tangent by the same partial.
* A *linear* primitive (sum, stack, indexing, matrix product, ...) is linear in each operand. Its rule is the transpose
  of that linear map, one per operand. Forward mode needs no rule at all: it applies the primitive to the tangent.

Where a function has a kink (``abs``, ``maximum``) the rule is the mean of the two one-sided derivatives. Where it has
none of either, as at the tip of ``hypot`` or beyond infinity, the rule gives NaN. ``np.where`` is a linear primitive:
the branch that is not taken receives the adjoint zero, and zero times an infinite slope is NaN. Guard the argument too:
``np.where(a > 0, np.log(np.where(a > 0, a, 1.0)), 0.0)``.

Source: Griewank and Walther, *Evaluating Derivatives*, 2nd ed., SIAM 2008, sections 3.1 to 3.3.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

Operands = tuple[Any, ...]
Options = dict[str, Any]
Rule = Callable[..., Any]


def unbroadcast(gradient: Any, shape: tuple[int, ...]) -> Any:
    """Sum a gradient over the axes that broadcasting added, so that it has its input's shape."""
    added = np.ndim(gradient) - len(shape)
    if added > 0:
        gradient = np.sum(gradient, axis=tuple(range(added)))
    stretched = tuple(axis for axis, size in enumerate(shape) if size == 1 and np.shape(gradient)[axis] != 1)
    return np.sum(gradient, axis=stretched, keepdims=True) if stretched else gradient


@dataclass(frozen=True, eq=False)
class Elementwise:
    """A primitive that works number by number.

    Attributes:
        value: computes the output from the operands.
        partials: for each operand, its partial derivative as a function of (output, *operands).
    """

    value: Rule
    partials: tuple[Rule, ...]

    def pullback(self, i: int, adjoint: Any, output: Any, operands: Operands, options: Options) -> Any:
        """The adjoint's share for operand ``i``, in that operand's shape."""
        share = adjoint * self.partials[i](output, *operands)
        if isinstance(share, float):  # np.float64 is a float too: no axes, nothing to undo
            return share
        return unbroadcast(share, np.shape(operands[i]))


@dataclass(frozen=True, eq=False)
class Linear:
    """A primitive that is linear in each of its operands.

    Attributes:
        value: computes the output from the operands and the options.
        transpose: the transposed map for operand ``i``, as a function of (i, adjoint, operands, **options).
        bind: turns a call in NumPy's own signature into (operands, options).
    """

    value: Rule
    transpose: Rule
    bind: Callable[..., tuple[Sequence[Any], Options]]

    def pullback(self, i: int, adjoint: Any, output: Any, operands: Operands, options: Options) -> Any:
        """The adjoint's share for operand ``i``, in that operand's shape."""
        return self.transpose(i, adjoint, operands, **options)


Primitive = Elementwise | Linear


# Elementwise: y stands for the output, a and b for the operands. -------------------------------------------------
# Division by an operand is NumPy's, because at zero it gives infinity where Python's raises.

_PARTIALS: dict[np.ufunc, tuple[Rule, ...]] = {
    np.add: (lambda y, a, b: 1.0, lambda y, a, b: 1.0),
    np.subtract: (lambda y, a, b: 1.0, lambda y, a, b: -1.0),
    np.multiply: (lambda y, a, b: b, lambda y, a, b: a),
    np.divide: (lambda y, a, b: np.divide(1.0, b), lambda y, a, b: -y / b),
    np.power: (lambda y, a, b: _power_slope(a, b), lambda y, a, b: y * np.log(np.where(y == 0.0, 1.0, a))),
    np.negative: (lambda y, a: -1.0,),
    np.positive: (lambda y, a: 1.0,),
    np.absolute: (lambda y, a: np.sign(a),),
    np.square: (lambda y, a: 2.0 * a,),
    np.sqrt: (lambda y, a: 0.5 / y,),
    np.cbrt: (lambda y, a: 1.0 / (3.0 * y * y),),
    np.reciprocal: (lambda y, a: -y * y,),
    np.exp: (lambda y, a: y,),
    np.exp2: (lambda y, a: y * np.log(2.0),),
    np.expm1: (lambda y, a: np.exp(a),),
    np.log: (lambda y, a: np.divide(1.0, a),),
    np.log2: (lambda y, a: 1.0 / (a * np.log(2.0)),),
    np.log10: (lambda y, a: 1.0 / (a * np.log(10.0)),),
    np.log1p: (lambda y, a: np.divide(1.0, 1.0 + a),),
    np.sin: (lambda y, a: np.cos(a),),
    np.cos: (lambda y, a: -np.sin(a),),
    np.tan: (lambda y, a: 1.0 + y * y,),
    np.arcsin: (lambda y, a: 1.0 / np.sqrt((1.0 - a) * (1.0 + a)),),
    np.arccos: (lambda y, a: -1.0 / np.sqrt((1.0 - a) * (1.0 + a)),),
    np.arctan: (lambda y, a: 1.0 / (1.0 + a * a),),
    np.arctan2: (lambda y, a, b: np.divide(b, a * a + b * b), lambda y, a, b: -np.divide(a, a * a + b * b)),
    np.sinh: (lambda y, a: np.cosh(a),),
    np.cosh: (lambda y, a: np.sinh(a),),
    np.tanh: (lambda y, a: 1.0 - y * y,),
    np.arcsinh: (lambda y, a: 1.0 / np.sqrt(a * a + 1.0),),
    np.arctanh: (lambda y, a: np.divide(1.0, (1.0 - a) * (1.0 + a)),),
    np.hypot: (lambda y, a, b: a / y, lambda y, a, b: b / y),
    np.logaddexp: (lambda y, a, b: np.exp(a - y), lambda y, a, b: np.exp(b - y)),
    # Kinks and steps.
    np.maximum: (lambda y, a, b: _heaviside(a - b), lambda y, a, b: _heaviside(b - a)),
    np.minimum: (lambda y, a, b: _heaviside(b - a), lambda y, a, b: _heaviside(a - b)),
    np.heaviside: (lambda y, a, b: 0.0, lambda y, a, b: np.where(a == 0.0, 1.0, 0.0)),
    np.sign: (lambda y, a: 0.0,),
    np.floor: (lambda y, a: 0.0,),
    np.ceil: (lambda y, a: 0.0,),
}

# Python's own operators do the same on arrays and are several times faster on floats.
_FASTER: dict[np.ufunc, Rule] = {
    np.add: operator.add,
    np.subtract: operator.sub,
    np.multiply: operator.mul,
    np.negative: operator.neg,
    np.positive: operator.pos,
    np.absolute: abs,
}


def _power_slope(a: Any, b: Any) -> Any:
    """b a^(b - 1), and 0 where b is 0: there the power is 1 whatever a is, also at a = 0."""
    return b * np.power(a, np.where(b == 0.0, 1.0, b - 1.0))


def _heaviside(difference: Any) -> Any:
    return np.heaviside(difference, 0.5)


UFUNCS: dict[Any, Elementwise] = {
    ufunc: Elementwise(_FASTER.get(ufunc, ufunc), partials) for ufunc, partials in _PARTIALS.items()
}

# Comparisons give plain booleans, which carry no derivative.
COMPARISONS: frozenset[Any] = frozenset(
    {
        np.less,
        np.less_equal,
        np.greater,
        np.greater_equal,
        np.equal,
        np.not_equal,
        np.isfinite,
        np.isinf,
        np.isnan,
        np.signbit,
    }
)


# Linear ----------------------------------------------------------------------------------------------------------


def _spread(adjoint: Any, operand: Any, axis: Any, keepdims: bool) -> Any:
    """Undo a reduction: give every reduced element the adjoint of the result it went into."""
    if axis is not None and not keepdims:
        adjoint = np.expand_dims(adjoint, axis)
    return np.broadcast_to(adjoint, np.shape(operand))


def _mean_transpose(i: int, g: Any, operands: Operands, axis: Any, keepdims: bool) -> Any:
    share = np.divide(g * np.size(g), np.size(operands[0]))  # the adjoint is as large as the output
    return _spread(share, operands[0], axis, keepdims)


def _cumsum_transpose(i: int, g: Any, operands: Operands, axis: int | None) -> Any:
    backwards = np.flip(np.cumsum(np.flip(g, axis or 0), axis or 0), axis or 0)
    return np.reshape(backwards, np.shape(operands[0]))


def _matmul_transpose(i: int, g: Any, operands: Operands) -> Any:
    """Bring vectors to matrices, transpose there, and drop again what was added."""
    left, right = operands
    column = np.ndim(right) == 1
    row = np.ndim(left) == 1
    matrix_left = left[None, :] if row else left
    matrix_right = right[:, None] if column else right
    if column:
        g = np.expand_dims(g, -1)
    if row:
        g = np.expand_dims(g, -2)
    if i == 0:
        share = unbroadcast(g @ np.swapaxes(matrix_right, -1, -2), np.shape(matrix_left))
    else:
        share = unbroadcast(np.swapaxes(matrix_left, -1, -2) @ g, np.shape(matrix_right))
    return np.reshape(share, np.shape(operands[i]))


def _where_transpose(i: int, g: Any, operands: Operands, condition: Any) -> Any:
    kept = np.where(condition, g, 0.0) if i == 0 else np.where(condition, 0.0, g)
    return unbroadcast(kept, np.shape(operands[i]))


def _item_transpose(i: int, g: Any, operands: Operands, key: Any) -> Any:
    share = np.zeros(np.shape(operands[0]))
    np.add.at(share, key, g)  # adds up where an index occurs twice, which plain assignment would not
    return share


def _concatenate_transpose(i: int, g: Any, operands: Operands, axis: int) -> Any:
    begin = sum(np.shape(operand)[axis] for operand in operands[:i])
    return np.take(g, range(begin, begin + np.shape(operands[i])[axis]), axis=axis)


def _concatenate(*operands: Any, axis: int) -> Any:
    return np.concatenate(operands, axis=axis)


def _stack(*operands: Any, axis: int) -> Any:
    return np.stack(operands, axis=axis)


MATMUL = Linear(np.matmul, _matmul_transpose, lambda a, b: ((a, b), {}))
ITEM = Linear(lambda a, key: np.asarray(a)[key], _item_transpose, lambda a, key: ((a,), {"key": key}))

FUNCTIONS: dict[Any, Linear] = {
    np.sum: Linear(
        np.sum,
        lambda i, g, operands, axis, keepdims: _spread(g, operands[0], axis, keepdims),
        lambda a, axis=None, keepdims=False: ((a,), {"axis": axis, "keepdims": keepdims}),
    ),
    np.mean: Linear(
        np.mean,
        _mean_transpose,
        lambda a, axis=None, keepdims=False: ((a,), {"axis": axis, "keepdims": keepdims}),
    ),
    np.cumsum: Linear(np.cumsum, _cumsum_transpose, lambda a, axis=None: ((a,), {"axis": axis})),
    np.where: Linear(
        lambda a, b, condition: np.where(condition, a, b),
        _where_transpose,
        lambda condition, x, y: ((x, y), {"condition": condition}),
    ),
    np.stack: Linear(
        _stack,
        lambda i, g, operands, axis: g[i] if axis == 0 else np.take(g, i, axis=axis),
        lambda arrays, axis=0: (arrays, {"axis": axis}),
    ),
    np.concatenate: Linear(
        _concatenate,
        _concatenate_transpose,
        lambda arrays, axis=0: (arrays, {"axis": operator.index(axis)}),
    ),
    np.reshape: Linear(
        np.reshape,
        lambda i, g, operands, shape: np.reshape(g, np.shape(operands[0])),
        lambda a, shape: ((a,), {"shape": shape}),
    ),
    np.transpose: Linear(
        np.transpose,
        lambda i, g, operands, axes: np.transpose(g, None if axes is None else np.argsort(np.mod(axes, np.ndim(g)))),
        lambda a, axes=None: ((a,), {"axes": axes}),
    ),
    np.expand_dims: Linear(
        np.expand_dims,
        lambda i, g, operands, axis: np.reshape(g, np.shape(operands[0])),
        lambda a, axis: ((a,), {"axis": axis}),
    ),
    np.broadcast_to: Linear(
        np.broadcast_to,
        lambda i, g, operands, shape: unbroadcast(g, np.shape(operands[0])),
        lambda array, shape: ((array,), {"shape": shape}),
    ),
}


def _dot(a: Any, b: Any) -> Any:
    if np.ndim(a) == 0 or np.ndim(b) == 0:
        return a * b
    if np.ndim(a) > 1 and np.ndim(b) > 2:
        raise TypeError("it differs from a @ b where the second array has more than two axes")
    return a @ b


# Functions that are compositions of the primitives above, and need no rule of their own.
COMPOSITIONS: dict[Any, Callable[..., Any]] = {
    np.dot: _dot,
    np.clip: lambda a, a_min, a_max: np.minimum(np.maximum(a, a_min), a_max),
    np.diff: lambda a: a[..., 1:] - a[..., :-1],
    np.ravel: lambda a: np.reshape(a, (-1,)),
}

# Functions that ask about a variable's shape or compare its value: they carry no derivative.
QUESTIONS: frozenset[Any] = frozenset(
    {
        np.shape,
        np.ndim,
        np.size,
        np.zeros_like,
        np.ones_like,
        np.isclose,
        np.allclose,
        np.array_equal,
        np.argmax,
        np.argmin,
    }
)
