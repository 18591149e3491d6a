"""Run one cell of code that a reader wrote, and say in plain data what came of it.

Whatever the cell does, it ends as an `Outcome`: the value of its last expression in a few words, or a `Trouble` that
names the line and a way on. What it prints belongs to whoever runs it. Nothing here can end a loop that never ends or
a computation that takes for ever; whoever runs the cell has to.
"""

from __future__ import annotations

import ast
import builtins
import difflib
import inspect
import linecache
import re
import reprlib
import sys
import traceback
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import CodeType, FrameType, MappingProxyType
from typing import Any

import numpy as np

TEXT = 1000  # characters of a value or a message that are kept
POINTS = 400  # samples of an array that are kept for its picture
DRAWN = range(2, 100_001)  # lengths of an array that has a picture
NAME = 80  # characters of the name of a class that are kept
TRACE = 8  # lines that are kept at either end of a traceback

NOTHING_ELSEWHERE: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True)
class Value:
    """What the last expression of a cell gave.

    Attributes:
        text: how Python would write it, cut short.
        shape, dtype: of an array; None for anything else.
        low, high: smallest and largest of the finite numbers in an array; None if it has none.
        nan, infinite: how many of an array's numbers are not a number, and how many are infinite.
        points: of an array with one axis, at most `POINTS` evenly spaced samples, None where one is not finite.
    """

    text: str
    shape: tuple[int, ...] | None = None
    dtype: str | None = None
    low: float | None = None
    high: float | None = None
    nan: int = 0
    infinite: int = 0
    points: tuple[float | None, ...] | None = None


@dataclass(frozen=True)
class Trouble:
    """Why a cell did not come to its end.

    Attributes:
        kind: the name of the exception's class.
        message: what it says.
        cell, line: where it happened, the line counted from 1; None where no cell's code was running.
        trace: the way there, one line of text for each call, without any code but that of cells.
        explanation: in plain words what it means and what to do; empty for an uncommon error.
    """

    kind: str
    message: str
    cell: str | None
    line: int | None
    trace: tuple[str, ...]
    explanation: str


@dataclass(frozen=True)
class Outcome:
    """What came of a cell: a value (None if it ends in a statement or in None), or trouble."""

    value: Value | None = None
    trouble: Trouble | None = None


AWAITED = Trouble(
    "RuntimeError",
    "nothing can be waited for here",
    cell=None,
    line=None,
    trace=(),
    explanation="The cell is run as a part of something larger. Take `await` out of it, or put it below the functions.",
)


async def run_cell(
    source: str, cell: str, space: dict[str, Any], elsewhere: Mapping[str, str] = NOTHING_ELSEWHERE
) -> Outcome:
    """Run a cell in a namespace. A cell without a top-level ``await`` runs through without ever suspending.

    Args:
        source: the cell's text.
        cell: its name, which tracebacks bear.
        space: the namespace; what the cell defines stays there.
        elsewhere: name -> title of the cell that defines it, for the explanation of a name that is missing.
    """
    filename = _filename(cell)
    # No time of change: linecache then never looks for a file of that name.
    lines = [line + "\n" for line in re.split(r"\r\n|\r|\n", source)]
    linecache.cache[filename] = (len(source), None, lines, filename)
    space.setdefault("__name__", "__main__")  # a class definition asks for it
    try:
        result = None
        for code in _compiled(source, filename):
            result = eval(code, space)
            if code.co_flags & inspect.CO_COROUTINE:
                result = await result
        return Outcome(value=None if result is None else summary(result))
    except BaseException as error:  # exit() and a stop are outcomes of the cell too
        return Outcome(trouble=trouble(error, space, elsewhere))


def run_through(
    source: str, cell: str, space: dict[str, Any], elsewhere: Mapping[str, str] = NOTHING_ELSEWHERE
) -> Outcome:
    """As `run_cell`, for a cell that has nothing to wait for; where it waits, that is its trouble.

    Args:
        source, cell, space, elsewhere: as for `run_cell`.
    """
    running = run_cell(source, cell, space, elsewhere)
    try:
        running.send(None)
    except StopIteration as end:
        outcome: Outcome = end.value
        return outcome
    running.close()
    return Outcome(trouble=AWAITED)


def _filename(cell: str) -> str:
    return f"<cell {cell}>"


def _compiled(source: str, filename: str) -> Iterable[CodeType]:
    """The cell's statements; and its last expression apart, where it ends in one."""
    tree = ast.parse(source, filename)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    codes = [compile(tree, filename, "exec", flags, dont_inherit=True)]
    if isinstance(last, ast.Expr):
        codes.append(compile(ast.Expression(last.value), filename, "eval", flags, dont_inherit=True))
    return codes


# Values ----------------------------------------------------------------------------------------------------------


class _Repr(reprlib.Repr):
    """Looks at the first few elements of a container only, so that a long one costs no more than a short one."""

    def repr_ndarray(self, array: Any, level: int) -> str:
        return np.array2string(array, threshold=100, precision=6, max_line_width=100)

    def repr_float64(self, number: Any, level: int) -> str:
        return repr(float(number))

    def repr_bool(self, truth: Any, level: int) -> str:
        return repr(bool(truth))


_REPR = _Repr(
    maxlevel=4, maxtuple=20, maxlist=20, maxdict=20, maxset=20, maxdeque=20, maxarray=20, maxlong=60, maxother=TEXT
)
_REPR.maxstring = TEXT


def summary(value: Any) -> Value:
    """A value in a few words, also if it is huge, and also if its own ``__repr__`` fails."""
    try:
        text = _cut(_REPR.repr(value))
        if isinstance(value, np.ndarray):
            return _array(text, value)
    except BaseException as error:  # the reader's own __repr__ may do anything
        text = f"<{type(value).__name__} that cannot be shown: its text raises {type(error).__name__}>"
    return Value(text)


def _array(text: str, array: Any) -> Value:
    shape, dtype = tuple(int(length) for length in array.shape), str(array.dtype)
    if array.dtype.kind not in "fiu":
        return Value(text, shape, dtype)
    finite = np.isfinite(array)
    low, high = (float(array[finite].min()), float(array[finite].max())) if finite.any() else (None, None)
    nan = int(np.isnan(array).sum())
    points = None
    if array.ndim == 1 and len(array) in DRAWN:
        places = np.linspace(0, len(array) - 1, min(len(array), POINTS)).round().astype(int)
        points = tuple(float(x) if np.isfinite(x) else None for x in array[places])
    return Value(text, shape, dtype, low, high, nan, int(array.size - finite.sum()) - nan, points)


def _cut(text: str) -> str:
    return text if len(text) <= TEXT else f"{text[: TEXT - 1]}…"


# Trouble ---------------------------------------------------------------------------------------------------------


def trouble(
    error: BaseException, space: Mapping[str, Any], elsewhere: Mapping[str, str] = NOTHING_ELSEWHERE
) -> Trouble:
    """Where an exception happened in the code of cells, what it says, and what that means.

    Args:
        error: what was raised, with its traceback.
        space: the namespace of the cell, for names that are near a missing one.
        elsewhere: as for `run_cell`.
    """
    frames = [
        (frame, line)
        for frame, line in traceback.walk_tb(error.__traceback__)
        if frame.f_code.co_filename.startswith("<cell ")
    ]
    places = [(_cell(frame.f_code.co_filename), line) for frame, line in frames]
    if isinstance(error, SyntaxError) and error.lineno and (error.filename or "").startswith("<cell "):
        places.append((_cell(error.filename or ""), error.lineno))
    cell, line = places[-1] if places else (None, None)
    frame = frames[-1][0] if frames else None
    try:
        message = _cut(str(error.msg if isinstance(error, SyntaxError) else error))
        explanation = _explanation(error, message, _code(cell, line), _names(frame, space), elsewhere)
    except BaseException:  # an exception of the reader's own class may refuse even that
        message, explanation = "", ""
    return Trouble(type(error).__name__[:NAME], message, cell, line, _trace(places), explanation)


def _cell(filename: str) -> str:
    return filename.removeprefix("<cell ").removesuffix(">")


def _code(cell: str | None, line: int | None) -> str:
    return linecache.getline(_filename(cell), line).strip() if cell is not None and line is not None else ""


def _names(frame: FrameType | None, space: Mapping[str, Any]) -> set[str]:
    names = {*space, *dir(builtins), *(frame.f_locals if frame else ())}
    return {name for name in names if not name.startswith("_")}


def _trace(places: list[tuple[str, int]]) -> tuple[str, ...]:
    lines = [f"cell {cell}, line {line}: {_code(cell, line)}" for cell, line in places]
    left_out = len(lines) - 2 * TRACE
    if left_out > 1:
        lines[TRACE:-TRACE] = [f"… {left_out} more calls …"]
    return tuple(lines)


# Explanations ----------------------------------------------------------------------------------------------------

_LOOKALIKES = {
    **dict.fromkeys("“”„‟″«»", '"'),
    **dict.fromkeys("‘’‚‛′´", "'"),
    **dict.fromkeys("−–—‐‑", "-"),
    **dict.fromkeys("×·∙⋅∗", "*"),
    "÷": "/",
    "²": "**2",
    "³": "**3",
    "≤": "<=",
    "≥": ">=",
    "≠": "!=",
    "…": "...",
}


TOO_LARGE = "There is not enough memory for that. Is the array larger than was meant?"


def _explanation(
    error: BaseException, message: str, code: str, names: Iterable[str], elsewhere: Mapping[str, str]
) -> str:
    cause = str(error.__cause__ or "")
    if "tape variable" in message + cause or "derivative rule" in message:
        return _on_the_tape(message + cause, code)
    if isinstance(error, OSError | EOFError) and "input(" in code:
        return "`input()` is not available here, for nobody can be asked while a cell runs. Assign the value instead."
    match error:
        case SyntaxError():
            return _syntax(error, message)
        case UnboundLocalError():
            return (
                f"A function that assigns to a name anywhere, as this one does to `{_quoted(error)}`, has its own "
                "variable of that name from its first line on. Assign to it before it is used, or give it another name."
            )
        case NameError():
            return _missing_name(_name(error), names, elsewhere)
        case ModuleNotFoundError():
            return (
                f"This page is self-contained: NumPy and the lesson's package ferro_bench are here, {error.name} is "
                "not. Where the network allows it, `import micropip` and "
                f"`await micropip.install({error.name!r})` may fetch it."
            )
        case ValueError() if "fetch metadata" in str(error):  # micropip's word for a network that does not answer
            return (
                "The package index could not be reached, or has no such package. This page is self-contained: NumPy "
                "and the lesson's package are here, whatever the network is like."
            )
        case AttributeError():
            return _missing_attribute(error)
        case ZeroDivisionError():
            return (
                "Something was divided by zero. Which of the numbers in this line can be 0, and what should hold then?"
            )
        case RecursionError():
            return "A function went on calling itself. Where does it stop? A loop does the same without that limit."
        case MemoryError():
            return TOO_LARGE
        case ValueError() if "array is too big" in message or "Maximum allowed dimension" in message:
            return TOO_LARGE
        case IndexError():
            return "Indices begin at 0, so the last of N elements has the index N - 1, or -1."
        case KeyboardInterrupt():
            return "The cell was stopped. What it had assigned until then is still there."
        case SystemExit() | GeneratorExit():
            return "`exit()` ends a program. There is none to end here, so only this cell ended; leave the call out."
        case ValueError() if shapes := _shapes(message):
            return (
                f"The shapes {' and '.join(shapes)} do not fit together. Elementwise arithmetic needs equal shapes (an "
                "axis of length 1 is stretched). The `.shape` of each part tells which one is not as you thought."
            )
        case ValueError() if "must have the same shape" in message:
            return "The parts have different shapes. Does each of them have as many numbers as the others?"
        case ValueError() if "truth value of an array" in message:
            return (
                "`if` asks one question, and an array holds many numbers. `np.where(condition, a, b)` decides for each "
                "of them, and `np.abs` or `np.sign` often do without a condition."
            )
        case TypeError() if "only 0-dimensional arrays" in message or "only length-1 arrays" in message:
            return (
                "Functions of `math` and `float()` take one number. The `np` function of that name takes an array too."
            )
        case TypeError() if "NoneType" in message:
            return "One of the values is None, which is what a function gives that ends without `return`."
        case TypeError() if re.search("'(int|float|numpy.*)' object is not callable", message):
            return "A number stands before a bracket, so Python takes it for a function. Is a `*` missing in between?"
        case TypeError() if "multiply sequence by non-int" in message:
            return "A list or a tuple is not a vector: take the number out of it, or make it an array with `np.array`."
    return ""


def _on_the_tape(message: str, code: str) -> str:
    if re.search(r"\][^=]*[^=<>!]=(?!=)", code) or "in place" in message:
        return (
            "A derivative is being taken, so the numbers are tape variables, and an array has no room for them. "
            "Collect them in a list with `append`, and `np.stack` the list at the end."
        )
    if "derivative rule" in message:
        return (
            "A derivative is being taken, and this function has no rule for it. Write it with operators and the common "
            "functions of `np`: `abs`, `sin`, `exp`, `where`, `sum`, `mean`, `stack`."
        )
    if "an array" in message:
        return (
            "A derivative is being taken, so the numbers are tape variables, of which `np.array` cannot be made. "
            "`np.stack` makes an array of a list of them and keeps their derivative."
        )
    return (
        "A derivative is being taken, so the number is a tape variable, and turning it into a plain one would lose the "
        "derivative. Use `np.sin` in place of `math.sin`, and leave out `float()`, `int()`, `round()` and formatting."
    )


def _syntax(error: SyntaxError, message: str) -> str:
    if found := re.search(r"invalid (?:non-printable )?character.*U\+([0-9A-F]+)", message):
        character = chr(int(found[1], 16))
        if character in _LOOKALIKES:
            plain = _LOOKALIKES[character]
            return f"The character {character} often comes with text that was pasted. Python wants `{plain}` here."
        name = unicodedata.name(character, "a control character").lower()
        return f"There is a character that Python does not know ({name}), perhaps from pasting. Type that place anew."
    if isinstance(error, TabError):
        return "Tabs and spaces are mixed. Indent every line with spaces, four a level."
    if isinstance(error, IndentationError):
        if "expected an indented block" in message:
            return "After a line that ends in a colon, at least one line must follow that is indented by four spaces."
        if "unindent" in message:
            return "This line is indented like none of the lines above it. Lines of one block begin in the same column."
        return (
            "This line is indented further than the one above, which opens no block. Take the spaces at its start away."
        )
    if "expected ':'" in message:
        return "A line that begins with `def`, `if`, `else`, `for` or `while` ends in a colon."
    if "was never closed" in message:
        return "This bracket is open at the end of the cell. Close it where its expression ends."
    if "unmatched" in message or "does not match" in message:
        return "This closing bracket has no partner. Count the brackets of the line, and of the line above it."
    if "unterminated" in message:
        return "A text begins here and does not end. Put the same quotation mark at its end."
    if "'return' outside function" in message:
        return "A `return` belongs to a function: indent it under its `def`."
    return (
        "Python cannot read this line. Look for a missing sign, bracket or colon, here or at the end of the line above."
    )


def _name(error: NameError) -> str:
    found = re.search("'(.+?)'", str(error))
    return str(error.name or (found[1] if found else ""))


def _quoted(error: BaseException) -> str:
    found = re.search("variable '(.+?)'", str(error))
    return found[1] if found else "this one"


def _missing_name(name: str, names: Iterable[str], elsewhere: Mapping[str, str]) -> str:
    if name in elsewhere:
        return f"`{name}` is written in the cell “{elsewhere[name]}”: run that first."
    strange = [f"{c} ({unicodedata.name(c, 'unnamed').lower()})" for c in name if not c.isascii()]
    if strange and not name.isascii():
        return f"This name contains {', '.join(strange)}, which may look like another letter. Type the name anew."
    if name in sys.stdlib_module_names:
        return f"`{name}` is a module of Python: write `import {name}` first."
    near = difflib.get_close_matches(name, {*names, *elsewhere}, n=1)
    if near:
        written = f", which is written in the cell “{elsewhere[near[0]]}”" if near[0] in elsewhere else ""
        return f"There is no `{name}`. Do you mean `{near[0]}`{written}?"
    return f"There is no `{name}` yet. It has to be assigned, or given to the function, before this line uses it."


def _missing_attribute(error: AttributeError) -> str:
    if error.obj is None and error.name:
        return "The value before the dot is None, which is what a function gives that ends without `return`."
    near = difflib.get_close_matches(error.name or "", dir(error.obj), n=1)
    return f"Do you mean `{near[0]}`?" if near else ""


def _shapes(message: str) -> list[str]:
    """The shapes that an error about shapes speaks of, as text."""
    core = re.search(r"size (\d+) is different from (\d+)", message)
    if core:
        return [f"(…, {core[2]})", f"({core[1]}, …)"] if "matmul" in message else [f"({core[2]},)", f"({core[1]},)"]
    return re.findall(r"\(\d+(?:,\s?\d*)+\)", message) if "shape" in message else []
