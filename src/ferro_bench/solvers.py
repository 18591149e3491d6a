"""One step of a plant through time.

Every solver has the same face, ``solver(plant, state, input, parameters, dt) -> state``, with the input held constant
over the step. Like the plant it is ordinary arithmetic and runs on floats, arrays and tape variables alike.

The error after a given time shrinks with dt for the two Euler solvers, which ask for the rates once a step, and with
dt⁴ for `rk4`, which asks four times; the latter holds as long as the rates are smooth within a step.
"""

from __future__ import annotations

from collections.abc import Hashable
from functools import cache
from typing import Any, Protocol

from .plant import Parameters, Plant, State, StateVariable


class Solver(Hashable, Protocol):
    """Advances a state by one time step."""

    def __call__(self, plant: Plant, state: State, input: Any, parameters: Parameters, dt: float) -> State:
        """Return the state at t + dt, given the state at t and the input held in between."""


def explicit_euler(plant: Plant, state: State, input: Any, parameters: Parameters, dt: float) -> State:
    """Advance every state with its rate at t.

    First order. An oscillation gains energy at every step, whatever its size.

    Source: Hairer, Nørsett and Wanner, *Solving Ordinary Differential Equations I*, 2nd ed., Springer 1993,
    section I.7.

    Args:
        plant: the law.
        state: the state at t.
        input: the input between t and t + dt.
        parameters: every parameter of the plant.
        dt: the time step, in seconds.

    Returns:
        The state at t + dt.

    Raises:
        ValueError: if the plant gives more or fewer rates than it has states.
    """
    return _moved(state, dt, plant.rates(state, input, **parameters))


def semi_implicit_euler(plant: Plant, state: State, input: Any, parameters: Parameters, dt: float) -> State:
    """Advance velocities with the rates at t, then positions with the *new* velocities.

    First order, and symplectic for a Hamiltonian plant: energy wavers but does not drift. In a longer chain, position
    ← velocity ← acceleration, each state moves with the new value of the next, in whatever order they are declared.

    Source: Hairer, Lubich and Wanner, *Geometric Numerical Integration*, 2nd ed., Springer 2006, section I.1.2
    (there "symplectic Euler").

    Args:
        plant: the law; its states say which of them is whose rate.
        state: the state at t.
        input: the input between t and t + dt.
        parameters: every parameter of the plant.
        dt: the time step, in seconds.

    Returns:
        The state at t + dt.

    Raises:
        ValueError: if the plant gives more or fewer rates than it has states, if the rate of a state is none of the
            plant's states, or if the rates lead round in a circle.
    """
    rates = plant.rates(state, input, **parameters)
    advanced = [
        value + dt * rate if variable.rate is None else value
        for variable, value, rate in zip(plant.states, state, rates, strict=True)
    ]
    for place, rate_place in _chain(plant.states):
        advanced[place] = state[place] + dt * advanced[rate_place]
    return tuple(advanced)


@cache
def _chain(states: tuple[StateVariable, ...]) -> tuple[tuple[int, int], ...]:
    """Place of a state, place of its rate, for each state that has one; a rate is moved before what moves with it."""
    places = {state.symbol: place for place, state in enumerate(states)}
    waiting = {state.symbol: state.rate for state in states if state.rate is not None}
    for symbol, rate in waiting.items():
        if rate not in places:
            raise ValueError(f"the rate of {symbol!r} is {rate!r}, but the plant has the states {', '.join(places)}")
    chain: list[tuple[int, int]] = []
    while waiting:
        ready = [symbol for symbol, rate in waiting.items() if rate not in waiting]
        if not ready:
            raise ValueError(f"the rates of {', '.join(waiting)} lead round in a circle")
        chain.extend((places[symbol], places[waiting.pop(symbol)]) for symbol in ready)
    return tuple(chain)


def rk4(plant: Plant, state: State, input: Any, parameters: Parameters, dt: float) -> State:
    """Advance every state with a weighted mean of four rates: one at t, two in the middle, one at t + dt.

    Fourth order; "the" Runge–Kutta method.

    Source: Hairer, Nørsett and Wanner, *Solving Ordinary Differential Equations I*, 2nd ed., Springer 1993,
    section II.1, table 1.2 (after Kutta, 1901).

    Args:
        plant: the law.
        state: the state at t.
        input: the input between t and t + dt.
        parameters: every parameter of the plant.
        dt: the time step, in seconds.

    Returns:
        The state at t + dt.

    Raises:
        ValueError: if the plant gives more or fewer rates than it has states.
    """
    first = plant.rates(state, input, **parameters)
    second = plant.rates(_moved(state, dt / 2, first), input, **parameters)
    third = plant.rates(_moved(state, dt / 2, second), input, **parameters)
    fourth = plant.rates(_moved(state, dt, third), input, **parameters)
    mean = tuple((a + 2.0 * (b + c) + d) / 6.0 for a, b, c, d in zip(first, second, third, fourth, strict=True))
    return _moved(state, dt, mean)


def _moved(state: State, dt: float, rates: State) -> State:
    return tuple(value + dt * rate for value, rate in zip(state, rates, strict=True))
