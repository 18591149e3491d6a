"""Each check at its limit, the words around it, and how often the noise threshold is wrong."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from ferro_bench import Check, Verdict
from ferro_bench.gradient import GradientCheck
from ferro_bench.quantity import quantity
from ferro_bench.verdict import gradient_agrees, overlays, recovers


def drag(found: float) -> Check:
    return recovers("c", found, truth=1.0, tolerance=0.25, unit="kg/m")


def overlay(predicted: np.ndarray, measured: np.ndarray, noise: float) -> Check:
    return overlays(predicted, measured, noise, "m", "measured data", "Train longer.")


def distance(value: float) -> Check:
    """Eight samples, each that far off; with σ = 0.25 the limit is 0.25 (1 + 4/√16) = 0.5."""
    return overlay(np.array([value, -value] * 4), np.zeros(8), 0.25)


def gradient(difference: float) -> Check:
    return gradient_agrees(GradientCheck(difference, 0.5), "m² per kg")


@pytest.mark.parametrize(
    ("check", "at_the_limit", "outwards"),
    [(drag, 1.25, 2.0), (drag, 0.75, 0.0), (distance, 0.5, 1.0), (gradient, 0.5, 1.0)],
)
def test_a_check_passes_up_to_its_limit_and_not_beyond(
    check: Callable[[float], Check], at_the_limit: float, outwards: float
) -> None:
    assert check(at_the_limit).passed
    assert not check(math.nextafter(at_the_limit, outwards)).passed
    assert not check(outwards).passed


@pytest.mark.parametrize("check", [drag, distance, gradient])
@pytest.mark.parametrize("value", [math.nan, math.inf, 1e200])
def test_what_is_no_ordinary_number_never_passes(check: Callable[[float], Check], value: float) -> None:
    assert not check(value).passed
    assert check(value).sentence  # it can still be put into words


def test_the_overlay_measures_the_distance_between_the_two_curves() -> None:
    measured = np.array([1.0, 2.0, -3.0, 5.0])
    assert overlay(measured, measured, 0.1).value == 0.0
    assert overlay(measured + 0.5, measured, 0.1).value == 0.5


def test_an_infinite_limit_lets_nothing_pass() -> None:
    assert not gradient_agrees(GradientCheck(math.inf, math.inf), "").passed


def test_a_check_says_value_limit_and_reason_and_advises_only_on_failure() -> None:
    passing, failing = distance(0.25), distance(0.75)
    assert passing.sentence == (
        "Rms distance from the measured data: 0.250 m, at most 0.500 m passes "
        "(0.250 m of noise and its scatter over 8 samples)."
    )
    assert "Train longer." not in passing.sentence
    assert failing.sentence.endswith("Train longer.")


def test_a_verdict_passes_where_every_check_does_and_names_the_first_failure() -> None:
    good, bad, worse = drag(1.0), distance(0.75), gradient(math.nan)
    assert Verdict((good, distance(0.1))).passed
    assert Verdict((good, distance(0.1))).sentence == "PASS: all 2 checks hold."
    assert not Verdict((good, bad, worse)).passed
    assert Verdict((good, bad, worse)).sentence == f"Not yet: 2 of 3 checks fail. {bad.sentence}"


@pytest.mark.parametrize(
    ("value", "unit", "digits", "text"),
    [
        (0.85, "kg/m", 4, "0.8500 kg/m"),
        (0.001258, "m", 4, "1.258 mm"),
        (0.02, "s", 3, "20.0 ms"),
        (0.02, "kg/m", 3, "0.0200 kg/m"),
        (3.1119e-9, "m²", 4, "3.112×10⁻⁹ m²"),
        (-2.5, "m", 3, "\N{MINUS SIGN}2.50 m"),
        (-4.6e7, "", 2, "\N{MINUS SIGN}4.6×10⁷"),
        (12345.6, "N", 3, "12346 N"),
        (123456.7, "N", 3, "1.23×10⁵ N"),
        (9.9996, "", 4, "10.00"),
        (99999.7, "", 4, "1.000×10⁵"),
        (0.0999999, "m", 4, "100.0 mm"),
        (0.1, "m", 3, "0.100 m"),
        (1e-6, "m", 3, "0.00100 mm"),
        (9e-7, "m", 3, "9.00×10⁻⁷ m"),
        (0.00123, "", 3, "0.00123"),
        (0.000123, "", 3, "1.23×10⁻⁴"),
        (0.0, "m", 4, "0 m"),
        (math.nan, "m", 4, "not a number"),
        (-math.inf, "m", 4, "beyond every number"),
    ],
)
def test_a_quantity_is_written_as_a_person_would(value: float, unit: str, digits: int, text: str) -> None:
    assert quantity(value, unit, digits) == text


def test_a_quantity_has_four_digits_unless_told() -> None:
    assert quantity(0.85, "kg/m") == "0.8500 kg/m"


def share_that_passes(scale: float) -> float:
    """Of 2,000 residuals of pure noise, whose standard deviation is that many times what was declared."""
    residuals = np.random.default_rng(2024).normal(0.0, scale * 0.001, (2000, 120))
    return float(np.mean([overlay(residual, np.zeros(120), 0.001).passed for residual in residuals]))


def test_the_right_model_fails_less_than_once_in_five_hundred() -> None:
    assert share_that_passes(1.0) > 1 - 1 / 500


def test_a_residual_half_as_large_again_as_the_noise_is_noticed() -> None:
    assert share_that_passes(1.5) < 0.02
