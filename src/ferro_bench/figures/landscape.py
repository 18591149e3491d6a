"""The loss over the parameter, and two ways down."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np

from .. import benches
from ..dataset import Array
from ..figure import Drawing, Figure
from ..panel import Axis, Line, Panel, Role
from ..quantity import quantity

TOO_HIGH = 3.0  # a learning rate beyond the limit of stability


def path(rate: float) -> tuple[Array, Array]:
    """The values of c and the losses of gradient descent at that learning rate, from the bench's defaults."""
    bench = benches.load("friction")
    steps = list(bench.train(bench.defaults() | {"learning_rate": rate}))
    return np.array([step.parameters["c"] for step in steps]), np.array([step.loss for step in steps])


def losses(values: Sequence[float]) -> Array:
    """The loss at values of c, on the bench's own record."""
    bench = benches.load("friction")
    problem = bench.problem(bench.defaults())
    return np.array([problem.loss(problem.predict({"c": c})) for c in values])


@cache
def draw() -> Drawing:
    bench = benches.load("friction")
    rate = float(bench.defaults()["learning_rate"])
    path_c, path_loss = path(rate)
    far_c, far_loss = path(TOO_HIGH)
    found = float(path_c[-1])
    # Fine about the minimum, where the loss falls by decades.
    near = np.union1d(np.linspace(0.1, 1.2, 111), found + np.linspace(-0.01, 0.01, 11))
    wide = np.union1d(near, np.linspace(1.2, np.ceil(far_c.max()), 60))
    loss = Axis("loss L", "m²", scale="log")

    def panel(key: str, title: str, c: str, curve: str, prefix: str) -> Panel:
        return Panel(
            key=key,
            title=title,
            x=Axis("drag coefficient c", "kg/m"),
            y=loss,
            lines=(
                Line(Role.STEPS, "training", f"{prefix}_c", f"{prefix}_loss"),
                Line(Role.CURVE, "loss", c, curve),
            ),
        )

    return Drawing(
        caption=(
            f"With a learning rate of {rate:g}, {len(path_c) - 1} steps settle at the minimum, c = "
            f"{quantity(found, 'kg/m')}. With one of {TOO_HIGH:g} the first step flies to c = "
            f"{quantity(far_c[1], 'kg/m', 3)}, and the later ones hop across the minimum for ever, because a rate must "
            f"stay below two over the curvature, {quantity(2 / curvature_at(found), digits=3)}."
        ),
        panels=(
            panel("settles", f"Learning rate {rate:g}", "near", "near_loss", "path"),
            panel("hops", f"Learning rate {TOO_HIGH:g}", "wide", "wide_loss", "far"),
        ),
        columns={
            "near": near,
            "near_loss": losses(near.tolist()),
            "wide": wide,
            "wide_loss": losses(wide.tolist()),
            "path_c": path_c,
            "path_loss": path_loss,
            "far_c": far_c,
            "far_loss": far_loss,
        },
    )


def curvature_at(c: float) -> float:
    """The second derivative of the loss at its minimum, where the residual has next to no part in it."""
    bench = benches.load("friction")
    slopes = bench.problem(bench.defaults()).jacobian(np.array([c]))[:, 0]
    return float(2 * np.mean(slopes**2))


FIGURE = Figure("Why does a small step arrive where a large one does not?", draw)
