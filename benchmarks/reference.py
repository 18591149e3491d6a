"""What is timed: the reference problem, and a larger fit.

The reference problem: a mass of 1.4 kg with quadratic drag starts at rest and is pushed by the friction bench's chirp;
semi-implicit Euler, 0.02 s a step; the loss is the sum of the squared position errors on noise-free data of c = 0.85,
and its derivative by c is taken at c = 0.20.
"""

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from ferro_bench.benches.friction import DT, PLANT, TRUTH, chirp
from ferro_bench.compiled import CompiledRollout, compile_rollout
from ferro_bench.dataset import Array, Channel, Drive, Record
from ferro_bench.gradient import value_and_grad
from ferro_bench.plant import Parameter, Plant, State, StateVariable
from ferro_bench.problem import Problem
from ferro_bench.rollout import rollout
from ferro_bench.solvers import semi_implicit_euler

MASS = TRUTH["m"]
AT = 0.20
GRADIENT = -268.3810365  # of 120 steps, by c at 0.20


def record(steps: int) -> Record:
    """The first so many steps of the reference experiment."""
    drive = Drive(DT, (0.0, 0.0), Channel("u", "force", "N", chirp(DT * np.arange(steps))))
    return Record(drive, Channel("x", "position", "m", rollout(PLANT, semi_implicit_euler, TRUTH, drive, "x")))


def problem(steps: int) -> Problem:
    """The identification of c from that record."""
    return Problem(PLANT, semi_implicit_euler, record(steps), known={"m": MASS}, start={"c": AT})


def unseen(plant: Plant) -> Plant:
    """The same plant under another identity, so that a program compiled earlier is not taken for it."""
    return replace(plant, rates=partial(plant.rates))


def compiled() -> CompiledRollout:
    """The rollout by c as a program, compiled now."""
    return compile_rollout(unseen(PLANT), semi_implicit_euler, DT, "x", {"m": MASS}, ["c"])


def tape_gradient(data: Record) -> float:
    """The gradient by this package's tape."""

    def loss(c: Any) -> Any:
        error = rollout(PLANT, semi_implicit_euler, {"c": c, "m": MASS}, data.drive, "x") - data.measured.values
        return np.sum(error * error)

    return value_and_grad(loss, AT)[1][0]


# A larger fit: four parameters of a damped mass on a spring, from 25,000 noisy samples -------------------------------


def oscillator_rates(state: State, u: Any, m: Any, k: Any, b: Any, c: Any) -> State:
    """A spring, viscous and quadratic drag."""
    x, v = state
    return v, (u - k * x - b * v - c * v * np.abs(v)) / m


OSCILLATOR = Plant(
    states=(StateVariable("x", "position", "m", rate="v"), StateVariable("v", "velocity", "m/s")),
    parameters=(
        Parameter("m", "mass", "kg", start=1.0, bounds=(0.1, 10.0)),
        Parameter("k", "stiffness", "N/m", start=5.0, bounds=(0.1, 100.0)),
        Parameter("b", "viscous drag", "kg/s", start=1.0, bounds=(0.0, 10.0)),
        Parameter("c", "quadratic drag", "kg/m", start=0.2, bounds=(0.0, 10.0)),
    ),
    rates=oscillator_rates,
)
OSCILLATOR_TRUTH = {"m": 1.4, "k": 8.0, "b": 0.6, "c": 0.85}


def oscillator_problem(samples: int = 25_000) -> Problem:
    """The identification of all four parameters from a record with 1 mm of noise."""
    t = DT * np.arange(samples)
    force: Array = 6.0 * np.sin(1.7 * t) + 4.0 * np.sin(4.1 * t) + 5.0 * np.sin(0.3 * t)
    drive = Drive(DT, (0.0, 0.0), Channel("u", "force", "N", force))
    position = rollout(OSCILLATOR, semi_implicit_euler, OSCILLATOR_TRUTH, drive, "x")
    noise = 0.001 * np.random.default_rng(314).standard_normal(samples)
    data = Record(drive, Channel("x", "position", "m", position + noise))
    start = {parameter.symbol: parameter.start for parameter in OSCILLATOR.parameters}
    return Problem(OSCILLATOR, semi_implicit_euler, data, known={}, start=start)
