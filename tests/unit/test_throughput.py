"""The ways to run rollouts do what they are called, so that dividing their rates compares like with like."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from ferro_bench import Session, benches, throughput

BENCH = benches.load("friction")
PROBLEM = BENCH.problem(BENCH.defaults())
C = PROBLEM.start["c"]


def ask(kind: str, **fields: Any) -> Any:
    with pytest.raises(StopIteration) as end:
        Session().answer(json.dumps({"kind": kind, **fields})).send(None)
    return json.loads(end.value.value)


def test_a_rollout_without_its_way_back_is_the_same_rollout() -> None:
    expected = PROBLEM.predict({"c": C})
    np.testing.assert_allclose(PROBLEM.compiled.predict(PROBLEM.record.drive, [C]), expected, rtol=1e-12)
    batch = PROBLEM.compiled.batch_predict(PROBLEM.record.drive, [np.array([C, 0.5])])
    np.testing.assert_allclose(batch[:, 0], expected, rtol=1e-12)
    np.testing.assert_allclose(batch[:, 1], PROBLEM.predict({"c": 0.5}), rtol=1e-12)


@pytest.mark.parametrize("way", throughput.WAYS)
def test_every_way_runs_as_many_rollouts_as_it_is_told(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rolled = 0

    class Counting(type(PROBLEM)):
        def predict(self, sought: Any) -> Any:
            count()
            return super().predict(sought)

    class Program:
        """The compiled program, counting."""

        def __getattr__(self, name: str) -> Any:
            def call(drive: Any, values: Any, *rest: Any) -> Any:
                count(np.size(values[0]))
                return getattr(PROBLEM.compiled, name)(drive, values, *rest)

            return call

    def count(more: int = 1) -> None:
        nonlocal rolled
        rolled += more

    posed = Counting(PROBLEM.plant, PROBLEM.solver, PROBLEM.record, PROBLEM.known, PROBLEM.start)
    posed.__dict__["compiled"] = Program()
    throughput.WAYS[way].run(posed, 7)
    assert rolled == 7


def test_the_ways_cross_the_seam_and_what_makes_no_sense_is_refused() -> None:
    ways = ask("ways", bench="friction")["ways"]
    assert [way["way"] for way in ways] == list(throughput.WAYS)
    assert {way["way"] for way in ways if way["batch"]} == {"batch", "batch-gradient"}
    assert ask("rollouts", bench="friction", way="batch", count=64) == {"kind": "rolled", "count": 64}
    for fields, sentence in (
        ({"way": "gpu", "count": 1}, "There is no way 'gpu' to run rollouts; there is tape"),
        ({"way": "tape", "count": 0}, "'count' in the request must be from 1 to 16384, not 0"),
        ({"way": "batch", "count": 10**6}, "'count' in the request must be from 1 to 16384"),
    ):
        assert sentence in ask("rollouts", bench="friction", **fields)["sentence"]
