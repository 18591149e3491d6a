"""The loss: how far the rollout is from the measurement."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..exercise import Check, Exercise, Inputs, WrongAnswer
from ..gradient import value_and_grad
from ._experiment import SCOPE, between, experiment, setting, space

STARTER = """\
def loss(c):
    error = rollout(c) - x_measured
    return np.mean(error)

loss(0.2)
"""

SOLUTION = """\
def loss(c):
    error = rollout(c) - x_measured
    return np.mean(error**2)

loss(0.2)
"""


def _draw(low: float, high: float) -> Callable[[np.random.Generator], Inputs]:
    """c as a share of the c behind the data."""

    def draw(rng: np.random.Generator) -> Inputs:
        inputs = experiment(rng)
        return inputs | {"c": round(inputs["minimum"] * between(rng, low, high), 3)}

    return draw


def _call(inputs: Inputs) -> str:
    return f"`loss({inputs['c']})` {setting(inputs)}"


def _value(loss: Callable[..., Any], inputs: Inputs) -> Any:
    return loss(inputs["c"])


def _slope(loss: Callable[..., Any], inputs: Inputs) -> Any:
    _, (slope,) = value_and_grad(loss, inputs["c"])
    return slope


EXERCISE = Exercise(
    number=3,
    title="The loss",
    prompt=(
        "Write `loss(c)`: the mean over all steps of the squared distance between `rollout(c)` and `x_measured`, one "
        "number in m²."
    ),
    function="loss",
    scope=tuple(SCOPE[name] for name in ("np", "x_measured", "rollout")),
    starter=STARTER,
    solution=SOLUTION,
    hints=(
        "Errors of opposite sign cancel in a mean. What can be done to each of them first?",
        "Square every error, then take the mean: `np.mean(error**2)`.",
    ),
    wrong=(
        WrongAnswer(
            "no square",
            STARTER,
            "Errors to either side cancel here, so a bad fit can have the loss 0. Square each error before the mean.",
        ),
        WrongAnswer(
            "the square of the mean",
            SOLUTION.replace("np.mean(error**2)", "np.mean(error) ** 2"),
            "Errors to either side cancel before they are squared here. Square each of them first, then take the mean.",
        ),
        WrongAnswer(
            "absolute errors",
            SOLUTION.replace("error**2", "np.abs(error)"),
            "This is the mean distance. The mean of the squared distance was asked for: square each error.",
        ),
        WrongAnswer(
            "sum in place of mean",
            SOLUTION.replace("np.mean", "np.sum"),
            "This is the sum of the squares, which grows with the number of steps. Take `np.mean`.",
        ),
        WrongAnswer(
            "half of it",
            SOLUTION.replace("np.mean(error**2)", "np.mean(error**2) / 2"),
            "This is half the mean. Some texts put a half before it; here it is the mean itself.",
        ),
        WrongAnswer(
            "the root of it",
            SOLUTION.replace("np.mean(error**2)", "np.sqrt(np.mean(error**2))"),
            "This is the root of the mean square, in metres. Leave the root out.",
        ),
        WrongAnswer(
            "another array",
            SOLUTION.replace("x_measured", "u"),
            "The prediction is compared with the force here. What was measured is `x_measured`.",
        ),
        WrongAnswer(
            "shifted by a step",
            SOLUTION.replace("rollout(c) - x_measured", "rollout(c)[1:] - x_measured[:-1]"),
            "Two different moments are compared here. `rollout(c)[k]` and `x_measured[k]` belong together.",
        ),
        WrongAnswer(
            "the first step left out",
            SOLUTION.replace("rollout(c) - x_measured", "rollout(c)[1:] - x_measured[1:]"),
            "The first step is left out here. Compare the whole arrays.",
        ),
        WrongAnswer(
            "only the last position",
            SOLUTION.replace("rollout(c) - x_measured", "rollout(c)[-1] - x_measured[-1]"),
            "Only the last position is compared here. Compare the whole arrays.",
        ),
        WrongAnswer(
            "no mean",
            SOLUTION.replace("np.mean(error**2)", "error**2"),
            "This is one number for each step. A loss is a single number: take `np.mean` of them.",
        ),
    ),
    checks=(
        Check("a c below the one behind the data", _draw(0.3, 0.6), _call, _value, "m²"),
        Check("a c above it, on another experiment", _draw(1.4, 1.8), _call, _value, "m²"),
        Check(
            "its derivative by c",
            _draw(0.3, 0.6),
            lambda inputs: f"the derivative of {_call(inputs)}",
            _slope,
            "m³/kg",
        ),
    ),
    space=space,
)
