"""A geared joint that follows a commanded angle: find what its actuator really is, from the encoder alone.

    (I_link + Ia) q̈ = kp (r - q) - kv q̇ - fc tanh(q̇ / w) - m g l sin q

The joint's own electronics turn the commanded angle r into a torque by a proportional-derivative law whose effective
gains differ from the datasheet's. Sought are these gains, the armature (the rotor's inertia as the gears let the link
feel it) and the Coulomb friction, smoothed by a tanh. The link's inertia and weight are known. The weight is what makes
the problem solvable: without it every term of the equation is unknown up to one common factor, and an encoder sees
motion only, which that factor does not change.

After arXiv:2604.10351 in kind, not in scale: one joint, simulated data.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from ..bench import Bench
from ..control import NumberControl, Settings
from ..dataset import Array, Channel, Dataset, Drive, Record
from ..optimizer import LevenbergMarquardt, Optimizer
from ..plant import Parameter, Plant, State, StateVariable
from ..rollout import rollout
from ..solvers import semi_implicit_euler

TRUTH = {"kp": 62.0, "kv": 3.1, "Ia": 0.034, "fc": 0.45}
LINK_INERTIA = 0.11  # kg·m²
WEIGHT = 4.2  # N·m, m g l
SMOOTHING = 0.1  # rad/s, below which the friction fades
DT = 0.005  # s
STEPS = 500
COUNT = 2 * np.pi / 8192  # rad, one count of the encoder
SEED = 271


def rates(state: State, r: Any, kp: Any, kv: Any, Ia: Any, fc: Any) -> State:
    """Four torques on one axis."""
    q, w = state
    torque = kp * (r - q) - kv * w - fc * np.tanh(w / SMOOTHING) - WEIGHT * np.sin(q)
    return w, torque / (LINK_INERTIA + Ia)


PLANT = Plant(
    states=(
        StateVariable("q", "joint angle", "rad", rate="w"),
        StateVariable("w", "joint velocity", "rad/s"),
    ),
    parameters=(
        Parameter("kp", "proportional gain", "N·m/rad", start=80.0, bounds=(10.0, 200.0)),
        Parameter("kv", "velocity gain", "N·m·s/rad", start=2.0, bounds=(0.0, 10.0)),
        Parameter("Ia", "armature", "kg·m²", start=0.020, bounds=(0.0, 0.2)),
        Parameter("fc", "Coulomb friction", "N·m", start=0.10, bounds=(0.0, 2.0)),
    ),
    rates=rates,
)


def sweep(t: Array) -> Array:
    """Two sines, one of them ever faster, in rad."""
    commands: Array = 0.5 * np.sin(1.7 * t) + 0.35 * np.sin(4.0 * t + 2.2 * t * t)
    return commands


def stairs(t: Array) -> Array:
    """Steps up and down, in rad: nothing like a sweep."""
    commands: Array = np.select([t < 0.4, t < 0.9, t < 1.3, t < 1.9], [0.4, 0.9, 0.2, -0.6], default=0.3)
    return commands


def measure(command: Array, noise: Array) -> Record:
    """Let the true joint follow a command from rest, and read its encoder, which counts.

    Args:
        command: in rad, shape (steps,).
        noise: what is added to the angle before it is counted, in rad, shape (steps,).
    """
    drive = Drive(DT, (0.0, 0.0), Channel("r", "commanded angle", "rad", command))
    angle = rollout(PLANT, semi_implicit_euler, TRUTH, drive, observed="q")
    return Record(drive, Channel("q", "joint angle", "rad", COUNT * np.round((angle + noise) / COUNT)))


@cache
def _dataset(noise: float, seed: int) -> Dataset:
    t = DT * np.arange(STEPS)
    fit, held_out = noise * np.random.default_rng(seed).standard_normal((2, STEPS))
    counted = COUNT / np.sqrt(12.0)  # standard deviation of rounding to whole counts
    return Dataset(measure(sweep(t), fit), measure(stairs(t), held_out), float(np.hypot(noise, counted)))


def data(settings: Settings) -> Dataset:
    """The two records; the same ones for the same settings, on every machine."""
    return _dataset(float(settings["noise"]) / 1000, int(float(settings["seed"])))


def optimizer(settings: Settings) -> Optimizer:
    """Levenberg and Marquardt's: it does not notice that the four parameters differ by three powers of ten.

    An armature below zero would make no sense, so the search keeps to the range that does.
    """
    low, high = np.array([parameter.bounds for parameter in PLANT.parameters]).T
    return LevenbergMarquardt(bounds=(low, high))


BENCH = Bench(
    title="Find what a joint’s actuator really is",
    summary="A geared joint follows a commanded angle; from its encoder alone, find its gains, armature and friction. "
    "The search begins at the datasheet’s values.",
    plant=PLANT,
    solver=semi_implicit_euler,
    truth=TRUTH,
    tolerances={"kp": 1.0, "kv": 0.1, "Ia": 0.003, "fc": 0.05},
    data=data,
    optimizer=optimizer,
    budget=60,
    controls=(
        NumberControl("noise", "σ", "noise on the encoder", "mrad", 0.5, (0.3, 5.0), 0.1),
        NumberControl("seed", "№", "draw of the noise", "", SEED, (0, 9999), 1),
    ),
)
