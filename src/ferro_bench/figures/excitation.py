"""What two drives tell of drag and mass when both are fitted."""

from __future__ import annotations

from functools import cache

import numpy as np

from .. import benches
from ..benches.friction import STEPS, measure
from ..dataset import Array, Record
from ..figure import Drawing, Figure
from ..identify import identify
from ..optimizer import LevenbergMarquardt
from ..panel import Axis, Line, Panel, Role
from ..problem import Problem
from ..quantity import quantity
from ..uncertainty import COVERAGE, Uncertainty, estimate

PUSH = 6.0  # N, as strong as the chirp at its strongest
CORNERS = 120  # of a drawn ellipse


def fit_both(record: Record) -> Uncertainty:
    """What a record tells of c and m together."""
    bench = benches.load("friction")
    problem = bench.problem(bench.defaults() | {"fit_m": "fitted"})
    problem = Problem(problem.plant, problem.solver, record, {}, problem.start)
    *_, last = identify(problem, LevenbergMarquardt(), bench.budget)
    values = np.array(list(last.parameters.values()))
    parameters = [problem.plant.parameter(symbol) for symbol in problem.start]
    return estimate(last.predicted - record.measured.values, problem.jacobian(values), parameters, values)


def ellipse(found: Uncertainty) -> Array:
    """The region that covers the true pair in 19 of 20 records: its corners, shape (2, n), the last where the first is.

    With the variance estimated from ν degrees of freedom the squared distance follows 2 F(2, ν), whose quantile has a
    closed form.
    """
    reach = np.sqrt(found.freedom * ((1 - COVERAGE) ** (-2 / found.freedom) - 1))
    angle = np.linspace(0, 2 * np.pi, CORNERS + 1)
    circle = np.stack([np.cos(angle), np.sin(angle)])
    corners: Array = found.values[:, None] + reach * np.linalg.cholesky(found.covariance) @ circle
    return corners


@cache
def draw() -> Drawing:
    bench = benches.load("friction")
    settings = bench.defaults()
    chirp = bench.data(settings).fit
    clean = bench.data(settings | {"noise": 0.0}).fit
    noise = chirp.measured.values - clean.measured.values
    found = {"chirp": fit_both(chirp), "push": fit_both(measure(np.full(STEPS, PUSH), noise))}
    columns = {"true_c": np.array([bench.truth["c"]]), "true_m": np.array([bench.truth["m"]])}
    for name, uncertainty in found.items():
        columns[f"{name}_c"], columns[f"{name}_m"] = ellipse(uncertainty)
    correlation = {name: quantity(u.correlations[0, 1], digits=2) for name, u in found.items()}
    return Drawing(
        caption=(
            f"Under a constant push of {PUSH:g} N, more drag and less mass nearly make up for each other, and the "
            f"estimates correlate by {correlation['push']}; the chirp tells them apart ({correlation['chirp']}), from "
            "as many samples with the same noise."
        ),
        panels=(
            Panel(
                key="regions",
                title="Regions that cover the truth in 19 of 20 records",
                x=Axis("drag coefficient c", "kg/m"),
                y=Axis("mass m", "kg"),
                lines=(
                    Line(Role.CURVE, "chirp", "chirp_c", "chirp_m"),
                    Line(Role.OTHER, "constant push", "push_c", "push_m"),
                    Line(Role.POINT, "truth", "true_c", "true_m"),
                ),
            ),
        ),
        columns=columns,
    )


FIGURE = Figure("What does the chirp tell apart that a constant push does not?", draw)
