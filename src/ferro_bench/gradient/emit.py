"""What the writers of Python have in common: names for slots, and what stays the same from step to step."""

from __future__ import annotations

import keyword
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import count

import numpy as np

from .recurrence import Recurrence
from .trace import CONDITIONS, Constant, Operation, Record, Slot

# Names that the programs use themselves: of their own, of what they call, and made of other names.
_OWN = {"np", "shape", "start", "inputs", "parameters", "kept", "weights", "weight", "outputs"}
_CALLED = {"zip", "reversed", "len", "float"} | {
    name for name in dir(math) if isinstance(getattr(np, name, None), np.ufunc)
}
_DERIVED = re.compile(r"\w+_(next|kept|bar|share)|(\w+_)?by_\w+|s\d+")

Write = Callable[[str, str, Sequence[str]], Iterable[str]]  # (target, primitive, operands) -> lines


class Names:
    """Gives every slot of a record a name that Python accepts and that nothing else has.

    An output that takes an input's place at the next repetition bears that input's name at once, where nothing reads
    the input any more; else the name with ``_next`` behind it.

    Args:
        record: the program to be written.
        outputs: for each output the name of the input whose place it takes, or a name of its own.
        lasting: where given, a name is given again once nothing reads what bore it, except to results on these inputs,
            which last from step to step.
    """

    def __init__(
        self,
        record: Record,
        outputs: Sequence[str],
        lasting: Iterable[str] | None = None,
    ) -> None:
        self._names: dict[int, str] = dict(enumerate(record.inputs))
        used = {*record.inputs}
        for slot, name in zip(record.outputs, outputs, strict=True):
            if isinstance(slot, int) and slot not in self._names:
                if name in record.inputs and _is_read_after(record, record.inputs.index(name), slot):
                    name = f"{name}_next"
                self._names[slot] = name
                used.add(name)
        fresh = (name for i in count(1) if (name := f"a{i}") not in used)
        free: dict[bool, list[str]] = {True: [], False: []}  # by kind: truth values, numbers
        inside = [] if lasting is None else split(record, lasting)[1]
        passing = {slot for slot, _ in inside}
        ends = _last_readers(record, inside)
        for slot, operation in enumerate(record.operations, len(record.inputs)):
            for spent in ends.get(slot, []):
                # An operation may write over what it reads.
                free[record.operations[spent - len(record.inputs)].name in CONDITIONS].append(self._names[spent])
            if slot not in self._names:
                reusable = free[operation.name in CONDITIONS]
                self._names[slot] = reusable.pop() if reusable and slot in passing else next(fresh)

    def __call__(self, slot: Slot) -> str:
        return repr(slot.value) if isinstance(slot, Constant) else self._names[slot]

    def lines(self, operations: Iterable[tuple[int, Operation]], write: Write) -> list[str]:
        """One or more lines for each of some operations of the record."""
        return [
            line
            for slot, operation in operations
            for line in write(self(slot), operation.name, [self(x) for x in operation.operands])
        ]


def _last_readers(record: Record, inside: Sequence[tuple[int, Operation]]) -> dict[int, list[int]]:
    """For each operation the results that nothing reads after it, of those that a name can be taken from."""
    transient = {slot for slot, _ in inside} - set(record.outputs)
    last = {x: slot for slot, operation in inside for x in operation.operands if x in transient}
    readers: dict[int, list[int]] = {}
    for spent, slot in last.items():
        if isinstance(spent, int):
            readers.setdefault(slot, []).append(spent)
    return readers


def _is_read_after(record: Record, slot: int, when: int) -> bool:
    """Whether a slot is read by an operation behind another one, or is an output itself."""
    later = record.operations[when - len(record.inputs) + 1 :]
    return slot in record.outputs or any(slot in operation.operands for operation in later)


def split(record: Record, steady: Iterable[str]) -> tuple[list[tuple[int, Operation]], list[tuple[int, Operation]]]:
    """Operations on inputs that do not change from step to step, and the others; each with the slot that it writes.

    An output is among the others: it may bear an input's name, which beforehand still has its first value.
    """
    constant = {record.inputs.index(name) for name in steady if name in record.inputs}
    before: list[tuple[int, Operation]] = []
    inside: list[tuple[int, Operation]] = []
    for slot, operation in enumerate(record.operations, len(record.inputs)):
        if slot not in record.outputs and all(isinstance(x, Constant) or x in constant for x in operation.operands):
            constant.add(slot)
            before.append((slot, operation))
        else:
            inside.append((slot, operation))
    return before, inside


def is_free(name: str) -> bool:
    """Whether a state, an input or a parameter may have this name: Python takes it, and the programs do not use it."""
    taken = keyword.iskeyword(name) or name in _OWN | _CALLED or _DERIVED.fullmatch(name)
    return name.isidentifier() and not taken


def read(record: Record) -> set[str]:
    """Names of the inputs that a record reads, or passes on as outputs."""
    slots = {x for operation in record.operations for x in operation.operands} | set(record.outputs)
    return {name for slot, name in enumerate(record.inputs) if slot in slots}


def kept_states(recurrence: Recurrence) -> list[str]:
    """The states that the way back reads, and the way forward therefore has to keep."""
    return [state for state in recurrence.states if state in read(recurrence.adjoint)]


def indent(lines: Iterable[str], depth: int) -> list[str]:
    """The lines, further to the right."""
    return ["    " * depth + line for line in lines]


def compile_source(source: str, names: Mapping[str, object]) -> dict[str, Callable[..., object]]:
    """Run the text of a module and return the functions that it defines."""
    space: dict[str, object] = dict(names)
    exec(compile(source, "<compiled rollout>", "exec"), space)
    return {name: value for name, value in space.items() if callable(value) and name not in names}
