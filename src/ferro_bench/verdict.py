"""Is it right? Checks with a value, a limit and a sentence, computed from the identified parameters alone.

The bench declares which checks apply; this module evaluates and words them. A curve that lies on the data is necessary
and not sufficient: a wrong model can be bent onto one record. So a verdict also asks for the known truth where there is
one, for a record that the fit never saw, and for a gradient that finite differences confirm.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from .dataset import Array
from .gradient import GradientCheck
from .loss import root_mean_square
from .quantity import quantity
from .uncertainty import Whiteness

SETTLED = 1e-5  # share of the measured signal by which a search may stop short of its minimum


@dataclass(frozen=True)
class Check:
    """One thing that was asked of the result: it passes where the value is at most the limit.

    Attributes:
        name: what was asked, in a few words.
        value: what came out.
        limit: the largest value that passes.
        unit: of both.
        because: where the limit comes from.
        advice: what to look at when it fails.
    """

    name: str
    value: float
    limit: float
    unit: str
    because: str
    advice: str

    @property
    def passed(self) -> bool:
        return bool(self.value <= self.limit < math.inf)  # False for NaN

    @property
    def sentence(self) -> str:
        value, limit = quantity(self.value, self.unit, 3), quantity(self.limit, self.unit, 3)
        outcome = f"{self.name}: {value}, at most {limit} passes ({self.because})."
        return outcome if self.passed else f"{outcome} {self.advice}"


@dataclass(frozen=True)
class Verdict:
    """The checks together: PASS where every one of them passes."""

    checks: tuple[Check, ...]

    @property
    def passed(self) -> bool:
        return all(check.passed for check in self.checks)

    @property
    def sentence(self) -> str:
        if self.passed:
            return f"PASS: all {len(self.checks)} checks hold."
        failed = [check for check in self.checks if not check.passed]
        return f"Not yet: {len(failed)} of {len(self.checks)} checks fail. {failed[0].sentence}"


def recovers(symbol: str, found: float, truth: float, tolerance: float, unit: str) -> Check:
    """Is the parameter within a tolerance of the value that the data were made with?"""
    return Check(
        name=f"Distance of {symbol} from the truth",
        value=abs(found - truth),
        limit=tolerance,
        unit=unit,
        because=f"the data were made with {symbol} = {quantity(truth, unit, 3)}",
        advice=f"{symbol} = {quantity(found, unit)} is not the value behind the data.",
    )


def overlays(predicted: Array, measured: Array, noise: float, unit: str, what: str, advice: str) -> Check:
    """Does a prediction differ from the measurement by no more than the noise explains?

    With the right model the residual is the noise. Over n samples its root mean square is then close to the standard
    deviation σ, and scatters around it by σ/√(2n) (the normal approximation of a χ² distribution); four of these
    are allowed, which chance exceeds about three times in 100,000.

    Args:
        predicted: shape (steps,).
        measured: shape (steps,).
        noise: standard deviation of the measurement noise.
        unit: of all three.
        what: which record this is, for the name of the check.
        advice: what to look at when it fails.
    """
    with np.errstate(all="ignore"):  # a diverged prediction may be too far away to be squared
        value = root_mean_square(predicted - measured)
    explained = noise * (1 + 4 / np.sqrt(2 * len(measured)))
    settled = SETTLED * root_mean_square(measured)
    return Check(
        name=f"Rms distance from the {what}",
        value=value,
        limit=max(explained, settled),
        unit=unit,
        because=f"{quantity(noise, unit, 3)} of noise and its scatter over {len(measured)} samples"
        if explained > settled
        else "there is next to no noise, and the search stops a hair before its goal",
        advice=advice,
    )


def looks_like_noise(whiteness: Whiteness | None) -> Check:
    """Is what the model leaves over without pattern?

    Args:
        whiteness: of the residual; None where there is no finite residual.
    """
    return Check(
        name="Pattern in the residuals (Ljung–Box)",
        value=whiteness.statistic if whiteness else math.nan,
        limit=whiteness.limit if whiteness else 0.0,
        unit="",
        because="noise without pattern exceeds this once in a hundred records",
        advice="What is left over is not noise: neighbouring residuals agree, so the model lacks something, "
        "or is not at its best yet.",
    )


def gradient_agrees(check: GradientCheck, unit: str) -> Check:
    """Do the tape and finite differences give the same gradient?"""
    return Check(
        name="Gradient against finite differences",
        value=check.difference,
        limit=check.limit,
        unit=unit,
        because="what rounding and truncation may leave of a central difference",
        advice="The gradient cannot be trusted, and neither can a step along it.",
    )
