"""A recurrence as NumPy on arrays, for a batch of rollouts side by side: every operation writes into an array that is
there already, so that a long rollout allocates nothing on its way.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from .emit import Names, compile_source, indent, kept_states, read, split
from .recurrence import Recurrence, tangent_name
from .trace import CONDITIONS, Operation, Record


def write_arrays(recurrence: Recurrence) -> str:
    """The text of a module with the functions ``forward``, ``adjoint`` and ``tangents`` on arrays.

    They take and return what those on floats do, with an array of shape (batch,) for a float and one of shape
    (steps, batch) for a list of them; a parameter may also be a float, and the inputs are floats, since a batch shares
    its drive. A start state of floats is shared too.
    """
    return "\n\n\n".join([_forward(recurrence), _adjoint(recurrence), _tangents(recurrence)]) + "\n"


def compile_arrays(source: str) -> dict[str, Callable[..., object]]:
    """The functions of such a text."""
    return compile_source(source, {"np": np})


def _outright(target: str, name: str, operands: Sequence[str]) -> list[str]:
    return [f"{target} = np.{name}({', '.join(operands)})"]


def _in_place(target: str, name: str, operands: Sequence[str]) -> list[str]:
    if name == "where":
        return [f"{target}[...] = np.where({', '.join(operands)})"]
    return [f"np.{name}({', '.join(operands)}, out={target})"]


def _buffers(names: Names, operations: Sequence[tuple[int, Operation]], there: set[str]) -> list[str]:
    lines = []
    for slot, operation in operations:
        name = names(slot)
        if name not in there:
            there = there | {name}
            kind = ", dtype=bool" if operation.name in CONDITIONS else ""
            lines.append(f"{name} = np.empty(shape{kind})")
    return lines


def _pass_on(record: Record, names: Names, targets: Sequence[str], outputs: Sequence[str]) -> list[str]:
    """Outputs take their inputs' places: arrays change their names, and what is no array of its own is copied."""
    left, right = [], []
    for target, output in zip(targets, outputs, strict=True):
        if output == f"{target}_next":
            left += [target, output]
            right += [output, target]
        elif output != target:
            left.append(target)
            right.append(f"np.broadcast_to({output}, shape).copy()")
    return [f"{', '.join(left)} = {', '.join(right)}"] if left else []


def _head(r: Recurrence, names: Sequence[str]) -> list[str]:
    return [
        *([f"{', '.join(r.parameters)}{',' * (len(r.parameters) == 1)} = parameters"] if r.parameters else []),
        "shape = np.broadcast_shapes((1,), *(np.shape(p) for p in parameters))",
        *[f"{name} = np.zeros(shape)" for name in names],
    ]


def _start(r: Recurrence) -> list[str]:
    return [
        f"{', '.join(r.states)}{',' * (len(r.states) == 1)} = (np.broadcast_to(s, shape).astype(float) for s in start)"
    ]


def _forward(r: Recurrence) -> str:
    names = Names(
        r.step, r.states, taken=[*(f"{state}_kept" for state in r.states), "row", "shape"], lasting=r.parameters
    )
    before, inside = split(r.step, r.parameters)
    kept = kept_states(r)
    return "\n".join(
        [
            "def forward(start, inputs, parameters):",
            *indent(_head(r, []), 1),
            *indent(_start(r), 1),
            *indent([f"{state}_kept = np.empty((len(inputs), *shape))" for state in kept], 1),
            "    outputs = np.empty((len(inputs), *shape))",
            *indent(names.lines(before, _outright), 1),
            *indent(_buffers(names, inside, set(r.states)), 1),
            f"    for row, {r.input} in enumerate(inputs):",
            *indent([f"{state}_kept[row] = {state}" for state in kept], 2),
            *indent(names.lines(inside, _in_place), 2),
            *indent(_pass_on(r.step, names, r.states, [names(slot) for slot in r.step.outputs]), 2),
            f"        outputs[row] = {r.states[r.observed]}",
            f"    return outputs, ({''.join(f'{state}_kept, ' for state in kept)})",
        ]
    )


def _adjoint(r: Recurrence) -> str:
    adjoints = [f"{state}_bar" for state in r.states]
    shares = [f"{parameter}_share" for parameter in r.parameters]
    sums = [f"by_{parameter}" for parameter in r.parameters]
    record = replace(r.adjoint, inputs=r.adjoint.inputs[: -len(adjoints)] + tuple(adjoints))
    names = Names(record, [*adjoints, *shares], taken=[*sums, "row", "shape", "weights", "kept"], lasting=r.parameters)
    before, inside = split(record, r.parameters)
    kept = kept_states(r)
    outputs = [names(slot) for slot in record.outputs]
    return "\n".join(
        [
            "def adjoint(inputs, parameters, kept, weights):",
            *indent(_head(r, [*adjoints, *sums]), 1),
            *indent([f"{', '.join(f'{state}_kept' for state in kept)}{',' * (len(kept) == 1)} = kept"] * bool(kept), 1),
            *indent(names.lines(before, _outright), 1),
            *indent(_buffers(names, inside, set(adjoints)), 1),
            "    for row in range(len(weights) - 1, -1, -1):",
            *indent([f"{state} = {state}_kept[row]" for state in kept], 2),
            *indent([f"{r.input} = inputs[row]"] * (r.input in read(r.adjoint)), 2),
            f"        {adjoints[r.observed]} += weights[row]",
            *indent(names.lines(inside, _in_place), 2),
            *indent([f"{total} += {share}" for total, share in zip(sums, outputs[len(adjoints) :], strict=True)], 2),
            *indent(_pass_on(record, names, adjoints, outputs[: len(adjoints)]), 2),
            f"    return [{', '.join(sums)}]",
        ]
    )


def _tangents(r: Recurrence) -> str:
    moving = [tangent_name(state, parameter) for parameter in r.parameters for state in r.states]
    columns = [f"by_{parameter}" for parameter in r.parameters]
    names = Names(r.tangents, [*r.states, *moving], taken=[*columns, "row", "shape"], lasting=r.parameters)
    before, inside = split(r.tangents, r.parameters)
    observed = [tangent_name(r.states[r.observed], parameter) for parameter in r.parameters]
    outputs = [names(slot) for slot in r.tangents.outputs]
    return "\n".join(
        [
            "def tangents(start, inputs, parameters):",
            *indent(_head(r, moving), 1),
            *indent(_start(r), 1),
            *indent([f"{name} = np.empty((len(inputs), *shape))" for name in ["outputs", *columns]], 1),
            *indent(names.lines(before, _outright), 1),
            *indent(_buffers(names, inside, {*r.states, *moving}), 1),
            f"    for row, {r.input} in enumerate(inputs):",
            *indent(names.lines(inside, _in_place), 2),
            *indent(_pass_on(r.tangents, names, [*r.states, *moving], outputs), 2),
            f"        outputs[row] = {r.states[r.observed]}",
            *indent([f"{c}[row] = {t}" for c, t in zip(columns, observed, strict=True)], 2),
            f"    return outputs, [{', '.join(columns)}]",
        ]
    )
