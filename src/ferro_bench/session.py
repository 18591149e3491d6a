"""The seam between Python and whoever shows it: JSON text in, JSON text out.

One door, `Session.handle`. A request is an object with a ``kind``; the reply bears a ``kind`` of its own:

    describe {bench}                  -> description: all that a page shows before anything runs
    open     {run, bench, settings}   -> opened: a new run at its first iterate, replacing any run of that name
    advance  {run, steps}             -> advanced: up to that many further iterates, as columns to replace and columns
                                         to append to, and the result where it ended
    (any)                             -> refused: the request made no sense; a sentence says what and why

Numbers that are not finite cross as null, since JSON knows neither infinity nor NaN.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Generator, Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from . import benches
from .bench import Bench
from .control import Control, NumberControl, Settings, SettingsError
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
        self._handlers: dict[str, Callable[[Message], Message]] = {
            "describe": self._describe,
            "open": self._open,
            "advance": self._advance,
        }

    def handle(self, text: str) -> str:
        """Answer one request.

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
        except (RequestError, SettingsError) as error:
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
            "program": _program(bench, settings),
            **_first_sight(bench, settings, first),
        }

    def _open(self, request: Message) -> Message:
        name = _field(request, "run", str)
        bench = _bench(request)
        settings = bench.checked(_field(request, "settings", dict))
        run = _Run(bench, settings, bench.train(settings))
        first = next(run.steps)
        self._runs[name] = run
        return {"kind": "opened", **_first_sight(bench, settings, first)}

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


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:  # also an integer of thousands of digits, or endless brackets
        raise RequestError(f"The request is not JSON: {error}.") from None


def _field(request: Any, name: str, kind: type) -> Any:
    if not isinstance(request, dict):
        raise RequestError(f"A request is a JSON object, not {request!r}.")
    if name not in request:
        raise RequestError(f"The request lacks {name!r}.")
    if not isinstance(request[name], kind):
        raise RequestError(f"{name!r} in the request must be of type {kind.__name__}, not {request[name]!r}.")
    return request[name]


def _bench(request: Message) -> Bench:
    try:
        return benches.load(_field(request, "bench", str))
    except LookupError as error:
        raise RequestError(error.args[0]) from None


def _control(control: Control) -> Message:
    kind = "number" if isinstance(control, NumberControl) else "choice"
    return {"kind": kind, "default": control.default, **asdict(control)}


def _first_sight(bench: Bench, settings: Settings, first: Step) -> Message:
    """What there is to see with these settings, as it stands at a run's first iterate."""
    history = {name: [value] for name, value in bench.history(settings, first).items()}
    return {
        "readout": bench.readout(settings),
        "panels": [asdict(panel) for panel in bench.panels(settings)],
        "columns": bench.fixed_columns(settings, first) | bench.moving_columns(settings, first) | history,
        "values": bench.values(settings, first),
        "checks": _checks(bench.judge(first.parameters, settings)),
    }


def _result(run: _Run, result: Identified) -> Message:
    verdict = run.bench.judge(result.step.parameters, run.settings)
    diverged = result.ending is Ending.DIVERGED
    uncertainty = run.bench.uncertainty(result.step.parameters, run.settings)
    if diverged:
        sentence = f"Not yet. {result.sentence}"
    else:
        sentence = " ".join([verdict.sentence, result.sentence, *(uncertainty.warnings if uncertainty else ())])
    return {
        "ending": result.ending,
        "state": "diverged" if diverged else "passed" if verdict.passed else "not-yet",
        "sentence": sentence,
        "parameters": result.step.parameters,
        "checks": _checks(verdict),
    }


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
