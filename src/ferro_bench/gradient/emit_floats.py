"""A recurrence as Python on plain floats, for one rollout: straight-line, one operation a line.

Python's floats do not overflow to infinity in every function, nor do they divide by zero: such programs raise an
`ArithmeticError` or a `ValueError` there, and whoever runs them turns to the tape, which computes on.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Protocol

import numpy as np

from .emit import Names, compile_source, indent, kept_states, read, split
from .recurrence import Recurrence, tangent_name
from .trace import Operation, Record, Slot

_EXPRESSIONS = {
    "add": "{0} + {1}",
    "subtract": "{0} - {1}",
    "multiply": "{0} * {1}",
    "divide": "{0} / {1}",
    "negative": "-{0}",
    "absolute": "{0} if {0} >= 0.0 else -{0}",  # without a call
    "reciprocal": "1.0 / {0}",
    "maximum": "{0} if {0} >= {1} else {1}",
    "minimum": "{0} if {0} <= {1} else {1}",
    "sign": "1.0 if {0} > 0.0 else -1.0 if {0} < 0.0 else 0.0",
    "heaviside": "{1} if {0} == 0.0 else float({0} > 0.0)",
    "where": "{1} if {0} else {2}",
    "less": "{0} < {1}",
    "less_equal": "{0} <= {1}",
    "greater": "{0} > {1}",
    "greater_equal": "{0} >= {1}",
    "equal": "{0} == {1}",
    "not_equal": "{0} != {1}",
    "logical_and": "{0} and {1}",
    "logical_or": "{0} or {1}",
    "logical_not": "not {0}",
}
_MATH = ["sqrt", "exp", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "sinh", "cosh", "tanh", "hypot"]
_MATH_OTHERWISE = {"arcsin": "asin", "arccos": "acos", "arctan": "atan", "arctan2": "atan2"}
_MATH_OTHERWISE |= {"arcsinh": "asinh", "arctanh": "atanh"}
_EXPRESSIONS |= {name: f"{name}({{0}})" for name in _MATH if name != "hypot"} | {"hypot": "hypot({0}, {1})"}
_EXPRESSIONS |= {name: f"{other}({{0}})" for name, other in _MATH_OTHERWISE.items()} | {"arctan2": "atan2({0}, {1})"}

_NAMES = {name: getattr(math, name) for name in [*_MATH, *_MATH_OTHERWISE.values()]} | {"np": np}


def write_floats(recurrence: Recurrence, fused: bool = False) -> str:
    """The text of a module with three functions on floats.

    Written to be read it has one operation a line. Fused, what is read just once stands where it is read: the same
    operations in the same order of precedence, without a name for each, which Python runs in half the time.

    ``forward(start, inputs, parameters)`` returns the outputs and the states that the way back will ask for;
    ``adjoint(inputs, parameters, kept, weights)`` returns the derivative of Σ weights·outputs by each parameter;
    ``tangents(start, inputs, parameters)`` returns the outputs and, for each parameter, their derivatives by it.
    All of them take and return lists of floats.
    """
    write = _fused if fused else _one_a_line
    return "\n\n\n".join([part(recurrence, write) for part in (_forward, _adjoint, _tangents)]) + "\n"


def write_resumable(recurrence: Recurrence) -> str:
    """The text of a module with one function that goes along a part of a rollout, so that a long one can pause.

    ``advance(start, inputs, parameters)`` takes the states and, for each parameter in turn, their tangents, all of them
    at the beginning of the part. It returns the same at its end, each state after every step, and for each parameter
    the derivatives of the outputs by it. Whoever gives the first part other tangents than zero differentiates by
    something else: with ``v_by_p`` = 1, by the state v at the start.
    """
    return _advance(recurrence, _fused) + "\n"


def compile_floats(source: str) -> dict[str, Callable[..., object]]:
    """The functions of such a text."""
    return compile_source(source, _NAMES)


DEEPEST = 20  # how far fused expressions may be nested


class Writer(Protocol):
    """How the operations of a step become lines."""

    def outputs(self, names: Sequence[str]) -> list[str]:
        """What to call the outputs that take the places of these inputs."""

    def lines(self, names: Names, operations: Sequence[tuple[int, Operation]], record: Record) -> list[str]:
        """The lines of a step."""


class _OneALine:
    def outputs(self, names: Sequence[str]) -> list[str]:
        return list(names)

    def lines(self, names: Names, operations: Sequence[tuple[int, Operation]], record: Record) -> list[str]:
        return names.lines(operations, _write)


class _Fused:
    def outputs(self, names: Sequence[str]) -> list[str]:
        # An operation now stands where its result is read, perhaps further down: no input may be written over before.
        return [f"{name}_next" for name in names]

    def lines(self, names: Names, operations: Sequence[tuple[int, Operation]], record: Record) -> list[str]:
        reads = Counter(x for operation in record.operations for x in operation.operands)
        kept = set(record.outputs)
        inlined: dict[Slot, str] = {}
        depth: dict[Slot, int] = {}  # of the parentheses; Python's parser takes 200 within each other and no more
        lines = []
        for slot, operation in operations:
            depth[slot] = 1 + max((depth.get(x, 0) for x in operation.operands if x in inlined), default=0)
            operands = [inlined.pop(x) if x in inlined else names(x) for x in operation.operands]
            once = reads[slot] == 1 and slot not in kept and not self._is_repeated(record, slot)
            if once and depth[slot] < DEEPEST:
                inlined[slot] = f"({_expression(operation.name, operands)})"
            else:
                lines += _write(names(slot), operation.name, operands)
        return lines

    @staticmethod
    def _is_repeated(record: Record, slot: int) -> bool:
        """Whether the one operation that reads a slot is written with that operand more than once."""
        for operation in record.operations:
            for i, x in enumerate(operation.operands):
                if x == slot:
                    return _EXPRESSIONS.get(operation.name, "").count(f"{{{i}}}") > 1
        return False


_one_a_line, _fused = _OneALine(), _Fused()


def _write(target: str, name: str, operands: Sequence[str]) -> list[str]:
    return [f"{target} = {_expression(name, operands)}"]


def _expression(name: str, operands: Sequence[str]) -> str:
    template = _EXPRESSIONS.get(name)
    return template.format(*operands) if template else f"float(np.{name}({', '.join(operands)}))"


def _unpack(names: Sequence[str], value: str) -> list[str]:
    return [f"{', '.join(names)}{',' * (len(names) == 1)} = {value}"] if names else []


def _forward(r: Recurrence, write: Writer) -> str:
    names = Names(r.step, write.outputs(r.states))
    before, inside = split(r.step, r.parameters)
    kept = kept_states(r)
    return "\n".join(
        [
            "def forward(start, inputs, parameters):",
            *indent(_unpack(r.states, "start"), 1),
            *indent(_unpack(r.parameters, "parameters"), 1),
            *indent([f"{state}_kept = []" for state in kept], 1),
            "    outputs = []",
            *indent(names.lines(before, _write), 1),
            f"    for {r.input} in inputs:",
            *indent([f"{state}_kept.append({state})" for state in kept], 2),
            *indent(write.lines(names, inside, r.step), 2),
            *indent(_assign(r.states, [names(slot) for slot in r.step.outputs]), 2),
            f"        outputs.append({r.states[r.observed]})",
            f"    return outputs, ({''.join(f'{state}_kept, ' for state in kept)})",
        ]
    )


def _assign(targets: Sequence[str], values: Sequence[str]) -> list[str]:
    """All at once, since a later value may read an earlier target; what stays as it is, is left out."""
    pairs = [(target, value) for target, value in zip(targets, values, strict=True) if target != value]
    if not pairs:
        return []
    return [f"{', '.join(target for target, _ in pairs)} = {', '.join(value for _, value in pairs)}"]


def _adjoint(r: Recurrence, write: Writer) -> str:
    adjoints = [f"{state}_bar" for state in r.states]
    shares = [f"{parameter}_share" for parameter in r.parameters]
    sums = [f"by_{parameter}" for parameter in r.parameters]
    record = replace(r.adjoint, inputs=r.adjoint.inputs[: -len(adjoints)] + tuple(adjoints))
    names = Names(record, [*write.outputs(adjoints), *shares])
    before, inside = split(record, r.parameters)
    used = read(r.adjoint)
    kept = kept_states(r)
    columns = {r.input: "inputs"} if r.input in used else {}
    columns |= {state: f"{state}_kept" for state in kept} | {"weight": "weights"}
    outputs = [names(slot) for slot in record.outputs]
    looping = ", ".join(f"reversed({column})" for column in columns.values())
    looping = f"zip({looping})" if len(columns) > 1 else looping
    return "\n".join(
        [
            "def adjoint(inputs, parameters, kept, weights):",
            *indent(_unpack(r.parameters, "parameters"), 1),
            *indent(_unpack([f"{state}_kept" for state in kept], "kept"), 1),
            *indent([f"{name} = 0.0" for name in [*adjoints, *sums]], 1),
            *indent(names.lines(before, _write), 1),
            f"    for {', '.join(columns)} in {looping}:",
            f"        {adjoints[r.observed]} += weight",
            *indent(write.lines(names, inside, record), 2),
            *indent([f"{total} += {share}" for total, share in zip(sums, outputs[len(adjoints) :], strict=True)], 2),
            *indent(_assign(adjoints, outputs[: len(adjoints)]), 2),
            f"    return [{', '.join(sums)}]",
        ]
    )


def _tangents(r: Recurrence, write: Writer) -> str:
    moving = [tangent_name(state, parameter) for parameter in r.parameters for state in r.states]
    columns = [f"by_{parameter}" for parameter in r.parameters]
    names = Names(r.tangents, write.outputs([*r.states, *moving]))
    before, inside = split(r.tangents, r.parameters)
    observed = [tangent_name(r.states[r.observed], parameter) for parameter in r.parameters]
    return "\n".join(
        [
            "def tangents(start, inputs, parameters):",
            *indent(_unpack(r.states, "start"), 1),
            *indent(_unpack(r.parameters, "parameters"), 1),
            *indent([f"{name} = 0.0" for name in moving], 1),
            "    outputs = []",
            *indent([f"{column} = []" for column in columns], 1),
            *indent(names.lines(before, _write), 1),
            f"    for {r.input} in inputs:",
            *indent(write.lines(names, inside, r.tangents), 2),
            *indent(_assign([*r.states, *moving], [names(slot) for slot in r.tangents.outputs]), 2),
            f"        outputs.append({r.states[r.observed]})",
            *indent([f"{c}.append({t})" for c, t in zip(columns, observed, strict=True)], 2),
            f"    return outputs, [{', '.join(columns)}]",
        ]
    )


def _advance(r: Recurrence, write: Writer) -> str:
    moving = [*r.states, *(tangent_name(state, parameter) for parameter in r.parameters for state in r.states)]
    observed = [tangent_name(r.states[r.observed], parameter) for parameter in r.parameters]
    columns = {state: f"{state}_kept" for state in r.states}
    columns |= {tangent: f"by_{parameter}" for parameter, tangent in zip(r.parameters, observed, strict=True)}
    names = Names(r.tangents, write.outputs(moving))
    before, inside = split(r.tangents, r.parameters)
    kept, by = list(columns.values())[: len(r.states)], list(columns.values())[len(r.states) :]
    return "\n".join(
        [
            "def advance(start, inputs, parameters):",
            *indent(_unpack(moving, "start"), 1),
            *indent(_unpack(r.parameters, "parameters"), 1),
            *indent([f"{column} = []" for column in columns.values()], 1),
            *indent(names.lines(before, _write), 1),
            f"    for {r.input} in inputs:",
            *indent(write.lines(names, inside, r.tangents), 2),
            *indent(_assign(moving, [names(slot) for slot in r.tangents.outputs]), 2),
            *indent([f"{column}.append({value})" for value, column in columns.items()], 2),
            f"    return [{', '.join(moving)}], [{', '.join(kept)}], [{', '.join(by)}]",
        ]
    )
