"""One step of a plant through time.

Every solver has the same face, ``solver(plant, state, input, parameters, dt) -> state``, with the input held constant
over the step. Like the plant it is ordinary arithmetic and runs on floats, arrays and tape variables alike.
"""

from __future__ import annotations

from typing import Any, Protocol

from .plant import Parameters, Plant, State


class Solver(Protocol):
    """Advances a state by one time step."""

    def __call__(self, plant: Plant, state: State, input: Any, parameters: Parameters, dt: float) -> State:
        """Return the state at t + dt, given the state at t and the input held in between."""


def semi_implicit_euler(plant: Plant, state: State, input: Any, parameters: Parameters, dt: float) -> State:
    """Advance velocities with the rates at t, then positions with the *new* velocities.

    First order, and symplectic for a Hamiltonian plant: energy wavers but does not drift.

    Source: Hairer, Lubich and Wanner, *Geometric Numerical Integration*, 2nd ed., Springer 2006, section I.1.2
    (there "symplectic Euler").

    Args:
        plant: its states say which of them is whose rate.
        state: the state at t.
        input: the input between t and t + dt.
        parameters: every parameter of the plant.
        dt: the time step, in seconds.

    Returns:
        The state at t + dt.
    """
    rates = plant.rates(state, input, **parameters)
    advanced = [
        value + dt * rate if variable.rate is None else value
        for variable, value, rate in zip(plant.states, state, rates, strict=True)
    ]
    for i, variable in enumerate(plant.states):
        if variable.rate is not None:
            advanced[i] = state[i] + dt * advanced[plant.state_index(variable.rate)]
    return tuple(advanced)
