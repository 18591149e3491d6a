"""The optimizers on a quadratic, where every iterate is known, and Adam against its published algorithm."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from ferro_bench import Adam, GradientDescent

CURVATURES = np.array([0.5, 2.0, 8.0])
START = np.array([1.0, -2.0, 0.5])


def descend(rate: float, steps: int) -> np.ndarray:
    """Where gradient descent stands on ½ Σ h p² after some steps."""
    optimizer, position = GradientDescent(rate), START
    for _ in range(steps):
        position = position + optimizer.step(CURVATURES * position)
    return position


def test_gradient_descent_shrinks_each_error_by_its_own_factor() -> None:
    for steps in (1, 2, 10):
        np.testing.assert_allclose(descend(0.1, steps), (1 - 0.1 * CURVATURES) ** steps * START, rtol=1e-12)


def test_gradient_descent_is_stable_up_to_two_over_the_curvature() -> None:
    limit = 2 / CURVATURES.max()
    assert np.all(np.abs(descend(0.99 * limit, 2000)) < 1e-12)
    assert np.max(np.abs(descend(1.01 * limit, 2000))) > 1e12


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e6])
def test_the_first_step_of_adam_has_the_size_of_the_rate_whatever_the_gradients(scale: float) -> None:
    step = Adam(0.1).step(scale * np.array([1.0, -3.0]))
    np.testing.assert_allclose(step, [-0.1, 0.1], rtol=1e-4)


def test_adam_follows_the_published_algorithm() -> None:
    """Kingma and Ba, algorithm 1, number by number, against 20 steps on a bent bowl."""

    def gradient(position: list[float]) -> list[float]:
        return [h * p + math.sin(3 * p) for h, p in zip(CURVATURES.tolist(), position, strict=True)]

    alpha, beta1, beta2, epsilon = 0.05, 0.9, 0.999, 1e-8
    theta, m, v = START.tolist(), [0.0] * 3, [0.0] * 3
    optimizer, position = Adam(alpha), START
    for t in range(1, 21):
        g = gradient(theta)
        for i in range(3):
            m[i] = beta1 * m[i] + (1 - beta1) * g[i]
            v[i] = beta2 * v[i] + (1 - beta2) * g[i] ** 2
            m_hat = m[i] / (1 - beta1**t)
            v_hat = v[i] / (1 - beta2**t)
            theta[i] = theta[i] - alpha * m_hat / (math.sqrt(v_hat) + epsilon)
        position = position + optimizer.step(np.array(gradient(position.tolist())))
        np.testing.assert_allclose(position, theta, rtol=1e-13)


def test_adam_takes_a_zero_gradient() -> None:
    np.testing.assert_array_equal(Adam(0.1).step(np.zeros(2)), [0.0, 0.0])


@pytest.mark.parametrize("kind", [GradientDescent, Adam])
def test_two_optimizers_share_nothing_and_leave_the_gradient_alone(kind: Callable[[float], Adam]) -> None:
    gradient = np.array([1.0, -2.0])
    first, second = kind(0.1), kind(0.1)
    for _ in range(3):
        first.step(-5 * gradient)
    np.testing.assert_array_equal(second.step(gradient), kind(0.1).step(gradient))
    np.testing.assert_array_equal(gradient, [1.0, -2.0])
