"""How the gradient flows back through the steps of the rollout."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

import numpy as np

from .. import benches
from ..dataset import Array
from ..figure import Drawing, Figure
from ..gradient import Tape
from ..panel import Axis, Line, Panel, Role
from ..problem import Problem
from ..quantity import quantity

THICK = 0.6, 1.4  # s: where most of the gradient comes from
NUDGE = 0.01  # m, and m/s: how far the second picture moves a state


def walk_back(problem: Problem, sought: Mapping[str, float], symbol: str) -> tuple[Array, Array]:
    """Each step's share in the derivative of the loss, and the adjoint of the state after each step.

    Both by their definitions: every step is given a parameter of its own, and every state something of its own to be
    moved by, all of them zero. The derivative by the one is the step's share, by the other the adjoint.

    Args:
        problem: what is identified.
        sought: symbol -> value of the sought parameters.
        symbol: of the one by which is differentiated.

    Returns:
        The shares, shape (steps,), and the adjoints, shape (steps, states).
    """
    plant, drive, tape = problem.plant, problem.record.drive, Tape()
    own = [tape.variable(sought[symbol]) for _ in drive.inputs]
    moved = [[tape.variable(0.0) for _ in plant.states] for _ in drive.inputs]
    observed = plant.state_index(problem.record.measured.symbol)
    state, predicted = drive.start, []
    for held, parameter, by in zip(drive.inputs, own, moved, strict=True):
        after = problem.solver(plant, state, held, {**problem.known, **sought, symbol: parameter}, drive.dt)
        state = tuple(part + shift for part, shift in zip(after, by, strict=True))
        predicted.append(state[observed])
    flat = [shift for by in moved for shift in by]
    derivatives = np.array(tape.gradient(problem.loss(np.stack(predicted)), [*own, *flat]))
    return derivatives[: drive.steps], derivatives[drive.steps :].reshape(drive.steps, -1)


@cache
def draw() -> Drawing:
    bench = benches.load("friction")
    problem = bench.problem(bench.defaults())
    drive = problem.record.drive
    shares, adjoints = walk_back(problem, problem.start, "c")
    gradient = float(np.sum(shares))
    percent = 100 * shares / gradient
    first, last = (round(t / drive.dt) for t in THICK)
    thick = percent[first - 1 : last]  # the first step ends after one time step
    time = Axis("time", "s", domain=(0.0, None))
    return Drawing(
        caption=(
            f"At the start of training, {np.sum(thick):.0f} % of dL/dc = {quantity(gradient, 'm²/(kg/m)')} comes from "
            f"the steps between {THICK[0]:g} and {THICK[1]:g} s, where the mass is fast and much of the record still "
            "lies ahead. The adjoints grow from right to left: the earlier a state is moved, the more of what follows "
            "moves with it."
        ),
        panels=(
            Panel(
                key="shares",
                title="Each step’s share in dL/dc",
                x=time,
                y=Axis("share of the gradient", "%"),
                lines=(Line(Role.CURVE, "share", "time", "share"),),
            ),
            Panel(
                key="adjoints",
                title="The adjoints: how the loss would grow",
                x=time,
                y=Axis("change of the loss", "cm²", domain=(0.0, None)),
                lines=(
                    Line(Role.CURVE, "x moved 1 cm", "time", "by_x"),
                    Line(Role.OTHER, "v moved 1 cm/s", "time", "by_v"),
                ),
            ),
        ),
        columns={
            "time": drive.time,
            "share": percent,
            "by_x": 1e4 * NUDGE * adjoints[:, 0],
            "by_v": 1e4 * NUDGE * adjoints[:, 1],
        },
    )


FIGURE = Figure("Where along the motion does the gradient come from?", draw)
