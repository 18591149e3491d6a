"""The rollout: many steps in a row, from rest."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..exercise import Check, Exercise, Inputs, WrongAnswer
from ..gradient import value_and_grad
from ._experiment import SCOPE, another, experiment, setting, space

STARTER = """\
def rollout(c):
    x, v = 0.0, 0.0
    positions = []
    for force in u:
        # one step of length dt: first the velocity, then the position
        positions.append(x)
    return np.stack(positions)

rollout(0.85)
"""

SOLUTION = """\
def rollout(c):
    x, v = 0.0, 0.0
    positions = []
    for force in u:
        v = v + dt * accel(v, force, c)
        x = x + dt * v
        positions.append(x)
    return np.stack(positions)

rollout(0.85)
"""

V, X = "        v = v + dt * accel(v, force, c)\n", "        x = x + dt * v\n"


def _draw(rng: np.random.Generator) -> Inputs:
    inputs = experiment(rng)
    return inputs | {"c": another(rng, 0.85), "weights": rng.uniform(0.5, 1.5, len(inputs["u"])).round(3).tolist()}


def _call(inputs: Inputs) -> str:
    return f"`rollout({inputs['c']})` {setting(inputs)}"


def _slope(rollout: Callable[..., Any], inputs: Inputs) -> Any:
    """The derivative of a weighted sum of the positions, in which every position counts."""
    _, (slope,) = value_and_grad(lambda c: np.sum(np.array(inputs["weights"]) * rollout(c)), inputs["c"])
    return slope


EXERCISE = Exercise(
    number=2,
    title="The rollout",
    prompt=(
        "Write `rollout(c)`: the positions of the mass at the end of each step, shape `(N,)`, when it starts at rest "
        "at `x = 0` and the force `u[k]` is held during step `k`. In each step of length `dt` move the velocity first, "
        "with `accel`, then the position with the new velocity. Collect the positions in a list and `np.stack` it, so "
        "that a derivative gets through."
    ),
    function="rollout",
    scope=tuple(SCOPE[name] for name in ("np", "u", "dt", "accel")),
    starter=STARTER,
    solution=SOLUTION,
    hints=(
        "A rate times `dt` is a change: what is added to `v` in one step, and what to `x`?",
        "Use the old `v` for the acceleration and the new `v` for the position, and append `x` after both have moved.",
        "`v = v + dt * accel(v, force, c)`, then `x = x + dt * v`, then `positions.append(x)`.",
    ),
    wrong=(
        WrongAnswer(
            "nothing moves",
            STARTER,
            "The mass stands still: `x` and `v` have to change in every step, before `x` is appended.",
        ),
        WrongAnswer(
            "a step behind",
            SOLUTION.replace(V + X, X + V),
            "Every position comes one step late. Move the velocity first, then the position with the new velocity, and "
            "append it after that.",
        ),
        WrongAnswer(
            "velocities",
            SOLUTION.replace("append(x)", "append(v)"),
            "These are the velocities. The positions were asked for: append `x`.",
        ),
        WrongAnswer(
            "initial position included",
            SOLUTION.replace("positions = []", "positions = [x]"),
            "There is one position too many. The start is no end of a step: begin with an empty list.",
        ),
        WrongAnswer(
            "an array that is written into",
            SOLUTION.replace("positions = []", "positions = np.zeros(len(u))")
            .replace("for force in u", "for k, force in enumerate(u)")
            .replace("positions.append(x)", "positions[k] = x")
            .replace("np.stack(positions)", "positions"),
            "The numbers are right, but an array of floats has no room for tape variables, so no derivative gets "
            "through. Collect the positions in a list and return `np.stack` of it.",
        ),
        WrongAnswer(
            "an array that is made from the list",
            SOLUTION.replace("np.stack(positions)", "np.array(positions)"),
            "The numbers are right, but this function lets no derivative through. `np.stack` of the list does.",
        ),
        WrongAnswer(
            "the list itself",
            SOLUTION.replace("np.stack(positions)", "positions"),
            "The list is right, but what comes after computes with arrays: return `np.stack(positions)`.",
        ),
        WrongAnswer(
            "only the last position",
            SOLUTION.replace("np.stack(positions)", "x"),
            "This is the last position alone. The whole trajectory was asked for: `np.stack(positions)`.",
        ),
        WrongAnswer(
            "dt forgotten",
            SOLUTION.replace("dt * ", ""),
            "Both steps are as long as a second here. A rate has to be multiplied by `dt` before it is added.",
        ),
        WrongAnswer(
            "dt forgotten in the velocity",
            SOLUTION.replace("dt * accel", "accel"),
            "The velocity changes by a whole second's acceleration in each step. Multiply the acceleration by `dt`.",
        ),
        WrongAnswer(
            "dt forgotten in the position",
            SOLUTION.replace("dt * v", "v"),
            "The position changes by a whole second's velocity in each step. Multiply the velocity by `dt`.",
        ),
        WrongAnswer(
            "returned inside the loop",
            SOLUTION.replace("    return", "        return"),
            "The function returns in its first step. Move `return` out of the loop, to the column of `for`.",
        ),
    ),
    checks=(
        Check("one drive", _draw, _call, lambda rollout, inputs: rollout(inputs["c"]), "m"),
        Check("another drive, mass and clock", _draw, _call, lambda rollout, inputs: rollout(inputs["c"]), "m"),
        Check(
            "a derivative through the tape",
            _draw,
            lambda inputs: f"the derivative of {_call(inputs)}",
            _slope,
            "m²/kg",
        ),
    ),
    space=space,
)
