"""Closed forms, tables and simulations that the intervals, the warnings and the whiteness test must agree with."""

from __future__ import annotations

import math

import numpy as np
import pytest

from ferro_bench import Parameter, Record
from ferro_bench.benches import friction
from ferro_bench.dataset import Array
from ferro_bench.uncertainty import Uncertainty, chi_square, estimate, student_t, whiteness


def parameter(symbol: str, bounds: tuple[float, float] = (-math.inf, math.inf)) -> Parameter:
    return Parameter(symbol, f"name of {symbol}", "kg", start=0.0, bounds=bounds)


SEED = 314  # of every simulation that counts how often something happens
A, B, C, D = (parameter(symbol) for symbol in "abcd")


def fit(jacobian: Array, measured: Array, *parameters: Parameter) -> Uncertainty:
    """A linear model fitted by another road than the one under test: the normal equations, with a pseudo-inverse."""
    values = np.linalg.pinv(jacobian.T @ jacobian, rcond=1e-9, hermitian=True) @ jacobian.T @ measured
    return estimate(jacobian @ values - measured, jacobian, parameters, values)


def columns(random: np.random.Generator, k: int, n: int = 200) -> list[Array]:
    return list(random.standard_normal((k, n)))


@pytest.fixture
def random() -> np.random.Generator:
    return np.random.default_rng(20)


# A straight line -------------------------------------------------------------------------------------------------

X = np.array([1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 9.0])
Y = np.array([2.1, 3.9, 6.2, 7.8, 12.3, 15.6, 18.4])
LINE = np.stack([np.ones_like(X), X], axis=1)


def test_a_straight_line_has_the_textbooks_errors() -> None:
    n, mean = len(X), X.mean()
    sxx = np.sum((X - mean) ** 2)
    slope = np.sum((X - mean) * Y) / sxx
    offset = Y.mean() - slope * mean
    variance = np.sum((Y - offset - slope * X) ** 2) / (n - 2)
    var_offset, var_slope, both = variance * (1 / n + mean**2 / sxx), variance / sxx, -variance * mean / sxx

    found = estimate(offset + slope * X - Y, LINE, (A, B), (offset, slope))
    assert found.freedom == 5
    assert found.variance == pytest.approx(variance, rel=1e-12)
    assert found.covariance == pytest.approx(np.array([[var_offset, both], [both, var_slope]]), rel=1e-12)
    assert found.standard_errors == pytest.approx(np.sqrt([var_offset, var_slope]), rel=1e-12)
    assert found.correlations[0] == pytest.approx([1.0, -mean / np.sqrt(np.mean(X**2))], rel=1e-12)
    half = 2.570582 * np.sqrt([var_offset, var_slope])  # Student's t for five degrees of freedom, from the table
    assert found.intervals == pytest.approx(np.array([[offset, offset], [slope, slope]]) + [[-1, 1]] * half[:, None])
    assert found.parameters == (A, B) and found.values.tolist() == [offset, slope]
    assert found.warnings == ()


def test_the_condition_number_is_that_of_columns_of_unit_length() -> None:
    cosine = X.sum() / np.sqrt(len(X) * np.sum(X**2))
    assert fit(LINE, Y, A, B).condition == pytest.approx(np.sqrt((1 + cosine) / (1 - cosine)), rel=1e-12)


@pytest.mark.parametrize("scale", [1e-9, 1e12])
def test_units_do_not_matter(scale: float) -> None:
    plain = fit(LINE, Y, A, B)
    values = plain.values * [1.0, scale]
    scaled = estimate(LINE @ plain.values - Y, LINE / [1.0, scale], (A, B), values)
    assert scaled.standard_errors == pytest.approx(plain.standard_errors * [1.0, scale], rel=1e-12)
    assert scaled.intervals == pytest.approx(plain.intervals * [[1.0], [scale]], rel=1e-12)
    assert scaled.covariance == pytest.approx(plain.covariance * np.outer([1, scale], [1, scale]), rel=1e-12)
    assert scaled.correlations == pytest.approx(plain.correlations, rel=1e-12)
    assert scaled.condition == pytest.approx(plain.condition, rel=1e-12)
    assert scaled.warnings == plain.warnings


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_numbers_whose_squares_leave_the_range_still_have_errors(scale: float) -> None:
    plain = fit(LINE, Y, A, B)
    scaled = estimate(scale * (LINE @ plain.values - Y), scale * LINE, (A, B), plain.values)
    assert scaled.standard_errors == pytest.approx(plain.standard_errors, rel=1e-12)
    assert scaled.whiteness.statistic == pytest.approx(plain.whiteness.statistic, rel=1e-12)


def test_an_exact_fit_has_no_errors() -> None:
    found = estimate(np.zeros(7), LINE, (A, B), (1.0, 2.0))
    assert found.variance == 0 and found.standard_errors.tolist() == [0, 0]
    assert found.intervals.tolist() == [[1, 1], [2, 2]]
    assert found.whiteness.passed and found.warnings == ()


def test_what_rounding_or_an_early_stop_leaves_of_an_exact_fit_is_not_tested_for_whiteness() -> None:
    """A slow wave of 1e-12 beside a prediction of order one is no missing physics."""
    x = np.linspace(0, 1, 200)
    jacobian = np.stack([np.ones(200), x], axis=1)
    wave = np.sin(9 * x)
    short = 1e-7 * x  # the search stopped 1e-7 short of the slope
    found = estimate(short + 1e-12 * wave, jacobian, (A, B), (1.0, 2.0))
    assert found.whiteness.passed and found.warnings == ()
    assert not estimate(short + 1e-6 * wave, jacobian, (A, B), (1.0, 2.0)).whiteness.passed


# What the data leave open ----------------------------------------------------------------------------------------


def test_a_parameter_that_never_reached_the_model(random: np.random.Generator) -> None:
    a, noise = columns(random, 2)
    alone = fit(a[:, None], 3 * a + noise, A)
    found = fit(np.stack([np.zeros(200), a], axis=1), 3 * a + noise, B, A)
    assert found.standard_errors[0] == math.inf and found.intervals[0].tolist() == [-math.inf, math.inf]
    assert found.standard_errors[1] == pytest.approx(alone.standard_errors[0], rel=1e-12)
    assert found.intervals[1] == pytest.approx(alone.intervals[0], rel=1e-12)
    assert found.correlations.tolist() == [[1, 0], [0, 1]]
    assert found.covariance[0, 1] == 0 and found.covariance[0, 0] == math.inf
    assert found.condition == math.inf
    (warning,) = found.warnings
    assert warning.startswith("The parameter b (name of b) never reached the model")
    assert "Check that the law uses it" in warning


def test_no_parameter_reached_the_model(random: np.random.Generator) -> None:
    found = estimate(random.standard_normal(50), np.zeros((50, 2)), (A, B), (1.0, 2.0))
    assert np.all(np.isinf(found.standard_errors)) and found.condition == math.inf
    assert ["never reached the model" in warning for warning in found.warnings] == [True, True]


def test_two_parameters_of_which_only_the_sum_matters(random: np.random.Generator) -> None:
    a, c, noise = columns(random, 3)
    measured = 5 * a + 2 * c + noise
    reduced = fit(np.stack([a, c], axis=1), measured, A, C)
    found = fit(np.stack([a, c, 1000 * a], axis=1), measured, A, C, B)
    assert np.isinf(found.standard_errors).tolist() == [True, False, True]
    assert found.freedom == reduced.freedom == 198
    assert found.standard_errors[1] == pytest.approx(reduced.standard_errors[1], rel=1e-9)
    assert found.correlations == pytest.approx(np.array([[1, 0, -1], [0, 1, 0], [-1, 0, 1]]), abs=1e-9)
    assert found.covariance[0, 2] == -math.inf and found.covariance[0, 1] == 0
    assert found.condition == math.inf
    (warning,) = found.warnings
    assert "do not determine a and b: the prediction stays the same when a grows and b falls" in warning
    assert "Fix one of them at a known value" in warning


def test_a_ratio_is_undetermined_along_growing_together(random: np.random.Generator) -> None:
    a, noise = columns(random, 2)
    (warning,) = fit(np.stack([a, -3 * a], axis=1), a + noise, A, B).warnings
    assert "when a grows and b grows" in warning


def test_independent_groups_are_named_apart(random: np.random.Generator) -> None:
    """Their unnoticed directions share one null space, of which the SVD may return any basis."""
    a, b, noise = columns(random, 3)
    found = fit(np.stack([a, b, -2 * a, 3 * b], axis=1), a + b + noise, A, B, C, D)
    assert np.all(np.isinf(found.standard_errors))
    assert [warning.partition(". ")[0] for warning in found.warnings] == [
        "The data do not determine a and c: the prediction stays the same when a grows and c grows",
        "The data do not determine b and d: the prediction stays the same when b grows and d falls",
    ]


def test_three_parameters_in_one_column_are_one_group_with_two_to_fix(random: np.random.Generator) -> None:
    a, noise = columns(random, 2)
    (warning,) = fit(np.stack([a, a, a], axis=1), a + noise, A, B, C).warnings
    assert "do not determine a, b and c: the prediction stays the same when a grows, b falls and c falls" in warning
    assert "Fix 2 of them" in warning


@pytest.mark.parametrize(("correlation", "warns"), [(0.94, False), (0.96, True), (-0.94, False), (-0.96, True)])
def test_strongly_correlated_estimates_are_named(correlation: float, warns: bool, random: np.random.Generator) -> None:
    """Two columns at a cosine of −ρ give estimates that correlate by ρ."""
    base, _ = np.linalg.qr(random.standard_normal((200, 2)))
    second = -correlation * base[:, 0] + math.sqrt(1 - correlation**2) * base[:, 1]
    jacobian = np.stack([base[:, 0], 100 * second], axis=1)
    found = fit(jacobian, jacobian @ [1.0, 2.0] + random.standard_normal(200), A, B)
    assert found.correlations[0, 1] == pytest.approx(correlation, abs=1e-12)
    assert len(found.warnings) == warns
    if warns:
        assert "hardly tell a and b apart" in found.warnings[0]
        assert f"a grows and b {'grows' if correlation > 0 else 'falls'}" in found.warnings[0]
        assert "Fix one of them" in found.warnings[0]


def test_three_parameters_that_are_hardly_told_apart_are_named_together(random: np.random.Generator) -> None:
    """The fourth column is about the sum of the first two: one direction is named, and not its pairs again."""
    a, b, c, small, noise = columns(random, 5)
    jacobian = np.stack([a, b, c, a + b + 1e-3 * small], axis=1)
    found = fit(jacobian, a + b + noise, A, B, C, D)
    (warning,) = found.warnings
    assert "hardly tell a, b and d apart" in warning and "when a grows, b grows and d falls" in warning
    assert np.all(np.isfinite(found.standard_errors))
    assert found.condition > 1000
    assert found.covariance == pytest.approx(found.variance * np.linalg.inv(jacobian.T @ jacobian), rel=1e-6)


@pytest.mark.parametrize("seed", range(12))  # the SVD gives a direction with either sign, about as often
def test_what_trades_against_what_does_not_depend_on_the_sign_of_a_direction(seed: int) -> None:
    a, b, small, noise = columns(np.random.default_rng(seed), 4)
    (warning,) = fit(np.stack([a, b, 1e-3 * small - a - b], axis=1), a + noise, A, B, C).warnings
    assert "when a grows, b grows and c grows" in warning


def test_an_interval_wider_than_what_makes_sense(random: np.random.Generator) -> None:
    a, noise = columns(random, 2)
    jacobian = 1e-3 * a[:, None]
    measured = jacobian[:, 0] + noise
    half = 1.972 * np.std(noise) / np.sqrt(np.sum(jacobian**2))  # t for 199 degrees of freedom, about
    assert fit(jacobian, measured, parameter("a", (0.0, 2.2 * half))).warnings == ()
    (warning,) = fit(jacobian, measured, parameter("a", (0.0, 1.8 * half))).warnings
    assert "hardly determine a: its interval is" in warning and "Record a drive" in warning


@pytest.mark.parametrize(
    ("bounds", "sentence"),
    [
        ((2.0, 9.0), "at the lowest value that makes sense, 2.000 kg, and the data ask for a lower one"),
        ((-9.0, 0.5), "at the highest value that makes sense, 0.5000 kg, and the data ask for a higher one"),
    ],
)
def test_a_parameter_at_its_bound_is_told_so(
    bounds: tuple[float, float], sentence: str, random: np.random.Generator
) -> None:
    a, b, noise = columns(random, 3)
    jacobian = np.stack([a, b], axis=1)
    measured = a + b + noise  # both are 1, which the bounds of a forbid
    held = bounds[0] if bounds[0] > 1 else bounds[1]
    values = np.array([held, (measured - held * a) @ b / (b @ b)])
    (warning,) = estimate(jacobian @ values - measured, jacobian, (parameter("a", bounds), B), values).warnings
    assert "parameter a (name of a) stands " + sentence in warning


def test_a_parameter_at_a_bound_that_holds_nothing_back_is_no_matter(random: np.random.Generator) -> None:
    a, noise = columns(random, 2)
    free = fit(a[:, None], a + noise, A)
    at = float(free.values[0])
    assert fit(a[:, None], a + noise, parameter("a", (at - 5.0, math.nextafter(at, 9.0)))).warnings == ()


def test_a_fit_that_stopped_short_is_told_so(random: np.random.Generator) -> None:
    a, b, noise = columns(random, 3)
    jacobian = np.stack([a, b], axis=1)
    settled = fit(jacobian, a + b + noise, A, B)
    for errors, warns in [(0.09, False), (0.11, True)]:
        values = settled.values + np.array([0.0, errors]) * settled.standard_errors
        found = estimate(jacobian @ values - (a + b + noise), jacobian, (A, B), values)
        assert len(found.warnings) == warns
    assert "The fit of b has not settled: the minimum is about \N{MINUS SIGN}" in found.warnings[0]
    assert "Train on" in found.warnings[0]


# What is refused -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("residual", "jacobian", "values", "sentence"),
    [
        (np.zeros((4, 1)), np.zeros((4, 2)), (0, 0), r"residual must be one row .* not shape \(4, 1\)"),
        (np.zeros(4), np.zeros((5, 2)), (0, 0), r"Jacobian has shape \(5, 2\).*\(4,\).* a, b need shape \(4, 2\)"),
        (np.zeros(4), np.zeros((4, 3)), (0, 0), r"Jacobian has shape \(4, 3\).* need shape \(4, 2\)"),
        (np.zeros(4), np.zeros(4), (0, 0), r"Jacobian has shape \(4,\)"),
        (np.zeros(4), np.zeros((4, 2)), (0,), r"values have shape \(1,\).* need shape \(2,\)"),
        (np.zeros(2), np.zeros((2, 2)), (0, 0), r"\(2,\) has 2 samples.*\(2, 2\) has 2 parameters"),
        (np.array([0, 0, math.nan, 0]), np.zeros((4, 2)), (0, 0), r"residual of shape \(4,\) has nan in row 2"),
        (np.zeros(4), np.array([[0, 0]] * 3 + [[0, math.inf]]), (0, 0), r"inf in row 3, column 1 \(parameter b\)"),
        (np.zeros(4), np.zeros((4, 2)), (0, math.nan), r"value of parameter b is nan"),
    ],
)
def test_misfits_are_refused_in_a_sentence(residual: Array, jacobian: Array, values: Array, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        estimate(residual, jacobian, (A, B), values)


def test_there_must_be_a_parameter() -> None:
    with pytest.raises(ValueError, match="at least one parameter"):
        estimate(np.zeros(4), np.zeros((4, 0)), (), ())


@pytest.mark.parametrize("residual", [np.zeros(1), np.zeros((2, 2)), np.array([0.0, math.nan])])
def test_whiteness_refuses_what_is_no_row_of_numbers(residual: Array) -> None:
    with pytest.raises(ValueError, match="at least two finite numbers"):
        whiteness(residual)


# Tables ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("freedom", "t95", "t99"),
    [
        (1, 12.706, 63.657),
        (2, 4.303, 9.925),
        (3, 3.182, 5.841),
        (4, 2.776, 4.604),
        (5, 2.571, 4.032),
        (10, 2.228, 3.169),
        (29, 2.045, 2.756),
        (30, 2.042, 2.750),
        (120, 1.980, 2.617),
        (10**6, 1.960, 2.576),
    ],
)
def test_students_t_is_the_tables(freedom: int, t95: float, t99: float) -> None:
    assert student_t(freedom, 0.95) == pytest.approx(t95, abs=0.00051)
    assert student_t(freedom, 0.99) == pytest.approx(t99, abs=0.00051)


@pytest.mark.parametrize(
    ("freedom", "table"),
    [(1, 6.635), (2, 9.210), (3, 11.345), (4, 13.277), (5, 15.086), (6, 16.812), (8, 20.090), (10, 23.209)],
)
def test_chi_square_is_the_tables(freedom: int, table: float) -> None:
    assert chi_square(freedom, 0.99) == pytest.approx(table, rel=0.003 if freedom > 1 else 0.008)


# Whiteness -------------------------------------------------------------------------------------------------------


def test_ljung_and_boxs_statistic_by_hand() -> None:
    found = whiteness([1.0, 2.0, -1.0, 3.0])  # squares sum to 15, lagged products to 2 − 2 − 3 and −1 + 6
    assert found.autocorrelations == pytest.approx((-3 / 15, 5 / 15))
    assert found.statistic == pytest.approx(4 * 6 * ((3 / 15) ** 2 / 3 + (5 / 15) ** 2 / 2))


@pytest.mark.parametrize(("n", "lags"), [(2, 1), (3, 2), (89, 2), (90, 3), (120, 4), (300, 10), (25_000, 10)])
def test_lags_are_few_against_samples(n: int, lags: int, random: np.random.Generator) -> None:
    found = whiteness(random.standard_normal(n))
    assert len(found.autocorrelations) == lags
    assert found.limit == chi_square(lags, 0.99)


@pytest.mark.parametrize("n", [30, friction.STEPS, 1000])
def test_white_noise_is_rejected_once_in_a_hundred_records(n: int) -> None:
    draws = np.random.default_rng(314).standard_normal((2000, n))
    rejected = sum(not whiteness(row).passed for row in draws)
    assert abs(rejected - 20) <= 3 * math.sqrt(2000 * 0.01 * 0.99)  # binomial


@pytest.mark.parametrize("period", [4.0, 7.3, 40.0, 120.0])
def test_a_sine_as_strong_as_the_noise_is_seen(period: float, random: np.random.Generator) -> None:
    sine = math.sqrt(2) * np.sin(2 * np.pi * np.arange(friction.STEPS) / period)
    seen = sum(not whiteness(sine + row).passed for row in random.standard_normal((200, friction.STEPS)))
    assert seen >= 190


def test_an_offset_is_no_noise(random: np.random.Generator) -> None:
    assert not whiteness(1 + random.standard_normal(friction.STEPS)).passed


def test_the_sentences_of_whiteness(random: np.random.Generator) -> None:
    white = whiteness(random.standard_normal(120))
    assert white.sentence.startswith("The residuals look like noise (Ljung–Box statistic over 4 lags: ")
    slow = whiteness(np.sin(np.arange(120) / 10))
    assert slow.sentence.startswith("The residuals are not noise: 1 sample apart they correlate by 0.9")
    assert "the model lacks something" in slow.sentence and "Look at where" in slow.sentence
    alternating = whiteness(np.tile([1.0, 1.0, -1.0, -1.0], 30))
    assert "2 samples apart they correlate by \N{MINUS SIGN}0.98" in alternating.sentence


def test_whiteness_does_not_depend_on_the_unit(random: np.random.Generator) -> None:
    r = np.cumsum(random.standard_normal(120))
    assert whiteness(1e-200 * r).statistic == pytest.approx(whiteness(r).statistic, rel=1e-12)


# The friction bench, by simulation -------------------------------------------------------------------------------

DRAWS = 500
NOISE = 0.001  # m, standard deviation
CHIRP = friction.chirp(friction.DT * np.arange(friction.STEPS))


def paths(c: Array, m: Array, viscous: float = 0.0) -> tuple[Array, Array]:
    """Positions and their derivatives by c and m, for a batch: shapes (steps, batch) and (steps, batch, 2)."""
    x = v = np.zeros_like(c)
    dx = dv = np.zeros((len(c), 2))
    positions, sensitivities = [], []
    for u in CHIRP:
        acceleration = (u - c * v * np.abs(v) - viscous * v) / m
        by_v = (-2 * c * np.abs(v) - viscous) / m
        dv = dv + friction.DT * (by_v[:, None] * dv + np.stack([-v * np.abs(v) / m, -acceleration / m], axis=1))
        v = v + friction.DT * acceleration
        x, dx = x + friction.DT * v, dx + friction.DT * dv
        positions.append(x)
        sensitivities.append(dx)
    return np.stack(positions), np.stack(sensitivities)


TRUE_C, TRUE_M = np.array([friction.TRUTH["c"]]), np.array([friction.TRUTH["m"]])


def fitted(truth: Array, sought: list[int], seed: int) -> list[Uncertainty]:
    """Gauss–Newton on all draws at once, from the bench's own start or the known value; then each draw's uncertainty.

    Args:
        truth: noise-free positions, shape (steps,).
        sought: which of c (0) and m (1) are fitted.
        seed: of the noise.
    """
    noise = 0.001 * np.random.default_rng(seed).standard_normal((len(truth), DRAWS))
    measured = truth[:, None] + noise
    values = np.tile([friction.TRUTH["c"], friction.TRUTH["m"]], (DRAWS, 1))
    values[:, sought] = [friction.PLANT.parameters[i].start for i in sought]
    for _ in range(12):
        predicted, jacobian = paths(*values.T)
        j = np.moveaxis(jacobian[..., sought], 0, 1)  # (draws, steps, sought)
        r = (predicted - measured).T
        step = np.linalg.solve(np.swapaxes(j, 1, 2) @ j, np.einsum("dns,dn->ds", j, r)[..., None])[..., 0]
        values[:, sought] -= step
    assert np.max(np.abs(step)) < 1e-9
    predicted, jacobian = paths(*values.T)
    parameters = [friction.PLANT.parameters[i] for i in sought]
    return [
        estimate(predicted[:, d] - measured[:, d], jacobian[:, d, sought], parameters, values[d, sought])
        for d in range(DRAWS)
    ]


def test_the_batch_of_paths_is_the_benchs_own(reference: Record) -> None:
    positions, sensitivities = paths(TRUE_C, TRUE_M)
    assert positions[:, 0] == pytest.approx(reference.measured.values, abs=1e-12)
    h = 1e-6
    by_c = (paths(TRUE_C + h, TRUE_M)[0] - paths(TRUE_C - h, TRUE_M)[0]) / (2 * h)
    by_m = (paths(TRUE_C, TRUE_M + h)[0] - paths(TRUE_C, TRUE_M - h)[0]) / (2 * h)
    assert sensitivities[..., 0] == pytest.approx(by_c, abs=1e-8)
    assert sensitivities[..., 1] == pytest.approx(by_m, abs=1e-8)


@pytest.mark.parametrize("sought", [[0], [0, 1]], ids=["mass known", "mass fitted too"])
def test_intervals_cover_the_truth_and_estimates_reach_the_cramer_rao_bound(
    sought: list[int], reference: Record
) -> None:
    found = fitted(reference.measured.values, sought, seed=314)
    truth = np.array([friction.TRUTH[symbol] for symbol in "cm"])[sought]

    intervals = np.stack([each.intervals for each in found])
    covered = np.mean((intervals[..., 0] <= truth) & (truth <= intervals[..., 1]), axis=0)
    assert np.all((covered >= 0.93) & (covered <= 0.97))

    j = paths(TRUE_C, TRUE_M)[1][:, 0, sought]
    bound = 0.001 * np.sqrt(np.diag(np.linalg.inv(j.T @ j)))
    assert np.std([each.values for each in found], axis=0, ddof=1) == pytest.approx(bound, rel=0.10)
    assert np.mean([each.standard_errors for each in found], axis=0) == pytest.approx(bound, rel=0.02)

    assert not any(each.warnings for each in found)
    rejected = sum(not each.whiteness.passed for each in found)
    assert rejected <= 5 + 3 * math.sqrt(DRAWS * 0.01 * 0.99)


def test_a_missing_viscous_drag_shows_in_the_residuals() -> None:
    found = fitted(paths(TRUE_C, TRUE_M, viscous=0.3)[0][:, 0], [0], seed=314)
    assert not any(each.whiteness.passed for each in found)
