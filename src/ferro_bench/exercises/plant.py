"""The law: acceleration under a force and quadratic drag."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..exercise import Check, Exercise, Inputs, WrongAnswer
from ..gradient import value_and_grad
from ..quantity import quantity
from ._experiment import SCOPE, another, between, experiment, space

STARTER = """\
def accel(v, u, c):
    # Newton's law for the force alone. Where is the drag?
    return u / m

accel(2.0, 6.0, 0.85)
"""

SOLUTION = """\
def accel(v, u, c):
    drag = c * v * np.abs(v)
    return (u - drag) / m

accel(2.0, 6.0, 0.85)
"""


def _moving(low: float, high: float) -> Callable[[np.random.Generator], Inputs]:
    def draw(rng: np.random.Generator) -> Inputs:
        at = {"v": between(rng, low, high), "u": between(rng, 2.0, 6.0), "c": another(rng, 0.85)}
        return experiment(rng) | {"at": at}

    return draw


def _many(rng: np.random.Generator) -> Inputs:
    v = rng.uniform(0.5, 3.0, 7).round(2) * np.array([1, -1, 0, 1, -1, 1, -1])
    return experiment(rng) | {"at": {"v": v.tolist(), "u": between(rng, 2.0, 6.0), "c": another(rng, 0.85)}}


def _call(inputs: Inputs) -> str:
    at = inputs["at"]
    v = "v" if isinstance(at["v"], list) else at["v"]
    values = f"`v = np.array({at['v']})` and " if v == "v" else ""
    return f"`accel({v}, {at['u']}, {at['c']})` with {values}m = {quantity(inputs['m'], 'kg', 3)}"


def _value(accel: Callable[..., Any], inputs: Inputs) -> Any:
    at = inputs["at"]
    return accel(np.array(at["v"]) if isinstance(at["v"], list) else at["v"], at["u"], at["c"])


def _slopes(accel: Callable[..., Any], inputs: Inputs) -> Any:
    at = inputs["at"]
    _, slopes = value_and_grad(lambda v, c: accel(v, at["u"], c), at["v"], at["c"])
    return slopes


EXERCISE = Exercise(
    number=1,
    title="The law",
    prompt=(
        "Write `accel(v, u, c)`: the acceleration of the mass `m` at the velocity `v` under the force `u`, with a drag "
        "of `c` times the square of the speed, always against the motion. It has to work on single numbers, on arrays "
        "and on tape variables, so use operators and `np` functions."
    ),
    function="accel",
    scope=(SCOPE["np"], SCOPE["m"]),
    starter=STARTER,
    solution=SOLUTION,
    hints=(
        "Two forces act on the mass: the push `u` and the drag. Their sum, divided by `m`, is the acceleration.",
        "The square of a velocity is never negative, but the drag has to turn round when the motion does.",
        "`v * np.abs(v)` has the size of v² and the sign of v: the drag force is `-c * v * np.abs(v)`.",
    ),
    wrong=(
        WrongAnswer(
            "no drag",
            STARTER,
            "The drag is not in yet: subtract a force from `u` that grows with `c` and with the square of the speed.",
        ),
        WrongAnswer(
            "drag along the motion",
            SOLUTION.replace("u - drag", "u + drag"),
            "The drag pushes along with the motion here. It has to act against it: check its sign at a positive `v`.",
        ),
        WrongAnswer(
            "v squared",
            SOLUTION.replace("v * np.abs(v)", "v**2"),
            "It is right forwards and wrong backwards: `v**2` loses the sign of `v`, and `v * np.abs(v)` keeps it.",
        ),
        WrongAnswer(
            "linear drag",
            SOLUTION.replace("v * np.abs(v)", "v"),
            "The drag grows in proportion to `v`, as in thick oil. Here it grows with the square: `v * np.abs(v)`.",
        ),
        WrongAnswer(
            "speed in place of its square",
            SOLUTION.replace("v * np.abs(v)", "np.abs(v)"),
            "The drag grows with the speed here, not with its square, and never turns round: multiply by `v` too.",
        ),
        WrongAnswer(
            "mass forgotten",
            SOLUTION.replace("(u - drag) / m", "u - drag"),
            "This is the force in newton. An acceleration is the force divided by the mass.",
        ),
        WrongAnswer(
            "force not divided by the mass",
            SOLUTION.replace("(u - drag) / m", "u - drag / m"),
            "Only the drag is divided by `m` here, for `/` comes before `-`. Put the sum of the forces in brackets.",
        ),
        WrongAnswer(
            "drag not divided by the mass",
            SOLUTION.replace("(u - drag) / m", "u / m - drag"),
            "Only the push is divided by `m` here, for `/` comes before `-`. Put the sum of the forces in brackets.",
        ),
        WrongAnswer(
            "a branch on the velocity",
            SOLUTION.replace("    return", "    if v < 0:\n        drag = -c * v**2\n    return"),
            "It is right for one velocity, but `if` cannot decide for an array. `v * np.abs(v)` needs no branch.",
        ),
    ),
    checks=(
        Check("moving forwards", _moving(1.4, 3.0), _call, _value, "m/s²"),
        Check("at rest", _moving(0.0, 0.0), _call, _value, "m/s²"),
        Check("moving backwards", _moving(-3.0, -1.4), _call, _value, "m/s²"),
        Check("an array of velocities", _many, _call, _value, "m/s²"),
        Check(
            "derivatives through the tape",
            _moving(-3.0, -1.4),
            lambda inputs: f"the derivative of {_call(inputs)}",
            _slopes,
            parts=("derivative by v", "derivative by c"),
        ),
    ),
    space=space,
)
