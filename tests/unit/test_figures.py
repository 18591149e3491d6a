"""One sweep over every figure there is, and what each of them says, found in another way."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from ferro_bench import Ending, benches, figures
from ferro_bench.benches import friction
from ferro_bench.dataset import Array
from ferro_bench.figure import Drawing
from ferro_bench.figures import excitation, landscape, shares
from ferro_bench.uncertainty import COVERAGE

TIME = friction.DT * np.arange(friction.STEPS)
CHIRP = friction.chirp(TIME)
every_figure = pytest.mark.parametrize("name", figures.names())


@pytest.fixture
def drawing(request: pytest.FixtureRequest) -> Drawing:
    return figures.load(request.param).draw()


def of(name: str) -> Any:
    return pytest.mark.parametrize("drawing", [name], indirect=True)


def measured() -> Array:
    bench = benches.load("friction")
    return bench.data(bench.defaults()).fit.measured.values


def path(c: Any, m: float = 1.4, force: Array = CHIRP, nudge: tuple[int, float, float] | None = None) -> Array:
    """The position of a mass with quadratic drag, in plain Python; c for all steps or one for each, and after one step
    x and v moved by a little."""
    each = np.broadcast_to(c, force.shape)
    x = v = 0.0
    positions = []
    for k, u in enumerate(force):
        v += friction.DT * (u - each[k] * v * abs(v)) / m
        x += friction.DT * v
        if nudge and nudge[0] == k:
            x, v = x + nudge[1], v + nudge[2]
        positions.append(x)
    return np.array(positions)


def loss(predicted: Array) -> float:
    return float(np.mean((predicted - measured()) ** 2))


# The sweep -------------------------------------------------------------------------------------------------------


def test_a_figure_is_named_after_its_module_and_an_unknown_one_is_refused() -> None:
    assert len(figures.names()) >= 5
    for name in figures.names():
        assert figures.load(name).name == name
    for name in ("warp", "__init__", "../shares", ""):
        with pytest.raises(LookupError, match=f"no figure '{name}'; there is .*shares"):
            figures.load(name)


@every_figure
def test_a_figure_asks_one_question_and_answers_it_in_few_words(name: str) -> None:
    figure = figures.load(name)
    assert figure.question.endswith("?") and figure.question.count("?") == 1
    caption = figure.draw().caption
    assert caption.endswith(".") and len(caption) < 400
    assert "nan" not in caption.lower() and "number" not in caption


@every_figure
def test_every_line_finds_its_columns_and_every_column_a_line(name: str) -> None:
    drawing = figures.load(name).draw()
    assert 1 <= len(drawing.panels) <= 2
    assert len({panel.key for panel in drawing.panels}) == len(drawing.panels)
    drawn = set()
    for panel in drawing.panels:
        assert panel.title and len({line.label for line in panel.lines}) == len(panel.lines)
        assert len({line.role for line in panel.lines}) == len(panel.lines), "two lines would look alike"
        for line in panel.lines:
            assert line.label
            columns = [column for column in (line.x, line.y, line.lower, line.upper) if column]
            assert bool(line.x) == bool(line.y) and bool(line.lower) == bool(line.upper)
            assert columns or np.isfinite([line.value] if line.low is None else [line.low, line.high]).all()
            assert len({drawing.columns[column].shape for column in columns}) <= 1
            drawn |= set(columns)
    assert drawn == set(drawing.columns)
    assert all(column.ndim == 1 and np.isfinite(column).all() for column in drawing.columns.values())


@every_figure
def test_a_logarithmic_axis_gets_positive_numbers(name: str) -> None:
    drawing = figures.load(name).draw()
    for panel in drawing.panels:
        for line in panel.lines:
            for scale, column in ((panel.x.scale, line.x), (panel.y.scale, line.y), (panel.y.scale, line.lower)):
                assert scale == "linear" or column is None or (drawing.columns[column] > 0).all()


# Where along the motion the gradient comes from ------------------------------------------------------------------


@of("shares")
def test_the_shares_are_those_of_finite_differences_and_add_up_to_the_gradient(drawing: Drawing) -> None:
    bench, h = benches.load("friction"), 1e-6
    settings = bench.defaults()
    first = next(bench.train(settings))
    c = first.parameters["c"]

    def alone(k: int) -> float:
        moved = h * (np.arange(friction.STEPS) == k)
        return (loss(path(c + moved)) - loss(path(c - moved))) / (2 * h)

    percent = drawing.columns["share"]
    assert np.sum(percent) == pytest.approx(100, rel=1e-12)
    for k in (0, 20, 49, 70, 119):
        assert percent[k] == pytest.approx(100 * alone(k) / first.gradient["c"], abs=1e-6)
    assert bench.values(settings, first)["gradient_c"] in drawing.caption


@of("shares")
def test_the_adjoints_are_those_of_finite_differences_and_grow_backwards(drawing: Drawing) -> None:
    c, h = friction.PLANT.parameter("c").start, 1e-6
    for column, direction in (("by_x", (1, 0)), ("by_v", (0, 1))):
        for k in (0, 30, 80, 119):
            up, down = (loss(path(c, nudge=(k, s * direction[0], s * direction[1]))) for s in (h, -h))
            by = (up - down) / (2 * h)  # m²/m, or m²/(m/s)
            assert drawing.columns[column][k] == pytest.approx(1e4 * by * shares.NUDGE, rel=1e-5, abs=1e-5)
        assert np.all(
            np.diff(drawing.columns[column]) < 0.01
        )  # of 94 and more; the noise moves the first ones a little


@of("shares")
def test_the_caption_says_where_most_of_the_gradient_comes_from(drawing: Drawing) -> None:
    time, percent = drawing.columns["time"], drawing.columns["share"]
    said = re.search(r"(\d+) % of dL/dc = .* between 0.6 and 1.4 s", drawing.caption)
    assert said and int(said[1]) == pytest.approx(np.sum(percent[(time > 0.59) & (time < 1.41)]), abs=0.5)
    assert int(said[1]) > 80


# Why a small step arrives where a large one does not ------------------------------------------------------------


@of("landscape")
def test_the_curve_is_the_loss_and_its_minimum_is_where_training_settles(drawing: Drawing) -> None:
    columns = drawing.columns
    for x, y in (("near", "near_loss"), ("wide", "wide_loss"), ("path_c", "path_loss"), ("far_c", "far_loss")):
        for i in range(0, len(columns[x]), 7):
            assert columns[y][i] == pytest.approx(loss(path(columns[x][i])), rel=1e-9)
    fine = np.linspace(0.84, 0.86, 201)
    lowest = fine[np.argmin([loss(path(c)) for c in fine])]
    assert columns["path_c"][-1] == pytest.approx(lowest, abs=1e-4)
    assert columns["near"][np.argmin(columns["near_loss"])] == pytest.approx(lowest, abs=1e-4)


@of("landscape")
def test_the_first_path_settles_and_the_second_hops_across_the_minimum(
    drawing: Drawing, pull: Callable[..., Any]
) -> None:
    bench = benches.load("friction")
    settled, hopping = drawing.columns["path_c"], drawing.columns["far_c"] - drawing.columns["path_c"][-1]
    assert settled[0] == drawing.columns["far_c"][0] == bench.defaults()["start_c"]
    assert abs(settled[-1] - settled[-2]) < 1e-5
    assert np.all(np.sign(hopping[-20:-1]) == -np.sign(hopping[-19:])) and np.all(np.abs(hopping[-20:]) > 0.05)
    _, result = pull(bench.train(bench.defaults() | {"learning_rate": landscape.TOO_HIGH}))
    assert result.ending is Ending.DIVERGED
    assert "c = 0.8502 kg/m" in drawing.caption and "2.76" in drawing.caption  # as in test_claims


# What noise does -------------------------------------------------------------------------------------------------


@of("noise")
def test_the_regressions_bias_grows_with_the_noise_and_the_rollout_fit_has_none_to_speak_of(drawing: Drawing) -> None:
    columns = drawing.columns
    bias = columns["regression"] - friction.TRUTH["c"]
    assert abs(bias[0]) < 1e-11 and np.all(np.diff(bias) > 0.2)
    assert columns["regression"][1] == pytest.approx(1.12, abs=0.015)  # as in test_claims
    assert columns["regression_scatter"][0] == pytest.approx(0.06, abs=0.01)
    four_errors = 4 * columns["rollout_scatter"] / np.sqrt(20)
    assert np.all(np.abs(columns["rollout"] - friction.TRUTH["c"])[1:] < four_errors)


@of("noise")
def test_the_rollout_fit_scatters_no_more_than_it_must(drawing: Drawing) -> None:
    h = 1e-6
    by_c = (path(0.85 + h) - path(0.85 - h)) / (2 * h)
    floor = drawing.columns["some_noise"] / 1000 / np.sqrt(by_c @ by_c)
    assert drawing.columns["floor"] == pytest.approx(floor, rel=1e-6)
    assert drawing.columns["rollout_scatter"] == pytest.approx(floor, rel=0.4)  # 20 draws scatter by 16 %
    assert np.all(drawing.columns["regression_scatter"] > 100 * floor)


@of("noise")
def test_an_error_bar_is_the_scatter_to_either_side(drawing: Drawing) -> None:
    columns = drawing.columns
    for name in ("regression", "rollout"):
        for end, sign in (("from", -1), ("to", 1)):
            reach = sign * (columns[f"{name}_{end}"] - columns[name])
            assert reach[1:] == pytest.approx(columns[f"{name}_scatter"], rel=1e-9)


# An overlay ------------------------------------------------------------------------------------------------------


@of("overlay")
def test_the_wrong_model_lies_on_the_data_and_its_residuals_are_no_noise(drawing: Drawing) -> None:
    columns = drawing.columns
    wrong, right = columns["residual"], columns["usual"]
    assert wrong == pytest.approx(1000 * (columns["predicted"] - columns["measured"]), abs=1e-9)
    assert np.max(np.abs(wrong)) < 0.01 * 1000 * np.ptp(columns["measured"])  # an overlay
    (band,) = [line for line in drawing.panels[1].lines if line.low is not None]
    inside = [float(np.mean((row > band.low) & (row < band.high))) for row in (wrong, right)]
    assert inside[0] < 0.6 and inside[1] == pytest.approx(0.95, abs=0.04)
    neighbours = [float(row[1:] @ row[:-1] / (row @ row)) for row in (wrong, right)]
    assert neighbours[0] > 0.9 and abs(neighbours[1]) < 2 / np.sqrt(friction.STEPS)
    assert "c = 1.055 kg/m" in drawing.caption  # as in test_claims
    assert f"{np.sqrt(np.mean(wrong**2)):.1f} times the noise" in drawing.caption  # which is 1 mm
    assert f"correlate by {neighbours[0]:.2f}" in drawing.caption


# What the chirp is for -------------------------------------------------------------------------------------------


@of("excitation")
def test_the_ellipses_slant_as_the_estimates_correlate(drawing: Drawing) -> None:
    for name, correlation in (("chirp", -0.22), ("push", -0.90)):  # as in test_claims
        corners = np.stack([drawing.columns[f"{name}_c"], drawing.columns[f"{name}_m"]])[:, :-1]
        assert np.corrcoef(corners)[0, 1] == pytest.approx(correlation, abs=0.005)
        assert f"{correlation:.2f}".replace("-", "\N{MINUS SIGN}") in drawing.caption


@of("excitation")
def test_the_ellipses_close_and_the_truth_is_inside(drawing: Drawing) -> None:
    truth = np.array([friction.TRUTH["c"], friction.TRUTH["m"]])
    for name in ("chirp", "push"):
        corners = np.stack([drawing.columns[f"{name}_c"], drawing.columns[f"{name}_m"]], axis=1)
        assert corners[-1] == pytest.approx(corners[0], rel=1e-12)
        seen = corners - truth
        turns = np.unwrap(np.arctan2(seen[:, 1], seen[:, 0]))
        assert abs(turns[-1] - turns[0]) == pytest.approx(2 * np.pi)  # walking round it one turns once


def test_the_region_covers_the_truth_as_often_as_it_says() -> None:
    """On a straight line through noise, where everything is known: 2000 records, each with a region of its own."""
    random, n = np.random.default_rng(3), 12
    design = np.stack([np.ones(n), np.linspace(-1, 1, n)], axis=1)
    covariance = np.linalg.inv(design.T @ design)
    found = excitation.fit_both(benches.load("friction").data(benches.load("friction").defaults()).fit)
    inside = 0
    for _ in range(2000):
        noise = random.standard_normal(n)
        off = np.linalg.lstsq(design, noise, rcond=None)[0]
        left = noise - design @ off
        region = replace(found, freedom=n - 2, values=off, covariance=covariance * float(left @ left) / (n - 2))
        corner = excitation.ellipse(region)[:, 0] - off
        whiten = np.linalg.inv(np.linalg.cholesky(region.covariance))
        inside += np.linalg.norm(whiten @ off) <= np.linalg.norm(whiten @ corner)
    assert inside / 2000 == pytest.approx(COVERAGE, abs=0.015)
