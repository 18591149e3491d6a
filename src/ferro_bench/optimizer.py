"""From a gradient to the next step. Arrays in, steps out: an optimizer knows neither tape nor plant."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from .dataset import Array


class Optimizer(Protocol):
    """Turns the gradients of one run, in order, into steps. It may remember earlier gradients: make one a run."""

    def step(self, gradient: Array) -> Array:
        """What to add to the parameters, shape (parameters,), given the loss gradient there."""


class GradientDescent:
    """Step against the gradient: Δp = -rate ∇L.

    Near a minimum with curvature h this shrinks the error by the factor 1 - rate·h a step, so it needs rate < 2/h;
    above that every step overshoots by more than it gained (Nocedal and Wright, *Numerical Optimization*, 2nd ed.,
    Springer 2006, section 3.3).

    Args:
        rate: the learning rate, in parameter units squared per unit of loss.
    """

    def __init__(self, rate: float) -> None:
        self.rate = rate

    def step(self, gradient: Array) -> Array:
        return -self.rate * gradient


class Adam:
    """Step by the running mean of the gradient over the running root mean square, both corrected for their start.

    The step has about the length of the rate whatever the gradient's scale.

    Source: Kingma and Ba, "Adam: A Method for Stochastic Optimization", ICLR 2015, arXiv:1412.6980, algorithm 1.

    Args:
        rate: the learning rate, in units of the parameter.
    """

    MEAN_DECAY = 0.9
    SQUARE_DECAY = 0.999
    FLOOR = 1e-8

    def __init__(self, rate: float) -> None:
        self.rate = rate
        self._steps = 0
        self._mean: Array | float = 0.0
        self._square: Array | float = 0.0

    def step(self, gradient: Array) -> Array:
        self._steps += 1
        self._mean = self.MEAN_DECAY * self._mean + (1 - self.MEAN_DECAY) * gradient
        self._square = self.SQUARE_DECAY * self._square + (1 - self.SQUARE_DECAY) * gradient * gradient
        mean = self._mean / (1 - self.MEAN_DECAY**self._steps)
        square = self._square / (1 - self.SQUARE_DECAY**self._steps)
        return -self.rate * mean / (np.sqrt(square) + self.FLOOR)
