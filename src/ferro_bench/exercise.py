"""An exercise: one function for a reader to write, and a grader that is fair.

Grading has three parts, because only the middle one may run where the reader's code runs:

    pose    hidden inputs, drawn from a seed                        a clean place
    answer  the reader's function on the inputs of one check        a place that is thrown away after
    grade   compares with the reference on the same inputs          a clean place

What passes between them is plain data that JSON can hold, so code that rebinds ``np.allclose`` or ``len`` has nothing
to gain: the numbers are compared elsewhere. Earlier exercises stand in scope as their reference solutions, so that a
mistake in one does not fail the next.

Numbers are compared with an allowance relative to the largest number that is expected in the same quantity. The default
is a millionth. Sums and products in another order differ by some 1e-14 of it on these problems, and the mildest wrong
answer by more than a thousandth, so that whatever is meant as the same physics passes and nothing else does.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np

from .cell import NAME, Trouble, run_through, trouble
from .quantity import quantity

Inputs = dict[str, Any]  # plain data that JSON can hold
Answer = dict[str, Any]  # likewise; see `answer`

SIZE = 100_000  # numbers that an answer carries at most
ITEMS = 20  # values that a tuple or list in an answer carries at most
UNREADABLE: Answer = {
    "trouble": asdict(
        Trouble(
            "Error",
            "the code ended in a way that could not be read",
            cell=None,
            line=None,
            trace=(),
            explanation="Start this cell from its first text again, and change one thing at a time.",
        )
    )
}


@dataclass(frozen=True)
class Scope:
    """A name that a cell may use.

    Attributes:
        name: as it is written.
        meaning: what it is, in words.
        shape: of an array, such as ``(N,)``.
        unit: SI unit as text.
    """

    name: str
    meaning: str
    shape: str = ""
    unit: str = ""


@dataclass(frozen=True)
class WrongAnswer:
    """A mistake that many make: the source that makes it, and the hint for whoever gets the same numbers."""

    title: str
    source: str
    hint: str


@dataclass(frozen=True, eq=False)
class Check:
    """One question to the function.

    Attributes:
        name: what is checked, in a few words.
        draw: hidden inputs from a random generator.
        call: the call as a reader would write it, and what else matters about the inputs.
        probe: what the function gives on the inputs: a number, an array, a truth value or a tuple of such. It runs
            where the reader's code runs.
        unit: of the numbers.
        parts: what the members of a tuple are called.
        tolerance: allowed difference, as a share of the largest number expected.
    """

    name: str
    draw: Callable[[np.random.Generator], Inputs]
    call: Callable[[Inputs], str]
    probe: Callable[[Callable[..., Any], Inputs], Any]
    unit: str = ""
    parts: tuple[str, ...] = ()
    tolerance: float = 1e-6


@dataclass(frozen=True, eq=False)
class Exercise:
    """One function to write.

    Attributes:
        number: its place among the exercises.
        title: what it is called.
        prompt: what to write, in plain sentences; code stands in backticks.
        function: the name of the function asked for.
        scope: the names that the cell may use.
        starter: what the cell holds at first: it runs, and falls short in a way that teaches.
        solution: the reference.
        hints: from the gentlest to the plainest.
        wrong: mistakes that are recognised.
        checks: what is asked of the function, from the simplest to the hardest.
        space: makes the namespace of a cell from a check's inputs; fresh arrays at every call.
        name: the module's name; given by the registry that finds it.
        earlier: the exercises before it; given by the registry.
    """

    number: int
    title: str
    prompt: str
    function: str
    scope: tuple[Scope, ...]
    starter: str
    solution: str
    hints: tuple[str, ...]
    wrong: tuple[WrongAnswer, ...]
    checks: tuple[Check, ...]
    space: Callable[[Inputs], dict[str, Any]]
    name: str = ""
    earlier: tuple[Exercise, ...] = field(default=(), repr=False)


class Checked(NamedTuple):
    """How one check went."""

    name: str
    passed: bool
    sentence: str


@dataclass(frozen=True)
class Grade:
    """What is told to the reader.

    Attributes:
        outcome: ``broken`` where our own code failed, so that nothing is known about the reader's.
        sentence: the outcome and its first reason.
        hint: a way on, where the mistake is a known one; else empty.
        checks: one each; none where the outcome is ``broken``.
    """

    outcome: Literal["pass", "not-yet", "broken"]
    sentence: str
    hint: str = ""
    checks: tuple[Checked, ...] = ()


# Pose ------------------------------------------------------------------------------------------------------------


def pose(exercise: Exercise, seed: int) -> list[Inputs]:
    """Draw the hidden inputs, one entry for each check; the same ones for the same seed.

    Args:
        exercise: what is asked.
        seed: a whole number from 0.
    """
    return [
        check.draw(np.random.default_rng([seed, exercise.number, place])) for place, check in enumerate(exercise.checks)
    ]


# Answer ----------------------------------------------------------------------------------------------------------


def answer(exercise: Exercise, source: str, check: int, inputs: Inputs) -> Answer:
    """Run a cell afresh and ask its function one check. Nothing that the cell does makes this raise.

    An error in the cell counts only where it keeps the function from being defined: a line that shows something of the
    visible data need not work on the hidden ones.

    Args:
        exercise: what is asked.
        source: the cell's text.
        check: which check, counted from 0.
        inputs: what `pose` drew for it.

    Returns:
        An object with one key: ``result``, the numbers with their shapes; ``trouble``, as in `cell.Trouble`; or
        ``missing``, where there is no such function: the type of what bears its name, or None.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an overflow shows in the numbers
            return _answer(exercise, source, exercise.checks[check], inputs)
    except BaseException:  # whatever of ours the cell may have rebound
        return UNREADABLE


def _answer(exercise: Exercise, source: str, check: Check, inputs: Inputs) -> Answer:
    space = exercise.space(inputs)
    for earlier in exercise.earlier:
        exec(compile(earlier.solution, f"<our {earlier.function}>", "exec", dont_inherit=True), space)
    outcome = run_through(source, exercise.name, space)
    function = space.get(exercise.function)
    if not callable(function):
        if outcome.trouble:
            return {"trouble": asdict(outcome.trouble)}
        return {"missing": None if function is None else type(function).__name__[:NAME]}
    try:
        return {"result": _plain(check.probe(function, inputs))}
    except BaseException as error:
        return {"trouble": asdict(trouble(error, space))}


def _plain(value: Any, depth: int = 0) -> dict[str, Any]:
    """A result as plain data; NaN and infinity as text."""
    name = "array" if isinstance(value, np.ndarray) else type(value).__name__[:NAME]
    if isinstance(value, bool | np.bool):
        return {"is": "truth", "value": bool(value)}
    if isinstance(value, tuple | list):
        if len(value) > ITEMS or depth > 1:
            return {"is": "other", "type": f"{name} of {len(value)} values"}
        return {"is": "tuple", "items": [_plain(item, depth + 1) for item in value]}
    if isinstance(value, int | float | np.number | np.ndarray):
        array = np.asarray(value)
        if array.dtype.kind in "fiu":
            shape = [int(length) for length in array.shape]
            if array.size > SIZE:
                return {"is": "other", "type": f"{name} of shape {tuple(shape)}"}
            array = array.astype(np.float64)
            numbers = array.astype(object)
            numbers[~np.isfinite(array)] = [str(x) for x in array[~np.isfinite(array)]]
            return {"is": "numbers", "shape": shape, "values": numbers.tolist()}
        return {"is": "other", "type": f"{name} of {array.dtype}"}
    return {"is": "other", "type": name}


# Grade -----------------------------------------------------------------------------------------------------------


def grade(exercise: Exercise, seed: int, answers: Sequence[Answer | None]) -> Grade:
    """Judge the answers to what `pose` drew from the same seed. Nothing of the reader's runs here.

    Args:
        exercise: what was asked.
        seed: as given to `pose`.
        answers: for each check what `answer` returned; where its deadline passed ``{"late": seconds}`` or None. They
            come from where the reader's code ran, so anything else is possible too, and does not pass.
    """
    try:
        return _grade(exercise, pose(exercise, seed), answers)
    except Exception as error:
        return Grade(
            "broken",
            f"Our check failed, not your code ({type(error).__name__}: {error}). Your code is as it was.",
        )


def _grade(exercise: Exercise, posed: list[Inputs], answers: Sequence[Answer | None]) -> Grade:
    received = [_received(answers, place) for place in range(len(posed))]
    checks = []
    for place, (check, inputs) in enumerate(zip(exercise.checks, posed, strict=True)):
        expected = _received([answer(exercise, exercise.solution, place, inputs)], 0)
        if not isinstance(expected, _Result):
            raise RuntimeError(f"the reference for {check.name!r} gives no result")
        problem = _problem(exercise, check, inputs, expected, received[place])
        checks.append(Checked(check.name, not problem, problem or f"{check.call(inputs)} is as it should be."))
    failed = [place for place, checked in enumerate(checks) if not checked.passed]
    if not failed:
        names = "; ".join(check.name for check in checks)
        return Grade("pass", f"PASS on {len(checks)} hidden inputs drawn anew: {names}.", checks=tuple(checks))
    first = checks[failed[0]]
    held = f"{len(checks) - len(failed)} of {len(checks)} checks hold. " if len(failed) < len(checks) else ""
    sentence = f"Not yet. {held}{first.name[0].upper()}{first.name[1:]}: {first.sentence}"
    stopped = received[failed[0]]
    way_on = stopped.explanation if isinstance(stopped, _Stopped) else ""
    return Grade("not-yet", sentence, _known_mistake(exercise, posed, received) or way_on, tuple(checks))


def _known_mistake(exercise: Exercise, posed: list[Inputs], received: list[_Received]) -> str:
    """The hint of the wrong answer that gives the same as the reader's function in every check, if there is one."""
    for wrong in exercise.wrong:
        if all(
            _alike(_received([answer(exercise, wrong.source, place, inputs)], 0), received[place], check.tolerance)
            for place, (check, inputs) in enumerate(zip(exercise.checks, posed, strict=True))
        ):
            return wrong.hint
    return ""


# What came back from where the reader's code ran.


@dataclass(frozen=True, eq=False)
class _Result:
    value: Any  # a float array, a bool, a tuple of such, or as text the type of anything else


@dataclass(frozen=True)
class _Stopped:
    kind: str
    message: str
    line: int | None
    explanation: str


@dataclass(frozen=True)
class _Missing:
    type: str | None


@dataclass(frozen=True)
class _Late:
    seconds: float | None


_Received = _Result | _Stopped | _Missing | _Late | None  # None: it makes no sense


def _received(answers: Sequence[Answer | None], place: int) -> _Received:
    """An answer that anyone may have sent."""
    try:
        match answers[place] if place < len(answers) else None:
            case None:
                return _Late(None)
            case {"late": seconds}:
                return _Late(float(seconds))
            case {"result": result}:
                return _Result(_value(result))
            case {"trouble": {"kind": str(kind), "message": str(message), "line": line, "explanation": str(way_on)}}:
                return _Stopped(kind, message, None if line is None else int(line), way_on)
            case {"missing": kind}:
                return _Missing(None if kind is None else str(kind))
    except (TypeError, ValueError, LookupError, OverflowError, RecursionError):
        pass
    return None


def _value(raw: Mapping[str, Any]) -> Any:
    match raw["is"]:
        case "truth":
            return bool(raw["value"])
        case "numbers":
            return np.array(raw["values"], dtype=np.float64)
        case "tuple":
            return tuple(_value(item) for item in raw["items"])
        case _:
            return str(raw["type"])


def _problem(exercise: Exercise, check: Check, inputs: Inputs, expected: _Result, received: _Received) -> str:
    """Why a check does not pass, in a sentence; empty where it does."""
    call = check.call(inputs)
    match received:
        case _Result(value):
            problem = _difference(expected.value, value, check)
            return f"{call} gives {problem}." if problem else ""
        case _Stopped(kind, message, line):
            where = f" in line {line}" if line else ""
            return f"{call} ends with {kind}{where}{f': {message}' if message else ''}".rstrip(".") + "."
        case _Missing(None):
            return f"The cell defines no function `{exercise.function}`; keep its `def` line as it was."
        case _Missing(kind):
            return f"`{exercise.function}` should be a function, and is of type {kind}."
        case _Late(seconds):
            limit = "in time" if seconds is None else f"within {seconds:g} s"
            return f"{call} did not end {limit}. Is there a loop that goes on for ever?"
        case _:
            return f"{call} gave no answer that can be read."


def _alike(one: _Received, other: _Received, tolerance: float) -> bool:
    match one, other:
        case _Result(mine), _Result(its):
            return _same(mine, its, tolerance)
        case _Stopped(kind), _Stopped(other_kind):
            return kind == other_kind
    return False


def _same(one: Any, other: Any, tolerance: float) -> bool:
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        return one.shape == other.shape and not np.any(_apart(one, other, tolerance))
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(_same(a, b, tolerance) for a, b in zip(one, other, strict=True))
    return type(one) is type(other) and bool(one == other)


def _apart(expected: Any, got: Any, tolerance: float) -> Any:
    """Where two arrays of the same shape differ by more than the tolerance."""
    finite = np.isfinite(expected)
    size = np.max(np.abs(expected[finite]), initial=0.0)
    with np.errstate(invalid="ignore"):
        near = np.abs(got - expected) <= tolerance * size
    return ~(near | (got == expected) | (np.isnan(got) & np.isnan(expected)))


def _difference(expected: Any, got: Any, check: Check, part: str = "") -> str:
    """What a call gives and what would be right, in words; empty where that is the same."""
    if isinstance(expected, tuple) and isinstance(got, tuple) and len(got) == len(expected):
        parts = zip(expected, got, check.parts, strict=True)
        return next(filter(None, (_difference(mine, its, check, f" as {name}") for mine, its, name in parts)), "")
    if type(expected) is not type(got) or np.shape(expected) != np.shape(got) or isinstance(expected, tuple):
        named = f" ({', '.join(check.parts)})" if isinstance(expected, tuple) else ""
        return f"{_kind(got)}{part}, and {_kind(expected)}{named} is right"
    if isinstance(expected, bool):
        return "" if got == expected else f"{got}{part}, and {expected} is right"
    apart = _apart(expected, got, check.tolerance)
    if not np.any(apart):
        return ""
    place = tuple(int(i) for i in np.argwhere(apart)[0])
    at = f" at index {', '.join(map(str, place))}" if place else ""
    for digits in (4, 8, 17):  # as many as it takes to see the difference
        shown, right = (quantity(float(numbers[place]), check.unit, digits) for numbers in (got, expected))
        if shown != right:
            break
    return f"{shown}{part}{at}, and {right} is right"


def _kind(value: Any) -> str:
    """What something is, in words."""
    if isinstance(value, tuple):
        return f"a tuple or list of {len(value)} values"
    if isinstance(value, bool):
        return "a truth value"
    if isinstance(value, np.ndarray):
        return f"an array of shape {value.shape}" if value.shape else "one number"
    named = {"NoneType": "None", "Var": "tape variable"}.get(value, value)
    return named if named == "None" else f"{'an' if named[:1] in 'aeiou' else 'a'} {named}"
