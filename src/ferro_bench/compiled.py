"""A plant and a solver, compiled: the rollout, its gradient and its Jacobian as straight-line Python.

The step is traced once and written out twice, on plain floats for one rollout and on arrays for a batch. What the tape
does at run time, looking up a rule for every operation of every step, has then been done beforehand.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from .dataset import Array, Drive
from .gradient import compile_arrays, compile_floats, is_free, recurrence, write_arrays, write_floats
from .plant import Plant
from .solvers import Solver


@dataclass(frozen=True, eq=False)
class CompiledRollout:
    """The rollout of one state of a plant, as a function of some of its parameters.

    Attributes:
        source: the program on floats as text to be read; what runs does the same operations with fewer names.
        batch_source: the program on arrays.
    """

    source: str
    batch_source: str
    _floats: Mapping[str, Any]
    _arrays: Mapping[str, Any]

    def predict(self, drive: Drive, values: Sequence[float]) -> Array:
        """One rollout, shape (steps,); as for `gradient`, without the way back."""
        outputs, _ = self._floats["forward"](drive.start, drive.inputs, values)
        return np.array(outputs)

    def batch_predict(self, drive: Drive, values: Sequence[Any]) -> Array:
        """Many rollouts, shape (steps, batch); as for `batch_gradient`, without the way back."""
        with np.errstate(all="ignore"):
            predicted: Array = self._arrays["forward"](drive.start, drive.inputs, values)[0]
        return predicted

    def gradient(self, drive: Drive, values: Sequence[float], measured: Array) -> tuple[Array, float, Array]:
        """One rollout and the derivative of its mean squared error.

        Args:
            drive: start state, inputs and clock; the clock must be the one that was compiled.
            values: the parameters, in the order that was compiled.
            measured: shape (steps,).

        Returns:
            The prediction, shape (steps,), its mean squared error, and the derivative of that by each parameter.

        Raises:
            ArithmeticError, ValueError: where the rollout leaves the range of numbers.
        """
        outputs, kept = self._floats["forward"](drive.start, drive.inputs, values)
        predicted = np.array(outputs)
        residual = predicted - measured
        # The adjoint is linear in what it is given: the factor 2/n of the mean square is put to its result.
        by = self._floats["adjoint"](drive.inputs, values, kept, residual.tolist())
        # Not residual @ residual: for long records that is handed to several threads, and waiting for a busy core takes
        # longer than all the rest.
        loss = float(np.einsum("n,n->", residual, residual)) / len(residual)
        return predicted, loss, np.array(by) * (2.0 / len(residual))

    def jacobian(self, drive: Drive, values: Sequence[float]) -> tuple[Array, Array]:
        """One rollout and its derivative by each parameter.

        Args:
            drive: start state, inputs and clock.
            values: the parameters, in the order that was compiled.

        Returns:
            The prediction, shape (steps,), and the Jacobian, shape (steps, parameters).

        Raises:
            ArithmeticError, ValueError: where the rollout leaves the range of numbers.
        """
        outputs, columns = self._floats["tangents"](drive.start, drive.inputs, values)
        return np.array(outputs), np.stack([np.array(column) for column in columns], axis=1)

    def batch_gradient(self, drive: Drive, values: Sequence[Any], measured: Array) -> tuple[Array, Array, Array]:
        """As `gradient`, for many values of the parameters at once; beyond the range of numbers it gives inf or NaN.

        Args:
            drive: start state, inputs and clock, the same for all.
            values: for each parameter an array of shape (batch,), or a number for all.
            measured: shape (steps,).

        Returns:
            The predictions, shape (steps, batch), their mean squared errors, shape (batch,), and the derivatives of
            these, shape (parameters, batch).
        """
        n = len(measured)
        with np.errstate(all="ignore"):
            predicted, kept = self._arrays["forward"](drive.start, drive.inputs, values)
            # Made a residual in place, and back: to get as much new memory would take several times as long.
            predicted -= measured[:, None]
            loss = np.einsum("nb,nb->b", predicted, predicted) / n
            by = self._arrays["adjoint"](drive.inputs, values, kept, predicted)
            predicted += measured[:, None]
            return predicted, loss, np.stack(by) * (2.0 / n)

    def batch_jacobian(self, drive: Drive, values: Sequence[Any]) -> tuple[Array, Array]:
        """As `jacobian`, for many values of the parameters at once; beyond the range of numbers it gives inf or NaN.

        Args:
            drive: start state, inputs and clock, the same for all.
            values: for each parameter an array of shape (batch,), or a number for all.

        Returns:
            The predictions, shape (steps, batch), and the Jacobians, shape (steps, parameters, batch).
        """
        with np.errstate(all="ignore"):
            predicted, columns = self._arrays["tangents"](drive.start, drive.inputs, values)
            return predicted, np.stack(columns, axis=1)


def compile_rollout(
    plant: Plant, solver: Solver, dt: float, observed: str, known: Mapping[str, float], sought: Sequence[str]
) -> CompiledRollout:
    """Compile the rollout of a plant.

    Args:
        plant: the model.
        solver: how it is stepped.
        dt: time step, in seconds.
        observed: the symbol of the state that is predicted.
        known: symbol -> value of the parameters that are given; they become constants of the program.
        sought: symbols of the others, in the order in which their values will be given.

    Raises:
        TraceError: if the plant's law cannot be written without branches; the message says what is in the way.
    """
    return _compile(plant, solver, dt, observed, tuple(known.items()), tuple(sought))


@lru_cache(
    maxsize=16
)  # compiling takes as long as hundreds of short rollouts, and the same is asked for again and again
def _compile(
    plant: Plant,
    solver: Solver,
    dt: float,
    observed: str,
    known: tuple[tuple[str, float], ...],
    sought: tuple[str, ...],
) -> CompiledRollout:
    states = [state.symbol for state in plant.states]
    names = _names([*states, "u", *sought])
    state_names, input_name, parameter_names = names[: len(states)], names[len(states)], names[len(states) + 1 :]

    def step(*values: Any) -> Sequence[Any]:
        state, held, rest = values[: len(states)], values[len(states)], values[len(states) + 1 :]
        return solver(plant, state, held, {**dict(known), **dict(zip(sought, rest, strict=True))}, dt)

    traced = recurrence(step, state_names, input_name, parameter_names, plant.state_index(observed))
    source, batch_source = write_floats(traced), write_arrays(traced)
    return CompiledRollout(
        source, batch_source, compile_floats(write_floats(traced, fused=True)), compile_arrays(batch_source)
    )


def _names(symbols: Sequence[str]) -> list[str]:
    """Names that the programs can use and that differ: the symbols themselves wherever they can be."""
    names: list[str] = []
    for i, symbol in enumerate(symbols):
        names.append(symbol if is_free(symbol) and symbol not in names else f"s{i}")
    return names
