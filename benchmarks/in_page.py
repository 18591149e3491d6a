"""What the page's Python is asked to time; `page/worker.js` calls it. JSON text out."""

import json
from collections.abc import Callable
from time import perf_counter
from typing import Any

from ferro_bench.identify import Ending, identify
from ferro_bench.optimizer import LevenbergMarquardt

from . import by_hand, reference
from .reference import AT

ways: dict[str, Callable[[], Any]] = {}


def prepare(steps: int) -> str:
    """Set up the reference problem; return its data and what each way says the gradient is."""
    data, program = reference.record(steps), reference.compiled()
    forces, measured = data.drive.input.values.tolist(), data.measured.values.tolist()
    ways["compiled"] = lambda: float(program.gradient(data.drive, [AT], data.measured.values)[2][0]) * steps
    ways["by hand in Python"] = lambda: by_hand.gradient(AT, forces, measured)[1]
    return json.dumps(
        {"forces": forces, "measured": measured, "gradients": {name: way() for name, way in ways.items()}}
    )


def sample(seconds: float) -> str:
    """The time of one call of each way, in seconds, from as many calls as fill `seconds`."""
    return json.dumps({name: _time(way, seconds) for name, way in ways.items()})


def compiling() -> str:
    """The times of compiling the reference problem's step, the first one cold, in seconds."""
    return json.dumps([_time(reference.compiled) for _ in range(9)])


def fit() -> str:
    """The time of the larger fit, compiling included, in seconds, and what it found."""
    problem = reference.oscillator_problem()
    search = identify(problem, LevenbergMarquardt(), budget=100)
    start = perf_counter()
    while True:
        try:
            next(search)
        except StopIteration as end:
            assert end.value.ending == Ending.CONVERGED, end.value.sentence
            return json.dumps({"seconds": perf_counter() - start, "parameters": end.value.step.parameters})


def _time(way: Callable[[], Any], seconds: float = 0.0) -> float:
    # A browser's clock may stand still for 0.1 ms, so the clock decides how many calls there are.
    start = perf_counter()
    calls = elapsed = 0
    while calls == 0 or elapsed < seconds:
        way()
        calls += 1
        elapsed = perf_counter() - start
    return elapsed / calls
