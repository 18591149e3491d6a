"""Is a gradient right? Compare it with central differences, which know nothing of derivative rules.

The central difference (f(x + h) - f(x - h)) / 2h errs by about h² f'''/6 from truncation and by ε |f| / h from
rounding; h near ε^(1/3) times the size of x balances the two (Nocedal and Wright, *Numerical Optimization*, 2nd ed.,
Springer 2006, section 8.1). The allowance is absolute *and* relative: near an optimum the gradient itself is almost
zero, and a purely relative measure would report total disagreement exactly at the answer.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .tape import value_and_grad

_STEP = float(np.finfo(np.float64).eps ** (1 / 3))


@dataclass(frozen=True)
class GradientCheck:
    """The worst disagreement found between a gradient and finite differences.

    Attributes:
        difference: \\|analytic - numeric\\| at the worst element, in units of the function per unit of the argument.
        limit: what is allowed there, absolute plus relative.
    """

    difference: float
    limit: float

    @property
    def agrees(self) -> bool:
        return bool(self.difference <= self.limit < np.inf)  # False for NaN, and for an infinite gradient


def central_difference(function: Callable[..., Any], *arguments: Any) -> list[Any]:
    """The derivative of a one-number function by central differences, for every element of every argument.

    Args:
        function: returns one number.
        arguments: real numbers or arrays, where to differentiate.

    Returns:
        For each argument the derivative, in the argument's shape.
    """
    derivatives = []
    points = [np.array(x, dtype=np.float64) for x in arguments]
    for point in points:
        derivative = np.empty(point.shape)
        for index in np.ndindex(point.shape):
            centre = float(point[index])
            h = _STEP * max(1.0, abs(centre))
            point[index] = centre + h
            above = float(function(*[_number(x) for x in points]))
            point[index] = centre - h
            below = float(function(*[_number(x) for x in points]))
            point[index] = centre
            derivative[index] = (above - below) / (2.0 * h)
        derivatives.append(derivative)
    return derivatives


def _number(point: Any) -> Any:
    return float(point) if point.ndim == 0 else point.copy()


def check_gradient(
    function: Callable[..., Any], *arguments: Any, absolute: float = 1e-7, relative: float = 1e-6
) -> GradientCheck:
    """Compare the tape's gradient of a one-number function with central differences.

    Args:
        function: ordinary NumPy of its arguments, returns one number.
        arguments: real numbers or arrays, where to check.
        absolute: allowed difference, in units of the function per unit of the argument.
        relative: allowed difference as a share of the larger of the two derivatives.

    Returns:
        The element at which the difference is largest against its limit.
    """
    _, gradients = value_and_grad(function, *arguments)
    analytic = np.concatenate([np.ravel(g) for g in gradients])
    numeric = np.concatenate([np.ravel(g) for g in central_difference(function, *arguments)])
    difference = np.abs(analytic - numeric)
    limit = absolute + relative * np.maximum(np.abs(analytic), np.abs(numeric))
    worst = int(np.argmax(difference / limit))  # argmax puts a NaN first, where it belongs
    return GradientCheck(float(difference[worst]), float(limit[worst]))
