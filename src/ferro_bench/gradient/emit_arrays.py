"""A recurrence as NumPy on arrays, for a batch of rollouts side by side: every operation writes into an array that is
there already, so that a long rollout allocates nothing on its way. What is kept or handed out is written at once where
it will lie, since in a large batch a copy takes as long as an operation.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
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


def _head(r: Recurrence, zeros: Sequence[str]) -> list[str]:
    return [
        *([f"{_listed(r.parameters)} = parameters"] if r.parameters else []),
        "shape = np.broadcast_shapes((1,), *(np.shape(p) for p in parameters))",
        *[f"{name} = np.zeros(shape)" for name in zeros],
    ]


def _start(r: Recurrence) -> str:
    return f"{_listed(r.states)} = (np.broadcast_to(s, shape).astype(float) for s in start)"


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names) + "," * (len(names) == 1)


def _march(r: Recurrence, record: Record, moving: Sequence[str], rows: Mapping[str, str]) -> list[str]:
    """The loop forwards. Of what moves, some is written into the rows of arrays, and the rest over what it was."""
    names = Names(record, [f"{name}_next" if name in rows else name for name in moving], lasting=r.parameters)
    before, inside = split(record, r.parameters)
    columns = {r.input: "inputs"} | {f"{name}_next": array for name, array in rows.items()}
    return [
        *names.lines(before, _outright),
        *_buffers(names, inside, {*moving, *columns}),
        f"for {', '.join(columns)} in zip({', '.join(columns.values())}):",
        *indent(names.lines(inside, _in_place), 1),
        *indent(_pass_on(moving, [names(slot) for slot in record.outputs], rows), 1),
    ]


def _pass_on(targets: Sequence[str], outputs: Sequence[str], rows: Collection[str] = ()) -> list[str]:
    """Outputs take their inputs' places: arrays change their names, and what is no array of its own is copied."""
    copies, left, right = [], [], []
    for target, output in zip(targets, outputs, strict=True):
        following = f"{target}_next"
        if target in rows:
            copies += [f"{following}[...] = {output}"] * (output != following)
            left.append(target)
            right.append(following)
        elif output == following:
            left += [target, following]
            right += [following, target]
        elif output != target:
            left.append(target)
            right.append(f"np.broadcast_to({output}, shape).copy()")
    return [*copies, f"{', '.join(left)} = {', '.join(right)}"] if left else []


def _forward(r: Recurrence) -> str:
    kept, observed = kept_states(r), r.states[r.observed]
    rows = {state: f"{state}_kept[1:]" for state in kept}
    rows |= {observed: "outputs"} if observed not in kept else {}
    return "\n".join(
        [
            "def forward(start, inputs, parameters):",
            *indent(_head(r, []), 1),
            *indent([_start(r)], 1),
            *indent([f"{state}_kept = np.empty((len(inputs) + 1, *shape))" for state in kept], 1),
            *indent([f"{state}_kept[0] = {state}" for state in kept], 1),
            *indent(["outputs = np.empty((len(inputs), *shape))"] * (observed not in kept), 1),
            *indent(_march(r, r.step, r.states, rows), 1),
            *indent([f"outputs = {observed}_kept[1:].copy()"] * (observed in kept), 1),
            f"    return outputs, ({''.join(f'{state}_kept[:-1], ' for state in kept)})",
        ]
    )


def _adjoint(r: Recurrence) -> str:
    adjoints = [f"{state}_bar" for state in r.states]
    shares = [f"{parameter}_share" for parameter in r.parameters]
    sums = [f"by_{parameter}" for parameter in r.parameters]
    record = replace(r.adjoint, inputs=r.adjoint.inputs[: -len(adjoints)] + tuple(adjoints))
    names = Names(record, [*adjoints, *shares], lasting=r.parameters)
    before, inside = split(record, r.parameters)
    kept = kept_states(r)
    columns = {r.input: "inputs"} if r.input in read(r.adjoint) else {}
    columns |= {state: f"{state}_kept" for state in kept} | {"weight": "weights"}
    outputs = [names(slot) for slot in record.outputs]
    return "\n".join(
        [
            "def adjoint(inputs, parameters, kept, weights):",
            *indent(_head(r, [*adjoints, *sums]), 1),
            *indent([f"{_listed([f'{state}_kept' for state in kept])} = kept"] * bool(kept), 1),
            *indent(names.lines(before, _outright), 1),
            *indent(_buffers(names, inside, set(adjoints)), 1),
            f"    for {_listed([*columns])} in zip({', '.join(f'reversed({array})' for array in columns.values())}):",
            f"        {adjoints[r.observed]} += weight",
            *indent(names.lines(inside, _in_place), 2),
            *indent([f"{total} += {share}" for total, share in zip(sums, outputs[len(adjoints) :], strict=True)], 2),
            *indent(_pass_on(adjoints, outputs[: len(adjoints)]), 2),
            f"    return [{', '.join(sums)}]",
        ]
    )


def _tangents(r: Recurrence) -> str:
    tangents = [tangent_name(state, parameter) for parameter in r.parameters for state in r.states]
    observed = r.states[r.observed]
    rows = {observed: "outputs"}
    rows |= {tangent_name(observed, parameter): f"by_{parameter}" for parameter in r.parameters}
    return "\n".join(
        [
            "def tangents(start, inputs, parameters):",
            *indent(_head(r, tangents), 1),
            *indent([_start(r)], 1),
            *indent([f"{array} = np.empty((len(inputs), *shape))" for array in rows.values()], 1),
            *indent(_march(r, r.tangents, [*r.states, *tangents], rows), 1),
            f"    return outputs, [{', '.join(f'by_{parameter}' for parameter in r.parameters)}]",
        ]
    )
