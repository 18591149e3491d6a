"""The solvers against closed forms: their order, what they keep, and that each is ordinary arithmetic."""

from __future__ import annotations

import math
from itertools import permutations
from typing import Any

import numpy as np
import pytest

from ferro_bench import Parameter, Plant, StateVariable, check_gradient
from ferro_bench.benches import friction
from ferro_bench.solvers import Solver, explicit_euler, rk4, semi_implicit_euler

SOLVERS = [explicit_euler, semi_implicit_euler, rk4]
every_solver = pytest.mark.parametrize("solver", SOLVERS)

# All of them

C, M, FORCE, END = 0.85, 1.4, 6.0, 2.0


def after(solver: Solver, dt: float) -> tuple[float, float]:
    """Position and velocity of the friction plant after END seconds of constant force, from rest."""
    state = (0.0, 0.0)
    for _ in range(round(END / dt)):
        state = solver(friction.PLANT, state, FORCE, {"c": C, "m": M}, dt)
    return state


@pytest.mark.parametrize(
    ("solver", "order", "within", "coarsest"),
    [(explicit_euler, 1, 0.1, 0.02), (semi_implicit_euler, 1, 0.1, 0.02), (rk4, 4, 0.2, 0.1)],
)
def test_the_error_shrinks_with_the_step_to_the_solvers_order(
    solver: Solver, order: int, within: float, coarsest: float
) -> None:
    """From rest, m v̇ = u - c v² has v = √(u/c) tanh(t √(u c)/m) and x = (m/c) ln cosh(t √(u c)/m)."""
    phase = END * math.sqrt(FORCE * C) / M
    exact = np.array([M / C * math.log(math.cosh(phase)), math.sqrt(FORCE / C) * math.tanh(phase)])
    steps = coarsest / 2.0 ** np.arange(4)
    errors = np.array([np.abs(after(solver, dt) - exact) for dt in steps])
    orders = np.log2(errors[:-1] / errors[1:])
    np.testing.assert_allclose(orders, order, rtol=0, atol=within)


@every_solver
def test_it_is_differentiable_through_fifty_steps(solver: Solver) -> None:
    """By the parameters, the start state, and an input that varies; the motion reverses on the way."""
    force = 4.0 * np.cos(0.15 * np.arange(50))

    def loss(c: Any, m: Any, x: Any, v: Any, scale: Any) -> Any:
        state, total = (x, v), 0.0
        for u in force.tolist():
            state = solver(friction.PLANT, state, scale * u, {"c": c, "m": m}, 0.05)
            total = total + (state[0] - 0.7) ** 2 + 0.3 * state[1] * state[1]
        return total

    check = check_gradient(loss, C, M, 0.3, -0.4, 1.1)
    assert check.agrees, check


@every_solver
def test_a_batch_is_each_of_its_members(solver: Solver) -> None:
    c, m, u = np.array([0.2, 0.85, 1.5]), np.array([1.0, 1.4, 2.0]), np.array([6.0, -3.0, 0.5])
    batch: Any = (np.array([0.0, 0.1, -0.2]), np.array([0.5, -1.0, 2.0]))
    members = list(zip(*batch, strict=True))
    for _ in range(5):
        batch = solver(friction.PLANT, batch, u, {"c": c, "m": m}, 0.02)
        members = [solver(friction.PLANT, state, u[i], {"c": c[i], "m": m[i]}, 0.02) for i, state in enumerate(members)]
    np.testing.assert_allclose(np.transpose(batch), members, rtol=1e-15)


@every_solver
@pytest.mark.parametrize("rates", [lambda state, u: (state[1],), lambda state, u: (state[1], u, u)])
def test_a_plant_with_a_rate_too_few_or_too_many_is_refused(solver: Solver, rates: Any) -> None:
    with pytest.raises(ValueError, match=r"shorter|longer"):
        solver(Plant(friction.PLANT.states, (), rates), (1.0, 0.5), 2.0, {}, 0.1)


# One step, number by number

STIFFNESS, MASS = 9.0, 1.0
OSCILLATOR = Plant(
    states=(StateVariable("x", "position", "m", rate="v"), StateVariable("v", "velocity", "m/s")),
    parameters=(
        Parameter("k", "stiffness", "N/m", STIFFNESS, (0.1, 100.0)),
        Parameter("m", "mass", "kg", MASS, (0.1, 10.0)),
    ),
    rates=lambda state, u, k, m: (state[1], (u - k * state[0]) / m),
)


DECAY = Plant(
    states=(StateVariable("T", "temperature", "K"),),
    parameters=(Parameter("a", "cooling rate", "1/s", 1.0, (0.0, 10.0)),),
    rates=lambda state, u, a: (u - a * state[0],),
)


def test_explicit_euler_moves_every_state_with_its_rate_at_the_start() -> None:
    x, v = explicit_euler(OSCILLATOR, (1.0, 0.5), 2.0, {"k": STIFFNESS, "m": MASS}, 0.1)
    assert (x, v) == (pytest.approx(1.0 + 0.1 * 0.5), pytest.approx(0.5 + 0.1 * (2.0 - 9.0)))


def test_on_a_linear_law_rk4_is_the_exponential_series_to_its_fourth_power() -> None:
    """Ṫ = u - a T with u held: T - u/a shrinks by exp(-a dt)."""
    z = -2.0 * 0.25
    factor = sum(z**i / math.factorial(i) for i in range(5))
    assert rk4(DECAY, (3.0,), 1.0, {"a": 2.0}, 0.25) == (pytest.approx(0.5 + (3.0 - 0.5) * factor, rel=1e-15),)


def energies(solver: Solver, dt: float, steps: int) -> np.ndarray:
    state, found = (1.0, 0.0), []
    for _ in range(steps):
        state = solver(OSCILLATOR, state, 0.0, {"k": STIFFNESS, "m": MASS}, dt)
        found.append(0.5 * MASS * state[1] ** 2 + 0.5 * STIFFNESS * state[0] ** 2)
    return np.array(found)


def test_explicit_euler_feeds_an_oscillator() -> None:
    """It multiplies the energy by 1 + (dt ω)² at every step, exactly."""
    dt = 0.015
    found = energies(explicit_euler, dt, 1000)
    growth = 1 + dt * dt * STIFFNESS / MASS
    np.testing.assert_allclose(found, 0.5 * STIFFNESS * growth ** np.arange(1, 1001), rtol=1e-10)


# Semi-implicit Euler


def test_the_energy_of_an_oscillator_wavers_but_does_not_drift() -> None:
    """Semi-implicit Euler keeps E - ½ dt k x v exactly, so E stays within a factor (1 ± dt ω / 2) of that."""
    dt = 0.015
    ratio = energies(semi_implicit_euler, dt, 10_000) / (0.5 * STIFFNESS)
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


def test_a_chain_of_rates_does_not_depend_on_the_order_of_the_states() -> None:
    """x ← v ← a under a given jerk j: a' = a + dt j, then v' = v + dt a', then x' = x + dt v'."""
    chain = {
        "x": StateVariable("x", "position", "m", rate="v"),
        "v": StateVariable("v", "velocity", "m/s", rate="a"),
        "a": StateVariable("a", "acceleration", "m/s²"),
    }
    now, dt = {"x": 1.0, "v": 0.5, "a": -2.0}, 0.125
    ahead = {"a": -2.0 + dt * 3.0}
    ahead["v"] = 0.5 + dt * ahead["a"]
    ahead["x"] = 1.0 + dt * ahead["v"]
    for order in permutations(chain):
        rates_now = {"x": now["v"], "v": now["a"], "a": 3.0}
        plant = Plant(tuple(chain[s] for s in order), (), lambda state, u, r=rates_now, o=order: tuple(r[s] for s in o))
        moved = semi_implicit_euler(plant, tuple(now[s] for s in order), 0.0, {}, dt)
        assert dict(zip(order, moved, strict=True)) == ahead, order


@pytest.mark.parametrize(
    ("rates", "complaint"),
    [
        (("w", None), "the rate of 'x' is 'w', but the plant has the states x, v"),
        (("v", "x"), "the rates of x, v lead round in a circle"),
        ((None, "v"), "the rates of v lead round in a circle"),
    ],
)
def test_rates_that_lead_nowhere_are_refused(rates: tuple[str | None, ...], complaint: str) -> None:
    states = tuple(StateVariable(s, s, "", rate) for s, rate in zip("xv", rates, strict=True))
    with pytest.raises(ValueError, match=complaint):
        semi_implicit_euler(Plant(states, (), lambda state, u: (0.0, 0.0)), (1.0, 0.5), 2.0, {}, 0.1)


def test_states_without_a_rate_of_their_own_step_explicitly() -> None:
    assert semi_implicit_euler(DECAY, (3.0,), 1.0, {"a": 2.0}, 0.25) == (3.0 + 0.25 * (1.0 - 2.0 * 3.0),)
