"""Run a function once on symbols, and keep what it did as plain data.

A `Record` is straight-line: a list of operations on numbered slots, without branches and without Python objects. From
one record of a step follow, as further records, the step's adjoint (`reverse`) and its tangents (`forward`), by the
rules of the one table in `ops` applied to symbols in place of numbers. What becomes of a record, Python source or
something else, is the business of whoever reads it.

While recording, what is computed twice is recorded once, what is constant is computed on the spot, and what no output
needs is left out in the end.

Source: Griewank and Walther, *Evaluating Derivatives*, 2nd ed., SIAM 2008, chapters 3 and 6.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NoReturn

import numpy as np

from . import ops


class TraceError(TypeError):
    """The function did something that a straight-line program cannot say; the message names it, and the way on."""


@dataclass(frozen=True)
class Constant:
    """A number that is known when the program is written."""

    value: float


Slot = int | Constant  # where a value stands, or what it is


@dataclass(frozen=True)
class Operation:
    """One operation.

    Attributes:
        name: NumPy's name of the primitive; ``where`` takes (condition, x, y).
        operands: the slots it reads.
    """

    name: str
    operands: tuple[Slot, ...]


@dataclass(frozen=True)
class Record:
    """A straight-line program as plain data.

    The inputs have the slots 0 to len(inputs) - 1; operation i writes slot len(inputs) + i.

    Attributes:
        inputs: names of the inputs.
        operations: in the order of execution; each reads earlier slots only.
        outputs: the slots that are the result.
    """

    inputs: tuple[str, ...]
    operations: tuple[Operation, ...]
    outputs: tuple[Slot, ...]


def trace(function: Callable[..., Sequence[Any]], inputs: Sequence[str]) -> Record:
    """Record what a function does with its arguments.

    Args:
        function: takes one argument an input and returns a sequence of results; NumPy that works number by number.
        inputs: names of the arguments.

    Returns:
        The record, with the function's results as its outputs.

    Raises:
        TraceError: if the function branches on an argument's value, or calls what has no rule; the message names it.
    """
    recorder = _Recorder(inputs)
    return recorder.finish(function(*recorder.symbols))


def reverse(record: Record, by: Sequence[str]) -> Record:
    """The adjoint of a record: from the adjoints of its outputs to those of some of its inputs.

    Args:
        record: a straight-line program.
        by: names of the inputs to differentiate by.

    Returns:
        A record whose inputs are those of ``record``, then ``adjoint_0``, ``adjoint_1``, ... for its outputs in order;
        its outputs are the adjoints of the inputs in ``by``.
    """
    seeds = [f"adjoint_{i}" for i in range(len(record.outputs))]
    recorder = _Recorder([*record.inputs, *seeds])
    values = recorder.replay(record)
    adjoints: dict[int, Any] = {}
    for slot, seed in zip(record.outputs, recorder.symbols[len(record.inputs) :], strict=True):
        if isinstance(slot, int):
            adjoints[slot] = adjoints.get(slot, 0.0) + seed
    adjoints = _walk_back(record, values, adjoints)
    return recorder.finish([adjoints.get(record.inputs.index(name), 0.0) for name in by])


def forward(record: Record, directions: Sequence[Mapping[str, str | float]]) -> Record:
    """The tangents of a record: how its outputs change as its inputs move in some directions.

    Args:
        record: a straight-line program.
        directions: for each direction, the tangents of the inputs that move: a number, or the name of a further input.

    Returns:
        A record whose inputs are those of ``record``, then those that the directions name; its outputs are those of
        ``record``, then the tangent of each output in the first direction, in the second, ...
    """
    named = [tangent for direction in directions for tangent in direction.values() if isinstance(tangent, str)]
    recorder = _Recorder([*record.inputs, *named])
    values = recorder.replay(record)
    # The derivatives of each output by the inputs and by earlier outputs are the same for all directions.
    results = sorted({slot for slot in record.outputs if isinstance(slot, int) and slot >= len(record.inputs)})
    slopes = {result: _walk_back(record, values, {result: 1.0}, ends={*results} - {result}) for result in results}
    tangents_of_outputs: list[Any] = []
    for direction in directions:
        tangents: dict[Slot, Any] = {
            record.inputs.index(name): recorder.symbol(tangent) if isinstance(tangent, str) else tangent
            for name, tangent in direction.items()
        }
        for result in results:
            moved: Any = 0.0
            for slot, slope in slopes[result].items():
                if not (_is_zero(slope) or _is_zero(tangents.get(slot, 0.0))):
                    moved = moved + tangents[slot] * slope
            tangents[result] = moved
        tangents_of_outputs += [tangents.get(slot, 0.0) for slot in record.outputs]
    return recorder.finish([*(_at(values, slot) for slot in record.outputs), *tangents_of_outputs])


def _walk_back(
    record: Record, values: Sequence[Any], adjoints: dict[int, Any], ends: Collection[int] = ()
) -> dict[int, Any]:
    """Pass adjoints on from results to what these were computed from, back to the inputs or to ends before them."""
    for here in range(len(values) - 1, len(record.inputs) - 1, -1):
        if here in adjoints and here not in ends and not _is_zero(adjoint := adjoints.pop(here)):
            for slot, scaled in _slopes(record.operations[here - len(record.inputs)], values, here):
                adjoints[slot] = adjoints.get(slot, 0.0) + scaled(adjoint)
    return adjoints


def _slopes(operation: Operation, values: Sequence[Any], here: int) -> Iterator[tuple[int, Callable[[Any], Any]]]:
    """For each operand that is not a constant: its slot, and multiplication by the derivative with respect to it."""
    operands = [_at(values, slot) for slot in operation.operands]
    for place, slot in enumerate(operation.operands):
        if not isinstance(slot, int):
            continue
        if operation.name == "where":
            if place == 1:
                yield slot, lambda x: np.where(operands[0], x, 0.0)
            elif place == 2:
                yield slot, lambda x: np.where(operands[0], 0.0, x)
        elif operation.name in _ELEMENTWISE:
            slope = _ELEMENTWISE[operation.name].partials[place](values[here], *operands)
            if not _is_zero(slope):
                yield slot, partial(_times, slope)


def _times(slope: Any, x: Any) -> Any:
    return x * slope


def _at(values: Sequence[Any], slot: Slot) -> Any:
    return values[slot] if isinstance(slot, int) else slot.value


def _is_zero(value: Any) -> bool:
    return not isinstance(value, Symbol) and bool(value == 0.0)


_ELEMENTWISE = {ufunc.__name__: primitive for ufunc, primitive in ops.UFUNCS.items()}
# What gives a truth value, which carries no derivative.
CONDITIONS = {ufunc.__name__: ufunc for ufunc in ops.COMPARISONS} | {
    "logical_and": np.logical_and,
    "logical_or": np.logical_or,
    "logical_not": np.logical_not,
}


class _Recorder:
    """Writes a record, one operation at a time."""

    def __init__(self, inputs: Sequence[str]) -> None:
        self._inputs = tuple(inputs)
        self._operations: list[Operation] = []
        self._slots: dict[Operation, int] = {}  # what is computed already
        self.symbols = [Symbol(self, slot) for slot in range(len(inputs))]

    def symbol(self, name: str) -> Symbol:
        return self.symbols[self._inputs.index(name)]

    def record(self, name: str, operands: Sequence[Any]) -> Any:
        """The result of an operation: a number where all operands are, else the symbol of its slot."""
        slots = tuple(self._slot_of(operand) for operand in operands)
        if all(isinstance(slot, Constant) for slot in slots):
            return _compute(name, [slot.value for slot in slots if isinstance(slot, Constant)])
        if name in {"add", "multiply"} and isinstance(slots[0], Constant):
            slots = slots[::-1]
        if Operation(name, slots) not in self._slots:
            simpler = self._simplify(name, slots)
            if simpler is not None:
                return simpler
        return self._write(Operation(name, slots))

    def _write(self, operation: Operation) -> Symbol:
        if operation not in self._slots:
            self._operations.append(operation)
            self._slots[operation] = len(self._inputs) + len(self._operations) - 1
        return Symbol(self, self._slots[operation])

    def _slot_of(self, operand: Any) -> Slot:
        if isinstance(operand, Symbol):
            return operand.slot
        if np.ndim(operand) or not np.isrealobj(operand) or isinstance(operand, str):
            _refuse(f"an array or {type(operand).__name__} beside a number that is not known yet")
        return Constant(float(operand))

    def _simplify(self, name: str, slots: tuple[Slot, ...]) -> Any:
        """What says the same with fewer operations, or None."""
        symbols = [Symbol(self, slot) if isinstance(slot, int) else slot.value for slot in slots]
        match name, slots:
            case (("add" | "subtract"), (_, Constant(value=0.0))):
                return symbols[0]
            case (("multiply" | "divide" | "power"), (_, Constant(value=1.0))):
                return symbols[0]
            case "multiply", (_, Constant(value=-1.0)):
                return -symbols[0]
            case "multiply", (int(scaled), Constant(value=factor)) if self._scaled(scaled):
                unscaled, before = self._scaled(scaled)
                return unscaled * (before * factor)
            case "power", (int(), Constant(value=2.0)):
                return symbols[0] * symbols[0]
            case "square", _:
                return symbols[0] * symbols[0]
            case "subtract", (Constant(value=0.0), _):
                return -symbols[1]
            case "positive", _:
                return symbols[0]
            case "negative", (int(scaled),) if self._scaled(scaled):
                unscaled, before = self._scaled(scaled)
                return unscaled * -before
            case "where", (Constant(value=chosen), _, _):
                return symbols[1] if chosen else symbols[2]
            case "multiply", (int(product), int(other)):
                regrouped = self._regrouped(product, other)
                return self._regrouped(other, product) if regrouped is None else regrouped
            case "add", (int(total), int(term)) if (rest := self._other_operand("add", total, term)) is not None:
                return Symbol(self, rest) + symbols[1] * 2.0
        negated = [self._negated(slot) for slot in slots]
        match name, negated:
            case "negative", [inner] if inner is not None:
                return inner
            case "add", [_, term] if term is not None:
                return symbols[0] - term
            case "add", [term, _] if term is not None:
                return symbols[1] - term
            case "subtract", [_, term] if term is not None:
                return symbols[0] + term
        return None

    def _regrouped(self, product: int, factor: int) -> Any:
        """A product with one more factor, where that gives |x| for x·sign(x) or a product that is there already."""
        signed = self._operation(factor)
        if signed and signed.name == "sign" and isinstance(signed.operands[0], int):
            magnitude = self._replaced(product, signed.operands[0])
            if magnitude is not None:
                return magnitude
        operation = self._operation(product)
        if operation and operation.name == "multiply":
            for one, rest in (operation.operands, operation.operands[::-1]):
                for known in ((factor, one), (one, factor)):
                    if isinstance(rest, int) and Operation("multiply", known) in self._slots:
                        # Written as it is: to look for a still better grouping might lead back to this one.
                        return self._write(Operation("multiply", (self._slots[Operation("multiply", known)], rest)))
        return None

    def _replaced(self, product: int, factor: int) -> Any:
        """The product with the absolute value of one of its factors in that factor's place, or None."""
        if product == factor:
            return abs(Symbol(self, factor))
        operation = self._operation(product)
        if operation and operation.name == "multiply":
            for one, rest in (operation.operands, operation.operands[::-1]):
                if isinstance(one, int) and (inner := self._replaced(one, factor)) is not None:
                    return inner * (Symbol(self, rest) if isinstance(rest, int) else rest.value)
        return None

    def _other_operand(self, name: str, slot: int, operand: int) -> int | None:
        """The other operand of an operation of that name of which one operand is given; None if it is no such one."""
        match self._operation(slot):
            case Operation(found, (int(other), int(same))) if found == name and same == operand:
                return other
        return None

    def _operation(self, slot: int) -> Operation | None:
        """The operation that writes a slot; None for an input."""
        return self._operations[slot - len(self._inputs)] if slot >= len(self._inputs) else None

    def _scaled(self, slot: int) -> Any:
        """The symbol of which a slot holds a constant multiple, and the factor; or None."""
        match self._operation(slot):
            case Operation("multiply", (int(inner), Constant(value=factor))):
                return Symbol(self, inner), factor
            case Operation("divide", (int(inner), Constant(value=divisor))) if divisor:
                return Symbol(self, inner), 1.0 / divisor
            case Operation("negative", (int(inner),)):
                return Symbol(self, inner), -1.0
        return None

    def _negated(self, slot: Slot) -> Any:
        """The symbol whose negative stands in a slot, or None."""
        match self._operation(slot) if isinstance(slot, int) else None:
            case Operation("negative", (int(inner),)):
                return Symbol(self, inner)
        return None

    def replay(self, record: Record) -> list[Any]:
        """Do again what a record says, on this recorder's first inputs; return the value of every slot."""
        values: list[Any] = list(self.symbols[: len(record.inputs)])
        for operation in record.operations:
            values.append(self.record(operation.name, [_at(values, slot) for slot in operation.operands]))
        return values

    def finish(self, outputs: Sequence[Any]) -> Record:
        """The record of what these outputs need, and of nothing else."""
        wanted = [self._slot_of(output) for output in outputs]
        first = len(self._inputs)
        needed = {slot for slot in wanted if isinstance(slot, int)}
        for slot in range(first + len(self._operations) - 1, first - 1, -1):
            if slot in needed:
                needed |= {x for x in self._operations[slot - first].operands if isinstance(x, int)}
        kept = [slot for slot in range(first, first + len(self._operations)) if slot in needed]
        place: dict[Slot, Slot] = dict(zip(kept, range(first, first + len(kept)), strict=True))
        return Record(
            self._inputs,
            tuple(
                Operation(operation.name, tuple(place.get(slot, slot) for slot in operation.operands))
                for operation in (self._operations[slot - first] for slot in kept)
            ),
            tuple(place.get(slot, slot) for slot in wanted),
        )


def _compute(name: str, operands: Sequence[float]) -> float:
    if name == "where":
        return operands[1] if operands[0] else operands[2]
    with np.errstate(all="ignore"):
        if name in CONDITIONS:
            return float(CONDITIONS[name](*operands))
        return float(_ELEMENTWISE[name].value(*operands))


# Symbols -----------------------------------------------------------------------------------------------------------


class Symbol:
    """A number that is not known yet. It takes part in NumPy as a tape variable does, and stands for one slot."""

    __slots__ = ("recorder", "slot")

    def __init__(self, recorder: _Recorder, slot: int) -> None:
        self.recorder = recorder
        self.slot = slot

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        if method != "__call__" or options:
            _refuse(f"np.{ufunc.__name__} in this form")
        if ufunc.__name__ not in _ELEMENTWISE and ufunc.__name__ not in CONDITIONS:
            _refuse(f"np.{ufunc.__name__}")
        return self.recorder.record(ufunc.__name__, inputs)

    def __array_function__(self, function: Callable[..., Any], types: Any, args: Any, options: Any) -> Any:
        if function is np.where and len(args) == 3 and not options:
            return self.recorder.record("where", args)
        if function in (np.shape, np.ndim):
            return () if function is np.shape else 0
        if function in ops.COMPOSITIONS:
            return ops.COMPOSITIONS[function](*args, **options)
        _refuse(f"np.{function.__name__}")

    def __array__(self, *args: Any, **options: Any) -> NoReturn:
        _refuse("an array made of a value that is not known yet")

    def __float__(self) -> NoReturn:
        _refuse("float() or math.*")

    def __int__(self) -> NoReturn:
        _refuse("int()")

    def __index__(self) -> NoReturn:
        _refuse("an index that is not known yet")

    def __bool__(self) -> NoReturn:
        raise TraceError(
            "This step branches on a value of the state or a parameter; np.where(condition, a, b) is the way."
        )

    __hash__ = None  # type: ignore[assignment]

    def __add__(self, other: Any) -> Any:
        return self.recorder.record("add", (self, other))

    def __radd__(self, other: Any) -> Any:
        return self.recorder.record("add", (other, self))

    def __sub__(self, other: Any) -> Any:
        return self.recorder.record("subtract", (self, other))

    def __rsub__(self, other: Any) -> Any:
        return self.recorder.record("subtract", (other, self))

    def __mul__(self, other: Any) -> Any:
        return self.recorder.record("multiply", (self, other))

    def __rmul__(self, other: Any) -> Any:
        return self.recorder.record("multiply", (other, self))

    def __truediv__(self, other: Any) -> Any:
        return self.recorder.record("divide", (self, other))

    def __rtruediv__(self, other: Any) -> Any:
        return self.recorder.record("divide", (other, self))

    def __pow__(self, other: Any) -> Any:
        return self.recorder.record("power", (self, other))

    def __rpow__(self, other: Any) -> Any:
        return self.recorder.record("power", (other, self))

    def __neg__(self) -> Any:
        return self.recorder.record("negative", (self,))

    def __pos__(self) -> Any:
        return self

    def __abs__(self) -> Any:
        return self.recorder.record("absolute", (self,))

    def __and__(self, other: Any) -> Any:
        return self.recorder.record("logical_and", (self, other))

    def __or__(self, other: Any) -> Any:
        return self.recorder.record("logical_or", (self, other))

    __rand__, __ror__ = __and__, __or__

    def __invert__(self) -> Any:
        return self.recorder.record("logical_not", (self,))

    def __lt__(self, other: Any) -> Any:
        return self.recorder.record("less", (self, other))

    def __le__(self, other: Any) -> Any:
        return self.recorder.record("less_equal", (self, other))

    def __gt__(self, other: Any) -> Any:
        return self.recorder.record("greater", (self, other))

    def __ge__(self, other: Any) -> Any:
        return self.recorder.record("greater_equal", (self, other))

    def __eq__(self, other: object) -> Any:
        return self.recorder.record("equal", (self, other))

    def __ne__(self, other: object) -> Any:
        return self.recorder.record("not_equal", (self, other))


def _refuse(what: str) -> NoReturn:
    raise TraceError(f"This step uses {what}, which has no place in a straight-line program of single numbers.")
