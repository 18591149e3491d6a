"""How sure is the answer? Standard errors, intervals, and what the data leave open.

Near the fit a model is taken as linear in its parameters, predicted(p + δ) ≈ predicted(p) + J δ, and the noise as white
with an unknown variance σ². The least-squares estimate then scatters around the truth with covariance σ² (JᵀJ)⁻¹, which
is the Cramér–Rao bound for Gaussian noise: no unbiased estimate scatters less. With σ² estimated from the residual the
distance from the truth in standard errors follows Student's t.

Parameters come in kg, N m/rad and ms, so the columns of J may differ by many powers of ten without anything being
wrong. Each is therefore divided by its length before J = U S Vᵀ is taken apart; what is small in S is then a
*direction* that the prediction does not notice, whatever the units. With singular values of zero the covariance is read
as its limit from above: parameters that such a direction moves are infinitely uncertain, the others keep their finite
errors.

All of this holds for a model that is right. The whiteness test asks whether the residual looks like noise; where it
does not, the intervals are too narrow by an unknown amount.

Sources: Seber and Wild, *Nonlinear Regression*, Wiley 1989, chapters 2 and 5; Bates and Watts, *Nonlinear Regression
Analysis and Its Applications*, Wiley 1988, chapter 2; Belsley, Kuh and Welsch, *Regression Diagnostics*, Wiley 1980,
chapter 3 (columns of unit length, condition indices).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .dataset import Array
from .plant import Parameter
from .quantity import quantity

Mask = NDArray[np.bool_]

COVERAGE = 0.95  # of the intervals
FALSE_ALARMS = 0.01  # share of white residuals that the whiteness test may reject
LAGS = 10  # over which it looks at most
SAMPLES = 30  # that it wants for each of them
SINGULAR = 1e-10  # singular values below this share of the largest are rounding
INVOLVED = 1e-6  # a parameter whose share in the unnoticed directions is below this is not moved by them
CORRELATED = 0.95  # two parameters are hardly told apart beyond this
INDEX = 30.0  # and so are several beyond this condition index (Belsley, Kuh and Welsch 1980, chapter 3)
SETTLED = 0.1  # standard errors that the estimate may lie off the minimum
NEGLIGIBLE = 1e-9  # what is below this share of what it belongs to is rounding
READABLE = 1e-5  # a shift below this share of a value is not worth a warning


@dataclass(frozen=True)
class Whiteness:
    """Does a residual look like noise? It does where the statistic is at most the limit.

    Attributes:
        statistic: Ljung and Box's Q, a pure number.
        limit: the largest Q that passes.
        autocorrelations: of samples 1, 2, … apart, each between −1 and 1; there are as many as lags were looked at.
    """

    statistic: float
    limit: float
    autocorrelations: tuple[float, ...]

    @property
    def passed(self) -> bool:
        return self.statistic <= self.limit

    @property
    def sentence(self) -> str:
        outcome = (
            f"Ljung–Box statistic over {_count(len(self.autocorrelations), 'lag')}: "
            f"{quantity(self.statistic, digits=3)}, at most {quantity(self.limit, digits=3)} passes"
        )
        if self.passed:
            return f"The residuals look like noise ({outcome})."
        lag, strongest = max(enumerate(self.autocorrelations, 1), key=lambda pair: abs(pair[1]))
        return (
            f"The residuals are not noise: {_count(lag, 'sample')} apart they correlate by "
            f"{quantity(strongest, digits=2)}, so the model lacks something ({outcome}). The intervals are too narrow "
            "while it does. Look at where the residuals wander, and which effect is at work there."
        )


@dataclass(frozen=True, eq=False)
class Uncertainty:
    """How well the data determine the parameters. The k parameters stand in the order in which they were given.

    Attributes:
        parameters: the k parameters.
        values: the estimates, shape (k,), each in its parameter's unit.
        freedom: degrees of freedom of the residual: samples less the directions that the data determine, n − k as a
            rule. A direction that they do not determine takes no freedom from the residual.
        variance: of the residual, σ̂² = r·r / freedom, in the measured unit squared.
        covariance: of the estimates, shape (k, k), in the product of the units of row and column; infinite where
            undetermined.
        standard_errors: shape (k,), in the parameters' units; infinite for what the data do not determine.
        intervals: lower and upper end of each 95 % interval, shape (k, 2), in the parameters' units.
        correlations: of the estimates, shape (k, k), pure numbers, always finite.
        condition: ratio of the largest to the smallest singular value of the Jacobian with columns of unit length;
            infinite if it is singular.
        warnings: a sentence for whatever the data leave open, each with the way on.
        whiteness: whether the residual looks like noise, which all of the above supposes.
    """

    parameters: tuple[Parameter, ...]
    values: Array
    freedom: int
    variance: float
    covariance: Array
    standard_errors: Array
    intervals: Array
    correlations: Array
    condition: float
    warnings: tuple[str, ...]
    whiteness: Whiteness


def estimate(
    residual: ArrayLike, jacobian: ArrayLike, parameters: Sequence[Parameter], values: ArrayLike
) -> Uncertainty:
    """What a least-squares fit tells about its parameters.

    The whiteness test sees the residual without the part that a further change of the parameters would remove: at the
    minimum there is no such part, and short of it that part speaks of the search and not of the model.

    Args:
        residual: predicted − measured at the fit, shape (n,), in the measured unit.
        jacobian: derivative of the prediction by each parameter, shape (n, k), in the measured unit per parameter unit.
        parameters: the k parameters that were fitted, in the order of the columns.
        values: the estimates, shape (k,).

    Returns:
        The uncertainty. A singular Jacobian is a result, with warnings, and raises nothing.

    Raises:
        ValueError: if the shapes do not belong together, if there are no more samples than parameters, or if anything
            is not a finite number.
    """
    r, j, p = (np.asarray(given, dtype=np.float64) for given in (residual, jacobian, values))
    _refuse_misfits(r, j, p, parameters)

    length = _lengths(j)
    reached = length > 0
    unit = np.where(reached, length, 1.0)  # what each column is divided by
    left, singular, directions = np.linalg.svd(j / unit, full_matrices=False)
    noticed = singular > SINGULAR * singular[0]  # all False where no column was reached
    rank = int(np.count_nonzero(noticed))

    unnoticed = directions[~noticed].T @ directions[~noticed]  # projects on what the prediction does not notice
    undetermined = np.diag(unnoticed) > INVOLVED**2
    spread = directions[noticed].T / singular[noticed]  # scaled covariance = spread spreadᵀ
    scatter = np.sqrt(np.sum(spread**2, axis=1))  # standard errors, in σ, scaled

    freedom = len(r) - rank
    sigma = float(_lengths(r)) / math.sqrt(freedom)
    with np.errstate(over="ignore", invalid="ignore"):
        errors = np.where(undetermined, np.inf, sigma * scatter / unit)
        correlations = np.where(
            undetermined[:, None] & undetermined,
            _normalized(unnoticed),
            np.where(undetermined[:, None] | undetermined, 0.0, _normalized(spread @ spread.T)),
        )
        covariance = np.where(correlations == 0, 0.0, correlations * errors[:, None] * errors)
        reach = student_t(freedom, COVERAGE) * errors

    explained = left[:, noticed].T @ r
    beyond = _beyond_a_bound(parameters, p, -((j / unit).T @ r))
    step = np.zeros(len(p))  # the Gauss–Newton step that is still to go
    step[~beyond] = -np.linalg.lstsq((j / unit)[:, ~beyond], r, rcond=SINGULAR)[0] / unit[~beyond]
    leftover = r - left[:, noticed] @ explained
    if np.max(np.abs(leftover)) <= NEGLIGIBLE * max(np.max(np.abs(j * p)), np.max(np.abs(r))):
        leftover = np.zeros_like(r)

    intervals = np.stack([p - reach, p + reach], axis=1)
    warnings = (
        *_never_reached(parameters, reached),
        *_at_a_bound(parameters, p, beyond),
        *_not_determined(parameters, unnoticed, undetermined & reached),
        *_hardly_told_apart(parameters, correlations, singular[noticed], directions[noticed], undetermined),
        *_wider_than_sensible(parameters, intervals),
        *_not_settled(parameters, p, step, errors),
    )
    return Uncertainty(
        parameters=tuple(parameters),
        values=p,
        freedom=freedom,
        variance=sigma * sigma,
        covariance=covariance,
        standard_errors=errors,
        intervals=intervals,
        correlations=correlations,
        condition=float(singular[0] / singular[-1]) if rank == len(p) else math.inf,
        warnings=warnings,
        whiteness=whiteness(leftover),
    )


def _refuse_misfits(residual: Array, jacobian: Array, values: Array, parameters: Sequence[Parameter]) -> None:
    symbols = ", ".join(parameter.symbol for parameter in parameters)
    if residual.ndim != 1:
        raise ValueError(f"the residual must be one row of samples, shape (n,), not shape {residual.shape}")
    n, k = len(residual), len(parameters)
    if k == 0:
        raise ValueError("there must be at least one parameter")
    if jacobian.shape != (n, k):
        raise ValueError(
            f"the Jacobian has shape {jacobian.shape}; a residual of shape {residual.shape} and the "
            f"parameters {symbols} need shape {(n, k)}"
        )
    if values.shape != (k,):
        raise ValueError(f"the values have shape {values.shape}; the parameters {symbols} need shape {(k,)}")
    if n <= k:
        raise ValueError(
            f"a residual of shape {residual.shape} has {_count(n, 'sample')}, and a Jacobian of shape {jacobian.shape} "
            f"has {_count(k, 'parameter')}; there must be more samples than parameters"
        )
    for row in np.flatnonzero(~np.isfinite(residual))[:1]:
        raise ValueError(f"the residual of shape {residual.shape} has {residual[row]} in row {row}")
    for row, column in np.argwhere(~np.isfinite(jacobian))[:1]:
        raise ValueError(
            f"the Jacobian of shape {jacobian.shape} has {jacobian[row, column]} in row {row}, "
            f"column {column} (parameter {parameters[column].symbol})"
        )
    for index in np.flatnonzero(~np.isfinite(values))[:1]:
        raise ValueError(f"the value of parameter {parameters[index].symbol} is {values[index]}")


def _lengths(columns: Array) -> Array:
    """Euclidean length of each column, also where its square would leave the range of numbers."""
    largest = np.max(np.abs(columns), axis=0)
    lengths: Array = largest * np.sqrt(np.sum((columns / np.where(largest > 0, largest, 1.0)) ** 2, axis=0))
    return lengths


def _normalized(covariance: Array) -> Array:
    """The correlations that belong to a covariance, shape (k, k); 0 where there is no variance."""
    deviation = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    scale = np.where(deviation > 0, deviation, 1.0)
    return np.clip(covariance / scale[:, None] / scale, -1.0, 1.0)


# Warnings --------------------------------------------------------------------------------------------------------


def _never_reached(parameters: Sequence[Parameter], reached: Mask) -> Iterator[str]:
    for index in np.flatnonzero(~reached).tolist():
        yield (
            f"The parameter {parameters[index].symbol} ({parameters[index].name}) never reached the model: no sample "
            "of the prediction depends on it. Check that the law uses it, and that the drive excites what it acts on."
        )


def _beyond_a_bound(parameters: Sequence[Parameter], values: Array, downhill: Array) -> Mask:
    """Which parameters stand at the end of the range that makes sense, with the loss falling further outside."""
    beyond = []
    for (low, high), value, slope in zip((p.bounds for p in parameters), values, downhill, strict=True):
        rounding = NEGLIGIBLE * (high - low) if math.isfinite(high - low) else 0.0
        beyond.append((value <= low + rounding and slope < 0) or (value >= high - rounding and slope > 0))
    return np.array(beyond)


def _at_a_bound(parameters: Sequence[Parameter], values: Array, beyond: Mask) -> Iterator[str]:
    for index in np.flatnonzero(beyond).tolist():
        parameter, value = parameters[index], float(values[index])
        end, other = ("lowest", "lower") if value < sum(parameter.bounds) / 2 else ("highest", "higher")
        yield (
            f"The parameter {parameter.symbol} ({parameter.name}) stands at the {end} value that makes sense, "
            f"{quantity(value, parameter.unit)}, and the data ask for a {other} one: its interval means nothing there. "
            "Look for what the model lacks, or for a fault in the data."
        )


def _not_determined(parameters: Sequence[Parameter], unnoticed: Array, members: Mask) -> Iterator[str]:
    """A sentence for each group of parameters that unnoticed directions tie together.

    The projector on those directions, unlike any basis of them, is unique. Its blocks are the groups, and a row of it
    is itself an unnoticed direction, the one that moves that row's parameter most.
    """
    waiting = set(np.flatnonzero(members).tolist())
    while waiting:
        first = min(waiting)
        group, fringe = {first}, {first}
        while fringe:
            fringe = {j for i in fringe for j in waiting - group if abs(unnoticed[i, j]) > INVOLVED}
            group |= fringe
        waiting -= group
        indices = sorted(group)
        free = round(sum(unnoticed[i, i] for i in indices))
        yield (
            f"The data do not determine {_list([parameters[i].symbol for i in indices])}: the prediction stays the "
            f"same when {_trade(parameters, unnoticed[first], INVOLVED)}. Fix {'one' if free == 1 else free} of them "
            "at a known value, or record a drive that tells them apart."
        )


def _hardly_told_apart(
    parameters: Sequence[Parameter], correlations: Array, singular: Array, directions: Array, undetermined: Mask
) -> Iterator[str]:
    """Directions that the prediction barely notices, then strongly correlated pairs that none of these contains."""
    way_on = "Fix one of them at a known value, or record a drive that tells them apart."
    groups: list[set[int]] = []
    for value, direction in zip(singular, directions, strict=True):
        if singular[0] / value > INDEX:
            threshold = 0.1 * np.max(np.abs(direction))
            members = np.flatnonzero(np.abs(direction) > threshold).tolist()
            groups.append(set(members))
            yield (
                f"The data hardly tell {_list([parameters[i].symbol for i in members])} apart: the prediction changes "
                f"little when {_trade(parameters, direction, threshold)} "
                f"(condition index {quantity(float(singular[0] / value), digits=3)}). {way_on}"
            )
    for i, j in np.argwhere(np.triu(np.abs(correlations) > CORRELATED, 1)).tolist():
        if not (undetermined[i] or undetermined[j] or any({i, j} <= group for group in groups)):
            pair = np.zeros(len(parameters))
            pair[[i, j]] = 1.0, correlations[i, j]
            yield (
                f"The data hardly tell {parameters[i].symbol} and {parameters[j].symbol} apart: the prediction changes "
                f"little when {_trade(parameters, pair, 0.0)} "
                f"(correlation {quantity(float(correlations[i, j]), digits=3)}). {way_on}"
            )


def _wider_than_sensible(parameters: Sequence[Parameter], intervals: Array) -> Iterator[str]:
    """A column of unit length hides how small it was; the range that makes sense is the measure of that."""
    for parameter, (low, high) in zip(parameters, intervals.tolist(), strict=True):
        lowest, highest = parameter.bounds
        if math.inf > high - low > highest - lowest:
            yield (
                f"The data hardly determine {parameter.symbol}: its interval is "
                f"{quantity(high - low, parameter.unit, 3)} wide, more than the whole range from "
                f"{quantity(lowest, parameter.unit, 3)} to {quantity(highest, parameter.unit, 3)} that makes sense. "
                f"Record a drive on which {parameter.symbol} has more effect, or measure with less noise."
            )


def _not_settled(parameters: Sequence[Parameter], values: Array, step: Array, errors: Array) -> Iterator[str]:
    """How far from the minimum, in standard errors (after Bates and Watts, *Technometrics* 23, 1981)."""
    off = (np.abs(step) > SETTLED * errors) & (np.abs(step) > READABLE * np.abs(values))
    for parameter, move, error, is_off in zip(parameters, step.tolist(), errors.tolist(), off, strict=True):
        if is_off:
            yield (
                f"The fit of {parameter.symbol} has not settled: the minimum is about "
                f"{quantity(move, parameter.unit, 2)} away, with a standard error of "
                f"{quantity(error, parameter.unit, 2)}. Train on before reading its interval."
            )


def _trade(parameters: Sequence[Parameter], direction: Array, threshold: float) -> str:
    """A direction in words: ``c grows and m falls``."""
    members = np.flatnonzero(np.abs(direction) > threshold).tolist()
    sign = np.sign(direction[members[0]])
    return _list([f"{parameters[i].symbol} {'grows' if direction[i] * sign > 0 else 'falls'}" for i in members])


def _list(words: list[str]) -> str:
    return f"{', '.join(words[:-1])} and {words[-1]}" if len(words) > 1 else words[0]


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


# Whiteness -------------------------------------------------------------------------------------------------------


def whiteness(residual: ArrayLike) -> Whiteness:
    """Ljung and Box's portmanteau test: Q = n (n + 2) Σ ρₗ² / (n − l), over n/30 lags l, 2 to 10 of them.

    White noise gives a Q that is close to χ² with one degree of freedom a lag, and is rejected once in a hundred
    records. It is close only while lags are few against samples: simulated, ten lags on 120 samples reject white noise
    half again as often as they should, and the four that are used here hardly more. What a model lacks is mostly slow
    against the sampling, so that few lags see it, and two show a sine of whatever frequency.

    The mean is *not* removed, since a constant offset is no noise either. Nor are degrees of freedom subtracted for
    fitted parameters: that is for coefficients that act on past outputs (ARMA models), while a simulated model never
    sees the measured past, and its residual differs from the noise by k directions among n.

    Source: Ljung and Box, "On a measure of lack of fit in time series models", *Biometrika* 65 (1978), 297–303.

    Args:
        residual: shape (n,), n ≥ 2, finite, on a uniform clock. All zeros pass.

    Raises:
        ValueError: if it is not one row of at least two finite numbers.
    """
    r = np.asarray(residual, dtype=np.float64)
    if r.ndim != 1 or len(r) < 2 or not np.all(np.isfinite(r)):
        raise ValueError(f"the residual must be one row of at least two finite numbers; it has shape {r.shape}")
    n = len(r)
    length = _lengths(r)
    unit = r / length if length > 0 else r
    lags = np.arange(1, min(LAGS, max(2, n // SAMPLES), n - 1) + 1)
    autocorrelations = np.array([unit[lag:] @ unit[:-lag] for lag in lags])
    return Whiteness(
        statistic=float(n * (n + 2) * np.sum(autocorrelations**2 / (n - lags))),
        limit=chi_square(len(lags), 1 - FALSE_ALARMS),
        autocorrelations=tuple(autocorrelations.tolist()),
    )


# Quantiles -------------------------------------------------------------------------------------------------------


def student_t(freedom: int, coverage: float) -> float:
    """The t for which Student's distribution has that share between −t and t.

    With t = √ν tan θ the share is a finite sum in sin θ and cos θ, exact for whole ν, and its derivative is
    proportional to cos θ to the power ν − 1. It bends downwards, so Newton's method from θ = 0 climbs to the root and
    never beyond.

    Source: Abramowitz and Stegun, *Handbook of Mathematical Functions*, NBS 1964, formulas 26.7.3 and 26.7.4.

    Args:
        freedom: degrees of freedom ν, at least 1.
        coverage: between 0 and 1.
    """
    odd = freedom % 2
    powers = np.arange(odd, freedom - 1, 2, dtype=np.float64)  # of the cosine
    weights = np.cumprod(np.concatenate([[1.0], (powers[:-1] + 1) / (powers[:-1] + 2)]))[: len(powers)]
    share = 2 / math.pi if odd else 1.0
    slope = share * (odd + float(np.sum(weights)))  # at θ = 0
    theta = 0.0
    for _ in range(50):
        reached = share * (odd * theta + math.sin(theta) * float(weights @ math.cos(theta) ** powers))
        step = (coverage - reached) / (slope * math.cos(theta) ** (freedom - 1))
        theta += step
        if abs(step) <= 1e-14 * theta:
            break
    return math.sqrt(freedom) * math.tan(theta)


def chi_square(freedom: int, share: float) -> float:
    """The value below which that share of a χ² distribution lies: its cube root is close to normal.

    At a share of 0.99, which the test of whiteness uses, within 0.8 % for one degree of freedom and 0.3 % from two on.

    Source: Wilson and Hilferty, "The distribution of chi-square", *Proc. Natl. Acad. Sci. USA* 17 (1931), 684–688.

    Args:
        freedom: degrees of freedom, at least 1.
        share: between 0 and 1.
    """
    variance = 2 / (9 * freedom)
    return float(freedom * (1 - variance + NormalDist().inv_cdf(share) * math.sqrt(variance)) ** 3)
