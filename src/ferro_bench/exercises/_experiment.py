"""What the exercises share: the experiment that their cells see, and hidden ones to check them on.

A hidden experiment has another drive, mass, drag, clock and length than the visible one, so that neither the published
coefficient nor a table of the visible trajectory fits it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..dataset import Array, Channel, Drive, Record
from ..exercise import Inputs, Scope
from ..gradient import value_and_grad
from ..quantity import quantity

TOLERANCE = 1e-4  # kg/m; the length of a step below which a search has arrived
NOISE = 0.02  # m; large, so that a loss is not small where it is smallest

SCOPE = {
    entry.name: entry
    for entry in (
        Scope("np", "NumPy"),
        Scope("m", "mass", unit="kg"),
        Scope("u", "force that is held during each step", "(N,)", "N"),
        Scope("dt", "time step", unit="s"),
        Scope("t", "time at the end of each step", "(N,)", "s"),
        Scope("x_measured", "position measured at the end of each step", "(N,)", "m"),
        Scope("rate", "learning rate η"),
        Scope("tolerance", "length of a step in c that counts as none", unit="kg/m"),
        Scope("accel", "`accel(v, u, c)`, the acceleration", unit="m/s²"),
        Scope("rollout", "`rollout(c)`, the positions at the end of each step", "(N,)", "m"),
        Scope("loss", "`loss(c)`, the mean squared distance", unit="m²"),
        Scope("value_and_grad", "`value_and_grad(f, c)` returns f(c), and df/dc in a tuple"),
    )
}


def scope(record: Record, mass: float, rate: float, tolerance: float = TOLERANCE) -> dict[str, Any]:
    """The namespace of the cells for one experiment; its arrays are copies, which a cell may change.

    Args:
        record: what was applied and measured, from rest.
        mass: in kg.
        rate: the learning rate.
        tolerance: the length of a step in c below which a search has arrived, in kg/m.
    """
    return {
        "np": np,
        "m": mass,
        "u": record.drive.input.values.copy(),
        "dt": record.drive.dt,
        "t": record.drive.time,
        "x_measured": record.measured.values.copy(),
        "rate": rate,
        "tolerance": tolerance,
        "value_and_grad": value_and_grad,
    }


def space(inputs: Inputs) -> dict[str, Any]:
    """The namespace of the cells for a hidden experiment."""
    drive = Drive(inputs["dt"], (0.0, 0.0), Channel("u", "force", "N", np.array(inputs["u"])))
    record = Record(drive, Channel("x", "position", "m", np.array(inputs["x_measured"])))
    return scope(record, inputs["m"], inputs["rate"], inputs["tolerance"])


def experiment(rng: np.random.Generator) -> Inputs:
    """Draw a hidden experiment: what `space` needs, and the c at which its loss is smallest, under ``minimum``."""
    steps, dt, m, c = int(rng.integers(30, 46)), between(rng, 0.03, 0.045, 3), another(rng, 1.4), another(rng, 0.85)
    drive = (_oscillation, _pulses)[rng.integers(2)]
    u = m * drive(rng, dt * np.arange(steps))
    position = _travelled(u, dt, m, c)
    sensitivity = (_travelled(u, dt, m, c + 1e-6) - _travelled(u, dt, m, c - 1e-6)) / 2e-6
    noise = NOISE * rng.standard_normal(steps)
    # Noise across the direction in which c moves the prediction leaves the minimum where it is.
    noise -= sensitivity * (noise @ sensitivity) / (sensitivity @ sensitivity)
    curvature = 2.0 * float(np.mean(sensitivity**2))
    return {
        "dt": dt,
        "m": m,
        "u": u.tolist(),
        "x_measured": (position + noise).tolist(),
        # A share of 1 would jump to the minimum of a parabola, and beyond 2 a search moves away from it.
        "rate": float(f"{rng.uniform(0.4, 0.6) / curvature:.3g}"),
        "tolerance": between(rng, 0.5, 2.0, 1) * TOLERANCE,
        "minimum": c,
    }


def between(rng: np.random.Generator, low: float, high: float, digits: int = 2) -> float:
    """A number that can be shown in full."""
    return round(float(rng.uniform(low, high)), digits)


def another(rng: np.random.Generator, known: float) -> float:
    """A positive number of the same kind as a known one, and at least a quarter away from it."""
    return round(known * float(rng.uniform(*rng.choice([(0.5, 0.7), (1.25, 1.6)]))), 2)


def setting(inputs: Inputs) -> str:
    """The experiment in a few words."""
    dt = quantity(inputs["dt"], "s", 2)
    return f"with m = {quantity(inputs['m'], 'kg', 3)}, dt = {dt} and N = {len(inputs['u'])}"


def _oscillation(rng: np.random.Generator, t: Array) -> Array:
    """A force for each kilogram, in N/kg."""
    return rng.uniform(5.0, 8.0) * np.cos(rng.uniform(2.5, 4.0) * t + rng.uniform(0.0, 1.0) * t * t)


def _pulses(rng: np.random.Generator, t: Array) -> Array:
    """Pushes to and fro, in N/kg."""
    strengths = rng.uniform(4.0, 8.0, 4) * np.array([1.0, -1.0, 1.0, -1.0]) * rng.choice([-1.0, 1.0])
    return np.repeat(strengths, -(-len(t) // 4))[: len(t)]


def _travelled(u: Array, dt: float, m: float, c: float) -> Array:
    """Positions under a force; the law is written out once more so that hidden data rest on no exercise's solution."""
    x = v = 0.0
    positions = []
    for force in u.tolist():
        v += dt * (force - c * v * abs(v)) / m
        x += dt * v
        positions.append(x)
    return np.array(positions)
