"""Training: one step against the gradient, and when to stop."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..exercise import Check, Exercise, Inputs, WrongAnswer
from ._experiment import SCOPE, between, experiment, setting, space

PULLS = 40  # steps after which a search that goes on is called endless
FAR = 100.0  # kg/m; beyond it a search does not come back

STARTER = """\
def training_step(c):
    value, (gradient,) = value_and_grad(loss, c)
    new_c = c  # which way, and how far?
    done = abs(new_c - c) < tolerance
    return new_c, done

training_step(0.2)
"""

SOLUTION = """\
def training_step(c):
    value, (gradient,) = value_and_grad(loss, c)
    new_c = c - rate * gradient
    done = abs(new_c - c) < tolerance
    return new_c, done

training_step(0.2)
"""


def _draw(low: float, high: float) -> Callable[[np.random.Generator], Inputs]:
    """c as a share of the c where the loss is smallest."""

    def draw(rng: np.random.Generator) -> Inputs:
        inputs = experiment(rng)
        return inputs | {"c": round(inputs["minimum"] * between(rng, low, high), 3)}

    return draw


def _call(inputs: Inputs) -> str:
    return f"`training_step({inputs['c']})` {setting(inputs)}, rate = {inputs['rate']:.3g}"


def _step(training_step: Callable[..., Any], inputs: Inputs) -> Any:
    return training_step(inputs["c"])


def _pull(training_step: Callable[..., Any], inputs: Inputs) -> Any:
    c, done = inputs["c"], False
    for _ in range(PULLS):
        if done or not abs(c) < FAR:
            break
        c, done = training_step(c)
    return c, done


PARTS = ("new_c", "done")

EXERCISE = Exercise(
    number=4,
    title="One step of training",
    prompt=(
        "Write `training_step(c)`: one step of gradient descent on `loss`. It returns `(new_c, done)`: `new_c` is `c` "
        "moved against the gradient by `rate` times the gradient, and `done` is true when that step is shorter than "
        "`tolerance`. `value_and_grad(loss, c)` returns the loss and a tuple of derivatives, here of one: "
        "`value, (gradient,) = value_and_grad(loss, c)`."
    ),
    function="training_step",
    scope=tuple(SCOPE[name] for name in ("rate", "tolerance", "loss", "value_and_grad")),
    starter=STARTER,
    solution=SOLUTION,
    hints=(
        "The gradient points uphill: where it is negative, `c` has to grow.",
        "The step is `-rate * gradient`, and its length is the absolute value of that.",
        "`new_c = c - rate * gradient`, and `done = abs(new_c - c) < tolerance`.",
    ),
    wrong=(
        WrongAnswer(
            "no step",
            STARTER,
            "`c` stays where it is, and a step of no length counts as arrived. Move `new_c` against the gradient.",
        ),
        WrongAnswer(
            "uphill",
            SOLUTION.replace("c - rate", "c + rate"),
            "This climbs: the gradient points to where the loss grows. Subtract `rate * gradient`.",
        ),
        WrongAnswer(
            "no rate",
            SOLUTION.replace("rate * gradient", "gradient"),
            "The step has the length of the gradient itself here. Multiply it by `rate`.",
        ),
        WrongAnswer(
            "the loss in place of its gradient",
            SOLUTION.replace("rate * gradient", "rate * value"),
            "This steps by the loss, which is never negative, so `c` can only fall. Step by the gradient.",
        ),
        WrongAnswer(
            "tuple not unpacked",
            SOLUTION.replace("(gradient,)", "gradient"),
            "`value_and_grad` returns a tuple of derivatives, one for each argument, also where there is but one: "
            "`value, (gradient,) = value_and_grad(loss, c)`.",
        ),
        WrongAnswer(
            "done at once",
            SOLUTION.replace("abs(new_c - c) < tolerance", "True"),
            "The step is right, but `done` is true far from the minimum too, so a search ends at once. Compare the "
            "length of the step with `tolerance`.",
        ),
        WrongAnswer(
            "never done",
            SOLUTION.replace("abs(new_c - c) < tolerance", "False"),
            "The step is right, but `done` is not true at the minimum either, so a search never ends. Compare the "
            "length of the step with `tolerance`; the loss itself need not become small, for the data are noisy.",
        ),
        WrongAnswer(
            "done the other way round",
            SOLUTION.replace("< tolerance", "> tolerance"),
            "The step is right, but `done` is true while the steps are long. It should be true when they are short.",
        ),
        WrongAnswer(
            "a step down counts as short",
            SOLUTION.replace("abs(new_c - c)", "new_c - c"),
            "The step is right, but a step to a smaller `c` is negative: always below `tolerance`. Take `abs` of it.",
        ),
        WrongAnswer(
            "done forgotten",
            SOLUTION.replace("return new_c, done", "return new_c"),
            "Two values were asked for, the new c and whether it has arrived: `return new_c, done`.",
        ),
    ),
    checks=(
        Check("a step from below the minimum", _draw(0.5, 0.7), _call, _step, "kg/m", PARTS),
        Check("a step from above it", _draw(1.3, 1.6), _call, _step, "kg/m", PARTS),
        Check("a step at the minimum", _draw(1.0, 1.0), _call, _step, "kg/m", PARTS),
        Check(
            "step after step to the minimum",
            _draw(0.5, 0.7),
            lambda inputs: f"{_call(inputs)}, repeated until done ({PULLS} times at most),",
            _pull,
            "kg/m",
            PARTS,
            tolerance=0.002,  # whoever stops one step sooner or later has arrived too
        ),
    ),
    space=space,
)
