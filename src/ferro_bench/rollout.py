"""Many steps in a row: what the model predicts for a whole record, from its start state and its inputs alone.

No measurement enters on the way. An error in a parameter therefore piles up along the rollout, and that is what makes
the end of the trajectory so telling about it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .dataset import Record
from .plant import Parameters, Plant
from .solvers import Solver


def rollout(plant: Plant, solver: Solver, parameters: Parameters, record: Record) -> Any:
    """Predict the measured channel of a record.

    Args:
        plant: the model.
        solver: how it is stepped.
        parameters: every parameter of the plant; floats, arrays of shape (batch,), or tape variables.
        record: start state, inputs and clock; its measured channel only says which state is observed.

    Returns:
        The predicted channel, shape (steps,), or (steps, batch) for a batch; a tape variable if a parameter is one.
    """
    observed = plant.state_index(record.measured.symbol)
    state: tuple[Any, ...] = record.start
    predicted = []
    for held in record.input.values.tolist():
        state = solver(plant, state, held, parameters, record.dt)
        predicted.append(state[observed])
    return np.stack(predicted)
