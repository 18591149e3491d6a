"""A model that lacks something, fitted until it lies on the data."""

from __future__ import annotations

from functools import cache

import numpy as np

from .. import benches
from ..figure import Drawing, Figure
from ..loss import root_mean_square
from ..panel import Axis, Line, Panel, Role
from ..quantity import quantity
from ..uncertainty import whiteness

VISCOUS = 0.3  # N·s/m of drag in proportion to the velocity, of which the model knows nothing


@cache
def draw() -> Drawing:
    bench = benches.load("friction")
    settings = bench.defaults() | {"viscous": VISCOUS}
    dataset = bench.data(settings)
    *_, last = bench.train(settings)
    *_, right = bench.train(bench.defaults())  # the same draw of the noise, and a model that lacks nothing
    residual = last.predicted - dataset.fit.measured.values
    usual = right.predicted - bench.data(bench.defaults()).fit.measured.values
    time = Axis("time", "s", domain=(0.0, None))
    return Drawing(
        caption=(
            f"Not by eye. With {VISCOUS:g} N·s/m of viscous drag missing, the fit settles at c = "
            f"{quantity(last.parameters['c'], 'kg/m')} on data made with {bench.truth['c']:g} and lies on them; but "
            f"what it leaves over is {root_mean_square(residual) / dataset.noise:.1f} times the noise, and wanders: "
            f"neighbours correlate by {whiteness(residual).autocorrelations[0]:.2f}."
        ),
        panels=(
            Panel(
                key="overlay",
                title="The overlay",
                x=time,
                y=Axis("position", "m"),
                lines=(
                    Line(Role.MEASURED, "measured", "time", "measured"),
                    Line(Role.PREDICTED, "predicted", "time", "predicted"),
                ),
            ),
            Panel(
                key="left-over",
                title="What it leaves over",
                x=time,
                y=Axis("predicted − measured", "mm"),
                lines=(
                    Line(Role.BAND, "noise, 19 of 20", low=-1960 * dataset.noise, high=1960 * dataset.noise),
                    Line(Role.CURVE, "wrong model", "time", "residual"),
                    Line(Role.OTHER, "right model", "time", "usual"),
                ),
            ),
        ),
        columns={
            "time": dataset.fit.drive.time,
            "measured": dataset.fit.measured.values,
            "predicted": last.predicted,
            "residual": 1000 * residual,
            "usual": 1000 * np.asarray(usual),
        },
    )


FIGURE = Figure("Can one see that the model behind an overlay is wrong?", draw)
