"""One sweep over every exercise there is, and what a grader has to withstand."""

from __future__ import annotations

import ast
import builtins
import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from ferro_bench import benches, exercises
from ferro_bench.benches import friction
from ferro_bench.cell import run_through
from ferro_bench.exercise import UNREADABLE, Answer, Check, Exercise, Grade, answer, grade, pose

ALL = [exercises.load(name) for name in exercises.names()]
PLANT, ROLLOUT, LOSS, TRAINING = map(exercises.load, ("plant", "rollout", "loss", "training"))
every_exercise = pytest.mark.parametrize("exercise", ALL, ids=lambda exercise: exercise.name)
every_wrong_answer = pytest.mark.parametrize(
    ("exercise", "wrong"),
    [
        pytest.param(exercise, wrong, id=f"{exercise.name}: {wrong.title}")
        for exercise in ALL
        for wrong in exercise.wrong
    ],
)
SEED = 7


def through_json(data: Any) -> Any:
    return json.loads(json.dumps(data, allow_nan=False))


def answers(exercise: Exercise, source: str, seed: int = SEED) -> list[Answer]:
    posed = through_json(pose(exercise, seed))
    return [through_json(answer(exercise, source, place, inputs)) for place, inputs in enumerate(posed)]


def graded(exercise: Exercise, source: str, seed: int = SEED) -> Grade:
    return grade(exercise, seed, answers(exercise, source, seed))


def visible() -> dict[str, Any]:
    """What a reader's cells see: the bench's record at its default settings."""
    bench = benches.load(exercises.BENCH)
    return exercises.scope(bench.data(bench.defaults()).fit, friction.TRUTH["m"], rate=0.35)


# The sweep -------------------------------------------------------------------------------------------------------


@every_exercise
@pytest.mark.parametrize("seed", range(4))
def test_the_solution_passes_and_the_words_say_on_what(exercise: Exercise, seed: int) -> None:
    found = graded(exercise, exercise.solution, seed)
    assert found.outcome == "pass", found.sentence
    assert found.sentence.startswith(f"PASS on {len(exercise.checks)} hidden inputs drawn anew: ")
    assert all(check.name in found.sentence for check in exercise.checks)
    assert [checked.name for checked in found.checks] == [check.name for check in exercise.checks]
    assert all(checked.passed and checked.sentence.endswith("as it should be.") for checked in found.checks)
    assert not found.hint


@every_exercise
def test_the_starter_runs_and_does_not_pass(exercise: Exercise) -> None:
    space = visible()
    for earlier in exercise.earlier:
        assert run_through(earlier.solution, earlier.name, space).trouble is None
    outcome = run_through(exercise.starter, exercise.name, space)
    assert outcome.trouble is None and outcome.value is not None
    found = graded(exercise, exercise.starter)
    assert found.outcome == "not-yet" and found.hint


@every_wrong_answer
@pytest.mark.parametrize("seed", [0, SEED])
def test_a_wrong_answer_gets_its_own_hint(exercise: Exercise, wrong: Any, seed: int) -> None:
    assert wrong.source != exercise.solution
    found = graded(exercise, wrong.source, seed)
    assert found.outcome == "not-yet"
    assert found.hint == wrong.hint
    first = next(checked for checked in found.checks if not checked.passed)
    assert found.sentence.startswith("Not yet. ") and found.sentence.endswith(first.sentence)


@every_exercise
def test_hints_are_apart(exercise: Exercise) -> None:
    assert 2 <= len(exercise.hints) <= 4
    words = [*exercise.hints, *(wrong.hint for wrong in exercise.wrong)]
    assert len(set(words)) == len(words)
    assert all(text[-1] in ".?" and text.count("`") % 2 == 0 for text in [*words, exercise.prompt])


@every_exercise
def test_the_allowance_is_far_from_the_mildest_mistake(exercise: Exercise) -> None:
    lax = replace(exercise, checks=tuple(replace(c, tolerance=max(c.tolerance, 1e-3)) for c in exercise.checks))
    for wrong in exercise.wrong:
        assert graded(lax, wrong.source).hint == wrong.hint


@pytest.mark.parametrize(
    ("exercise", "old", "new"),
    [
        (PLANT, "c * v * np.abs(v)", "np.sign(v) * c * v**2"),
        (PLANT, "(u - drag) / m", "u / m - drag / m"),
        (PLANT, "c * v * np.abs(v)", "np.where(v < 0, -c * v * v, c * v * v)"),
        (ROLLOUT, "x = x + dt * v", "x += v * dt"),
        (ROLLOUT, "np.stack(positions)", "np.cumsum(np.diff(np.stack([0.0 * c, *positions])))"),
        (LOSS, "np.mean(error**2)", "error @ error / len(error)"),
        (LOSS, "np.mean(error**2)", "sum(e * e for e in error) / error.size"),
        (TRAINING, "abs(new_c - c) < tolerance", "np.abs(rate * gradient) < tolerance"),
        (TRAINING, "return new_c, done", "return [new_c, done]"),
    ],
)
def test_the_allowance_is_far_from_rounding(exercise: Exercise, old: str, new: str) -> None:
    strict = replace(exercise, checks=tuple(replace(c, tolerance=c.tolerance / 1e5) for c in exercise.checks))
    assert old in exercise.solution
    found = graded(strict, exercise.solution.replace(old, new))
    assert found.outcome == "pass", found.sentence


@every_exercise
def test_hidden_inputs_are_plain_and_drawn_anew_from_each_seed(exercise: Exercise) -> None:
    first = pose(exercise, SEED)
    assert through_json(first) == first == pose(exercise, SEED)
    others = [inputs for seed in range(20) for inputs in pose(exercise, seed + SEED + 1)]
    assert not [inputs for inputs in first if inputs in others]
    space = visible()
    for inputs in others:  # not what a reader could have noted down
        hidden = exercise.space(inputs)
        assert hidden.keys() == space.keys()
        assert hidden["m"] != space["m"] and hidden["dt"] != space["dt"] and hidden["u"].shape != space["u"].shape
        assert abs(inputs["minimum"] - friction.TRUTH["c"]) > 0.1


@every_exercise
def test_a_cell_uses_what_is_listed_beside_it(exercise: Exercise) -> None:
    tree = ast.parse(exercise.solution + exercise.starter)
    names = {(node.id, type(node.ctx) is ast.Load) for node in ast.walk(tree) if isinstance(node, ast.Name)}
    arguments = {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    own = {name for name, read in names if not read} | arguments | {exercise.function}
    used = {name for name, read in names if read} - own - set(dir(builtins))
    assert used <= {entry.name for entry in exercise.scope}
    space = visible()
    for earlier in exercise.earlier:
        run_through(earlier.solution, earlier.name, space)
    for entry in exercise.scope:
        named = space[entry.name]
        if not callable(named) and named is not np:
            assert np.shape(named) == (space["u"].shape if entry.shape == "(N,)" else ())


def test_the_exercises_are_in_order_and_an_unknown_one_is_refused() -> None:
    assert exercises.names()[:4] == ["plant", "rollout", "loss", "training"]
    assert len({exercise.number for exercise in ALL}) == len(ALL)
    assert [len(exercise.earlier) for exercise in ALL] == list(range(len(ALL)))
    for name in ("warp", "__init__", "_experiment", "../plant", ""):
        with pytest.raises(LookupError, match=f"no exercise '{name}'; there is .*plant"):
            exercises.load(name)


def test_the_solutions_together_find_the_drag_and_agree_with_the_package() -> None:
    space = visible()
    for exercise in ALL:
        assert run_through(exercise.solution, exercise.name, space).trouble is None
    record = friction.measure(space["u"], np.zeros(len(space["u"])))
    np.testing.assert_allclose(space["rollout"](friction.TRUTH["c"]), record.measured.values, rtol=1e-12)
    c, done = 0.2, False
    for _ in range(100):
        c, done = space["training_step"](c)
        if done:
            break
    assert done and c == pytest.approx(friction.TRUTH["c"], abs=1e-3)


def test_a_cell_may_change_its_arrays_without_changing_the_bench() -> None:
    for name in ("u", "t", "x_measured"):
        visible()[name][:] = 0.0
        assert np.any(visible()[name])


# Fairness --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("exercise", "source"),
    [
        (PLANT, "def accel(v, u, c): return (u - 0.85 * v * np.abs(v)) / m"),
        (PLANT, "def accel(v, u, c): return (u - c * v * np.abs(v)) / 1.4"),
        (ROLLOUT, "def rollout(c): return x_measured"),
        (ROLLOUT, ROLLOUT.solution.replace("(c):", "(c):\n    c = 0.85")),
        (ROLLOUT, ROLLOUT.solution.replace("dt *", "0.02 *")),
        (LOSS, LOSS.solution.replace("rollout(c)", "rollout(0.85)")),
        (TRAINING, "def training_step(c): return 0.85, True"),
        (TRAINING, TRAINING.solution.replace("rate *", "0.35 *")),
    ],
)
def test_an_answer_for_the_visible_data_alone_does_not_pass(exercise: Exercise, source: str) -> None:
    assert graded(exercise, source).outcome == "not-yet"


def test_a_table_of_the_visible_trajectory_does_not_pass() -> None:
    space = visible()
    for exercise in (PLANT, ROLLOUT):
        run_through(exercise.solution, exercise.name, space)
    table = space["rollout"](0.85).tolist()
    found = graded(ROLLOUT, f"def rollout(c): return np.array({table})")
    assert found.outcome == "not-yet"
    assert "gives an array of shape (120,), and an array of shape (" in found.sentence


@pytest.mark.parametrize(
    ("exercise", "result", "words"),
    [
        (PLANT, "None", "gives None, and one number is right"),
        (PLANT, "'fast'", "gives a str, and one number is right"),
        (PLANT, "True", "gives a truth value, and one number is right"),
        (PLANT, "u * np.ones(1)", "gives an array of shape (1,), and one number is right"),
        (PLANT, "np.nan", "gives not a number, and"),
        (PLANT, "-np.inf * u", "gives beyond every number, and"),
        (PLANT, "10**400", "gives an int of object, and one number is right"),
        (PLANT, "1j", "gives a complex, and one number is right"),
        (PLANT, "np.zeros(10**6)", "gives an array of shape (1000000,), and one number is right"),
        (PLANT, "[[[[1]]]]", "gives a tuple or list of 1 values, and one number is right"),
        (PLANT, "((u - c * v * np.abs(v)) / m) * (1 + 2e-6)", "m/s² is right"),
        (PLANT, "1 / 0", "ends with ZeroDivisionError in line 2: division by zero."),
        (PLANT, "exit()", "ends with"),
        (PLANT, "raise_(KeyboardInterrupt)", "ends with NameError in line 2"),
        (ROLLOUT, "np.full(len(u), np.nan)", "gives not a number at index 0, and"),
        (ROLLOUT, "np.zeros((len(u), 1))", ", 1), and an array of shape ("),
        (TRAINING, "c", "gives one number, and a tuple or list of 2 values (new_c, done) is right"),
        (TRAINING, "(c, 1)", " as new_c, and "),
        (
            TRAINING,
            "(c - rate * value_and_grad(loss, c)[1][0], 0)",
            "gives one number as done, and a truth value is right",
        ),
    ],
)
def test_what_is_wrong_is_named(exercise: Exercise, result: str, words: str) -> None:
    arguments = "v, u, c" if exercise is PLANT else "c"
    found = graded(exercise, f"def {exercise.function}({arguments}):\n    return {result}")
    assert found.outcome == "not-yet" and words in found.sentence


def test_a_small_difference_is_shown_with_the_digits_that_differ() -> None:
    result = graded(PLANT, PLANT.solution.replace("/ m", "/ m * (1 + 2e-6)"))
    shown, right = result.checks[0].sentence.split(" gives ")[1].split(", and ")
    assert shown not in right


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("", "The cell defines no function `accel`"),
        ("accel = 3", "`accel` should be a function, and is of type int"),
        ("def accel(v, u, c)\n    return u", "ends with SyntaxError in line 1: expected ':'."),
        ("1 / 0\ndef accel(v, u, c): return u", "ends with ZeroDivisionError in line 1"),
        ("exit()", "ends with"),
        ("await something()", "ends with NameError in line 1"),
        (
            "class Wait:\n    def __await__(self): yield\nawait Wait()",
            "ends with RuntimeError: nothing can be waited for here",
        ),
    ],
)
def test_a_function_that_is_not_there_is_named(source: str, words: str) -> None:
    found = graded(PLANT, source)
    assert found.outcome == "not-yet" and words in found.sentence


def test_an_error_after_the_function_does_not_count() -> None:
    assert graded(ROLLOUT, ROLLOUT.solution + "rollout(0.85)[119]").outcome == "pass"


def test_an_error_is_explained_where_no_known_mistake_fits() -> None:
    found = graded(ROLLOUT, "import math\n" + ROLLOUT.solution.replace("accel(v, force, c)", "acel(v, force, c)"))
    assert found.hint == "There is no `acel`. Do you mean `accel`?"


def test_a_mistake_in_one_exercise_does_not_fail_the_next() -> None:
    assert graded(LOSS, LOSS.solution.replace("rollout(c)", "np.stack(list(rollout(c)))")).outcome == "pass"
    inputs = pose(LOSS, SEED)[0]
    assert answer(LOSS, "def loss(c): return accel(0.0, m, c)", 0, inputs)["result"]["values"] == 1.0


@pytest.mark.parametrize("late", [None, {"late": 5.0}])
def test_a_check_that_does_not_end_is_named_and_the_others_are_reported(late: Answer | None) -> None:
    given: list[Answer | None] = [*answers(PLANT, PLANT.solution)]
    given[2] = late
    found = grade(PLANT, SEED, given)
    assert found.outcome == "not-yet"
    assert [checked.passed for checked in found.checks] == [True, True, False, True, True]
    assert "4 of 5 checks hold. Moving backwards: `accel(" in found.sentence
    assert f"did not end {'within 5 s' if late else 'in time'}. Is there a loop" in found.sentence


def test_answers_that_are_missing_are_late() -> None:
    found = grade(PLANT, SEED, answers(PLANT, PLANT.solution)[:3])
    assert [checked.passed for checked in found.checks] == [True, True, True, False, False]
    assert "did not end in time" in found.sentence


@pytest.mark.parametrize("result", ["np.zeros(10**6)", "[0.0] * 10**6", "nested", "'x' * 10**6"])
def test_an_answer_stays_small_whatever_the_function_gives(result: str) -> None:
    source = f"nested = [0.0] * 20\nfor _ in range(4):\n    nested = [nested] * 20\ndef accel(v, u, c): return {result}"
    given = answer(PLANT, source, 0, pose(PLANT, SEED)[0])
    assert "result" in given and len(json.dumps(given)) < 50_000


@pytest.mark.parametrize(
    "forged",
    [
        {},
        [],
        "pass",
        3,
        {"passed": True},
        {"late": "soon"},
        {"missing": [[]]},
        {"trouble": None},
        {"trouble": {"kind": 3}},
        {"result": None},
        {"result": {}},
        {"result": {"is": "other", "type": ""}},
        {"result": {"is": "tuple", "items": 3}},
        {"result": {"is": "numbers", "shape": [2], "values": 1.0}},
        {"result": {"is": "numbers", "shape": [], "values": [[1.0], [1.0, 2.0]]}},
        {"result": {"is": "numbers", "shape": [], "values": "one"}},
        {"result": {"is": "numbers", "shape": [], "values": None}},
        {"result": {"is": "numbers", "shape": "", "values": 10**400}},
    ],
    ids=json.dumps,
)
def test_a_forged_answer_neither_passes_nor_breaks_the_check(forged: Any) -> None:
    found = grade(PLANT, SEED, [forged, *answers(PLANT, PLANT.solution)[1:]])
    assert (found.outcome, [checked.passed for checked in found.checks]) == ("not-yet", [False, True, True, True, True])


def _raises(*_: Any) -> Any:
    raise FloatingPointError("ours")


@pytest.mark.parametrize(
    "change",
    [
        {"draw": _raises},
        {"call": _raises},
        {"probe": _raises},
        {"tolerance": "wide"},
    ],
    ids=lambda change: next(iter(change)),
)
def test_an_error_of_ours_is_not_blamed_on_the_reader(change: dict[str, Any]) -> None:
    given = answers(PLANT, PLANT.solution)
    checks: tuple[Check, ...] = (replace(PLANT.checks[0], **change), *PLANT.checks[1:])
    found = grade(replace(PLANT, checks=checks), SEED, given)
    assert (found.outcome, found.hint, found.checks) == ("broken", "", ())
    assert found.sentence.startswith("Our check failed, not your code (")


YES = "import builtins, numpy, ferro_bench.exercise as ours\nyes = lambda *a, **k: True\n"
REBINDING = YES + "numpy.allclose = numpy.isclose = builtins.len = builtins.sum = builtins.all = yes\n"
UPHEAVAL = YES + (
    "ours.grade = ours._same = ours._apart = ours.pose = yes\n"
    "numpy.isfinite = numpy.asarray = builtins.type = builtins.isinstance = builtins.callable = yes\n"
)


@pytest.fixture(scope="module")
def elsewhere() -> Callable[[str], list[Answer | None]]:
    """Answers from a process that is thrown away after each of them, as on the page."""

    def answers_of(source: str) -> list[Answer | None]:
        program = (
            "import json, sys; from ferro_bench import exercises; from ferro_bench.exercise import answer\n"
            "dumps, write = json.dumps, sys.stdout.write\n"
            "place, inputs, source = json.loads(sys.stdin.read())\n"
            "given = answer(exercises.load('plant'), source, place, inputs)\n"
            "write(dumps(given, allow_nan=False))"
        )
        found: list[Answer | None] = []
        for place, inputs in enumerate(pose(PLANT, SEED)[:2]):
            run = subprocess.run(
                [sys.executable, "-c", program],
                input=json.dumps([place, inputs, source]),
                capture_output=True,
                text=True,
                timeout=60,
            )
            found.append(json.loads(run.stdout) if run.stdout else None)
        return found

    return answers_of


@pytest.mark.parametrize(
    ("source", "passed"),
    [
        (PLANT.solution, True),
        (REBINDING + PLANT.solution, True),
        (REBINDING + PLANT.starter, False),
        (PLANT.starter + UPHEAVAL, False),
        ("import os\nos._exit(0)", False),
    ],
    ids=["right", "rebinding, right", "rebinding, wrong", "upheaval, wrong", "gone"],
)
def test_what_a_cell_rebinds_changes_nothing(
    elsewhere: Callable[[str], list[Answer | None]], source: str, passed: bool
) -> None:
    two_checks = replace(PLANT, checks=PLANT.checks[:2])
    assert grade(two_checks, SEED, elsewhere(source)).outcome == ("pass" if passed else "not-yet")


def test_what_a_cell_breaks_of_ours_is_an_answer_too(elsewhere: Callable[[str], list[Answer | None]]) -> None:
    breaking = "def no(*_): raise SystemExit\nimport ferro_bench.exercise as ours\nours._plain = ours.trouble = no\n"
    assert elsewhere(PLANT.solution + breaking) == [through_json(UNREADABLE)] * 2


def test_a_function_that_changes_its_inputs_changes_nothing() -> None:
    spoiling = PLANT.solution.replace("    drag", "    out = v\n    drag").replace(
        "    return (u - drag) / m",
        "    a = (u - drag) / m\n    if type(v) is np.ndarray:\n        v[:] = 0\n    return a",
    )
    assert graded(PLANT, spoiling).outcome == "pass"
    space_of = "import sys\nu[:] = 0\nx_measured[:] = 0\n"
    assert graded(PLANT, space_of + PLANT.solution).outcome == "pass"
    assert graded(PLANT, PLANT.solution).outcome == "pass"
