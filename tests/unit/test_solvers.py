"""The solver against closed forms: its order, and what it keeps."""

from __future__ import annotations

import math

import numpy as np
import pytest

from ferro_bench import Parameter, Plant, StateVariable, semi_implicit_euler
from ferro_bench.benches import friction

C, M, FORCE, END = 0.85, 1.4, 6.0, 2.0


def after(dt: float) -> tuple[float, float]:
    """Position and velocity of the friction plant after END seconds of constant force, from rest."""
    state = (0.0, 0.0)
    for _ in range(round(END / dt)):
        state = semi_implicit_euler(friction.PLANT, state, FORCE, {"c": C, "m": M}, dt)
    return state


def test_halving_the_step_halves_the_error() -> None:
    """From rest, m v̇ = u - c v² has v = √(u/c) tanh(t √(u c)/m) and x = (m/c) ln cosh(t √(u c)/m)."""
    phase = END * math.sqrt(FORCE * C) / M
    exact = np.array([M / C * math.log(math.cosh(phase)), math.sqrt(FORCE / C) * math.tanh(phase)])
    steps = [0.02, 0.01, 0.005, 0.0025]
    errors = np.array([np.abs(after(dt) - exact) for dt in steps])
    orders = np.log2(errors[:-1] / errors[1:])
    assert np.all((orders > 0.9) & (orders < 1.1)), orders


STIFFNESS, MASS = 9.0, 1.0
OSCILLATOR = Plant(
    states=(StateVariable("x", "position", "m", rate="v"), StateVariable("v", "velocity", "m/s")),
    parameters=(
        Parameter("k", "stiffness", "N/m", STIFFNESS, (0.1, 100.0)),
        Parameter("m", "mass", "kg", MASS, (0.1, 10.0)),
    ),
    rates=lambda state, u, k, m: (state[1], (u - k * state[0]) / m),
)


def energies(plant: Plant, dt: float, steps: int) -> np.ndarray:
    state, found = (1.0, 0.0), []
    for _ in range(steps):
        state = semi_implicit_euler(plant, state, 0.0, {"k": STIFFNESS, "m": MASS}, dt)
        found.append(0.5 * MASS * state[1] ** 2 + 0.5 * STIFFNESS * state[0] ** 2)
    return np.array(found)


def test_the_energy_of_an_oscillator_wavers_but_does_not_drift() -> None:
    """Semi-implicit Euler keeps E - ½ dt k x v exactly, so E stays within a factor (1 ± dt ω / 2) of that.

    Explicit Euler multiplies the energy by 1 + (dt ω)² at every step: over 10,000 steps of this size, by 6·10⁸.
    """
    dt = 0.015
    ratio = energies(OSCILLATOR, dt, 10_000) / (0.5 * STIFFNESS)
    waver = dt * math.sqrt(STIFFNESS / MASS) / 2
    assert 1 / (1 + waver) - 1e-9 <= ratio.min()
    assert ratio.max() <= 1 / (1 - waver) + 1e-9


def test_a_position_moves_with_the_new_velocity_wherever_it_stands_in_the_state() -> None:
    swapped = Plant(
        states=OSCILLATOR.states[::-1],
        parameters=OSCILLATOR.parameters,
        rates=lambda state, u, k, m: ((u - k * state[1]) / m, state[0]),
    )
    parameters = {"k": STIFFNESS, "m": MASS}
    x, v = semi_implicit_euler(OSCILLATOR, (1.0, 0.5), 2.0, parameters, 0.1)
    assert (v, x) == (pytest.approx(0.5 + 0.1 * (2.0 - 9.0)), pytest.approx(1.0 + 0.1 * v))
    assert semi_implicit_euler(swapped, (0.5, 1.0), 2.0, parameters, 0.1) == (v, x)


def test_a_plant_that_forgets_a_rate_is_refused() -> None:
    plant = Plant(OSCILLATOR.states, (), lambda state, u: (state[1],))
    with pytest.raises(ValueError, match="shorter"):
        semi_implicit_euler(plant, (1.0, 0.5), 2.0, {}, 0.1)


def test_states_without_a_rate_of_their_own_step_explicitly() -> None:
    decay = Plant(
        states=(StateVariable("T", "temperature", "K"),),
        parameters=(Parameter("a", "cooling rate", "1/s", 1.0, (0.0, 10.0)),),
        rates=lambda state, u, a: (u - a * state[0],),
    )
    assert semi_implicit_euler(decay, (3.0,), 1.0, {"a": 2.0}, 0.25) == (3.0 + 0.25 * (1.0 - 2.0 * 3.0),)
