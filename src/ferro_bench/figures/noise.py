"""Two ways to the same number, as the positions get noisier."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np

from .. import benches
from ..benches.friction import regress
from ..dataset import Array, Record
from ..figure import Drawing, Figure
from ..identify import identify
from ..optimizer import LevenbergMarquardt
from ..panel import Axis, Line, Panel, Role
from ..problem import Problem
from ..quantity import quantity

NOISE = np.arange(0.0, 11.0)  # mm
SEED = 2718
DRAWS = 200  # of the noise, for the regression
FITS = 20  # of these, for the rollout: a fit takes a hundred times as long


def fitted(problem: Problem, record: Record) -> float:
    """The c that the rollout fit finds from a record."""
    *_, last = identify(replace(problem, record=record), LevenbergMarquardt(), 50)
    return last.parameters["c"]


@cache
def draw() -> Drawing:
    bench = benches.load("friction")
    problem = bench.problem(bench.defaults() | {"noise": 0.0, "start_c": bench.truth["c"]})
    clean = problem.record
    draws = np.random.default_rng(SEED).standard_normal((DRAWS, clean.drive.steps))  # the same ones at every level

    def noisy(mm: float, row: Array) -> Record:
        return replace(clean, measured=replace(clean.measured, values=clean.measured.values + mm / 1000 * row))

    regression = np.array([[regress(noisy(mm, row), ["c"])["c"] for row in draws] for mm in NOISE])
    rollout = np.array([[fitted(problem, noisy(mm, row)) for row in draws[:FITS]] for mm in NOISE])
    slopes = problem.jacobian(np.array([bench.truth["c"]]))[:, 0]
    floor = NOISE / 1000 / np.sqrt(slopes @ slopes)  # Cramér and Rao's, for white noise
    columns = {"noise": NOISE, "some_noise": NOISE[1:], "floor": floor[1:]}  # what does not scatter has no logarithm
    for name, found in (("regression", regression), ("rollout", rollout)):
        mean, scatter = np.mean(found, axis=1), np.std(found, axis=1)
        columns |= {name: mean, f"{name}_from": mean - scatter, f"{name}_to": mean + scatter}
        columns |= {f"{name}_scatter": scatter[1:]}
    truth = bench.truth["c"]
    axis = Axis("noise", "mm", domain=(0.0, None))
    return Drawing(
        caption=(
            f"With {NOISE[-1]:g} mm of noise the regression answers {_with_scatter(regression[-1], 3)} on data made "
            f"with {truth:g}, and the rollout fit {_with_scatter(rollout[-1], 4)}, about as close as any unbiased "
            "estimate can come; without noise both are exact."
        ),
        panels=(
            Panel(
                key="answers",
                title="What each answers",
                x=axis,
                y=Axis("c, mean ± scatter", "kg/m", scale="log"),
                lines=(
                    Line(Role.TRUTH, "truth", value=truth),
                    _answers(Role.PREDICTED, "rollout fit", "rollout"),
                    _answers(Role.OTHER, "regression", "regression"),
                ),
            ),
            Panel(
                key="scatter",
                title="How far the answers scatter",
                x=axis,
                y=Axis("scatter of c", "kg/m", scale="log"),
                lines=(
                    Line(Role.TRUTH, "floor", "some_noise", "floor"),
                    Line(Role.PREDICTED, "rollout fit", "some_noise", "rollout_scatter"),
                    Line(Role.OTHER, "regression", "some_noise", "regression_scatter"),
                ),
            ),
        ),
        columns=columns,
    )


def _with_scatter(found: Array, digits: int) -> str:
    return f"{quantity(float(np.mean(found)), digits=digits)} ± {quantity(float(np.std(found)), 'kg/m', 2)}"


def _answers(role: Role, label: str, name: str) -> Line:
    return Line(role, label, "noise", name, lower=f"{name}_from", upper=f"{name}_to")


FIGURE = Figure("What does noise do to the regression, and what to the rollout fit?", draw)
