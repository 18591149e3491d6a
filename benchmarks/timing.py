"""Times several ways to do the same, side by side."""

import gc
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from statistics import median
from time import perf_counter
from typing import Any

SAMPLE = 0.02  # s; a sample is as many calls as take about so long
ROUNDS = 9


@dataclass(frozen=True)
class Timing:
    """What a call took.

    Attributes:
        median: s.
        best: s.
        ratio: the median over the rounds of its time divided by that of the first way, in the same round.
    """

    median: float
    best: float
    ratio: float

    def __str__(self) -> str:
        return f"{1e3 * self.median:.3g} ({1e3 * self.best:.3g}), {self.ratio:.3g}×"


def race(ways: Mapping[str, Callable[[], Any]], rounds: int = ROUNDS) -> dict[str, Timing]:
    """Time each way once a round, so that what disturbs the machine disturbs all alike. Every way must be warm.

    The order is another one each round, so that no way always comes after the same other one.
    """
    calls = {name: max(1, round(SAMPLE / _sample(way, 1))) for name, way in ways.items()}
    orders = [Random(i).sample(list(ways), len(ways)) for i in range(rounds)]
    samples = [{name: _sample(ways[name], calls[name]) for name in order} for order in orders]
    first = next(iter(ways))
    return {
        name: Timing(
            median(times := [sample[name] for sample in samples]),
            min(times),
            median(sample[name] / sample[first] for sample in samples),
        )
        for name in ways
    }


def _sample(way: Callable[[], Any], calls: int) -> float:
    # As timeit does: what one way leaves behind is cleared away at nobody's cost.
    gc.collect()
    gc.disable()
    try:
        way()  # the first call after that finds the caches cold
        start = perf_counter()
        for _ in range(calls):
            way()
        return (perf_counter() - start) / calls
    finally:
        gc.enable()


def print_table(corner: str, columns: Mapping[str, Mapping[str, Any]]) -> None:
    """Print a Markdown table of columns, each a mapping from row to cell; what is missing is a dash."""
    rows = list(dict.fromkeys(row for column in columns.values() for row in column))
    lines: list[Sequence[str]] = [[corner, *columns]]
    lines += [[row, *(str(column.get(row, "–")) for column in columns.values())] for row in rows]
    widths = [max(map(len, cells)) for cells in zip(*lines, strict=True)]
    lines.insert(1, ["-" * width for width in widths])
    for line in lines:
        print("| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) + " |")
    print(flush=True)
