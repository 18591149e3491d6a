"""How far a predicted trajectory is from the measured one, as one number."""

from __future__ import annotations

from typing import Any

import numpy as np

from .dataset import Array


def mean_squared_error(predicted: Any, measured: Array) -> Any:
    """The mean over the steps of the squared distance between prediction and measurement.

    Args:
        predicted: shape (steps,); an array or a tape variable.
        measured: shape (steps,), in the same unit.

    Returns:
        One number, in that unit squared; a tape variable if the prediction is one.

    Raises:
        ValueError: if the two have different shapes, which broadcasting would otherwise hide.
    """
    if predicted.shape != measured.shape:
        raise ValueError(
            f"the prediction has shape {predicted.shape} and the measurement {measured.shape}; "
            "a trajectory loss compares them step by step"
        )
    residual = predicted - measured
    return np.mean(residual * residual)


def root_mean_square(residual: Array) -> float:
    """The root of the mean square of a residual, in the residual's own unit."""
    return float(np.sqrt(np.mean(np.square(residual))))
