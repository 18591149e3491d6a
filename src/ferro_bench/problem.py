"""What is to be identified, and what can be seen of it from given values: prediction, loss, gradient, Jacobian.

The compiled program answers where there is one and it stays within the range of numbers; the tape, or a central
difference, answers everywhere else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .compiled import CompiledRollout, compile_rollout
from .dataset import Array, Record
from .gradient import Tape, TraceError, Var
from .loss import mean_squared_error
from .plant import Plant
from .rollout import rollout
from .solvers import Solver


@dataclass(frozen=True, eq=False)
class Problem:
    """What is to be identified.

    Attributes:
        plant: the model.
        solver: how it is stepped.
        record: the data.
        known: symbol -> value of the parameters that are given.
        start: symbol -> value where the search for the others begins.
    """

    plant: Plant
    solver: Solver
    record: Record
    known: Mapping[str, float]
    start: Mapping[str, float]

    def predict(self, sought: Mapping[str, Any]) -> Any:
        """The rollout with these values of the sought parameters, as floats, arrays of a batch, or tape variables."""
        parameters = {**self.known, **sought}
        return rollout(self.plant, self.solver, parameters, self.record.drive, self.record.measured.symbol)

    @cached_property
    def compiled(self) -> CompiledRollout | None:
        """The rollout as a program, by the sought parameters in the order of `start`; None where the tape has to do."""
        outcome = self._compilation
        return outcome if isinstance(outcome, CompiledRollout) else None

    @property
    def engine(self) -> str:
        """Which engine differentiates, in a sentence, and why if it is the tape."""
        outcome = self._compilation
        if isinstance(outcome, CompiledRollout):
            return "The rollout and its adjoint run as a compiled program."
        return f"The tape differentiates, because the rollout could not be compiled: {outcome}"

    @cached_property
    def _compilation(self) -> CompiledRollout | str:
        drive, observed = self.record.drive, self.record.measured.symbol
        try:
            return compile_rollout(self.plant, self.solver, drive.dt, observed, self.known, list(self.start))
        except TraceError as error:
            return str(error)

    @cached_property
    def positive(self) -> NDArray[np.bool_]:
        """Which of the sought parameters are sought by their logarithm, shape (k,)."""
        return np.array([self.plant.parameter(symbol).positive for symbol in self.start])

    def position(self, sought: Mapping[str, float]) -> Array:
        """Where these values lie in a search: each parameter, or its logarithm where it is positive; shape (k,)."""
        values = np.array([sought[symbol] for symbol in self.start], dtype=np.float64)
        with np.errstate(all="ignore"):
            return np.where(self.positive, np.log(values), values)

    def values(self, position: Array) -> Array:
        """The parameters at positions of a search, shape (k,) or (k, batch)."""
        positive = self.positive.reshape(-1, *[1] * (position.ndim - 1))
        return np.where(positive, np.exp(np.where(positive, position, 0.0)), position)

    def loss(self, predicted: Any) -> Any:
        """How far a prediction is from the measured channel: the mean squared error, in its unit squared."""
        return mean_squared_error(predicted, self.record.measured.values)

    def differentiate(self, values: Array) -> tuple[Array, float, Array]:
        """One rollout and the derivative of its loss; inf or NaN, quietly, beyond the range of numbers.

        Args:
            values: of the sought parameters, in the order of `start`, shape (k,).

        Returns:
            The prediction, shape (steps,), its loss, and the derivative of that by each parameter, shape (k,).
        """
        with np.errstate(all="ignore"):
            if self.compiled is not None:
                try:
                    return self.compiled.gradient(self.record.drive, values.tolist(), self.record.measured.values)
                except (ArithmeticError, ValueError):
                    pass  # plain floats stop where they leave the range of numbers; the tape goes on with inf and NaN
            tape = Tape()
            variables = [tape.variable(value) for value in values]
            predicted = self.predict(dict(zip(self.start, variables, strict=True)))
            if not isinstance(predicted, Var):  # the parameters never reached the model
                return np.asarray(predicted), float(self.loss(predicted)), np.zeros(len(values))
            loss = self.loss(predicted)
            return predicted.value, float(loss.value), np.array(tape.gradient(loss, variables))

    def jacobian(self, values: Array) -> Array:
        """How the prediction changes with each sought parameter.

        Args:
            values: of the sought parameters, in the order of `start`, shape (k,).

        Returns:
            Shape (steps, k), from the compiled tangents; by central differences where there is no compiled program.
        """
        if self.compiled is not None:
            try:
                return self.compiled.jacobian(self.record.drive, values.tolist())[1]
            except (ArithmeticError, ValueError):
                pass

        def predict(at: Array) -> Array:
            with np.errstate(all="ignore"):
                return np.asarray(self.predict(dict(zip(self.start, at.tolist(), strict=True))))

        columns = []
        for i, centre in enumerate(values):
            shift = np.zeros(len(values))
            shift[i] = 6e-6 * max(1.0, abs(centre))  # as in gradient.check
            columns.append((predict(values + shift) - predict(values - shift)) / (2 * shift[i]))
        return np.stack(columns, axis=1)
