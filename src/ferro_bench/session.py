"""The seam between Python and whoever shows it: JSON text in, JSON text out.

One door, `Session.answer`. A request is an object with a ``kind``; the reply bears a ``kind`` of its own:

    describe {bench}                         -> description: all that a page shows of a bench before anything runs
    open     {run, bench, settings, cells?}  -> opened: a new run at its first iterate, replacing any run of that name;
                                                with the sources of cells it is trained with the reader's own code
    advance  {run, steps}                    -> advanced: up to that many further iterates, as columns to replace and
                                                columns to append to, and the result where it ended
    judge    {bench, settings, parameters, ending?, how?} -> judged: the verdict on parameters, wherever they were found
    exercise {exercise}                      -> exercise: all that a page shows of an exercise before anything runs
    run      {cell, source}                  -> ran: the value of a cell's last expression, or what went wrong
    pose     {exercise, seed}                -> posed: the hidden inputs of each check
    answer   {exercise, source, check, inputs} -> answered: what the reader's function gives on the inputs of one check
    grade    {exercise, seed, answers}       -> graded: the outcome, with a sentence for each check
    (any)                                    -> refused: the request made no sense; a sentence says what and why

Requests that run a reader's code, ``open`` with cells, ``run`` and ``answer``, belong in a place that is trusted with
nothing; ``judge``, ``pose`` and ``grade`` in one where no such code has run. The session does not know where it is.

Numbers that are not finite cross as null, since JSON knows neither infinity nor NaN.
"""

from __future__ import annotations

import ast
import json
import math
import reprlib
from collections.abc import Awaitable, Callable, Generator, Iterable, Mapping
from dataclasses import asdict, dataclass
from inspect import isawaitable
from typing import Any

import numpy as np

from . import benches, exercises, own
from .bench import Bench
from .cell import run_cell
from .control import Control, NumberControl, Settings, SettingsError
from .exercise import Exercise, answer, grade, pose
from .identify import Ending, Identified, Step
from .quantity import quantity
from .verdict import Verdict

Message = dict[str, Any]


class RequestError(ValueError):
    """A request that makes no sense; the message says what and why."""


@dataclass(eq=False)
class _Run:
    bench: Bench
    settings: Settings
    steps: Generator[Step, bool | None, Identified]


class Session:
    """The runs that one page has open."""

    def __init__(self) -> None:
        self._runs: dict[str, _Run] = {}
        self._space: dict[str, Any] = {}  # of the reader's cells
        self._handlers: dict[str, Callable[[Message], Message | Awaitable[Message]]] = {
            "describe": self._describe,
            "open": self._open,
            "advance": self._advance,
            "judge": self._judge,
            "exercise": self._exercise,
            "run": self._run,
            "pose": self._pose,
            "answer": self._answer,
            "grade": self._grade,
        }

    async def answer(self, text: str) -> str:
        """Answer one request. Only a cell that awaits something makes this wait.

        Args:
            text: a JSON object with a ``kind`` and what that kind needs.

        Returns:
            A JSON object; of kind ``refused``, with a ``sentence``, if the request made no sense.
        """
        try:
            request = _parsed(text)
            kind = _field(request, "kind", str)
            if kind not in self._handlers:
                raise RequestError(f"There is no request {kind!r}; there is {', '.join(self._handlers)}.")
            reply = self._handlers[kind](request)
            if isawaitable(reply):
                reply = await reply
        except (RequestError, SettingsError, own.OwnCodeError) as error:
            reply = {"kind": "refused", "sentence": str(error.args[0])}
        return json.dumps(_plain(reply), allow_nan=False, ensure_ascii=False, separators=(",", ":"))

    def _describe(self, request: Message) -> Message:
        bench = _bench(request)
        settings = bench.defaults()
        first = next(bench.train(settings))
        return {
            "kind": "description",
            "bench": bench.name,
            "title": bench.title,
            "summary": bench.summary,
            "budget": bench.budget,
            "controls": [_control(control) for control in bench.all_controls()],
            "own": own.exercises_of(bench),
            "program": _program(bench, settings),
            **_first_sight(bench, settings, first),
        }

    def _open(self, request: Message) -> Message:
        name = _field(request, "run", str)
        bench = _bench(request)
        settings = bench.checked(_field(request, "settings", dict))
        steps, engine = bench.train(settings), {}
        if "cells" in request:
            problem = own.problem(bench, settings, _field(request, "cells", dict))
            steps, engine = own.train(problem, bench.budget), _engine(problem)
        first = next(steps)
        self._runs[name] = _Run(bench, settings, steps)
        return {"kind": "opened", **_first_sight(bench, settings, first), **engine}

    def _advance(self, request: Message) -> Message:
        name = _field(request, "run", str)
        count = _field(request, "steps", int)
        if name not in self._runs:
            raise RequestError(f"No run {name!r} is open: it has ended, or it was never opened.")
        if count < 1:
            raise RequestError(f"'steps' in the request must be at least 1, not {count}.")
        run = self._runs[name]
        taken: list[Step] = []
        result = None
        for _ in range(count):
            try:
                taken.append(next(run.steps))
            except StopIteration as end:
                result = end.value
                del self._runs[name]
                break
        grown = [run.bench.history(run.settings, step) for step in taken]
        return {
            "kind": "advanced",
            "replace": run.bench.moving_columns(run.settings, taken[-1]) if taken else {},
            "append": {name: [entry[name] for entry in grown] for name in grown[0]} if grown else {},
            "values": run.bench.values(run.settings, taken[-1]) if taken else {},
            "result": _result(run, result) if result else None,
        }

    def _judge(self, request: Message) -> Message:
        bench = _bench(request)
        settings = bench.checked(_field(request, "settings", dict))
        sought = [parameter.symbol for parameter in bench.sought(settings)]
        given = _field(request, "parameters", dict)
        # A search that has left the range of numbers ends at no number.
        parameters = {symbol: math.nan if given.get(symbol) is None else given[symbol] for symbol in sought}
        if not all(isinstance(value, int | float) for value in parameters.values()):
            raise RequestError(f"'parameters' in the request must be numbers, one for each of {', '.join(sought)}.")
        ending, how = str(request.get("ending")), str(request.get("how", ""))
        return {"kind": "judged", **_judged(bench, settings, parameters, ending, how)}

    def _exercise(self, request: Message) -> Message:
        exercise = _exercise(request)
        shown = ("number", "title", "prompt", "function", "starter", "solution", "hints")
        return {
            "kind": "exercise",
            "exercise": exercise.name,
            **{name: getattr(exercise, name) for name in shown},
            "scope": [asdict(entry) for entry in exercise.scope],
            "checks": [check.name for check in exercise.checks],
        }

    async def _run(self, request: Message) -> Message:
        cell, source = _field(request, "cell", str), _field(request, "source", str)
        if not self._space:
            bench = benches.load(exercises.BENCH)
            self._space = own.space(bench, bench.defaults())
        elsewhere = {
            exercise.function: f"exercise {exercise.number}, {exercise.title}"
            for exercise in map(exercises.load, exercises.names())
            if exercise.name != cell
        }
        outcome = await run_cell(source, cell, self._space, elsewhere)
        return {
            "kind": "ran",
            "value": asdict(outcome.value) if outcome.value else None,
            "trouble": asdict(outcome.trouble) if outcome.trouble else None,
        }

    def _pose(self, request: Message) -> Message:
        return {"kind": "posed", "inputs": pose(_exercise(request), _seed(request))}

    def _answer(self, request: Message) -> Message:
        exercise = _exercise(request)
        source, inputs = _field(request, "source", str), _field(request, "inputs", dict)
        check = _field(request, "check", int)
        if not 0 <= check < len(exercise.checks):
            raise RequestError(f"The exercise {exercise.name!r} has {len(exercise.checks)} checks, and no {check}.")
        return {"kind": "answered", "answer": answer(exercise, source, check, inputs)}

    def _grade(self, request: Message) -> Message:
        graded = grade(_exercise(request), _seed(request), _field(request, "answers", list))
        return {
            "kind": "graded",
            "outcome": graded.outcome,
            "sentence": graded.sentence,
            "hint": graded.hint,
            "checks": [checked._asdict() for checked in graded.checks],
        }


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:  # also an integer of thousands of digits, or endless brackets
        raise RequestError(f"The request is not JSON: {error}.") from None


def _field(request: Any, name: str, kind: type) -> Any:
    if not isinstance(request, dict):
        raise RequestError(f"A request is a JSON object, not {reprlib.repr(request)}.")
    if name not in request:
        raise RequestError(f"The request lacks {name!r}.")
    if not isinstance(request[name], kind):
        raise RequestError(
            f"{name!r} in the request must be of type {kind.__name__}, not {reprlib.repr(request[name])}."
        )
    return request[name]


def _bench(request: Message) -> Bench:
    try:
        return benches.load(_field(request, "bench", str))
    except LookupError as error:
        raise RequestError(error.args[0]) from None


def _exercise(request: Message) -> Exercise:
    try:
        return exercises.load(_field(request, "exercise", str))
    except LookupError as error:
        raise RequestError(error.args[0]) from None


def _seed(request: Message) -> int:
    seed = _field(request, "seed", int)
    if seed < 0:
        raise RequestError(f"'seed' in the request must be a whole number from 0, not {seed}.")
    return int(seed)


def _control(control: Control) -> Message:
    kind = "number" if isinstance(control, NumberControl) else "choice"
    return {"kind": kind, "default": control.default, **asdict(control)}


def _first_sight(bench: Bench, settings: Settings, first: Step) -> Message:
    """What there is to see with these settings, as it stands at a run's first iterate."""
    history = {name: [value] for name, value in bench.history(settings, first).items()}
    return {
        "readout": bench.readout(settings),
        "panels": [asdict(panel) for panel in bench.panels(settings)],
        "parameters": first.parameters,
        "columns": bench.fixed_columns(settings, first) | bench.moving_columns(settings, first) | history,
        "values": bench.values(settings, first),
        "checks": _checks(bench.judge(first.parameters, settings)),
    }


def _result(run: _Run, result: Identified) -> Message:
    return _judged(run.bench, run.settings, result.step.parameters, result.ending, result.sentence) | {
        "ending": result.ending,
        "how": result.sentence,
    }


def _judged(bench: Bench, settings: Settings, parameters: Mapping[str, float], ending: str, how: str) -> Message:
    """The verdict on parameters; how the search for them ended only adds to its words."""
    verdict = bench.judge(parameters, settings)
    uncertainty = bench.uncertainty(parameters, settings)
    diverged = ending == Ending.DIVERGED
    warnings = uncertainty.warnings if uncertainty else ()
    words = ["Not yet.", how] if diverged else [verdict.sentence, how, *warnings]
    return {
        "state": "diverged" if diverged else "passed" if verdict.passed else "not-yet",
        "sentence": " ".join(filter(None, words)),
        "parameters": parameters,
        "checks": _checks(verdict),
    }


def _engine(problem: own.OwnProblem) -> Message:
    """What differentiates a reader's code, and as text its program on the way back, where there is one."""
    if problem.compiled is None:
        return {"engine": problem.engine, "program": ""}
    source = problem.compiled.source
    (adjoint,) = (part for part in ast.parse(source).body if getattr(part, "name", "") == "adjoint")
    return {"engine": problem.engine, "program": ast.get_source_segment(source, adjoint)}


def _program(bench: Bench, settings: Settings) -> str:
    """The compiled rollout as text, or why there is none."""
    problem = bench.problem(settings)
    return problem.compiled.source if problem.compiled else f"# {problem.engine}\n"


def _checks(verdict: Verdict) -> list[Message]:
    return [
        {
            "name": check.name,
            "passed": check.passed,
            "value": quantity(check.value, check.unit, 3),
            "limit": quantity(check.limit, check.unit, 3),
            "because": check.because,
            "advice": check.advice,
        }
        for check in verdict.checks
    ]


def _plain(value: Any) -> Any:
    """Arrays to lists, and numbers that JSON lacks to null."""
    if isinstance(value, float | np.floating):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, Mapping):
        return {key: _plain(entry) for key, entry in value.items()}
    if isinstance(value, Iterable) and not isinstance(value, str):
        return [_plain(entry) for entry in value]
    return value
