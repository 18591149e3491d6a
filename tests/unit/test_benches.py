"""One sweep over every bench there is, and the friction bench's own numbers."""

from __future__ import annotations

import importlib
import importlib.util
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from ferro_bench import Bench, Ending, Identified, Record, Step, benches
from ferro_bench.control import ChoiceControl, NumberControl, SettingsError
from ferro_bench.gradient import central_difference

every_bench = pytest.mark.parametrize("trained", benches.names(), indirect=True)


def predicted(trained: Trained, parameters: Mapping[str, float], record: Record) -> Any:
    return replace(trained.bench.problem(trained.settings), record=record).predict(parameters)


@dataclass(eq=False)
class Trained:
    """A bench, and what came of training it with its defaults."""

    bench: Bench
    settings: Any
    steps: list[Step]
    result: Identified


@pytest.fixture(scope="module")
def trained(request: pytest.FixtureRequest, pull: Callable[..., Any]) -> Trained:
    bench = benches.load(request.param)
    settings = bench.checked(bench.defaults())
    return Trained(bench, settings, *pull(bench.train(settings)))


def fresh(name: str) -> Bench:
    """The bench of a second copy of its module, which shares no memory with the first."""
    spec = importlib.util.find_spec(f"{benches.__name__}.{name}")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.BENCH


# The sweep -------------------------------------------------------------------------------------------------------


@every_bench
def test_the_defaults_train_to_a_pass(trained: Trained) -> None:
    verdict = trained.bench.judge(trained.result.step.parameters, trained.settings)
    assert trained.result.ending is Ending.CONVERGED
    assert verdict.passed, verdict.sentence


@every_bench
def test_the_start_does_not_pass(trained: Trained) -> None:
    starts = {p.symbol: p.start for p in trained.bench.sought(trained.settings)}
    assert trained.steps[0].parameters == pytest.approx(starts, rel=1e-14)  # a logarithm and back
    assert not trained.bench.judge(trained.steps[0].parameters, trained.settings).passed


@every_bench
def test_the_truth_passes(trained: Trained) -> None:
    truth = {p.symbol: trained.bench.truth[p.symbol] for p in trained.bench.sought(trained.settings)}
    assert trained.bench.judge(truth, trained.settings).passed


@every_bench
def test_every_kind_of_check_is_asked(trained: Trained) -> None:
    """The truth of each sought parameter, both records, the gradient."""
    checks = trained.bench.judge(trained.result.step.parameters, trained.settings).checks
    assert len(checks) == len(trained.bench.sought(trained.settings)) + 4
    assert len({check.name for check in checks}) == len(checks)
    dataset = trained.bench.data(trained.settings)
    for check, record in zip(checks[-4:-2], (dataset.fit, dataset.held_out), strict=True):
        residual = predicted(trained, trained.result.step.parameters, record) - record.measured.values
        assert check.value == pytest.approx(math.sqrt(np.mean(residual**2)), rel=1e-12)


@every_bench
def test_the_gradient_agrees_with_finite_differences_from_start_to_end(trained: Trained) -> None:
    bench, problem = trained.bench, trained.bench.problem(trained.settings)
    symbols = [p.symbol for p in bench.sought(trained.settings)]

    def loss(*values: float) -> Any:
        return problem.loss(problem.predict(dict(zip(symbols, values, strict=True))))

    for step in (trained.steps[0], trained.steps[1], trained.steps[-1]):
        numeric = central_difference(loss, *(step.parameters[symbol] for symbol in symbols))
        np.testing.assert_allclose([step.gradient[s] for s in symbols], numeric, rtol=1e-6, atol=1e-7)
        assert bench.judge(step.parameters, trained.settings).checks[-1].passed


@every_bench
def test_every_panel_finds_its_columns_and_they_are_as_long_as_each_other(trained: Trained) -> None:
    bench, settings = trained.bench, trained.settings
    fixed = bench.fixed_columns(settings, trained.steps[0])
    moving = bench.moving_columns(settings, trained.steps[-1])
    entries = [bench.history(settings, step) for step in trained.steps]
    history = {key: np.array([entry[key] for entry in entries]) for key in entries[0]}
    columns = fixed | moving | history
    assert len(columns) == len(fixed) + len(moving) + len(history), "a name is used twice"
    panels = bench.panels(settings)
    assert len({panel.key for panel in panels}) == len(panels)
    drawn = set()
    for line in (line for panel in panels for line in panel.lines):
        assert line.label
        if line.x is None:
            given = [line.value] if line.low is None else [line.low, line.high]
            assert line.y is None and np.all(np.isfinite(given)) and given == sorted(given)
            continue
        assert columns[line.x].ndim == 1 and columns[line.x].shape == columns[line.y].shape
        assert np.all(np.isfinite(columns[line.x])) and np.all(np.isfinite(columns[line.y]))
        drawn |= {line.x, line.y}
    assert drawn == set(columns), "a column crosses the seam and nobody draws it"


@every_bench
def test_the_live_values_are_text_without_a_gap(trained: Trained) -> None:
    values = trained.bench.values(trained.settings, trained.steps[-1])
    assert all(isinstance(text, str) and text.strip() for text in values.values())
    assert trained.bench.readout(trained.settings).keys() <= values.keys()


@every_bench
def test_every_control_takes_its_bounds_and_options(trained: Trained) -> None:
    bench = trained.bench
    for control in bench.all_controls():
        for value in control.bounds if isinstance(control, NumberControl) else control.options:
            settings = bench.defaults() | {control.key: value}
            assert bench.checked(settings) == settings


@every_bench
@pytest.mark.parametrize("bad", ["0.3", True, None, [], {}, math.nan, math.inf, -math.inf, 10**400], ids=repr)
def test_every_control_refuses_nonsense_and_says_what_it_takes(trained: Trained, bad: Any) -> None:
    for control in trained.bench.all_controls():
        refuses(trained.bench, control, bad)


@every_bench
def test_every_number_refuses_what_lies_outside_its_bounds(trained: Trained) -> None:
    for control in trained.bench.all_controls():
        if isinstance(control, NumberControl):
            low, high = control.bounds
            for outside in (math.nextafter(low, -math.inf), math.nextafter(high, math.inf), -(10**300), 10**300):
                refuses(trained.bench, control, outside)


def refuses(bench: Bench, control: Any, bad: Any) -> None:
    """The bench refuses that value, naming the control and what it would accept."""
    with pytest.raises(SettingsError) as refusal:
        bench.checked(bench.defaults() | {control.key: bad})
    assert control.name in str(refusal.value)
    accepted = control.options if isinstance(control, ChoiceControl) else [f"{x:g}" for x in control.bounds]
    assert all(text in str(refusal.value) for text in accepted)


@every_bench
def test_a_setting_that_is_missing_or_unknown_is_named(trained: Trained) -> None:
    bench = trained.bench
    with pytest.raises(SettingsError, match=f"bench {bench.name} has no setting 'warp'; it has start_"):
        bench.checked(bench.defaults() | {"warp": 9.0})
    for key in bench.defaults():
        with pytest.raises(SettingsError, match=f"setting '{key}' of the bench {bench.name} is missing"):
            bench.checked({k: v for k, v in bench.defaults().items() if k != key})


@every_bench
def test_at_the_end_of_every_control_training_still_ends_by_name(trained: Trained, pull: Callable[..., Any]) -> None:
    bench = trained.bench
    for control in bench.all_controls():
        for extreme in control.bounds if isinstance(control, NumberControl) else control.options:
            _, result = pull(bench.train(bench.defaults() | {control.key: extreme}))
            assert result.ending in {Ending.CONVERGED, Ending.BUDGET, Ending.DIVERGED}
            assert result.sentence.endswith(".")


@every_bench
def test_the_data_are_the_same_on_every_loading(trained: Trained) -> None:
    again = fresh(trained.bench.name).data(trained.settings)
    dataset = trained.bench.data(trained.settings)
    assert again is not dataset
    for mine, other in ((dataset.fit, again.fit), (dataset.held_out, again.held_out)):
        np.testing.assert_array_equal(mine.drive.input.values, other.drive.input.values)
        np.testing.assert_array_equal(mine.measured.values, other.measured.values)


@every_bench
def test_the_held_out_drive_has_another_shape(trained: Trained) -> None:
    dataset = trained.bench.data(trained.settings)
    assert abs(np.corrcoef(dataset.fit.drive.input.values, dataset.held_out.drive.input.values)[0, 1]) < 0.9


@every_bench
def test_the_noise_is_what_is_declared_and_differs_between_the_records(trained: Trained) -> None:
    dataset = trained.bench.data(trained.settings)
    noise = [
        record.measured.values - predicted(trained, trained.bench.truth, record)
        for record in (dataset.fit, dataset.held_out)
    ]
    for row in noise:  # four standard errors of a standard deviation
        assert np.std(row) == pytest.approx(dataset.noise, rel=4 / math.sqrt(2 * len(row)))
    assert abs(np.corrcoef(noise)[0, 1]) < 0.4


def test_a_bench_is_named_after_its_module_and_an_unknown_one_is_refused() -> None:
    assert "friction" in benches.names()
    for name in benches.names():
        assert benches.load(name).name == name
    for name in ("warp", "__init__", "../friction", ""):
        with pytest.raises(LookupError, match=f"no bench '{name}'; there is .*friction"):
            benches.load(name)


# Friction --------------------------------------------------------------------------------------------------------


def test_the_friction_bench_has_the_numbers_of_its_specification() -> None:
    bench = benches.load("friction")
    defaults = bench.defaults()
    dataset = bench.data(defaults)
    assert (bench.truth, bench.known(defaults)) == ({"c": 0.85, "m": 1.4}, {"m": 1.4})
    assert (defaults["start_c"], defaults["learning_rate"], bench.tolerances["c"]) == (0.20, 0.35, 0.05)
    for record in (dataset.fit, dataset.held_out):
        assert (record.drive.dt, record.drive.steps, record.drive.start) == (0.02, 120, (0.0, 0.0))
        assert (record.drive.input.unit, record.measured.symbol, record.measured.unit) == ("N", "x", "m")
    assert dataset.noise == 0.001
    drive = [6 * math.sin(2.4 * t + 0.35 * t**2) for t in (0.02 * k for k in range(120))]
    np.testing.assert_allclose(dataset.fit.drive.input.values, drive, rtol=1e-12)


@pytest.mark.parametrize("optimizer", ["gradient descent", "l-bfgs", "levenberg-marquardt"])
def test_the_mass_can_be_fitted_too(pull: Callable[..., Any], optimizer: str) -> None:
    bench = benches.load("friction")
    settings = bench.checked(bench.defaults() | {"fit_m": "fitted", "optimizer": optimizer})
    assert [p.symbol for p in bench.sought(settings)] == ["c", "m"] and bench.known(settings) == {}
    _, result = pull(bench.train(settings))
    assert result.ending is Ending.CONVERGED
    assert result.step.parameters == pytest.approx(bench.truth, abs=2e-3)
    verdict = bench.judge(result.step.parameters, settings)
    assert verdict.passed and len(verdict.checks) == 6
    keys = {panel.key for panel in bench.panels(settings)}
    assert {"parameter-c", "parameter-m"} <= keys
    assert {"m", "interval_m", "gradient_m"} <= bench.readout(settings).keys()
    assert "m" not in bench.readout(bench.defaults())


def test_the_regression_is_exact_without_noise_for_whatever_is_sought() -> None:
    bench = benches.load("friction")
    record = bench.data(bench.defaults() | {"noise": 0.0}).fit
    (regress,) = bench.rivals.values()
    for sought in (["c"], ["m"], ["c", "m"]):
        assert regress(record, sought) == pytest.approx({s: bench.truth[s] for s in sought}, rel=1e-11)


def test_quadratic_drag_points_against_the_motion() -> None:
    rates = benches.load("friction").plant.rates
    assert rates((9.0, 2.0), 6.0, c=0.5, m=4.0) == (2.0, (6.0 - 0.5 * 4.0) / 4.0)
    assert rates((9.0, -2.0), 6.0, c=0.5, m=4.0) == (-2.0, (6.0 + 0.5 * 4.0) / 4.0)


def test_the_friction_learning_rate_goes_far_enough_to_diverge(pull: Callable[..., Any]) -> None:
    bench = benches.load("friction")
    rate = next(control for control in bench.controls if control.key == "learning_rate")
    _, result = pull(bench.train(bench.defaults() | {"learning_rate": rate.bounds[1]}))
    assert result.ending is Ending.DIVERGED
