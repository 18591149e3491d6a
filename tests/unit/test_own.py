"""A bench trained with code as a reader may write it: right, wrong, untraceable, and of no use at all."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from ferro_bench import Ending, Session, benches, exercises, own

BENCH = benches.load("friction")
SETTINGS = BENCH.defaults()
SOLUTIONS = {name: exercises.load(name).solution for name in exercises.names()}
Pull = Callable[..., Any]


def cells(**changes: str) -> dict[str, str]:
    assert changes.keys() <= SOLUTIONS.keys()
    return SOLUTIONS | changes


def problem(**changes: str) -> own.OwnProblem:
    return own.problem(BENCH, SETTINGS, cells(**changes))


def trained(pull: Pull, **changes: str) -> Any:
    return pull(own.train(problem(**changes), BENCH.budget))


def passes(result: Any) -> bool:
    return BENCH.judge(result.step.parameters, SETTINGS).passed


# What trains


def test_the_solutions_train_to_a_pass_by_a_compiled_program_of_the_readers_plant(pull: Pull) -> None:
    posed = problem()
    assert posed.compiled is not None and "compiled" in posed.engine
    steps, result = trained(pull)
    assert result.ending is Ending.CONVERGED and passes(result)
    assert steps[0].parameters == {"c": 0.2}
    built_in = BENCH.problem(SETTINGS)
    np.testing.assert_allclose(steps[0].predicted, built_in.predict({"c": 0.2}), rtol=1e-12)
    assert steps[1].parameters["c"] == pytest.approx(0.2 - 0.35 * steps[0].gradient["c"], rel=1e-12)


BRANCHING = """\
def accel(v, u, c):
    drag = c * v * v if v > 0 else -c * v * v
    return (u - drag) / m
"""


def test_an_accel_that_cannot_be_traced_is_trained_by_the_tape_and_the_reason_is_said(pull: Pull) -> None:
    posed = problem(plant=BRANCHING)
    assert posed.compiled is None
    assert posed.engine.startswith("The tape records your loss as it runs, because your accel could not be traced")
    steps, result = trained(pull, plant=BRANCHING)
    assert passes(result)
    assert result.step.parameters["c"] == pytest.approx(trained(pull)[1].step.parameters["c"], rel=1e-6)
    assert steps[0].gradient["c"] == pytest.approx(trained(pull)[0][0].gradient["c"], rel=1e-9)


def test_a_rollout_of_another_kind_is_not_replaced_by_the_compiled_one(pull: Pull) -> None:
    (wrong,) = (w for w in exercises.load("rollout").wrong if w.title == "a step behind")
    posed = problem(rollout=wrong.source)
    assert posed.compiled is None and "your rollout does not give" in posed.engine
    steps, _ = trained(pull, rollout=wrong.source)
    assert not np.allclose(steps[0].predicted, BENCH.problem(SETTINGS).predict({"c": 0.2}))


def test_a_loss_of_another_kind_is_not_replaced_by_the_compiled_one() -> None:
    absolute = "def loss(c):\n    return np.mean(np.abs(rollout(c) - x_measured))\n"
    posed = problem(loss=absolute)
    assert posed.compiled is None and "your loss is not the mean squared distance" in posed.engine


def test_wrong_physics_trains_and_does_not_pass(pull: Pull) -> None:
    linear = "def accel(v, u, c):\n    return (u - c * v) / m\n"
    _, result = trained(pull, plant=linear)
    assert not passes(result)


def test_a_reader_who_is_done_at_once_has_not_passed(pull: Pull) -> None:
    steps, result = trained(pull, training="def training_step(c):\n    return c, True\n")
    assert result.ending is Ending.CONVERGED and len(steps) < 6
    assert not passes(result)


def test_going_uphill_diverges_and_raises_nothing(pull: Pull) -> None:
    _, result = trained(pull, training=SOLUTIONS["training"].replace("c - rate", "c + rate"))
    assert result.ending in {Ending.DIVERGED, Ending.BUDGET, Ending.CONVERGED} and not passes(result)


# What does not


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"plant": ""}, "The cell of exercise 1 does not define accel. Run it and see."),
        ({"plant": "def accel(v, u, c)\n    return u"}, "exercise 1 does not define accel (SyntaxError: expected ':')"),
        ({"rollout": "rollout = 3"}, "The cell of exercise 2 does not define rollout."),
        ({"training": "raise SystemExit"}, "exercise 4 does not define training_step (SystemExit"),
    ],
)
def test_a_cell_that_defines_nothing_is_named(changes: dict[str, str], sentence: str) -> None:
    with pytest.raises(own.OwnCodeError) as error:
        problem(**changes)
    assert sentence in str(error.value)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"rollout": "def rollout(c):\n    return [1.0, 2.0]"}, "should return an array of shape (120,)"),
        ({"rollout": "def rollout(c):\n    return None"}, "should return an array of shape (120,)"),
        ({"loss": "def loss(c):\n    return 1 / 0"}, "Your code raised ZeroDivisionError in the cell loss, line 2"),
        ({"loss": "def loss(c):\n    raise SystemExit"}, "Your code raised SystemExit in the cell loss, line 2"),
        ({"training": "def training_step(c):\n    return c"}, "training_step should return (new_c, done)"),
        ({"training": "def training_step(c):\n    return 'a', 'b', 'c'"}, "training_step should return (new_c, done)"),
        ({"training": "def training_step(c):\n    return '0.9', 'no'"}, "training_step should return (new_c, done)"),
    ],
)
def test_a_function_that_fails_while_training_is_named(pull: Pull, changes: dict[str, str], sentence: str) -> None:
    with pytest.raises(own.OwnCodeError) as error:
        trained(pull, **changes)
    assert sentence in str(error.value)


def test_numbers_that_are_none_diverge(pull: Pull) -> None:
    _, result = trained(pull, training="def training_step(c):\n    return float('nan'), False\n")
    assert result.ending is Ending.DIVERGED


def test_a_mass_that_is_fitted_is_more_than_the_cells_know() -> None:
    with pytest.raises(own.OwnCodeError, match="take the mass as known"):
        own.problem(BENCH, SETTINGS | {"fit_m": "fitted"}, cells())


def test_only_the_bench_of_the_exercises_takes_them() -> None:
    assert own.exercises_of(BENCH) == ["plant", "rollout", "loss", "training"]
    assert own.exercises_of(benches.load("actuator")) == []


# The rehearsal


def found_again(seed: int = 3, **changes: str) -> Any:
    return own.found_again(seed, own.rehearse(own.rehearsal(seed), cells(**changes)))


@pytest.mark.parametrize("seed", range(8))
def test_the_solutions_find_another_c_in_another_experiment(seed: int) -> None:
    check = found_again(seed)
    assert check.passed, check.sentence


@pytest.mark.parametrize(
    "changes",
    [
        {"training": "def training_step(c):\n    return 0.85, True\n"},
        {"training": "def training_step(c):\n    return c, True\n"},
        {"training": "def training_step(c):\n    return c, False\n"},
        {"training": "def training_step(c):\n    raise SystemExit\n"},
        {"training": ""},
        {"plant": "def accel(v, u, c):\n    return (u - c * v) / m\n"},
    ],
    ids=["the published number", "done at once", "never done", "exit", "nothing", "linear drag"],
)
def test_code_that_does_not_find_it_does_not_pass(changes: dict[str, str]) -> None:
    assert not found_again(**changes).passed


def test_the_rehearsal_does_not_tell_its_answer_and_differs_by_its_seed() -> None:
    assert "minimum" not in own.rehearsal(1)
    assert own.rehearsal(1) == own.rehearsal(1) != own.rehearsal(2)
    json.dumps(own.rehearsal(1), allow_nan=False)


def test_a_search_for_nothing_left_the_range_of_numbers(pull: Pull) -> None:
    _, result = trained(pull, rollout="def rollout(c):\n    return np.full(120, np.nan)\n")
    assert result.ending is Ending.DIVERGED


# Through the seam


def ask(session: Session, kind: str, **fields: Any) -> Any:
    with pytest.raises(StopIteration) as end:
        session.answer(json.dumps({"kind": kind, **fields})).send(None)
    return json.loads(end.value.value)


def test_a_run_with_own_code_and_its_verdict_from_elsewhere() -> None:
    session, clean = Session(), Session()
    opened = ask(session, "open", run="a", bench="friction", settings=SETTINGS, cells=cells())
    assert opened["kind"] == "opened" and opened["program"].startswith("def adjoint") and opened["engine"]
    advanced = ask(session, "advance", run="a", steps=1000)
    found = {key: advanced["result"][key] for key in ("parameters", "ending", "how")}
    judged = ask(clean, "judge", bench="friction", settings=SETTINGS, **found)
    assert judged["state"] == "passed" and judged["sentence"].startswith("PASS")
    assert found["how"] in judged["sentence"]
    assert len(judged["checks"]) == 5
    inputs = ask(clean, "rehearsal", seed=7)["inputs"]
    c = ask(session, "rehearse", inputs=inputs, cells=cells())["c"]
    judged = ask(clean, "judge", bench="friction", settings=SETTINGS, **found, rehearsal={"seed": 7, "c": c})
    assert judged["state"] == "passed" and len(judged["checks"]) == 6
    for forged in (None, "0.85", 0.85, []):
        rehearsed = {"seed": 7, "c": forged}
        judged = ask(clean, "judge", bench="friction", settings=SETTINGS, **found, rehearsal=rehearsed)
        assert judged["state"] == "not-yet"


def test_a_forged_claim_does_not_pass() -> None:
    forged = {"parameters": {"c": 0.3}, "ending": "converged", "how": "PASS: all checks hold."}
    judged = ask(Session(), "judge", bench="friction", settings=SETTINGS, **forged)
    assert judged["state"] == "not-yet" and judged["sentence"].startswith("Not yet")


@pytest.mark.parametrize("given", [{}, {"c": None}, {"c": 1e308}])
def test_parameters_out_of_range_are_judged_and_do_not_pass(given: dict[str, Any]) -> None:
    judged = ask(Session(), "judge", bench="friction", settings=SETTINGS, parameters=given, ending="diverged", how="")
    assert judged["state"] == "diverged"


def test_own_code_that_fails_is_refused_with_its_sentence() -> None:
    session = Session()
    reply = ask(session, "open", run="a", bench="friction", settings=SETTINGS, cells=cells(plant=""))
    assert reply["kind"] == "refused" and "does not define accel" in reply["sentence"]


def test_cells_share_their_names_and_the_next_cell_is_told_where_one_is_defined() -> None:
    session = Session()
    missing = ask(session, "run", cell="rollout", source=SOLUTIONS["rollout"])
    assert missing["trouble"]["kind"] == "NameError" and "exercise 1" in missing["trouble"]["explanation"]
    assert ask(session, "run", cell="plant", source=SOLUTIONS["plant"])["trouble"] is None
    ran = ask(session, "run", cell="rollout", source=SOLUTIONS["rollout"] + "\nrollout(0.85)\n")
    assert ran["value"]["shape"] == [120] and len(ran["value"]["points"]) == 120


def test_an_exercise_is_posed_answered_and_graded_in_three_places() -> None:
    clean, elsewhere = Session(), Session()
    described = ask(clean, "exercise", exercise="plant")
    assert described["function"] == "accel" and described["hints"] and described["scope"]
    inputs = ask(clean, "pose", exercise="plant", seed=5)["inputs"]
    for source, outcome in ((SOLUTIONS["plant"], "pass"), (described["starter"], "not-yet")):
        answers = [
            ask(elsewhere, "answer", exercise="plant", source=source, check=check, inputs=given)["answer"]
            for check, given in enumerate(inputs)
        ]
        graded = ask(clean, "grade", exercise="plant", seed=5, answers=answers)
        assert graded["outcome"] == outcome and len(graded["checks"]) == len(inputs)


@pytest.mark.parametrize(
    ("kind", "fields", "sentence"),
    [
        ("exercise", {"exercise": "law"}, "There is no exercise 'law'; there is plant"),
        ("pose", {"exercise": "plant", "seed": -1}, "'seed' in the request must be a whole number from 0, not -1"),
        ("pose", {"exercise": "plant", "seed": "1"}, "'seed' in the request must be of type int"),
        ("answer", {"exercise": "plant", "source": "", "check": 9, "inputs": {}}, "has 5 checks, and no 9"),
        ("grade", {"exercise": "plant", "seed": 1}, "The request lacks 'answers'"),
        ("run", {"cell": "plant"}, "The request lacks 'source'"),
        ("judge", {"bench": "friction", "settings": SETTINGS, "parameters": {"c": "0.85"}}, "must be numbers"),
    ],
)
def test_requests_that_make_no_sense_are_refused(kind: str, fields: dict[str, Any], sentence: str) -> None:
    reply = ask(Session(), kind, **fields)
    assert reply["kind"] == "refused" and sentence in reply["sentence"]
