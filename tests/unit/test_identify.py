"""The training loop on the reference problem: what it yields, and every way in which it ends."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from inspect import isgenerator
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from ferro_bench import (
    LBFGS,
    Adam,
    Ending,
    GradientDescent,
    LevenbergMarquardt,
    Problem,
    Record,
    identify,
    identify_from,
    semi_implicit_euler,
    spread,
)
from ferro_bench.benches import friction
from ferro_bench.gradient import central_difference
from ferro_bench.identify import PROGRESS, QUIET, WINDOW, _Progress

C = friction.TRUTH["c"]
Pull = Callable[..., Any]


@pytest.fixture
def problem(reference: Record) -> Problem:
    return Problem(friction.PLANT, semi_implicit_euler, reference, {"m": friction.TRUTH["m"]}, {"c": 0.2})


def loss_at(problem: Problem, c: float) -> float:
    return float(problem.loss(problem.predict({"c": c})))


# What it yields


def test_the_start_comes_first_with_all_that_is_seen_from_there(problem: Problem) -> None:
    training = identify(problem, GradientDescent(0.35), 10)
    assert isgenerator(training)
    first = next(training)
    assert (first.iteration, first.parameters) == (0, {"c": 0.2})
    assert first.loss == pytest.approx(loss_at(problem, 0.2), rel=1e-13)
    assert first.gradient["c"] == pytest.approx(central_difference(lambda c: loss_at(problem, c), 0.2)[0], rel=1e-8)
    np.testing.assert_allclose(first.predicted, problem.predict({"c": 0.2}), rtol=1e-12)


def test_nothing_is_computed_before_it_is_asked_for(problem: Problem) -> None:
    class Counting(GradientDescent):
        steps = 0

        def step(self, view: Any) -> Any:
            self.steps += 1
            return super().step(view)

    optimizer = Counting(0.35)
    training = identify(problem, optimizer, 10)
    for expected in range(3):
        next(training)
        assert optimizer.steps == expected


def test_each_iterate_is_the_optimizers_step_from_the_one_before(problem: Problem, pull: Pull) -> None:
    steps, _ = pull(identify(problem, GradientDescent(0.35), 10))
    assert [step.iteration for step in steps] == list(range(11))
    for before, after in pairwise(steps):
        assert after.parameters["c"] == before.parameters["c"] - 0.35 * before.gradient["c"]


def test_six_steps_come_within_a_twentieth_of_the_truth(problem: Problem, pull: Pull) -> None:
    steps, _ = pull(identify(problem, GradientDescent(0.35), 10))
    near = [step.iteration for step in steps if abs(step.parameters["c"] - C) < 0.05]
    assert near[0] == 6


def test_several_parameters_are_sought_at_once(problem: Problem, pull: Pull) -> None:
    both = Problem(problem.plant, problem.solver, problem.record, {}, {"m": 1.0, "c": 0.2})
    _, result = pull(identify(both, Adam(0.1), 300))
    assert result.step.parameters == pytest.approx({"m": 1.4, "c": 0.85}, abs=1e-3)


# How it ends


def test_it_converges(problem: Problem, pull: Pull) -> None:
    steps, result = pull(identify(problem, GradientDescent(0.35), 200))
    assert result.ending is Ending.CONVERGED
    assert result.step is steps[-1]
    assert f"after {steps[-1].iteration} iterations" in result.sentence
    assert abs(result.step.parameters["c"] - C) < 1e-5


def test_at_the_minimum_it_converges_at_once(problem: Problem, pull: Pull) -> None:
    there = Problem(problem.plant, problem.solver, problem.record, problem.known, {"c": C})
    steps, result = pull(identify(there, GradientDescent(0.35), 200))
    assert (len(steps), result.ending) == (QUIET, Ending.CONVERGED)


@pytest.mark.parametrize("budget", [0, 5])
def test_it_ends_when_the_budget_is_spent(problem: Problem, pull: Pull, budget: int) -> None:
    steps, result = pull(identify(problem, GradientDescent(0.01), budget))
    assert result.ending is Ending.BUDGET
    assert (len(steps), result.step) == (budget + 1, steps[-1])
    assert f"within {budget} iterations" in result.sentence


@pytest.mark.parametrize("at", [0, 3])
def test_it_stops_on_request(problem: Problem, at: int) -> None:
    training = identify(problem, GradientDescent(0.35), 200)
    for _ in range(at + 1):
        last = next(training)
    with pytest.raises(StopIteration) as end:
        training.send(True)
    assert end.value.value.ending is Ending.STOPPED
    assert end.value.value.step is last
    assert f"at iteration {at}" in end.value.value.sentence


def test_sending_false_goes_on(problem: Problem) -> None:
    training = identify(problem, GradientDescent(0.35), 200)
    assert (next(training).iteration, training.send(False).iteration, next(training).iteration) == (0, 1, 2)


@pytest.mark.parametrize("kind", [GradientDescent, Adam])
@pytest.mark.parametrize("rate", [1e5, 1e20, 1e100, 1e160, 1e300, 1e308])
def test_a_rate_beyond_all_reason_diverges_and_raises_nothing(
    problem: Problem, pull: Pull, kind: Callable[[float], Any], rate: float
) -> None:
    steps, result = pull(identify(problem, kind(rate), 200))
    assert result.ending is Ending.DIVERGED
    assert not np.isfinite(steps[-1].loss) or len(steps) == 1  # the first step may be beyond all numbers itself
    assert "left the range of numbers" in result.sentence
    assert "smaller learning rate" in result.sentence


def test_a_start_from_which_the_rollout_overflows_has_diverged(problem: Problem, pull: Pull) -> None:
    far = Problem(problem.plant, problem.solver, problem.record, problem.known, {"c": -1e3})
    steps, result = pull(identify(far, GradientDescent(0.35), 200))
    assert (len(steps), result.ending) == (1, Ending.DIVERGED)


def test_a_finite_loss_with_a_gradient_that_is_not_has_diverged(problem: Problem, pull: Pull) -> None:
    """The slope of a square root at zero is infinite."""

    def rates(state: Any, u: Any, c: Any, m: Any) -> Any:
        return state[1], (u - np.sqrt(c) * state[1]) / m

    rooted = replace(problem, plant=replace(problem.plant, rates=rates), start={"c": 0.0})
    steps, result = pull(identify(rooted, GradientDescent(0.35), 200))
    assert (len(steps), result.ending) == (1, Ending.DIVERGED)
    assert np.isfinite(result.step.loss)


def test_creeping_is_not_circling(problem: Problem, pull: Pull) -> None:
    """Neither loss nor steps shrink by a thousandth within a window, but the minimum is never crossed."""
    steps, result = pull(identify(problem, GradientDescent(1e-6), 3 * WINDOW))
    assert steps[0].loss - steps[-1].loss < PROGRESS * steps[0].loss
    assert result.ending is Ending.BUDGET


@pytest.mark.parametrize(
    ("sign", "loss", "length", "circling"),
    [
        (-1.0, 1.0, 1.0, True),
        (+1.0, 1.0, 1.0, False),
        (-1.0, 0.99, 1.0, False),
        (-1.0, 1.0, 0.99, False),
        (-1.0, 1.01, 1.01, True),
    ],
    ids=["to and fro", "creeping", "loss shrinks", "steps shrink", "grows"],
)
def test_circling_is_to_cross_without_coming_closer(sign: float, loss: float, length: float, circling: bool) -> None:
    """Gradients that keep or reverse their sign, losses and steps that change by a factor an iterate."""
    progress = _Progress()
    said = []
    for i in range(2 * WINDOW + 1):
        progress.note(loss**i, np.array([sign**i]), np.array([(sign * length) ** i]))
        said.append(progress.circles)
    assert not any(said[: 2 * WINDOW - 1])  # two windows are needed to compare
    assert said[-1] is circling


def test_circling_the_minimum_without_end_has_diverged(problem: Problem, pull: Pull) -> None:
    steps, result = pull(identify(problem, GradientDescent(5.0), 1000))
    assert result.ending is Ending.DIVERGED
    assert "overshoots the minimum" in result.sentence
    assert all(np.isfinite(step.loss) for step in steps)
    assert len(steps) >= 2 * WINDOW
    signs = {np.sign(step.gradient["c"]) for step in steps[-WINDOW:]}
    assert signs == {-1.0, 1.0}


def test_far_beyond_the_minimum_when_the_budget_is_spent_has_diverged(problem: Problem, pull: Pull) -> None:
    """The first step flies to the far wall, and the search creeps back from there."""
    far = replace(problem, start={"c": 0.0})
    steps, result = pull(identify(far, GradientDescent(5.0), 200))
    assert steps[-1].loss < steps[0].loss
    assert result.ending is Ending.DIVERGED
    assert "has not come back" in result.sentence


@pytest.mark.parametrize(("rate", "advice"), [(0.01, "a larger learning rate"), (2.74, "a smaller learning rate")])
def test_a_spent_budget_says_which_way_to_turn_the_rate(problem: Problem, pull: Pull, rate: float, advice: str) -> None:
    _, result = pull(identify(problem, GradientDescent(rate), 100))
    assert result.ending is Ending.BUDGET
    assert advice in result.sentence


def test_a_momentum_that_turns_round_has_not_converged(problem: Problem, pull: Pull) -> None:
    far = replace(problem, start={"c": 0.0})
    steps, result = pull(identify(far, Adam(0.05), 500))
    assert result.ending is Ending.CONVERGED
    assert abs(result.step.gradient["c"]) < 1e-5


def test_worse_than_at_the_start_when_the_budget_is_spent_has_diverged(problem: Problem, pull: Pull) -> None:
    _, result = pull(identify(problem, GradientDescent(-0.01), 3))
    assert result.ending is Ending.DIVERGED
    assert "has not come back" in result.sentence


def test_the_limit_of_stability_is_two_over_the_curvature(problem: Problem, pull: Pull) -> None:
    h = 1e-3
    curvature = (loss_at(problem, C + h) - 2 * loss_at(problem, C) + loss_at(problem, C - h)) / h**2
    assert 2 / curvature == pytest.approx(2.76, abs=0.005)
    assert pull(identify(problem, GradientDescent(2.7), 200))[1].ending is not Ending.DIVERGED
    assert pull(identify(problem, GradientDescent(2.85), 200))[1].ending is Ending.DIVERGED


@pytest.mark.parametrize("rate", [0.1, 0.35, 1.4, 2.7])
def test_a_stable_rate_is_never_taken_for_a_divergent_one(problem: Problem, pull: Pull, rate: float) -> None:
    """Above half the limit every step crosses the minimum, and yet the search closes in."""
    _, result = pull(identify(problem, GradientDescent(rate), 1000))
    assert result.ending is Ending.CONVERGED


# Parameters that stay positive


def both(problem: Problem, **start: float) -> Problem:
    return Problem(problem.plant, problem.solver, problem.record, {}, start)


def test_a_positive_parameter_is_sought_by_its_logarithm(problem: Problem, pull: Pull) -> None:
    """A step of gradient descent on ln m is -rate · m · ∂L/∂m."""
    steps, _ = pull(identify(both(problem, c=0.2, m=1.5), GradientDescent(0.1), 3))
    for before, after in pairwise(steps):
        step = -0.1 * before.parameters["m"] * before.gradient["m"]
        assert after.parameters["m"] == pytest.approx(before.parameters["m"] * np.exp(step), rel=1e-12)
        assert after.parameters["c"] == before.parameters["c"] - 0.1 * before.gradient["c"]


def test_a_positive_parameter_stays_positive_whatever_the_rate(problem: Problem, pull: Pull) -> None:
    steps, _ = pull(identify(both(problem, c=0.2, m=3.0), GradientDescent(10.0), 50))
    share = -10.0 * 3.0 * steps[0].gradient["m"]  # by which the step would change m, were it added
    assert share < -1
    assert 0 < steps[1].parameters["m"] < 0.1


@pytest.mark.parametrize("optimizer", [LBFGS(cap=1.0), LevenbergMarquardt()], ids=["l-bfgs", "levenberg-marquardt"])
def test_second_order_methods_find_a_positive_parameter(problem: Problem, pull: Pull, optimizer: Any) -> None:
    _, result = pull(identify(both(problem, c=0.2, m=7.0), optimizer, 100))
    assert result.ending is Ending.CONVERGED
    assert result.step.parameters == pytest.approx({"c": C, "m": 1.4}, rel=1e-4)


# Many starts at once


def assert_same(mine: Any, other: Any) -> None:
    assert (mine.ending, mine.step.iteration) == (other.ending, other.step.iteration)
    assert mine.step.parameters == pytest.approx(other.step.parameters, rel=1e-9)
    np.testing.assert_allclose(mine.step.predicted, other.step.predicted, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    "optimizer",
    [lambda: GradientDescent(0.2), lambda: Adam(0.1), lambda: LBFGS(cap=1.0), LevenbergMarquardt],
    ids=["gradient descent", "adam", "l-bfgs", "levenberg-marquardt"],
)
def test_a_batch_of_searches_is_as_many_searches(problem: Problem, pull: Pull, optimizer: Any) -> None:
    sought = both(problem, c=0.2, m=1.0)
    starts = [*spread(sought, 6, 4), {"c": -1e3, "m": 1.0}]  # the last one overflows at once
    rounds, results = pull(identify_from(sought, starts, optimizer, 40))
    assert len(results) == len(starts)
    assert results[-1].ending is Ending.DIVERGED
    for i, (start, result) in enumerate(zip(starts, results, strict=True)):
        steps, alone = pull(identify(replace(sought, start=start), optimizer(), 40))
        assert_same(result, alone)
        for together, apart in zip(rounds, steps, strict=False):
            assert together[i].parameters == pytest.approx(apart.parameters, rel=1e-9)


def test_without_a_compiled_program_many_starts_run_one_by_one(problem: Problem, pull: Pull) -> None:
    def rates(state: Any, u: Any, c: Any, m: Any) -> Any:
        return state[1], (u - c * state[1] * (state[1] if state[1] > 0 else -state[1])) / m

    branching = replace(problem, plant=replace(problem.plant, rates=rates))
    assert branching.compiled is None
    starts = [{"c": 0.2}, {"c": 1.5}]
    _, results = pull(identify_from(branching, starts, LevenbergMarquardt, 40))
    _, compiled = pull(identify_from(problem, starts, LevenbergMarquardt, 40))
    for mine, other in zip(results, compiled, strict=True):
        assert mine.step.parameters == pytest.approx(other.step.parameters, rel=1e-6)


def test_many_searches_stop_together_on_request(problem: Problem) -> None:
    training = identify_from(problem, [{"c": 0.2}, {"c": 0.3}], lambda: GradientDescent(0.35), 200)
    next(training), next(training)
    with pytest.raises(StopIteration) as end:
        training.send(True)
    assert [(r.ending, r.step.iteration) for r in end.value.value] == [(Ending.STOPPED, 1)] * 2


def test_starts_are_spread_over_every_slice_of_each_range(problem: Problem) -> None:
    starts = spread(both(problem, c=0.2, m=1.0), 20, 3)
    slices = {
        "c": sorted(int(20 * start["c"] / 3.0) for start in starts),
        "m": sorted(int(20 * np.log(start["m"] / 0.1) / np.log(100.0)) for start in starts),
    }
    assert slices == {"c": list(range(20)), "m": list(range(20))}
    assert starts == spread(both(problem, c=0.2, m=1.0), 20, 3) != spread(both(problem, c=0.2, m=1.0), 20, 4)
    ranks = np.argsort([[start[symbol] for start in starts] for symbol in ("c", "m")])
    assert abs(np.corrcoef(ranks)[0, 1]) < 0.6
