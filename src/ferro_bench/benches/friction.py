"""A mass on a rail with quadratic drag: find the drag coefficient from the position alone.

    v̇ = (u - c v |v|) / m        ẋ = v

The law is nonlinear in v and linear in c. The mass is known, or fitted too. The drive is a chirp, which visits slow and
fast motion in one short record.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from ..bench import Bench
from ..control import ChoiceControl, NumberControl, Settings
from ..dataset import Array, Channel, Dataset, Drive, Record
from ..optimizer import LBFGS, Adam, GradientDescent, LevenbergMarquardt, Momentum, Optimizer
from ..plant import Parameter, Plant, State, StateVariable
from ..rollout import rollout
from ..solvers import semi_implicit_euler

TRUTH = {"c": 0.85, "m": 1.4}
DT = 0.02  # s
STEPS = 120


def rates(state: State, u: Any, c: Any, m: Any) -> State:
    """Quadratic drag always points against the motion, hence v |v| and not v²."""
    x, v = state
    force = u - c * v * np.abs(v)
    return v, force / m


PLANT = Plant(
    states=(
        StateVariable("x", "position", "m", rate="v"),
        StateVariable("v", "velocity", "m/s"),
    ),
    parameters=(
        Parameter("c", "drag coefficient", "kg/m", start=0.20, bounds=(0.0, 3.0)),
        Parameter("m", "mass", "kg", start=1.0, bounds=(0.1, 10.0), positive=True),
    ),
    rates=rates,
)


def chirp(t: Array) -> Array:
    """A force that oscillates ever faster: 6 sin(2.4 t + 0.35 t²) N."""
    return 6.0 * np.sin(2.4 * t + 0.35 * t * t)


def pulses(t: Array) -> Array:
    """A push, a pause, a harder push back and a last nudge, in N: nothing like a chirp."""
    return np.select([t < 0.7, t < 1.0, t < 1.8], [4.5, 0.0, -6.5], default=3.0)


def measure(force: Array, noise: Array, viscous: float = 0.0) -> Record:
    """Simulate the true plant from rest under a force, and measure its position with noise.

    Args:
        force: in newton, shape (steps,).
        noise: what is added to the positions, in metres, shape (steps,).
        viscous: drag in proportion to the velocity, in N·s/m, of which the model knows nothing.
    """

    def true_rates(state: State, u: Any, c: Any, m: Any) -> State:
        return rates(state, u - viscous * state[1], c, m)

    drive = Drive(DT, (0.0, 0.0), Channel("u", "force", "N", force))
    position = rollout(replace(PLANT, rates=true_rates), semi_implicit_euler, TRUTH, drive, observed="x")
    return Record(drive, Channel("x", "position", "m", position + noise))


@cache
def _dataset(noise: float, seed: int, viscous: float) -> Dataset:
    t = DT * np.arange(STEPS)
    noise_fit, noise_held_out = noise * np.random.default_rng(seed).standard_normal((2, STEPS))
    return Dataset(measure(chirp(t), noise_fit, viscous), measure(pulses(t), noise_held_out, viscous), noise)


def data(settings: Settings) -> Dataset:
    """The two records; the same ones for the same settings, on every machine."""
    noise = float(settings["noise"]) / 1000
    return _dataset(noise, int(float(settings["seed"])), float(settings["viscous"]))


def optimizer(settings: Settings) -> Optimizer:
    """A fresh optimizer of the chosen kind; the last two find their own step lengths."""
    rate = float(settings["learning_rate"])
    match settings["optimizer"]:
        case "momentum":
            return Momentum(rate)
        case "adam":
            return Adam(rate)
        case "l-bfgs":
            return LBFGS(cap=1.0)
        case "levenberg-marquardt":
            return LevenbergMarquardt()
        case _:
            return GradientDescent(rate)


def regress(record: Record, sought: Collection[str]) -> dict[str, float]:
    """Linear regression on positions that are differenced twice, u = m v̇ + c v |v|: exact without noise, and only then.

    Args:
        record: from rest.
        sought: which of c and m; what is not among them is known.
    """
    velocity = np.diff(np.concatenate([[0.0, 0.0], record.measured.values])) / record.drive.dt
    acceleration, velocity = np.diff(velocity) / record.drive.dt, velocity[:-1]
    columns = {"c": velocity * np.abs(velocity), "m": acceleration}
    rest = record.drive.input.values - sum(
        TRUTH[symbol] * columns[symbol] for symbol in columns if symbol not in sought
    )
    found = np.linalg.lstsq(np.stack([columns[symbol] for symbol in sought], axis=1), rest, rcond=None)[0]
    return dict(zip(sought, found.tolist(), strict=True))


BENCH = Bench(
    title="Find the drag of a moving mass",
    summary="A known mass is pushed along a rail; from its position alone, find the drag coefficient c.",
    plant=PLANT,
    solver=semi_implicit_euler,
    truth=TRUTH,
    tolerances={"c": 0.05, "m": 0.05},
    known_unless_asked=("m",),
    data=data,
    optimizer=optimizer,
    budget=200,
    controls=(
        NumberControl("learning_rate", "η", "learning rate", "", 0.35, (0.01, 5.0), 0.01),
        ChoiceControl(
            "optimizer",
            "optimizer",
            {
                "gradient descent": "Gradient descent",
                "momentum": "Momentum",
                "adam": "Adam",
                "l-bfgs": "L-BFGS",
                "levenberg-marquardt": "Levenberg–Marquardt",
            },
        ),
        NumberControl("noise", "σ", "noise on the positions", "mm", 1.0, (0.0, 10.0), 0.1),
        NumberControl("seed", "№", "draw of the noise", "", 314, (0, 9999), 1),
        NumberControl("viscous", "b", "viscous drag that the model lacks", "N·s/m", 0.0, (0.0, 1.0), 0.05),
    ),
    rivals={"by one-line regression": regress},
)
