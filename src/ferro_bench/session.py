"""The seam between Python and whoever shows it: JSON text in, JSON text out.

One door, `Session.answer`. A request is an object with a ``kind``; the reply bears a ``kind`` of its own.

Benches:

    describe {bench} -> description: all that a page shows of a bench before anything runs
    open {run, bench, settings, cells?} -> opened: a new run at its first iterate, replacing any run of that name; with
        the sources of cells it is trained with the reader's own code
    advance {run, steps} -> advanced: up to that many further iterates, as columns to replace and columns to append to,
        and the result where it ended
    judge {bench, settings, parameters, ending?, how?, rehearsal?} -> judged: the verdict on parameters, wherever they
        were found; with a rehearsal {seed, c} also on what was found there
    rehearsal {seed} -> rehearsal: another experiment, on which a reader's code has to do as well
    rehearse {cells, inputs} -> rehearsed: the c that a reader's code finds there, or null
    ways {bench} -> ways: in which a bench's rollouts can be run
    rollouts {bench, way, count} -> rolled: so many rollouts were run, for whoever has a clock

Cells and exercises:

    exercise {exercise} -> exercise: all that a page shows of an exercise before anything runs
    run {cell, source} -> ran: the value of a cell's last expression, or what went wrong
    pose {exercise, seed} -> posed: the hidden inputs of each check
    answer {exercise, source, check, inputs} -> answered: what the reader's function gives on the inputs of one check
    grade {exercise, seed, answers} -> graded: the outcome, with a sentence for each check

Figures and the reader's own record:

    figure {figure} -> figure: a question, its answer, and the pictures with their columns
    project {} -> project: the fields of the reader's own project
    load {text} -> loaded: what is in a file
    fit {settings} -> fitting: a fit has begun; or unfit: what is wrong, by field
    pursue {slices} -> fitting: it went on by up to that many slices, and how far it is; or fitted: its result

Any of them -> refused: the request made no sense, or unreadable: it was not even JSON; a sentence says what and why.

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

from . import benches, exercises, figures, own, project, table, throughput
from .bench import Bench
from .cell import run_cell
from .control import Control, NumberControl, Settings, SettingsError
from .exercise import Exercise, answer, grade, pose
from .identify import Ending, Identified, Step
from .quantity import quantity
from .verdict import Check, Verdict

Message = dict[str, Any]

LARGEST_BATCH = 16384  # rollouts at once: each of its arrays then takes 16 MB


class RequestError(ValueError):
    """A request that makes no sense; the message says what and why."""


class UnreadableError(RequestError):
    """A request that is not even JSON. Where a reader's code runs, it may have rebound what reads JSON."""


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
        self._table: table.Table | None = None  # the learner's own file
        self._fitting: Generator[Message, None, Message] | None = None
        self._handlers: dict[str, Callable[[Message], Message | Awaitable[Message]]] = {
            "describe": self._describe,
            "open": self._open,
            "advance": self._advance,
            "judge": self._judge,
            "ways": self._ways,
            "rehearsal": self._rehearsal,
            "rehearse": self._rehearse,
            "rollouts": self._rollouts,
            "exercise": self._exercise,
            "figure": self._figure,
            "run": self._run,
            "pose": self._pose,
            "answer": self._answer,
            "grade": self._grade,
            "project": lambda request: {"kind": "project", **project.describe()},
            "load": self._load,
            "fit": self._fit,
            "pursue": self._pursue,
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
        except (RequestError, SettingsError, own.OwnCodeError, table.TableError) as error:
            kind = "unreadable" if isinstance(error, UnreadableError) else "refused"
            reply = {"kind": kind, "sentence": str(error.args[0])}
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
        further: tuple[Check, ...] = ()
        if "rehearsal" in request:
            rehearsed = _field(request, "rehearsal", dict)
            found = rehearsed.get("c")
            further = (own.found_again(_seed(rehearsed), found if isinstance(found, int | float) else math.nan),)
        return {"kind": "judged", **_judged(bench, settings, parameters, ending, how, further)}

    def _rehearsal(self, request: Message) -> Message:
        return {"kind": "rehearsal", "inputs": own.rehearsal(_seed(request))}

    def _rehearse(self, request: Message) -> Message:
        found = own.rehearse(_field(request, "inputs", dict), _field(request, "cells", dict))
        return {"kind": "rehearsed", "c": found}

    def _ways(self, request: Message) -> Message:
        ways = [{"way": key, "label": way.label, "batch": way.batch} for key, way in throughput.WAYS.items()]
        bench = _bench(request)
        steps = bench.problem(bench.defaults()).record.drive.steps
        return {"kind": "ways", "bench": bench.name, "steps": steps, "ways": ways}

    def _rollouts(self, request: Message) -> Message:
        bench, way, count = _bench(request), _field(request, "way", str), _field(request, "count", int)
        if way not in throughput.WAYS:
            raise RequestError(f"There is no way {way!r} to run rollouts; there is {', '.join(throughput.WAYS)}.")
        if not 1 <= count <= LARGEST_BATCH:
            raise RequestError(f"'count' in the request must be from 1 to {LARGEST_BATCH}, not {count}.")
        throughput.run(bench, bench.defaults(), way, count)
        return {"kind": "rolled", "count": count}

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

    def _figure(self, request: Message) -> Message:
        try:
            figure = figures.load(_field(request, "figure", str))
        except LookupError as error:
            raise RequestError(error.args[0]) from None
        drawing = figure.draw()
        return {
            "kind": "figure",
            "figure": figure.name,
            "question": figure.question,
            "caption": drawing.caption,
            "panels": [asdict(panel) for panel in drawing.panels],
            "columns": drawing.columns,
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

    def _load(self, request: Message) -> Message:
        self._table = table.read(_field(request, "text", str))
        self._fitting = None
        return {"kind": "loaded", **project.glance(self._table)}

    def _fit(self, request: Message) -> Message:
        settings = _field(request, "settings", dict)
        if self._table is None:
            raise RequestError("No file is loaded.")
        try:
            self._fitting = project.begin(self._table, settings)
        except project.ProjectError as error:
            return {"kind": "unfit", "faults": error.faults}
        return {"kind": "fitting", "share": 0.0, "sentence": "Fitting."}

    def _pursue(self, request: Message) -> Message:
        slices = _field(request, "slices", int)
        if self._fitting is None:
            raise RequestError("No fit is under way: it has ended, or it was never begun.")
        reply: Message = {"kind": "fitting", "share": 0.0, "sentence": ""}
        for _ in range(slices):
            try:
                reply |= next(self._fitting)
            except StopIteration as end:
                self._fitting = None
                return {"kind": "fitted", "result": end.value}
        return reply


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:  # also an integer of thousands of digits, or endless brackets
        raise UnreadableError(f"The request is not JSON: {error}.") from None


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


def _judged(
    bench: Bench,
    settings: Settings,
    parameters: Mapping[str, float],
    ending: str,
    how: str,
    further: tuple[Check, ...] = (),
) -> Message:
    """The verdict on parameters; how the search for them ended only adds to its words."""
    verdict = Verdict(bench.judge(parameters, settings).checks + further)
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
