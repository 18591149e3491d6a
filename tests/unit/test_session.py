"""The seam: JSON in, JSON out, whatever comes in and whatever training does."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from ferro_bench import Bench, GradientDescent, LevenbergMarquardt, Session, benches, figures, identify
from ferro_bench.quantity import quantity

DEFAULTS = benches.load("friction").defaults()


def not_json(constant: str) -> Any:
    raise AssertionError(f"{constant} is not JSON")


def read(text: str) -> Any:
    return json.loads(text, parse_constant=not_json)


def ask(session: Session, kind: str, **fields: Any) -> Any:
    return read(answer(session, json.dumps({"kind": kind, **fields})))


def answer(session: Session, text: str) -> str:
    """The answer, from a coroutine that has nothing to wait for."""
    with pytest.raises(StopIteration) as end:
        session.answer(text).send(None)
    return str(end.value.value)


def opened(session: Session, run: str = "a", **settings: Any) -> Any:
    return ask(session, "open", run=run, bench="friction", settings=DEFAULTS | settings)


def advanced(session: Session, steps: int, run: str = "a") -> Any:
    return ask(session, "advance", run=run, steps=steps)


@pytest.fixture
def session() -> Session:
    return Session()


@pytest.fixture
def overflowing(monkeypatch: pytest.MonkeyPatch) -> None:
    """The friction bench with a learning rate that its control would refuse."""
    bench = replace(benches.load("friction"), optimizer=lambda settings: GradientDescent(1e5))
    monkeypatch.setattr(benches, "load", lambda name: bench)


# Describe


@pytest.mark.parametrize("name", benches.names())
def test_a_description_has_all_that_a_page_shows_before_a_run(session: Session, name: str) -> None:
    bench = benches.load(name)
    reply = ask(session, "describe", bench=name)
    assert reply["kind"] == "description"
    assert (reply["bench"], reply["title"], reply["budget"]) == (name, bench.title, bench.budget)
    assert {c["key"]: c["default"] for c in reply["controls"]} == bench.defaults()
    assert {c["kind"] for c in reply["controls"]} <= {"number", "choice"}
    for line in (line for panel in reply["panels"] for line in panel["lines"]):
        if line["x"] is not None:
            assert len(reply["columns"][line["x"]]) == len(reply["columns"][line["y"]])
    assert reply["values"]["iteration"] == "0"


def test_a_description_and_a_run_with_the_defaults_begin_alike(session: Session) -> None:
    described, begun = ask(session, "describe", bench="friction"), opened(session)
    assert begun["kind"] == "opened"
    assert (begun["columns"], begun["values"]) == (described["columns"], described["values"])


# Figures


@pytest.mark.parametrize("name", figures.names())
def test_a_figure_crosses_whole(session: Session, name: str) -> None:
    drawing, reply = figures.load(name).draw(), ask(session, "figure", figure=name)
    assert (reply["kind"], reply["figure"], reply["question"]) == ("figure", name, figures.load(name).question)
    assert reply["caption"] == drawing.caption
    assert reply["columns"] == {column: values.tolist() for column, values in drawing.columns.items()}
    for panel in reply["panels"]:
        for line in panel["lines"]:
            assert {line[end] for end in ("x", "y", "lower", "upper")} - {None} <= reply["columns"].keys()


def test_an_unknown_figure_is_refused(session: Session) -> None:
    reply = ask(session, "figure", figure="warp")
    assert reply["kind"] == "refused"
    assert re.match("There is no figure 'warp'; there is .*shares", reply["sentence"])


# Open and advance


def test_a_run_is_the_native_training(session: Session, pull: Callable[..., Any]) -> None:
    steps, result = pull(benches.load("friction").train(DEFAULTS))
    begun, rest = opened(session), advanced(session, 1000)
    assert begun["columns"]["c"] + rest["append"]["c"] == [step.parameters["c"] for step in steps]
    assert begun["columns"]["loss"] + rest["append"]["loss"] == [step.loss for step in steps]
    assert rest["append"]["iteration"] == list(range(1, len(steps)))
    assert rest["replace"]["predicted"] == result.step.predicted.tolist()
    assert rest["values"]["c"] == quantity(result.step.parameters["c"], "kg/m")
    assert rest["result"]["ending"] == "converged"
    assert rest["result"]["state"] == "passed"
    assert rest["result"]["sentence"].startswith("PASS")


def test_in_one_go_or_one_by_one_is_the_same(session: Session) -> None:
    opened(session, "a"), opened(session, "b")
    whole = advanced(session, 1000, "a")
    parts = []
    while not parts or parts[-1]["result"] is None:
        parts.append(advanced(session, 1, "b"))
    grown = [part for part in parts if part["append"]]
    for column, values in whole["append"].items():
        assert [value for part in grown for value in part["append"][column]] == values
    assert (grown[-1]["replace"], grown[-1]["values"]) == (whole["replace"], whole["values"])
    assert parts[-1]["result"] == whole["result"]


def test_advance_takes_as_many_steps_as_it_is_told(session: Session) -> None:
    opened(session)
    assert advanced(session, 3)["append"]["iteration"] == [1, 2, 3]
    assert advanced(session, 2)["append"]["iteration"] == [4, 5]
    assert advanced(session, 1)["result"] is None


def test_runs_side_by_side_know_nothing_of_each_other(session: Session) -> None:
    opened(session, "a", learning_rate=0.1), opened(session, "b", optimizer="adam")
    together = [(advanced(session, 2, "a"), advanced(session, 3, "b")) for _ in range(4)]
    opened(alone := Session(), "a", learning_rate=0.1)
    assert [a for a, _ in together] == [advanced(alone, 2, "a") for _ in range(4)]
    opened(alone, "b", optimizer="adam")
    assert [b for _, b in together] == [advanced(alone, 3, "b") for _ in range(4)]


def test_opening_a_run_again_replaces_it(session: Session) -> None:
    opened(session)
    first = advanced(session, 5)
    opened(session, start_c=2.0)
    other = advanced(session, 5)
    opened(session)
    assert other["append"]["c"] != first["append"]["c"]
    assert advanced(session, 5) == first


def test_a_run_that_has_ended_is_gone_and_can_be_opened_again(session: Session) -> None:
    opened(session)
    first = advanced(session, 1000)
    assert advanced(session, 1)["sentence"] == "No run 'a' is open: it has ended, or it was never opened."
    opened(session)
    assert advanced(session, 1000) == first


# Results


def test_a_result_is_judged_from_its_parameters_alone(session: Session) -> None:
    opened(session, learning_rate=0.01)
    result = advanced(session, 1000)["result"]
    assert (result["ending"], result["state"]) == ("budget", "not-yet")
    assert result["sentence"].startswith("Not yet")
    verdict = benches.load("friction").judge(result["parameters"], DEFAULTS)
    assert [check["name"] for check in result["checks"]] == [check.name for check in verdict.checks]
    for sent, check in zip(result["checks"], verdict.checks, strict=True):
        assert sent["passed"] == check.passed
        assert (sent["value"], sent["limit"]) == (
            quantity(check.value, check.unit, 3),
            quantity(check.limit, check.unit, 3),
        )
    assert not all(check["passed"] for check in result["checks"])


def test_divergence_by_circling_is_a_state_of_its_own(session: Session) -> None:
    opened(session, learning_rate=5.0)
    result = advanced(session, 1000)["result"]
    assert (result["ending"], result["state"]) == ("diverged", "diverged")
    assert result["sentence"].startswith("Not yet. Training diverged")


@pytest.mark.usefixtures("overflowing")
def test_beyond_the_range_of_numbers_null_crosses_and_never_nan(session: Session) -> None:
    opened(session)
    reply = advanced(session, 1000)  # `read` raises at a NaN
    assert reply["append"]["loss"][-1] is None
    assert None in reply["replace"]["predicted"]
    assert reply["values"]["loss"] in {"not a number", "beyond every number"}
    assert reply["result"]["state"] == "diverged"
    assert not any(check["passed"] for check in reply["result"]["checks"])


def test_other_settings_bring_other_panels_and_numbers(session: Session) -> None:
    known, fitted = opened(session), opened(session, fit_m="fitted")
    assert {"panels", "readout", "columns", "values", "checks"} <= known.keys()
    added = {panel["key"] for panel in fitted["panels"]} - {panel["key"] for panel in known["panels"]}
    assert added == {"parameter-m"}
    assert fitted["readout"].keys() - known["readout"].keys() == {"m", "interval_m", "gradient_m"}
    bands = [opened(session, noise=noise)["panels"] for noise in (1.0, 10.0)]
    assert bands[0] != bands[1]  # the noise is drawn as it is set


# What the data do not determine, each with its own sentence; the page goes on


def with_law(monkeypatch: pytest.MonkeyPatch, rates: Any) -> None:
    bench = benches.load("friction")
    altered = replace(bench, plant=replace(bench.plant, rates=rates))
    monkeypatch.setattr(benches, "load", lambda name: altered)


@pytest.mark.parametrize("optimizer", ["gradient descent", "adam", "l-bfgs", "levenberg-marquardt"])
@pytest.mark.parametrize(
    ("rates", "sentence"),
    [
        (lambda state, u, c, m: (state[1], u - 0.85 * state[1]), "The parameter c (drag coefficient) never reached"),
        (lambda state, u, c, m: (state[1], u - (c + m) * state[1]), "The data do not determine c and m"),
        (lambda state, u, c, m: (state[1], u / m - 0 * c), "The parameter c (drag coefficient) never reached"),
    ],
    ids=["no parameter", "a sum of two", "one of two"],
)
def test_what_the_data_leave_open_has_its_sentence_and_stops_nothing(
    session: Session, monkeypatch: pytest.MonkeyPatch, rates: Any, sentence: str, optimizer: str
) -> None:
    with_law(monkeypatch, rates)
    opened(session, fit_m="fitted", optimizer=optimizer, learning_rate=0.05)
    result = advanced(session, 1000)["result"]
    assert result["state"] == "not-yet"
    assert sentence in result["sentence"]
    opened(session)
    assert advanced(session, 1)["kind"] == "advanced"


def test_a_parameter_at_its_bound_has_its_sentence(session: Session) -> None:
    """Without friction in the joint's data the search would go below zero if it could."""
    settings = benches.load("actuator").defaults()
    bench = benches.load("actuator")
    held = replace(bench.plant.parameter("fc"), bounds=(0.6, 2.0), start=0.8)
    parameters = tuple(held if p.symbol == "fc" else p for p in bench.plant.parameters)
    altered = replace(bench, plant=replace(bench.plant, parameters=parameters))
    low, high = np.array([parameter.bounds for parameter in parameters]).T
    training = identify(altered.problem(settings | {"start_fc": 0.8}), LevenbergMarquardt(bounds=(low, high)), 60)
    with pytest.raises(StopIteration) as end:
        while True:
            next(training)
    found = end.value.value.step.parameters
    assert found["fc"] == 0.6
    warnings = altered.uncertainty(found, settings | {"start_fc": 0.8}).warnings
    assert any("fc (Coulomb friction) stands at the lowest value" in warning for warning in warnings)


# Refusals


def of(kind: str, **fields: Any) -> str:
    return json.dumps({"kind": kind, **fields})


def opening(**settings: Any) -> str:
    return of("open", run="a", bench="friction", settings=DEFAULTS | settings)


REFUSED = {
    "{": "The request is not JSON",
    "": "The request is not JSON",
    "9" * 5000: "The request is not JSON",
    "[" * 100_000: "The request is not JSON",
    "[1]": "A request is a JSON object, not [1]",
    "null": "A request is a JSON object, not None",
    "{}": "The request lacks 'kind'",
    of(3): "'kind' in the request must be of type str, not 3",
    of("fly"): "There is no request 'fly'; there is describe, open, advance, judge",
    of("describe"): "The request lacks 'bench'",
    of("describe", bench=["friction"]): "'bench' in the request must be of type str",
    of("describe", bench="warp"): "There is no bench 'warp'; there is",
    of("open", bench="friction", settings=DEFAULTS): "The request lacks 'run'",
    of("open", run="a", bench="warp", settings=DEFAULTS): "There is no bench 'warp'; there is",
    of("open", run="a", bench="friction"): "The request lacks 'settings'",
    of("open", run="a", bench="friction", settings=[1]): "'settings' in the request must be of type dict",
    of("open", run="a", bench="friction", settings={}): "The setting 'start_c' of the bench friction is missing",
    opening(warp=9): "The bench friction has no setting 'warp'; it has start_c",
    opening(start_c=3.5): "The start value of c must lie from 0 to 3 kg/m, but 3.5 does not",
    opening(start_c=float("nan")): "The start value of c must be a number from 0 to 3, not nan",
    opening(start_c="0.2"): "The start value of c must be a number from 0 to 3, not '0.2'",
    opening(start_c=True): "The start value of c must be a number from 0 to 3, not True",
    opening(start_c=None): "The start value of c must be a number from 0 to 3, not None",
    opening(start_c=10**400): "The start value of c must be a number from 0 to 3, not 1000",
    opening(learning_rate=-1): "The learning rate must lie from 0.01 to 5, but -1 does not",
    opening(optimizer="warp"): "The optimizer must be one of gradient descent, momentum",
    opening(optimizer=[]): "The optimizer must be one of gradient descent, momentum",
    of("advance", steps=1): "The request lacks 'run'",
    of("advance", run="a"): "The request lacks 'steps'",
    of("advance", run="a", steps="1"): "'steps' in the request must be of type int, not '1'",
    of("advance", run="a", steps=1.5): "'steps' in the request must be of type int, not 1.5",
    of("advance", run="nobody", steps=1): "No run 'nobody' is open",
}


@pytest.mark.parametrize("text", REFUSED, ids=lambda text: text[:60])
def test_a_request_that_makes_no_sense_is_refused_with_a_sentence(session: Session, text: str) -> None:
    reply = read(answer(session, text))
    assert reply.keys() == {"kind", "sentence"}
    assert reply["kind"] == ("unreadable" if "not JSON" in REFUSED[text] else "refused")
    assert reply["sentence"].startswith(REFUSED[text])


def test_a_refusal_leaves_the_open_runs_alone(session: Session) -> None:
    opened(session)
    for text in REFUSED:
        answer(session, text)
    assert advanced(session, 1)["append"]["iteration"] == [1]


@pytest.mark.parametrize("mistake", [ZeroDivisionError, KeyError, ValueError])
def test_a_mistake_of_ours_is_not_dressed_up_as_a_refusal(
    session: Session, monkeypatch: pytest.MonkeyPatch, mistake: type[Exception]
) -> None:
    def broken(self: Bench, settings: Any) -> Any:
        raise mistake

    monkeypatch.setattr(Bench, "train", broken)
    with pytest.raises(mistake):
        opened(session)
