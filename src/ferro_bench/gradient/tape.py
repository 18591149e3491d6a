"""Define-by-run reverse mode: run ordinary NumPy once, remember every operation, walk back with the adjoint.

Forward, each operation on a `Var` appends one record to the tape: which primitive, on which operands, with which
result. Backward, the adjoint ∂loss/∂y of every record is handed on to its operands, weighted by the primitive's rule
from `ops`. The records stand in the order of execution, which is a topological order already, so one backward pass over
a list suffices: nothing recurses, and the depth of a rollout is limited by memory alone.

Source: Griewank and Walther, *Evaluating Derivatives*, 2nd ed., SIAM 2008, section 3.2.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from copy import copy
from typing import Any, NamedTuple, NoReturn

import numpy as np

from . import ops


class _Record(NamedTuple):
    primitive: ops.Primitive
    output: Any
    operands: tuple[Any, ...]
    options: dict[str, Any]
    parents: tuple[int, ...]  # the operands' places on the tape; -1 for a constant


class Tape:
    """The list of operations that were done on its variables, in the order in which they were done."""

    def __init__(self) -> None:
        self._records: list[_Record | None] = []

    def __len__(self) -> int:
        return len(self._records)

    def variable(self, value: Any) -> Var:
        """Start a variable at `value`: a real number or an array of real numbers, of any shape.

        Raises:
            TypeError: if the value is not made of real numbers.
        """
        array = np.asarray(value)
        if array.dtype.kind not in "fiu":
            raise TypeError(f"a tape variable holds real numbers, but {value!r} is of type {array.dtype}")
        self._records.append(None)
        number = array.astype(np.float64)
        return Var(self, len(self._records) - 1, float(number) if number.ndim == 0 else number)

    def record(self, primitive: ops.Primitive, operands: Sequence[Any], options: dict[str, Any]) -> Var:
        """Apply a primitive to operands of which at least one is a variable of this tape.

        Raises:
            ValueError: if one of them is a variable of another tape.
        """
        values = tuple([x.value if isinstance(x, Var) else x for x in operands])
        parents = tuple([self._place(x) if isinstance(x, Var) else -1 for x in operands])
        output = primitive.value(*values, **options)
        if type(output) is np.ndarray and output.ndim == 0:
            output = output[()]  # scalars compute several times faster than arrays without axes
        self._records.append(_Record(primitive, output, values, options, parents))
        return Var(self, len(self._records) - 1, output)

    def _place(self, variable: Var) -> int:
        if variable.tape is not self:
            raise ValueError(
                "two variables from different tapes met in one operation; "
                "make all variables of one gradient on one tape"
            )
        return variable.place

    def gradient(self, output: Var, variables: Sequence[Var]) -> list[Any]:
        """The derivatives of one number with respect to variables of this tape.

        Args:
            output: the number to differentiate, of shape ``()``.
            variables: what to differentiate it by.

        Returns:
            For each variable ∂output/∂variable, in the variable's shape; zero where the output does not depend on it.

        Raises:
            ValueError: if the output is not a single number, or a variable belongs to another tape.
        """
        _require_one_number(output)
        adjoints: list[Any] = [None] * (self._place(output) + 1)
        adjoints[output.place] = 1.0
        for place in range(output.place, -1, -1):
            adjoint, record = adjoints[place], self._records[place]
            if adjoint is None or record is None:
                continue
            for i, parent in enumerate(record.parents):
                if parent >= 0:
                    share = record.primitive.pullback(i, adjoint, record.output, record.operands, record.options)
                    known = adjoints[parent]
                    # Never in place: a share may be the very array that another operand received.
                    adjoints[parent] = share if known is None else known + share
        found = [adjoints[v.place] if self._place(v) < len(adjoints) else None for v in variables]
        return [
            _like(np.zeros(v.shape) if gradient is None else gradient)
            for v, gradient in zip(variables, found, strict=True)
        ]


def _require_one_number(output: Any) -> None:
    if np.shape(output) != ():
        raise ValueError(
            f"a gradient is taken of one number, but this output has shape {np.shape(output)}; "
            "take np.sum or np.mean of it first"
        )


def _like(gradient: Any) -> Any:
    return float(gradient) if np.ndim(gradient) == 0 else np.array(gradient)


def _spelling(function: Any) -> str:
    module = getattr(function, "__module__", None) or "numpy"
    return f"{module.replace('numpy', 'np', 1)}.{function.__name__}"


def _refuse(spelling: str, way_on: str = "") -> NoReturn:
    raise TypeError(f"{spelling} has no derivative rule here{way_on}")


def _plain(argument: Any) -> Any:
    if isinstance(argument, Var):
        return argument.value
    if isinstance(argument, list | tuple):
        return type(argument)(_plain(x) for x in argument)
    return argument


class Var:
    """A number or an array whose operations are being recorded.

    It takes part in NumPy: operators, ufuncs and the functions named in `ops` work on it, with floats and arrays on
    either side. What has no derivative rule raises a `TypeError` that names it.

    Attributes:
        tape: the tape that records it.
        place: its position on that tape.
        value: the plain value, a float or an array.
    """

    __slots__ = ("place", "tape", "value")

    def __init__(self, tape: Tape, place: int, value: Any) -> None:
        self.tape = tape
        self.place = place
        self.value = value

    # NumPy's protocols (NEP 13 and NEP 18).

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        spelling = f"np.{ufunc.__name__}"
        if method != "__call__":
            _refuse(f"{spelling}.{method}")
        if options:
            _refuse(f"{spelling} with {next(iter(options))}=")
        if ufunc in ops.COMPARISONS:
            return ufunc(*map(_plain, inputs))
        if ufunc is np.matmul:
            return self.tape.record(ops.MATMUL, [_constant(x) for x in inputs], {})
        if ufunc not in ops.UFUNCS:
            _refuse(spelling)
        return self.tape.record(ops.UFUNCS[ufunc], [_constant(x) for x in inputs], {})

    def __array_function__(
        self, function: Callable[..., Any], types: Any, args: tuple[Any, ...], options: dict[str, Any]
    ) -> Any:
        if function in ops.QUESTIONS:
            return function(*map(_plain, args), **{key: _plain(x) for key, x in options.items()})
        rule = ops.FUNCTIONS.get(function)
        if rule is None and function not in ops.COMPOSITIONS:
            _refuse(_spelling(function))
        try:
            if rule is None:
                return ops.COMPOSITIONS[function](*args, **options)
            operands, settings = rule.bind(*args, **options)
            settings = {name: _frozen(setting) for name, setting in settings.items()}
        except TypeError as error:
            _refuse(f"{_spelling(function)} in this form", f" ({str(error).replace('<lambda>() ', '')})")
        if any(isinstance(setting, Var) for setting in settings.values()):
            _refuse(f"{_spelling(function)} with a tape variable as an option")
        return self.tape.record(rule, [_constant(x) for x in operands], settings)

    def __array__(self, *args: Any, **options: Any) -> NoReturn:
        _refuse_to_become("an array (np.array, np.asarray or an element of an array)")

    def __float__(self) -> NoReturn:
        _refuse_to_become("a float (float() or math.*)")

    def __int__(self) -> NoReturn:
        _refuse_to_become("an int")

    def __index__(self) -> NoReturn:
        _refuse_to_become("an index")

    # Shape.

    @property
    def shape(self) -> tuple[int, ...]:
        return np.shape(self.value)

    @property
    def ndim(self) -> int:
        return np.ndim(self.value)

    @property
    def size(self) -> int:
        return int(np.size(self.value))

    @property
    def T(self) -> Any:
        return np.transpose(self)

    def __len__(self) -> int:
        if self.ndim == 0:
            raise TypeError("this tape variable is a single number and has no length")
        return len(self.value)

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self)))

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, Var) or (isinstance(key, tuple) and any(isinstance(k, Var) for k in key)):
            _refuse_to_become("an index")
        return self.tape.record(ops.ITEM, (self,), {"key": _frozen(key)})

    def __setitem__(self, key: Any, value: Any) -> NoReturn:
        raise TypeError("a tape variable cannot be changed in place; collect the parts in a list and np.stack them")

    def sum(self, axis: Any = None, keepdims: bool = False) -> Any:
        return np.sum(self, axis=axis, keepdims=keepdims)

    def mean(self, axis: Any = None, keepdims: bool = False) -> Any:
        return np.mean(self, axis=axis, keepdims=keepdims)

    def reshape(self, *shape: Any) -> Any:
        return np.reshape(self, shape[0] if len(shape) == 1 else shape)

    def __repr__(self) -> str:
        return f"Var({self.value!r})"

    # Operators. Each goes to its table entry directly: the road through NumPy's dispatch costs five times as much.

    def __add__(self, other: Any) -> Any:
        return self._apply(_ADD, self, other)

    def __radd__(self, other: Any) -> Any:
        return self._apply(_ADD, other, self)

    def __sub__(self, other: Any) -> Any:
        return self._apply(_SUBTRACT, self, other)

    def __rsub__(self, other: Any) -> Any:
        return self._apply(_SUBTRACT, other, self)

    def __mul__(self, other: Any) -> Any:
        return self._apply(_MULTIPLY, self, other)

    def __rmul__(self, other: Any) -> Any:
        return self._apply(_MULTIPLY, other, self)

    def __truediv__(self, other: Any) -> Any:
        return self._apply(_DIVIDE, self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return self._apply(_DIVIDE, other, self)

    def __pow__(self, other: Any) -> Any:
        return self._apply(_POWER, self, other)

    def __rpow__(self, other: Any) -> Any:
        return self._apply(_POWER, other, self)

    def __matmul__(self, other: Any) -> Any:
        return self._apply(ops.MATMUL, self, other)

    def __rmatmul__(self, other: Any) -> Any:
        return self._apply(ops.MATMUL, other, self)

    def __neg__(self) -> Any:
        return self.tape.record(_NEGATIVE, (self,), {})

    def __pos__(self) -> Any:
        return self

    def __abs__(self) -> Any:
        return self.tape.record(_ABSOLUTE, (self,), {})

    def _apply(self, primitive: ops.Primitive, left: Any, right: Any) -> Any:
        return self.tape.record(primitive, (_constant(left), _constant(right)), {})

    # Comparisons look at the value. They give NumPy's truth values, of which ~ is the opposite; of Python's it is not.

    def __lt__(self, other: Any) -> Any:
        return np.less(self.value, _plain(other))

    def __le__(self, other: Any) -> Any:
        return np.less_equal(self.value, _plain(other))

    def __gt__(self, other: Any) -> Any:
        return np.greater(self.value, _plain(other))

    def __ge__(self, other: Any) -> Any:
        return np.greater_equal(self.value, _plain(other))

    def __eq__(self, other: object) -> Any:
        return np.equal(self.value, _plain(other))

    def __ne__(self, other: object) -> Any:
        return np.not_equal(self.value, _plain(other))

    __hash__ = None  # type: ignore[assignment]

    def __bool__(self) -> bool:
        return bool(self.value)


_ADD, _SUBTRACT = ops.UFUNCS[np.add], ops.UFUNCS[np.subtract]
_MULTIPLY, _DIVIDE = ops.UFUNCS[np.multiply], ops.UFUNCS[np.divide]
_POWER = ops.UFUNCS[np.power]
_NEGATIVE, _ABSOLUTE = ops.UFUNCS[np.negative], ops.UFUNCS[np.absolute]


def _constant(operand: Any) -> Any:
    """Let variables and floats pass; turn other constants (ints, lists, integer arrays) into floats."""
    if isinstance(operand, Var | float):
        return operand
    array = np.asarray(operand)
    if array.dtype.kind not in "fiub":
        raise TypeError(f"a tape variable met {operand!r}, which is not made of real numbers")
    return array.astype(np.float64) if array.ndim else float(array)


def _frozen(option: Any) -> Any:
    """A copy of what the caller may change later, before the adjoint comes back and looks at it again."""
    return copy(option) if isinstance(option, np.ndarray | list) else option


def _refuse_to_become(what: str) -> NoReturn:
    raise TypeError(
        f"a tape variable was about to become {what}, which would lose its derivative; "
        "use np.* functions on it, np.stack for a list of them, or .value where the plain number is meant"
    )


def value_and_grad(function: Callable[..., Any], *arguments: Any) -> tuple[float, tuple[Any, ...]]:
    """Evaluate a function that returns one number, and its derivative with respect to every argument.

    Args:
        function: ordinary NumPy of its arguments.
        arguments: real numbers or arrays of real numbers, of any shapes.

    Returns:
        The value, and for each argument the derivative in that argument's shape.

    Raises:
        ValueError: if the function returns more than one number.
        TypeError: if it uses something that has no derivative rule; the message names it.
    """
    tape = Tape()
    variables = [tape.variable(x) for x in arguments]
    output = function(*variables)
    if not isinstance(output, Var):  # the arguments never reached the result
        _require_one_number(output)
        return float(output), tuple(_like(np.zeros(v.shape)) for v in variables)
    gradients = tape.gradient(output, variables)
    return float(output.value), tuple(gradients)
