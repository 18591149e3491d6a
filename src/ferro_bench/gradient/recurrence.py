"""A step that is repeated, as plain data: what it does, its adjoint and its tangents.

    state' = step(state, input, parameters)        output = state'[observed]

One repetition is a straight-line `Record`; going back through it, and along with it, are two more. Whoever writes
programs from these needs to know nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from .trace import Record, forward, reverse, trace


@dataclass(frozen=True)
class Recurrence:
    """A repeated step and its derivatives by some parameters.

    Attributes:
        states: names of the components of the state.
        input: name of the input, which is another one at every repetition.
        parameters: names of the parameters, which stay; the derivatives are by these.
        observed: which state is the output.
        step: from states, input and parameters to the next states.
        adjoint: from these and the adjoints of the next states to the adjoints of the states, then to this step's share
            in the derivative by each parameter.
        tangents: from states, input, parameters and, for each parameter in turn, the tangents of the states to the next
            states and, for each parameter in turn, their tangents.
    """

    states: tuple[str, ...]
    input: str
    parameters: tuple[str, ...]
    observed: int
    step: Record
    adjoint: Record
    tangents: Record


def recurrence(
    step: Callable[..., Sequence[Any]],
    states: Sequence[str],
    input: str,
    parameters: Sequence[str],
    observed: int,
) -> Recurrence:
    """Trace a step and derive its adjoint and its tangents.

    Args:
        step: ``step(*states, input, *parameters)`` returns the next states.
        states: names of the components of the state.
        input: name of the input.
        parameters: names of the parameters.
        observed: which state is the output.

    Raises:
        TraceError: if the step cannot be said without branches.
    """
    record = trace(step, [*states, input, *parameters])
    directions: list[dict[str, str | float]] = [
        {parameter: 1.0} | {state: tangent_name(state, parameter) for state in states} for parameter in parameters
    ]
    return Recurrence(
        tuple(states),
        input,
        tuple(parameters),
        observed,
        record,
        reverse(record, [*states, *parameters]),
        forward(record, directions),
    )


def tangent_name(state: str, parameter: str) -> str:
    """How the tangent of a state in the direction of a parameter is called: ∂state/∂parameter."""
    return f"{state}_by_{parameter}"
