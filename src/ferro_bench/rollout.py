"""Many steps in a row: what the model predicts for a whole record, from its start state and its inputs alone.

No measurement enters on the way. An error in a parameter therefore piles up along the rollout, and that is what makes
the end of the trajectory so telling about it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .dataset import Drive
from .plant import Parameters, Plant
from .solvers import Solver


def rollout(plant: Plant, solver: Solver, parameters: Parameters, drive: Drive, observed: str) -> Any:
    """Predict one state of the plant under a drive.

    Args:
        plant: the model.
        solver: how it is stepped.
        parameters: every parameter of the plant; floats, arrays of shape (batch,), or tape variables.
        drive: start state, inputs and clock.
        observed: the symbol of the state that is wanted.

    Returns:
        That state at the end of each step, shape (steps,), or (steps, batch) for a batch; a tape variable if a
        parameter is one.
    """
    index = plant.state_index(observed)
    state: tuple[Any, ...] = drive.start
    predicted = []
    for held in drive.inputs:
        state = solver(plant, state, held, parameters, drive.dt)
        predicted.append(state[index])
    return np.stack(predicted)
