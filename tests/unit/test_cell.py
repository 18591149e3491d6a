"""Running a cell: what its value looks like, where its trouble is, and what is said about it."""

from __future__ import annotations

import asyncio
import json
import math
import traceback
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np
import pytest

from ferro_bench.cell import POINTS, TEXT, TRACE, Outcome, Trouble, Value, run_cell, run_through
from ferro_bench.gradient import Tape


def run(source: str, space: dict[str, Any] | None = None, cell: str = "law", **options: Any) -> Outcome:
    outcome = run_through(source, cell, {"np": np} if space is None else space, **options)
    json.dumps(asdict(outcome), allow_nan=False)
    return outcome


def value(source: str) -> Value:
    outcome = run(source)
    assert outcome.trouble is None and outcome.value is not None
    return outcome.value


def trouble(source: str, space: dict[str, Any] | None = None, elsewhere: Mapping[str, str] | None = None) -> Trouble:
    outcome = run(source, space, elsewhere=elsewhere or {})
    assert outcome.value is None and outcome.trouble is not None
    return outcome.trouble


# Values ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("2 + 3", "5"),
        ("a = 2\na * 3", "6"),
        ("np.float64(0.5)", "0.5"),
        ("(np.float64(0.5), np.True_, True)", "(0.5, True, True)"),
        ("'“x”'", "'“x”'"),
        ("class Drag: pass\nDrag.__module__", "'__main__'"),
    ],
)
def test_the_last_expression_is_the_value(source: str, text: str) -> None:
    assert value(source) == Value(text)


@pytest.mark.parametrize("source", ["", "# nothing", "a = 2", "None", "def f():\n    return 1", "a = 1\nif a:\n    a"])
def test_a_cell_that_ends_in_no_expression_has_no_value_and_no_trouble(source: str) -> None:
    assert run(source) == Outcome(None, None)


def test_an_array_comes_with_its_shape_its_range_and_its_points() -> None:
    found = value("np.array([1.0, np.nan, -2.0, np.inf])")
    assert (found.shape, found.dtype, found.low, found.high) == ((4,), "float64", -2.0, 1.0)
    assert (found.nan, found.infinite, found.points) == (1, 1, (1.0, None, -2.0, None))
    assert "nan" in found.text


def test_a_long_array_is_thinned_out_from_end_to_end() -> None:
    points = value("np.arange(100_000)").points
    assert points is not None and len(points) == POINTS and (points[0], points[-1]) == (0.0, 99_999.0)
    assert np.ptp(np.diff(np.array(points, dtype=float))) <= 1


@pytest.mark.parametrize(
    "source", ["np.zeros(1)", "np.zeros(100_001)", "np.zeros((2, 3))", "np.array(['a', 'b'])", "np.array([1j, 2])"]
)
def test_what_makes_no_curve_has_no_points(source: str) -> None:
    found = value(source)
    assert found.points is None and found.shape is not None


def test_a_long_array_is_written_with_dots() -> None:
    assert "..." in value("np.zeros((300, 300))").text


def test_an_array_without_a_finite_number_has_no_range() -> None:
    for source in ("np.array([])", "np.array([np.nan])"):
        assert (value(source).low, value(source).high) == (None, None)


@pytest.mark.parametrize(
    "source",
    [
        "'x' * 10**7",
        "list(range(10**6))",
        "{k: 'x' * 1000 for k in range(1000)}",
        "np.zeros((300, 300, 3))",
        "[[[[[['x' * 1000] * 1000] * 1000] * 100]]]",
        "10**4000",
        "10**10000",
        "a = []\na.append(a)\na",
        "class Long:\n    def __repr__(self): return 'x' * 10**6\nLong()",
    ],
)
def test_a_huge_value_has_a_short_text(source: str) -> None:
    assert 0 < len(value(source).text) <= TEXT


@pytest.mark.parametrize("error", ["ValueError('no')", "SystemExit", "KeyboardInterrupt", "RecursionError"])
def test_a_text_that_fails_breaks_nothing(error: str) -> None:
    source = f"class Shy:\n    def __repr__(self): raise {error}\nShy()"
    assert "Shy" in value(source).text
    assert value(f"{source[:-5]}[Shy()]").text


def test_an_array_of_odd_objects_breaks_nothing() -> None:
    assert value("class Shy:\n    def __repr__(self): raise ValueError\nnp.array([Shy(), Shy()])").text


WAITING = "import asyncio\nawait asyncio.sleep(0)\na = 2\nawait asyncio.sleep(0, a + 1)"


def test_a_cell_may_await_and_a_plain_one_does_not() -> None:
    space: dict[str, Any] = {}
    assert asyncio.run(run_cell(WAITING, "law", space)).value == Value("3")
    assert space["a"] == 2
    plain = run_cell("a + 1", "law", space)
    with pytest.raises(StopIteration) as end:
        plain.send(None)
    assert end.value.value.value == Value("3")


def test_where_nothing_can_be_waited_for_waiting_is_trouble() -> None:
    space: dict[str, Any] = {}
    found = trouble(f"a = 1\n{WAITING}", space)
    assert found.message == "nothing can be waited for here" and space["a"] == 1


# Where it happened -----------------------------------------------------------------------------------------------


def test_trouble_in_an_earlier_cells_function_names_that_cell_and_line() -> None:
    space: dict[str, Any] = {}
    run("def f(x):\n    # a comment\n    return 1 / x", space, cell="law")
    found = run("\nf(1)\nf(0)", space, cell="rollout").trouble
    assert found is not None
    assert (found.kind, found.message, found.cell, found.line) == ("ZeroDivisionError", "division by zero", "law", 3)
    assert found.trace == ("cell rollout, line 3: f(0)", "cell law, line 3: return 1 / x")


def test_frames_outside_cells_are_left_out() -> None:
    found = trouble("import json\ndef f(x):\n    raise KeyError('inside')\njson.loads('{}', object_hook=f)")
    assert found.trace == (
        "cell law, line 4: json.loads('{}', object_hook=f)",
        "cell law, line 3: raise KeyError('inside')",
    )


def test_a_deep_traceback_is_cut_in_the_middle() -> None:
    found = trouble("def f(n):\n    return f(n + 1)\nf(0)")
    assert found.kind == "RecursionError" and len(found.trace) == 2 * TRACE + 1 and "more calls" in found.trace[TRACE]


def test_what_was_assigned_before_the_trouble_is_kept() -> None:
    space: dict[str, Any] = {}
    assert trouble("a = 2\n1 / 0\nb = 3", space).line == 2
    assert space["a"] == 2 and "b" not in space


def test_pythons_own_traceback_shows_the_cells_lines() -> None:
    space: dict[str, Any] = {}
    run("def f():\n    raise ValueError  # here", space)
    with pytest.raises(ValueError) as error:
        space["f"]()
    assert "raise ValueError  # here" in "".join(traceback.format_exception(error.value))


def test_line_ends_of_every_kind_are_counted_as_python_counts_them() -> None:
    assert trouble("a = 1\r\nb = 'one\x0cpage'\r\n1 / 0").trace == ("cell law, line 3: 1 / 0",)


@pytest.mark.parametrize("call", ["exit()", "raise SystemExit(3)", "raise KeyboardInterrupt", "raise GeneratorExit"])
def test_nothing_gets_past(call: str) -> None:
    assert trouble(f"import sys\nexit = sys.exit\n{call}").line == 3


def test_an_exception_that_refuses_to_speak_is_reported_all_the_same() -> None:
    found = trouble("class Shy(Exception):\n    def __str__(self): raise SystemExit\nraise Shy")
    assert (found.kind, found.message, found.line) == ("Shy", "", 3)


@pytest.mark.parametrize("source", ["\0", "a = '\ud800'\n" * 2, "(" * 10_000, "-" * 100_000 + "1"], ids=len)
def test_what_cannot_even_be_read_is_trouble(source: str) -> None:
    assert trouble(source).kind


# Explanations ----------------------------------------------------------------------------------------------------

ON_THE_TAPE = "v = variable\nimport math\nx = np.zeros(3)\n"


@pytest.mark.parametrize(
    ("source", "line", "words"),
    [
        ("x_mesured", 1, "Do you mean x_measured?"),
        ("def f(velocity):\n    return velocty\nf(2)", 2, "Do you mean velocity?"),
        ("pritn(2)", 1, "Do you mean print?"),
        ("accel(1)", 1, "accel is written in the cell “The law”: run that first."),
        ("acel(1)", 1, "Do you mean accel, which is written in the cell “The law”?"),
        ("math.sin(1)", 1, "write `import math` first"),
        ("\u0441 = 1\nc", 2, "There is no c yet"),
        ("c_ = 1\n\u0441_", 2, "cyrillic small letter es"),
        ("zzz", 1, "There is no zzz yet"),
        ("a = 1\ndef f():\n    a = a + 1\nf()", 3, "its own variable of that name"),
        ("np.absolut(2)", 1, "Do you mean absolute?"),
        ("None.shape", 1, "without `return`"),
        ("np.zeros(120) - np.zeros(121)", 1, "The shapes (120,) and (121,) do not fit together"),
        ("np.zeros(3) @ np.zeros(4)", 1, "The shapes (…, 3) and (4, …) do not fit together"),
        ("a = np.zeros(2)\na[:] = np.zeros(3)", 2, "The shapes (3,) and (2,) do not fit together"),
        ("np.stack([np.zeros(2), np.zeros(3)])", 1, "different shapes"),
        ("if np.zeros(3) > 0:\n    pass", 1, "np.where(condition, a, b)"),
        ("def f():\nreturn 1", 2, "indented by four spaces"),
        ("  a = 1", 1, "Take the spaces at its start away"),
        ("if 1:\n    a = 1\n  b = 2", 3, "begin in the same column"),
        ("if 1:\n\ta = 1\n        b = 2", 3, "Tabs and spaces are mixed"),
        ("a = 1\nprint(“a”)", 2, 'The character “ often comes with text that was pasted. Python wants " here.'),
        ("a = ‘b’", 1, "Python wants ' here"),
        ("a = 3 − 2", 1, "Python wants - here"),
        ("a = 3²", 1, "Python wants **2 here"),
        ("a\u00a0= 1", 1, "no-break space"),
        ("def f(x)\n    return x", 1, "ends in a colon"),
        ("a = 1\nb = (2,\nc = 3", 2, "Close it where its expression ends"),
        ("a = 5)", 1, "no partner"),
        ("a = 'b", 1, "the same quotation mark"),
        ("return 3", 1, "indent it under its def"),
        ("a = 1 +", 1, "Python cannot read this line"),
        (ON_THE_TAPE + "math.sin(v)", 4, "np.sin in place of math.sin"),
        (ON_THE_TAPE + "float(v)", 4, "leave out float()"),
        (ON_THE_TAPE + "x[0] = v", 4, "Collect them in a list with append, and np.stack"),
        (ON_THE_TAPE + "x[0] += v", 4, "Collect them in a list with append, and np.stack"),
        (ON_THE_TAPE + "np.array([v, v])", 4, "np.stack makes an array of a list of them"),
        (ON_THE_TAPE + "y = [np.array([v, v])]", 4, "np.stack makes an array of a list of them"),
        (ON_THE_TAPE + "np.stack([v, v])[0] = 1.0", 4, "Collect them in a list with append, and np.stack"),
        (ON_THE_TAPE + "np.std(v)", 4, "has no rule for it"),
        ("a = input('c? ')", 1, "input() is not available here"),
        ("1 / 0", 1, "divided by zero"),
        ("def f():\n    return f()\nf()", 2, "went on calling itself"),
        ("np.ones(10**14)", 1, "not enough memory"),
        ("np.ones(10**19)", 1, "not enough memory"),
        ("np.ones((2**40, 2**40))", 1, "not enough memory"),
        ("import scipy_of_mars", 1, "await micropip.install('scipy_of_mars')"),
        ("[1][1]", 1, "the index N - 1"),
        ("raise KeyboardInterrupt", 1, "The cell was stopped"),
        ("raise SystemExit", 1, "only this cell ended"),
        ("import math\nmath.sin(np.zeros(3))", 2, "takes an array too"),
        ("None * 2.0", 1, "without `return`"),
        ("m = 2.0\nm(3 + 1)", 2, "Is a * missing"),
        ("(1.0,) * 2.0", 1, "take the number out of it"),
        ("raise OSError('disk')", 1, ""),
    ],
)
def test_common_trouble_is_explained_with_a_way_on(source: str, line: int, words: str) -> None:
    space = {"np": np, "x_measured": np.zeros(3), "variable": Tape().variable(0.5)}
    found = trouble(source, space, {"accel": "The law"})
    assert (found.cell, found.line) == ("law", line)
    said = found.explanation.replace("`", "")
    assert found.explanation.count("`") % 2 == 0
    assert words.replace("`", "") in said if words else not said


def test_a_message_is_cut() -> None:
    assert len(trouble("raise ValueError('x' * 10**6)").message) == TEXT


def test_a_value_that_is_not_finite_has_a_text() -> None:
    assert value("float('nan')").text == "nan" and value("-np.inf").text == str(-math.inf)


def test_the_name_of_an_error_is_cut_short_like_everything_else() -> None:
    outcome = run_through("raise type('E' * 100_000, (Exception,), {})('x')", "plant", {})
    assert outcome.trouble is not None and len(outcome.trouble.kind) == 80
