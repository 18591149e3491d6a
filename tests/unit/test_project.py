"""The learner's own motion: files good and bad, the fit, what it predicts, and the seam."""

from __future__ import annotations

import json
from collections.abc import Generator
from time import perf_counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferro_bench import Session, drag, project, rk4, rollout, table
from ferro_bench.dataset import Channel, Drive
from ferro_bench.drag import LAWS, Model, Motion
from ferro_bench.identify import Ending
from ferro_bench.plant import Plant, StateVariable


def pulled[Result](generator: Generator[Any, None, Result]) -> Result:
    while True:
        try:
            next(generator)
        except StopIteration as end:
            result: Result = end.value
            return result


# Tables ----------------------------------------------------------------------------------------------------------

ROWS = [[0.0, 1.5, 0.25], [0.1, -2.0, 0.5], [0.2, 3.0, 1e-3]]
GOOD = {
    "commas": "t,u,x\n0,1.5,0.25\n0.1,-2,0.5\n0.2,3,1e-3\n",
    "semicolons": "t;u;x\n0;1.5;0.25\n0.1;-2;0.5\n0.2;3;1e-3\n",
    "tabs": "t\tu\tx\n0\t1.5\t0.25\n0.1\t-2\t0.5\n0.2\t3\t1e-3\n",
    "decimal commas": "t;u;x\n0;1,5;0,25\n0,1;-2;0,5\n0,2;3;1e-3\n",
    "decimal commas after tabs": "t\tu\tx\n0\t1,5\t0,25\n0,1\t-2\t0,5\n0,2\t3\t1e-3\n",
    "decimal commas throughout": "0,0;1,5;0,25\n0,1;-2,0;0,5\n0,2;3,0;0,001\n",
    "no header": "0,1.5,0.25\n0.1,-2,0.5\n0.2,3,1e-3",
    "byte order mark": "\ufefft,u,x\n0,1.5,0.25\n0.1,-2,0.5\n0.2,3,1e-3\n",
    "carriage returns": "t,u,x\r\n0,1.5,0.25\r\n0.1,-2,0.5\r\n0.2,3,1e-3\r\n",
    "old carriage returns": "t,u,x\r0,1.5,0.25\r0.1,-2,0.5\r0.2,3,1e-3\r",
    "comments": '# a "quoted, word\nt,u,x\n0,1.5,0.25\n# in between\n0.1,-2,0.5\n0.2,3,1e-3\n',
    "quotes": '"t","u","x"\n"0","1.5","0.25"\n"0.1","-2","0.5"\n"0.2","3","1e-3"\n',
    "quoted decimal commas": 't;u;x\n"0";"1,5";"0,25"\n"0,1";"-2";"0,5"\n"0,2";"3";"1e-3"\n',
    "spaces": "t, u, x\n0, 1.5, 0.25\n 0.1 , -2, 0.5\n0.2, 3, 1e-3\n",
    "spaces before quotes": '"t", "u", "x"\n0, "1.5", "0.25"\n0.1, "-2", "0.5"\n0.2, "3", "1e-3"\n',
    "a real minus sign": "t,u,x\n0,1.5,0.25\n0.1,\N{MINUS SIGN}2,0.5\n0.2,3,1e-3\n",
    "a title, names and units": "My trolley,,\nt,u,x\ns,N,m\n0,1.5,0.25\n0.1,-2,0.5\n0.2,3,1e-3\n",
    "empty lines": "\nt,u,x\n\n0,1.5,0.25\n\n0.1,-2,0.5\n0.2,3,1e-3\n\n\n",
    "empty rows at the end": "t,u,x\n0,1.5,0.25\n0.1,-2,0.5\n0.2,3,1e-3\n,,\n,,\n",
    "empty cells at the end": "t,u,x\n0,1.5,0.25,\n0.1,-2,0.5\n0.2,3,1e-3,,\n",
    "names in a comment": "# t,u,x\n0,1.5,0.25\n0.1,-2,0.5\n0.2,3,1e-3\n",
}


@pytest.mark.parametrize("text", GOOD.values(), ids=GOOD)
def test_a_table_is_read_however_it_is_written(text: str) -> None:
    read = table.read(text)
    columns = [read.numbers(column) for column in range(3)]
    np.testing.assert_array_equal(np.transpose(columns), ROWS)
    assert len(read.rows) == 3


@pytest.mark.parametrize("case", [case for case in GOOD if case not in {"no header", "decimal commas throughout"}])
def test_names_are_found(case: str) -> None:
    assert table.read(GOOD[case]).names == ("t", "u", "x")


@pytest.mark.parametrize(
    ("case", "rows"),
    [
        ("commas", [2, 3, 4]),
        ("no header", [1, 2, 3]),
        ("comments", [3, 5, 6]),
        ("empty lines", [4, 6, 7]),
        ("a title, names and units", [4, 5, 6]),
    ],
)
def test_rows_are_counted_as_a_spreadsheet_does(case: str, rows: list[int]) -> None:
    assert list(table.read(GOOD[case]).rows) == rows


NO_TABLE = {
    "": "There are no rows of numbers in it.",
    "\n\n": "There are no rows of numbers in it.",
    "t,u,x\n": "There are no rows of numbers in it.",
    "only words\nand more of them\n": "There are no rows of numbers in it.",
    "1\n2\n3\n": "There is only one column in it.",
    "1 2\n2 3\n": "There are no rows of numbers in it.",
    "t,x\n0,1\n1,2,3\n2,4\n": "Row 3 has 3 cells, where most rows have 2.",
    "t,x\n0,1\n1\n2,4\n": "Row 3 has 1 cells, where most rows have 2.",
    "PK\x03\x04,1\n2,3": "This is no text. Save the sheet as CSV and choose that file.",
    't,x\n0,1\n1,"' + "2\n" * 80_000: "Row 3 cannot be read: is there a quotation mark that is never closed?",
}


@pytest.mark.parametrize("text", NO_TABLE, ids=lambda text: repr(text[:30]))
def test_what_is_no_table_is_refused_with_its_row(text: str) -> None:
    with pytest.raises(table.TableError) as error:
        table.read(text)
    assert str(error.value).startswith(NO_TABLE[text])


BAD_CELLS = {
    "t,x\n0,1\n1,abc\n": "Cell B3 (“x”) holds “abc”, which is no finite number.",
    "t,x\n0,1\n1,\n2,3\n": "Cell B3 (“x”) is empty; every row needs a number there.",
    "0,1\n1,nan\n": "Cell B2 holds “nan”, which is no finite number.",
    "0,1\n1,-inf\n": "Cell B2 holds “-inf”, which is no finite number.",
    "0,1\n1,1e999\n": "Cell B2 holds “1e999”, which is no finite number.",
    "0,1\n1,1_000\n": "Cell B2 holds “1_000”, which is no finite number.",
    "0;1.5\n1;1,5\n": "Cell B2 holds “1,5”, which is no finite number.",
    "0;1,5\n1;1.234,5\n": "Cell B2 holds “1.234,5”, which is no finite number.",
    "# one\n\nt,x\n\n0,1\n1,3 m\n": "Cell B6 (“x”) holds “3 m”, which is no finite number.",
}


@pytest.mark.parametrize("text", BAD_CELLS)
def test_a_cell_that_is_no_number_is_named(text: str) -> None:
    read = table.read(text)
    with pytest.raises(table.TableError) as error:
        read.numbers(1)
    assert str(error.value) == BAD_CELLS[text]


def test_columns_are_called_as_in_a_spreadsheet() -> None:
    assert [table.letters(i) for i in (0, 25, 26, 51, 52, 701, 702)] == ["A", "Z", "AA", "AZ", "BA", "ZZ", "AAA"]


@given(
    st.lists(st.tuples(*[st.floats(-1e12, 1e12)] * 3), min_size=3, max_size=30),
    st.sampled_from([",", ";", "\t"]),
    st.booleans(),
    st.booleans(),
    st.booleans(),
    st.sampled_from(["\n", "\r\n"]),
)
def test_whatever_is_written_is_read_again(
    rows: list[tuple[float, ...]], delimiter: str, comma: bool, quoted: bool, header: bool, end: str
) -> None:
    def cell(value: float) -> str:
        text = repr(value).replace(".", ",") if comma and delimiter != "," else repr(value)
        return f'"{text}"' if quoted else text

    lines = [delimiter.join(map(cell, row)) for row in rows]
    read = table.read(end.join([delimiter.join(["time", "a.b", "x"])] * header + lines))
    np.testing.assert_array_equal(np.stack([read.numbers(i) for i in range(3)], axis=1), rows)


def test_two_hundred_thousand_rows_are_read(record_property: Any) -> None:
    """How long it takes is noted and not asserted: it is the machine's business."""
    t = 0.001 * np.arange(200_000)
    text = "t,u,x\n" + "\n".join(f"{a:.3f},{np.sin(a):.5f},{np.cos(a):.5f}" for a in t.tolist())
    begun = perf_counter()
    read = table.read(text)
    position = read.numbers(2)
    record_property("seconds", perf_counter() - begun)
    assert len(position) == len(read.rows) == 200_000


# From a table to a motion ----------------------------------------------------------------------------------------

SETTINGS: dict[str, Any] = {
    "columns": {"time": 0, "force": 1, "position": 2, "velocity": None},
    "units": {"time": "s", "force": "N", "position": "m", "velocity": "m/s"},
    "force": "",
    "mass": "1.4",
    "mass_unit": "kg",
    "known": "known",
    "law": "quadratic",
    "start": "moving",
    "between": "held",
    "compare": "no",
}
TIME = np.round(0.02 * np.arange(60), 4)


def text_of(*columns: Any, names: str = "t,u,x") -> str:
    rows = [",".join(map(str, row)) for row in zip(*(np.asarray(column).tolist() for column in columns), strict=True)]
    return "\n".join([names, *rows])


def plain(**changed: Any) -> str:
    given: dict[str, Any] = {"t": TIME, "u": np.sin(TIME), "x": TIME**2} | changed
    return text_of(*given.values())


def prepared(text: str, **settings: Any) -> tuple[project.Recording, Model]:
    return project.prepare(table.read(text), SETTINGS | settings)


def faults_of(text: str, **settings: Any) -> dict[str, str]:
    with pytest.raises(project.ProjectError) as error:
        prepared(text, **settings)
    return error.value.faults


def test_units_become_those_of_the_law() -> None:
    units = {"time": "ms", "force": "mN", "position": "cm", "velocity": "cm/s"}
    text = text_of(TIME * 1000, np.sin(TIME) * 1000, TIME**2 * 100, TIME * 200)
    recording, model = prepared(
        text, units=units, columns=SETTINGS["columns"] | {"velocity": 3}, mass="1400", mass_unit="g"
    )
    assert recording.motion.dt == pytest.approx(0.02)
    assert model.mass == pytest.approx(1.4)
    np.testing.assert_allclose(recording.motion.force, np.sin(TIME[:-1]), atol=1e-12)
    np.testing.assert_allclose(recording.motion.position, TIME**2, atol=1e-12)
    np.testing.assert_allclose(recording.velocity, 2 * TIME, atol=1e-12)
    assert recording.split == 42


def test_between_two_rows_the_force_is_held_or_goes_straight() -> None:
    held, straight = (prepared(plain(), between=between)[0].motion.force for between in ("held", "line"))
    np.testing.assert_allclose(held, np.sin(TIME[:-1]))
    np.testing.assert_allclose(straight, (np.sin(TIME[:-1]) + np.sin(TIME[1:])) / 2)


def test_a_force_that_is_the_same_throughout_needs_no_column() -> None:
    columns = {"time": 0, "force": None, "position": 2, "velocity": None}
    units = SETTINGS["units"] | {"force": "mN"}
    recording, _ = prepared(plain(), columns=columns, units=units, force="9,81")
    np.testing.assert_allclose(recording.motion.force, np.full(59, 0.00981))


def changed(values: Any, index: int, to: Any) -> list[Any]:
    listed = np.asarray(values).tolist()
    listed[index] = to
    return list(listed)


REFUSED = {
    "a word": (plain(x=changed(TIME**2, 7, "fast")), {}, "position", "Cell C9 (“x”) holds “fast”"),
    "an empty cell": (plain(u=changed(TIME, 3, "")), {}, "force", "Cell B5 (“u”) is empty"),
    "a gap in the clock": (
        text_of(*(np.delete(column, 10) for column in (TIME, TIME, TIME**2))),
        {},
        "time",
        "In the time column the clock is not uniform: row 12 comes 0.04 s after the one before it",
    ),
    "a clock that stands": (
        plain(t=changed(TIME, 5, TIME[4])),
        {},
        "time",
        "In the time column the clock does not go on in row 7: 0.08 s follows 0.08 s",
    ),
    "a clock, below a comment": (
        "# one\n\n" + plain(t=changed(TIME, 5, TIME[4])),
        {},
        "time",
        "In the time column the clock does not go on in row 9",
    ),
    "nothing moves": (
        plain(x=0 * TIME),
        {},
        "position",
        "Cell C2 (“x”) and all below it hold the same number in every",
    ),
    "nothing moves at first": (
        plain(x=np.where(TIME > 0.9, TIME, 0)),
        {},
        "position",
        "Cell C2 (“x”) and all below it hold the same number in all of the first part",
    ),
    "a number beyond everything": (
        plain(x=changed(TIME**2, 7, 1e150)),
        {},
        "position",
        "Cell C9 (“x”) is 1e+150 in SI units. Is the unit m right?",
    ),
    "few rows": (text_of(TIME[:19], TIME[:19], TIME[:19] ** 2), {}, "position", "There are 19 rows of numbers"),
    "no force and no mass": (plain(u=0 * TIME), {"known": "fitted"}, "mass", "Without a force only the ratio"),
    "no mass": (plain(), {"mass": ""}, "mass", "The mass must be a number; the field is empty."),
    "no number for a mass": (plain(), {"mass": "heavy"}, "mass", "The mass must be a number; “heavy” is none."),
    "a negative mass": (plain(), {"mass": "-1"}, "mass", "The mass must be greater than zero."),
    "one column twice": (
        plain(),
        {"columns": {"time": 0, "force": 2, "position": 2, "velocity": None}},
        "position",
        "The column C (“x”) is chosen twice.",
    ),
    "no column": (
        plain(),
        {"columns": {"time": 0, "force": 1, "position": None, "velocity": None}},
        "position",
        "Choose the column that holds the position.",
    ),
    "a column that is not there": (
        plain(),
        {"columns": {"time": 0, "force": 1, "position": 9, "velocity": None}},
        "position",
        "There is no column 9",
    ),
    "a unit of something else": (
        plain(),
        {"units": SETTINGS["units"] | {"position": "ms"}},
        "position",
        "The position can be in m or cm or mm, not in 'ms'.",
    ),
    "another law": (plain(), {"law": "cubic"}, "law", "The drag must be one of quadratic, linear, mixed."),
    "no settings to speak of": (plain(), {"units": None}, "position", "The settings lack"),
}


@pytest.mark.parametrize(("text", "settings", "field", "sentence"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_fitted_is_refused_beside_its_field(
    text: str, settings: dict[str, Any], field: str, sentence: str
) -> None:
    faults = faults_of(text, **settings)
    assert field in faults
    assert faults[field].startswith(sentence)


def test_every_field_that_is_in_the_way_is_named_at_once() -> None:
    faults = faults_of(plain(u=changed(TIME, 3, "?"), x=changed(TIME, 4, "?")), mass="")
    assert faults.keys() == {"force", "position", "mass"}


@pytest.mark.parametrize(
    ("names", "columns", "units"),
    [
        ("time (s),force (N),position (cm)", (0, 1, 2, None), ("s", "N", "cm", "m/s")),
        ("x [mm],t [ms],v [cm/s],F [mN]", (1, 3, 0, 2), ("ms", "mN", "mm", "cm/s")),
        ("t,x", (0, None, 1, None), ("s", "N", "m", "m/s")),
        ("one,two", (0, None, 1, None), ("s", "N", "m", "m/s")),
        ("a,b,c,d", (0, 1, 2, 3), ("s", "N", "m", "m/s")),
    ],
)
def test_names_tell_what_columns_are(names: str, columns: tuple[int | None, ...], units: tuple[str, ...]) -> None:
    row = ",".join("1" * len(names.split(",")))
    guess = project.glance(table.read(f"{names}\n{row}\n{row}"))["guess"]
    assert tuple(guess["columns"].values()) == columns
    assert tuple(guess["units"].values()) == units


# The fit ---------------------------------------------------------------------------------------------------------

TRUTH = {"b": 0.4, "c": 0.7, "m": 1.2, "x0": 0.1, "v0": 0.5}


def truth_of(law: str, *, at_rest: bool = False) -> dict[str, float]:
    drags = {symbol: TRUTH[symbol] if symbol in LAWS[law] else 0.0 for symbol in ("b", "c")}
    return TRUTH | drags | ({"v0": 0.0} if at_rest else {})


def simulated(law: str, noise: float, seed: int, *, at_rest: bool = False, rows: int = 300, dt: float = 0.02) -> Motion:
    """By another way than the fit's: the package's plain rollout, one step at a time."""
    truth = truth_of(law, at_rest=at_rest)
    t = dt * np.arange(rows - 1)
    force = 6.0 * np.sin(2.4 * t + 0.35 * t * t)

    def rates(state: Any, u: Any, b: Any, c: Any, m: Any) -> Any:
        return state[1], (u - b * state[1] - c * state[1] * np.abs(state[1])) / m

    plant = Plant((StateVariable("x", "position", "m"), StateVariable("v", "velocity", "m/s")), (), rates)
    drive = Drive(dt, (truth["x0"], truth["v0"]), Channel("u", "force", "N", force))
    parameters = {symbol: truth[symbol] for symbol in ("b", "c", "m")}
    position = np.append(truth["x0"], rollout(plant, rk4, parameters, drive, "x"))
    return Motion(dt, force, position + noise * np.random.default_rng(seed).standard_normal(rows))


def models() -> list[Model]:
    return [Model(law, mass, rest) for law in LAWS for mass in (None, TRUTH["m"]) for rest in (False, True)]


@pytest.mark.parametrize("model", models(), ids=str)
def test_without_noise_the_truth_is_found(model: Model) -> None:
    found = pulled(drag.fit(model, simulated(model.law, 0.0, 0, at_rest=model.at_rest)))
    truth = truth_of(model.law, at_rest=model.at_rest)
    assert found.ending is Ending.CONVERGED
    assert found.values == pytest.approx({symbol: truth[symbol] for symbol in found.values}, rel=1e-6, abs=1e-7)


@pytest.mark.parametrize("model", models(), ids=str)
def test_with_noise_the_truth_is_near_its_interval(model: Model) -> None:
    found = pulled(drag.fit(model, simulated(model.law, 1e-3, 5, at_rest=model.at_rest)))
    assert found.uncertainty is not None
    truth = truth_of(model.law, at_rest=model.at_rest)
    off = (found.uncertainty.values - [truth[symbol] for symbol in model.sought]) / found.uncertainty.standard_errors
    assert np.max(np.abs(off)) < 4
    assert found.uncertainty.whiteness.passed


@pytest.mark.parametrize("law", LAWS)
def test_intervals_cover_the_truth_about_as_often_as_they_say(law: str) -> None:
    """95 % of 40 records are 38 of them; fewer than 33, or none missed in 5 · 40, would be chance once in hundreds."""
    model, inside = Model(law, None, False), []
    truth = [truth_of(law)[symbol] for symbol in model.sought]
    for seed in range(40):
        found = pulled(drag.fit(model, simulated(law, 2e-3, seed, rows=150)))
        assert found.uncertainty is not None
        low, high = found.uncertainty.intervals.T
        inside.append((low <= truth) & (truth <= high))
    assert np.all(np.sum(inside, axis=0) >= 33)
    assert not np.all(inside)


def test_a_small_falling_body_is_found_too() -> None:
    """A coffee filter: a gram, a constant force, half a metre a second after a moment."""
    t, m, c = np.arange(90) / 60, 1.0e-3, 7.0e-3
    terminal = np.sqrt(m * 9.81 / c)
    fallen = terminal**2 / 9.81 * np.log(np.cosh(9.81 * t / terminal))  # the closed form of a fall from rest
    noise = 5e-4 * np.random.default_rng(3).standard_normal(90)
    found = pulled(drag.fit(Model("quadratic", m, True), Motion(1 / 60, np.full(89, m * 9.81), fallen + noise)))
    assert found.uncertainty is not None
    assert abs(found.values["c"] - c) < 4 * found.uncertainty.standard_errors[0] < 0.05 * c


def test_the_jacobian_is_that_of_the_rollout() -> None:
    model, motion, values = Model("mixed", None, False), simulated("mixed", 0.0, 0, rows=80), dict(TRUTH)
    jacobian = pulled(drag.look(model, motion, values)).jacobian
    for i, symbol in enumerate(model.sought):
        ends = [pulled(drag.look(model, motion, values | {symbol: values[symbol] + h})).position for h in (-1e-6, 1e-6)]
        np.testing.assert_allclose(jacobian[:, i], (ends[1] - ends[0]) / 2e-6, atol=1e-7)


def test_slices_make_no_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    model, motion = Model("mixed", None, False), simulated("mixed", 0.0, 0)
    whole = pulled(drag.look(model, motion, TRUTH))
    monkeypatch.setattr(drag, "SLICE", 7)
    assert len(list(drag.look(model, motion, TRUTH))) == -(-299 // 7)
    sliced = pulled(drag.look(model, motion, TRUTH))
    np.testing.assert_array_equal(sliced.jacobian, whole.jacobian)
    np.testing.assert_array_equal(sliced.velocity, whole.velocity)
    assert whole.velocity[0] == TRUTH["v0"]


def test_a_thinned_motion_keeps_its_samples_and_its_mean_force() -> None:
    thinned = Motion(0.5, np.arange(7.0), np.arange(8.0) ** 2).thinned(3)
    assert thinned.dt == 1.5
    np.testing.assert_array_equal(thinned.position, [0.0, 9.0, 36.0])
    np.testing.assert_array_equal(thinned.force, [1.0, 4.0])


def test_a_long_record_is_first_fitted_thinned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drag, "COARSE", 100)
    glances = list(drag.fit(Model("linear", None, False), simulated("linear", 1e-3, 1, rows=601)))
    assert {at.steps for at in glances} == {100, 600}
    found = pulled(drag.fit(Model("linear", None, False), simulated("linear", 1e-3, 1, rows=601)))
    assert found.ending is Ending.CONVERGED
    assert found.iterations < 6


def test_a_claimed_rest_that_the_record_contradicts_is_named() -> None:
    motion = simulated("linear", 1e-3, 2)
    sentence = drag.moving_start(pulled(drag.fit(Model("linear", TRUTH["m"], True), motion)), motion)
    assert sentence is not None
    assert sentence.startswith("The record contradicts a start from rest")
    resting = simulated("linear", 1e-3, 2, at_rest=True)
    assert drag.moving_start(pulled(drag.fit(Model("linear", TRUTH["m"], True), resting)), resting) is None


@pytest.mark.parametrize("size", [1e-150, 1e-9, 1e9])
def test_numbers_of_any_size_end_in_a_named_way(size: float) -> None:
    motion = simulated("mixed", 0.0, 0, rows=40)
    found = pulled(drag.fit(Model("mixed", None, False), Motion(motion.dt, motion.force, motion.position * size)))
    assert found.ending in set(Ending)


def test_a_search_that_leaves_the_range_of_numbers_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drag, "guess", lambda model, motion: TRUTH | {"c": 1e308, "x0": np.inf})
    motion = simulated("quadratic", 1e-3, 1)
    result = solved(motion, Model("quadratic", TRUTH["m"], False), compare=True)
    assert result["state"] in {"failed", "not-yet"}
    monkeypatch.setattr(drag, "_program", lambda model, dt: lambda *given: 1 / 0)
    result = solved(motion, Model("quadratic", TRUTH["m"], False), compare=True)
    assert result["state"] == "failed"
    assert "left the range of numbers" in result["sentence"]
    assert result["values"] == []
    assert result["comparison"].startswith("None of the drag laws could be fitted")


# The result ------------------------------------------------------------------------------------------------------


def solved(motion: Motion, model: Model, *, compare: bool = False, velocity: Any = None) -> dict[str, Any]:
    rows = len(motion.position)
    recording = project.Recording(motion, 2.0, velocity, rows - round(project.HELD_OUT * rows))
    return pulled(project.solve(recording, model, compare=compare))


def test_the_right_law_predicts_what_it_was_not_shown() -> None:
    result = solved(simulated("mixed", 1e-3, 8, rows=400), Model("mixed", TRUTH["m"], False))
    assert result["state"] == "fitted"
    assert [check["passed"] for check in result["checks"]] == [True, True]
    assert result["numbers"]["rms_held_out"] < 2e-3
    assert result["numbers"]["rows_fitted"] == 280


def test_the_wrong_law_does_not() -> None:
    result = solved(simulated("mixed", 1e-3, 8, rows=400), Model("linear", TRUTH["m"], False))
    assert result["state"] == "not-yet"
    assert result["sentence"].startswith("Do not trust this fit yet")
    assert result["numbers"]["rms_held_out"] > 5e-3


def test_the_held_out_part_is_predicted_from_the_models_own_state_at_the_cut() -> None:
    """Other measurements there change how good the prediction is and not what it says."""
    motion, model = simulated("quadratic", 1e-3, 4), Model("quadratic", None, False)
    one = solved(motion, model)
    moved = motion.position + np.where(np.arange(300) >= 210, 0.3, 0.0)
    other = solved(Motion(motion.dt, motion.force, moved), model)
    np.testing.assert_array_equal(one["columns"]["held_out_measured"], motion.position[210:])
    np.testing.assert_array_equal(one["columns"]["held_out_predicted"], other["columns"]["held_out_predicted"])
    assert [row["value"] for row in one["values"]] == [row["value"] for row in other["values"]]
    assert not other["checks"][1]["passed"]


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("asked", LAWS)
def test_the_comparison_prefers_the_law_of_the_data_whichever_was_asked_for(law: str, asked: str) -> None:
    result = solved(simulated(law, 1e-3, 11), Model(asked, TRUTH["m"], False), compare=True)
    best = min(result["laws"], key=lambda entry: entry["bic"])
    assert best["law"] == law
    assert best["white"]
    assert f"the {law} law is" in result["comparison"]
    assert result["law"] == asked


def test_a_velocity_column_is_compared_and_changes_nothing() -> None:
    motion, model = simulated("linear", 1e-3, 6), Model("linear", None, False)
    without, given = solved(motion, model), solved(motion, model, velocity=np.gradient(motion.position, motion.dt))
    assert given["values"] == without["values"]
    assert "rms_velocity_held_out" in given["numbers"]
    assert [panel["key"] for panel in given["panels"]].count("velocity") == 1


def test_pictures_of_a_long_record_stay_small() -> None:
    result = solved(simulated("linear", 1e-3, 6, rows=3001), Model("linear", TRUTH["m"], True))
    assert max(map(len, result["columns"].values())) <= project.DRAWN
    assert "one row in 6 is drawn" in result["panels"][0]["title"]
    for line in (line for panel in result["panels"] for line in panel["lines"] if line["x"]):
        assert len(result["columns"][line["x"]]) == len(result["columns"][line["y"]])


# The sample and the seam -----------------------------------------------------------------------------------------


def ask(session: Session, **request: Any) -> Any:
    def not_json(constant: str) -> Any:
        raise AssertionError(f"{constant} is not JSON")

    with pytest.raises(StopIteration) as end:
        session.answer(json.dumps(request)).send(None)  # a coroutine that has nothing to wait for
    return json.loads(str(end.value.value), parse_constant=not_json)


def fitted(session: Session, **settings: Any) -> Any:
    loaded = ask(session, kind="load", text=project.sample())
    reply = ask(session, kind="fit", settings=SETTINGS | {"mass": "0.5"} | loaded["guess"] | settings)
    while reply["kind"] == "fitting":
        reply = ask(session, kind="pursue", slices=3)
    return reply


def test_the_sample_lacks_something_and_the_comparison_says_what() -> None:
    result = fitted(Session(), compare="yes")["result"]
    assert result["state"] == "not-yet"
    assert "the mixed law is strongly preferred" in result["comparison"]
    mixed = fitted(Session(), law="mixed")["result"]
    assert mixed["state"] == "fitted"
    truth = {symbol: project.SAMPLE[symbol] for symbol in ("b", "c", "x0", "v0")}
    for row in mixed["values"]:
        assert abs(row["value"] - truth[row["symbol"]]) < 4 * row["standard_error"]


def test_a_result_has_the_settings_and_the_version() -> None:
    result = fitted(Session())["result"]
    assert result["settings"]["mass"] == "0.5"
    assert result["columns_used"]["position"] == "column C (“position (cm)”)"
    assert result["version"] == project.VERSION != ""


def test_a_bad_file_leaves_the_one_before() -> None:
    session = Session()
    guess = ask(session, kind="load", text=project.sample())["guess"]
    assert ask(session, kind="load", text="no table")["sentence"] == "There are no rows of numbers in it."
    assert ask(session, kind="fit", settings=SETTINGS | guess)["kind"] == "fitting"


def test_settings_that_do_not_do_are_answered_by_field_and_leave_the_fit_under_way() -> None:
    session = Session()
    guess = ask(session, kind="load", text=project.sample())["guess"]
    ask(session, kind="fit", settings=SETTINGS | guess)
    unfit = ask(session, kind="fit", settings=SETTINGS | guess | {"mass": ""})
    assert unfit == {"kind": "unfit", "faults": {"mass": "The mass must be a number; the field is empty."}}
    assert ask(session, kind="pursue", slices=1)["kind"] == "fitting"


@pytest.mark.parametrize(
    ("request_", "sentence"),
    [
        ({"kind": "load"}, "The request lacks 'text'"),
        ({"kind": "fit", "settings": SETTINGS}, "No file is loaded."),
        ({"kind": "pursue", "slices": 1}, "No fit is under way"),
        ({"kind": "pursue"}, "The request lacks 'slices'"),
    ],
)
def test_requests_out_of_turn_are_refused(request_: dict[str, Any], sentence: str) -> None:
    reply = ask(Session(), **request_)
    assert reply["kind"] == "refused"
    assert reply["sentence"].startswith(sentence)
