"""The lesson's own figures: each number that the prose states without a source is computed here."""

from pathlib import Path

import numpy as np
import pytest

from ferro_bench import Dataset, Drive, Record, identify, load, rollout, semi_implicit_euler
from ferro_bench.benches import friction
from ferro_bench.dataset import Array, Channel
from ferro_bench.identify import Problem
from ferro_bench.optimizer import GradientDescent

LESSON = " ".join((Path(__file__).parents[2] / "lesson.html").read_text("utf-8").split())
TIME = friction.DT * np.arange(friction.STEPS)
CHIRP = friction.chirp(TIME)
H = 1e-6  # for central differences


def path(c: float, m: float = 1.4, drag: float = 0.0, force: Array = CHIRP) -> Array:
    """The position of a mass with quadratic and viscous drag, written out in plain Python."""
    x = v = 0.0
    positions = []
    for u in force:
        v += friction.DT * (u - c * v * abs(v) - drag * v) / m
        x += friction.DT * v
        positions.append(x)
    return np.array(positions)


def regress(position: Array) -> float:
    """One line of linear regression for c on differenced positions, from rest at the origin."""
    velocity = np.diff(np.concatenate([[0.0, 0.0], position])) / friction.DT
    acceleration = np.diff(velocity) / friction.DT
    w = velocity[:-1] * np.abs(velocity[:-1])
    return float(np.sum((CHIRP - 1.4 * acceleration) * w) / np.sum(w * w))


def fit(position: Array) -> float:
    """The drag that the package identifies from a record of the chirp."""
    measured = Channel("x", "position", "m", position)
    record = Record(Drive(friction.DT, (0.0, 0.0), Channel("u", "force", "N", CHIRP)), measured)
    problem = Problem(friction.PLANT, semi_implicit_euler, record, {"m": 1.4}, {"c": 0.8})
    training = identify(problem, GradientDescent(1.0), 200)
    while True:
        try:
            next(training)
        except StopIteration as end:
            return float(end.value.step.parameters["c"])


def sensitivities(force: Array) -> tuple[Array, Array]:
    """How the path changes with c and with m."""
    by_c = (path(0.85 + H, force=force) - path(0.85 - H, force=force)) / (2 * H)
    by_m = (path(0.85, 1.4 + H, force=force) - path(0.85, 1.4 - H, force=force)) / (2 * H)
    return by_c, by_m


def correlation(force: Array) -> float:
    """Of the estimates of c and m, when both are fitted to positions with white noise."""
    jacobian = np.stack(sensitivities(force), axis=1)
    covariance = np.linalg.inv(jacobian.T @ jacobian)
    return float(covariance[0, 1] / np.sqrt(covariance[0, 0] * covariance[1, 1]))


def test_without_noise_the_regression_is_exact() -> None:
    assert "differencing them twice gives the exact answer" in LESSON
    assert regress(path(0.85)) == pytest.approx(0.85, abs=1e-12)


def test_with_noise_the_regression_is_biased_and_scatters() -> None:
    assert "answers about 1.12, with a scatter of 0.06 from one draw of the noise to the next" in LESSON
    random = np.random.default_rng(1)
    found = [regress(path(0.85) + 0.001 * random.standard_normal(friction.STEPS)) for _ in range(1000)]
    assert np.mean(found) == pytest.approx(1.12, abs=0.005)
    assert np.std(found) == pytest.approx(0.06, abs=0.005)


def test_with_noise_the_rollout_fit_is_at_the_statistical_floor() -> None:
    assert "answers 0.8500 with a scatter of 0.0002, close to the statistical floor" in LESSON
    random = np.random.default_rng(2)
    found = [fit(path(0.85) + 0.001 * random.standard_normal(friction.STEPS)) for _ in range(60)]
    by_c, _ = sensitivities(CHIRP)
    floor = 0.001 / np.sqrt(by_c @ by_c)  # Cramér–Rao, one parameter, white noise
    assert np.mean(found) == pytest.approx(0.85, abs=0.00005)
    assert np.std(found) == pytest.approx(floor, rel=0.25)  # 60 draws scatter by 9 %
    assert f"{floor:.4f}" == "0.0002"


def test_the_limit_of_stability() -> None:
    assert "the limit is about 2.76" in LESSON
    by_c, _ = sensitivities(CHIRP)
    curvature = 2 * np.mean(by_c**2)  # of the mean squared error at the minimum of noise-free data
    assert 2 / curvature == pytest.approx(2.76, abs=0.005)


def test_an_overlay_of_the_wrong_model() -> None:
    assert (
        "settle at <ferro-math>c</ferro-math> = 1.055 and lie 4.4 mm from the data, on a path that reaches 1.7 m"
        in LESSON
    )
    true = path(0.85, drag=0.3)
    found = fit(true)
    assert found == pytest.approx(1.055, abs=0.0005)
    assert np.sqrt(np.mean((path(found) - true) ** 2)) == pytest.approx(0.0044, abs=0.00005)
    assert np.max(true) == pytest.approx(1.7, abs=0.05)
    assert "the held-out drive, which that model misses by 15 mm" in LESSON
    pulses = friction.pulses(TIME)
    miss = path(found, force=pulses) - path(0.85, drag=0.3, force=pulses)
    assert np.sqrt(np.mean(miss**2)) == pytest.approx(0.015, abs=0.0005)


def test_what_the_chirp_is_for() -> None:
    assert "correlation is −0.22), while a constant push of 6 N lets one make up for the other (−0.90)" in LESSON
    assert correlation(CHIRP) == pytest.approx(-0.22, abs=0.005)
    assert correlation(np.full(friction.STEPS, 6.0)) == pytest.approx(-0.90, abs=0.005)


def test_the_plain_path_is_the_packages_own() -> None:
    """So that the figures above speak of the bench that the reader sees."""
    dataset: Dataset = load("friction").data(load("friction").defaults())
    rolled = rollout(friction.PLANT, semi_implicit_euler, friction.TRUTH, dataset.fit.drive, "x")
    assert rolled == pytest.approx(path(0.85), abs=1e-12)
