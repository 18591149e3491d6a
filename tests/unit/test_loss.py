"""The losses, by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from ferro_bench import mean_squared_error, value_and_grad
from ferro_bench.loss import root_mean_square


def test_the_mean_squared_error_by_hand() -> None:
    assert mean_squared_error(np.array([1.0, 2.0, 6.0]), np.array([1.0, 4.0, 3.0])) == (0 + 4 + 9) / 3


def test_its_gradient_is_twice_the_residual_over_the_number_of_steps() -> None:
    measured = np.array([1.0, 4.0, 3.0])
    _, (gradient,) = value_and_grad(lambda p: mean_squared_error(p, measured), [1.0, 2.0, 6.0])
    np.testing.assert_allclose(gradient, [0.0, -4 / 3, 2.0], rtol=1e-15)


@pytest.mark.parametrize("shape", [(), (1,), (3, 1), (4,)])
def test_shapes_that_would_broadcast_are_refused_with_both_named(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError) as refusal:
        mean_squared_error(np.zeros(shape), np.zeros(3))
    assert f"prediction has shape {shape} and the measurement (3,)" in str(refusal.value)


def test_the_root_mean_square_by_hand() -> None:
    assert root_mean_square(np.array([3.0, -4.0])) == math.sqrt(12.5)
