"""What one would write by hand instead: the forward rollout and its adjoint, and rollouts alone."""

from collections.abc import Sequence

import numpy as np

from ferro_bench.benches.friction import DT
from ferro_bench.dataset import Array

from .reference import MASS


def gradient(c: float, forces: Sequence[float], measured: Sequence[float]) -> tuple[float, float]:
    """The reference problem's loss and its derivative by c, on floats."""
    x = v = loss = 0.0
    velocities, errors = [], []
    for u, target in zip(forces, measured, strict=True):
        velocities.append(v)
        v += DT * (u - c * v * abs(v)) / MASS
        x += DT * v
        error = x - target
        loss += error * error
        errors.append(error)
    x_bar = v_bar = by_c = 0.0
    for v, error in zip(reversed(velocities), reversed(errors), strict=True):
        x_bar += 2.0 * error
        v_bar += DT * x_bar
        speed = abs(v)
        force_bar = v_bar * DT / MASS
        by_c -= force_bar * v * speed
        v_bar -= force_bar * 2.0 * c * speed
    return loss, by_c


def gradients(c: Array, forces: Sequence[float], measured: Sequence[float]) -> tuple[Array, Array]:
    """The same for many values of c at once, shape (batch,); every operation writes into an array that is there."""
    v = np.zeros((len(forces) + 1, len(c)))
    error = np.empty((len(forces), len(c)))
    x, a, b = np.zeros(len(c)), np.empty(len(c)), np.empty(len(c))
    for k, u in enumerate(forces):
        now, after = v[k], v[k + 1]
        np.abs(now, out=a)
        np.multiply(a, now, out=a)
        np.multiply(a, c, out=a)
        np.subtract(u, a, out=a)
        np.multiply(a, DT / MASS, out=a)
        np.add(now, a, out=after)
        np.multiply(after, DT, out=a)
        np.add(x, a, out=x)
        np.subtract(x, measured[k], out=error[k])
    loss = np.einsum("kb,kb->b", error, error)
    x_bar, v_bar, by_c = np.zeros(len(c)), np.zeros(len(c)), np.zeros(len(c))
    for k in reversed(range(len(forces))):
        now = v[k]
        np.multiply(error[k], 2.0, out=a)
        np.add(x_bar, a, out=x_bar)
        np.multiply(x_bar, DT, out=a)
        np.add(v_bar, a, out=v_bar)
        np.multiply(v_bar, DT / MASS, out=a)
        np.abs(now, out=b)
        np.multiply(a, b, out=a)
        np.multiply(a, now, out=b)
        np.subtract(by_c, b, out=by_c)
        np.multiply(a, c, out=a)
        np.multiply(a, 2.0, out=a)
        np.subtract(v_bar, a, out=v_bar)
    return loss, by_c


def positions(parameters: Sequence[float], forces: Sequence[float]) -> list[float]:
    """The rollout of the reference problem alone."""
    (c,) = parameters
    x = v = 0.0
    outputs = []
    for u in forces:
        v += DT * (u - c * v * abs(v)) / MASS
        x += DT * v
        outputs.append(x)
    return outputs


def oscillator_positions(parameters: Sequence[float], forces: Sequence[float]) -> list[float]:
    """The rollout of the larger fit alone."""
    m, k, b, c = parameters
    x = v = 0.0
    outputs = []
    for u in forces:
        v += DT * (u - k * x - b * v - c * v * abs(v)) / m
        x += DT * v
        outputs.append(x)
    return outputs
