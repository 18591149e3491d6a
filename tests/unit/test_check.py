"""The gradient check itself: it accepts right rules, catches wrong ones, and is not fooled by zero, NaN or infinity."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ferro_bench import check_gradient
from ferro_bench.gradient import GradientCheck, central_difference, ops


@pytest.fixture(params=[1.001, 0.0, -1.0, np.nan], ids=["a little long", "zero", "sign", "NaN"])
def wrong_cosine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """For the length of a test the derivative of sin is a multiple of what it should be."""
    rule = ops.Elementwise(np.sin, (lambda y, a: request.param * np.cos(a),))
    monkeypatch.setitem(ops.UFUNCS, np.sin, rule)


def bowl(a: Any, b: Any) -> Any:
    return np.sum(np.sin(a) * b) + 0.3 * np.mean(a)


AT = (np.array([[0.4], [1.1]]), np.array([2.0, -3.0, 0.5]))


def test_central_differences_are_derivatives_in_their_arguments_shapes() -> None:
    a, b = AT
    by_a, by_b, by_c = central_difference(lambda a, b, c: bowl(a, b) + c**3, a, b, 2.0)
    np.testing.assert_allclose(by_a, np.cos(a) * np.sum(b) + 0.15, rtol=1e-9)
    np.testing.assert_allclose(by_b, np.full(3, np.sum(np.sin(a))), rtol=1e-9)
    assert by_c == pytest.approx(12.0, rel=1e-9) and np.shape(by_c) == ()


def test_the_step_grows_with_the_argument() -> None:
    """At 10⁹ a step of 10⁻⁵ would leave two digits of the difference."""
    assert central_difference(np.square, 1e9)[0] == pytest.approx(2e9, rel=1e-9)


def test_central_differences_leave_the_arguments_alone() -> None:
    start = np.array([1.0, 2.0])
    seen: list[Any] = []
    central_difference(lambda a: seen.append(a) or float(np.sum(a)), start)
    np.testing.assert_array_equal(start, [1.0, 2.0])
    assert len({a.tobytes() for a in seen}) == 4  # nor does one evaluation change what another was given


def test_a_right_rule_passes() -> None:
    check = check_gradient(bowl, *AT)
    assert check.agrees
    assert 0 <= check.difference <= check.limit < 1e-5


@pytest.mark.usefixtures("wrong_cosine")
def test_a_wrong_rule_fails() -> None:
    assert not check_gradient(bowl, *AT).agrees


@pytest.mark.usefixtures("wrong_cosine")
def test_one_wrong_element_is_found_beside_a_large_one_whose_rounding_is_larger() -> None:
    assert not check_gradient(lambda a, b: 1e8 * np.exp(a) + np.sin(b), 2.0, 0.3).agrees


def test_it_agrees_up_to_its_limit() -> None:
    assert GradientCheck(0.5, 0.5).agrees
    assert not GradientCheck(0.6, 0.5).agrees


def test_where_the_gradient_is_zero_it_does_not_report_disagreement() -> None:
    """There rounding is all there is, and a purely relative measure would compare it with itself."""
    t = np.linspace(0.1, 2.0, 20)

    def loss(a: Any) -> Any:
        residual = np.sin(a * t) - np.sin(0.85 * t)
        return 5.0 + np.sum(residual * residual)

    assert not check_gradient(loss, 0.85, absolute=0.0).agrees
    assert check_gradient(loss, 0.85).agrees


def test_a_large_gradient_is_compared_relatively() -> None:
    assert check_gradient(lambda a: 1e9 * np.exp(a), 2.0).agrees
    assert not check_gradient(lambda a: 1e9 * np.exp(a), 2.0, relative=1e-14).agrees


@pytest.mark.parametrize(
    "function", [np.cbrt, lambda a: 1.0 / a, lambda a: np.sqrt(a) * 0.0], ids=["cbrt", "1/a", "0 sqrt(a)"]
)
def test_an_infinite_or_undefined_gradient_never_agrees(function: Any) -> None:
    with np.errstate(all="ignore"):
        check = check_gradient(function, 0.0)
    assert not np.isfinite(check.difference)
    assert not check.agrees
