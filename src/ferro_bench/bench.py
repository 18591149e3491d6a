"""A bench: one identification problem, bound together from the stages, and what a page needs to show it.

A bench module declares physics, data, controls and tolerances. All that follows from these alike on every bench, the
panels, the columns they draw, the live values and the checks, is derived here, so that a bench stays one short module.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Generator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import numpy as np

from .control import ChoiceControl, Control, NumberControl, Settings, SettingsError
from .dataset import Array, Dataset, Record
from .gradient import GradientCheck, check_gradient
from .identify import Identified, Step, identify, identify_from, spread
from .loss import root_mean_square
from .optimizer import Optimizer
from .panel import Axis, Line, Panel, Role
from .plant import Parameter, Plant
from .problem import Problem
from .quantity import quantity
from .solvers import Solver
from .uncertainty import Uncertainty, estimate
from .verdict import Check, Verdict, gradient_agrees, looks_like_noise, overlays, recovers

SEED = 271  # of the places from which several searches begin
KNOWN = "known"  # how a parameter that may be fitted is taken, in the settings

Rival = Callable[[Record, Collection[str]], Mapping[str, float]]  # from a record and what is sought: symbol -> value


@dataclass(frozen=True, eq=False)
class Bench:
    """One identification problem.

    Attributes:
        title: what it is called.
        summary: one sentence that says what is to be found, and from what.
        plant: the model.
        solver: how it is stepped.
        truth: symbol -> value of every parameter, as the data were made.
        tolerances: symbol -> how close to the truth a sought parameter must come. These can be sought; the others are
            known.
        data: makes the dataset for the settings.
        optimizer: makes a fresh optimizer for the settings.
        budget: how many steps training may take.
        controls: what the user may set, besides the start values.
        rivals: label -> another way to find the sought parameters from a record, shown beside the rollout's answer.
        known_unless_asked: those of the parameters with a tolerance that are known until the user asks to fit them too.
        name: the module's name; given by the registry that finds it.
    """

    title: str
    summary: str
    plant: Plant
    solver: Solver
    truth: Mapping[str, float]
    tolerances: Mapping[str, float]
    data: Callable[[Settings], Dataset]
    optimizer: Callable[[Settings], Optimizer]
    budget: int
    controls: tuple[Control, ...]
    rivals: Mapping[str, Rival] = field(default_factory=dict)
    known_unless_asked: tuple[str, ...] = ()
    name: str = field(default="", kw_only=True)

    def sought(self, settings: Settings) -> tuple[Parameter, ...]:
        """The parameters that are to be identified with these settings."""
        known = {symbol for symbol in self.known_unless_asked if settings[f"fit_{symbol}"] == KNOWN}
        return tuple(self.plant.parameter(symbol) for symbol in self.tolerances if symbol not in known)

    def known(self, settings: Settings) -> dict[str, float]:
        """symbol -> value of the others."""
        sought = {parameter.symbol for parameter in self.sought(settings)}
        return {symbol: value for symbol, value in self.truth.items() if symbol not in sought}

    def all_controls(self) -> tuple[Control, ...]:
        """A start value for whatever can be sought, what of it is known, then the bench's own controls."""
        choices = tuple(self._choice(self.plant.parameter(symbol)) for symbol in self.known_unless_asked)
        starts = tuple(self._start(self.plant.parameter(symbol)) for symbol in self.tolerances)
        return starts + choices + self.controls

    def _choice(self, parameter: Parameter) -> Control:
        value = quantity(self.truth[parameter.symbol], parameter.unit, 3)
        return ChoiceControl(
            key=f"fit_{parameter.symbol}",
            name=parameter.name,
            options={KNOWN: f"known: {value}", "fitted": "fitted too"},
        )

    def _start(self, parameter: Parameter) -> Control:
        low, high = parameter.bounds
        where = ", where it is fitted" if parameter.symbol in self.known_unless_asked else ""
        return NumberControl(
            key=f"start_{parameter.symbol}",
            symbol=f"{parameter.symbol}₀",
            name=f"start value of {parameter.symbol}{where}",
            unit=parameter.unit,
            default=parameter.start,
            bounds=parameter.bounds,
            increment=10.0 ** math.floor(math.log10((high - low) / 100)),
        )

    def defaults(self) -> dict[str, float | str]:
        """The settings as they are before anyone changes them."""
        return {control.key: control.default for control in self.all_controls()}

    def checked(self, settings: Mapping[str, Any]) -> Settings:
        """Pass settings that came from outside, if the bench can run with them.

        Args:
            settings: key -> value, with exactly the keys of the controls.

        Raises:
            SettingsError: at a key that is unknown or missing, or a value that its control refuses; the message names
                it.
        """
        controls = {control.key: control for control in self.all_controls()}
        for key in settings:
            if key not in controls:
                raise SettingsError(f"The bench {self.name} has no setting {key!r}; it has {', '.join(controls)}.")
        for key, control in controls.items():
            if key not in settings:
                raise SettingsError(f"The setting {key!r} of the bench {self.name} is missing.")
            refusal = control.refusal(settings[key])
            if refusal:
                raise SettingsError(refusal)
        return settings

    # Training and judging

    def problem(self, settings: Settings) -> Problem:
        """What is to be identified with these settings, on the record to fit."""
        return _problem(self, frozenset(settings.items()))

    def train(self, settings: Settings) -> Generator[Step, bool | None, Identified]:
        """The identification with these settings, ready to be pulled."""
        return identify(self.problem(settings), self.optimizer(settings), self.budget)

    def train_from(
        self, settings: Settings, count: int
    ) -> Generator[tuple[Step, ...], bool | None, tuple[Identified, ...]]:
        """As `train`, from as many starts all over the ranges that make sense, side by side."""
        problem = self.problem(settings)
        return identify_from(problem, spread(problem, count, SEED), lambda: self.optimizer(settings), self.budget)

    def judge(self, sought: Mapping[str, float], settings: Settings) -> Verdict:
        """Evaluate every check at given values of the sought parameters, from these alone."""
        dataset = self.data(settings)
        measured, held_out = dataset.fit.measured, dataset.held_out.measured
        problem = self.problem(settings)
        recovered = (
            recovers(p.symbol, sought[p.symbol], self.truth[p.symbol], self.tolerances[p.symbol], p.unit)
            for p in self.sought(settings)
        )
        with np.errstate(all="ignore"):  # after a divergence the rollout may leave the range of numbers
            fitted = problem.predict(sought)
        uncertainty = self.uncertainty(sought, settings)
        fit = overlays(
            fitted,
            measured.values,
            dataset.noise,
            measured.unit,
            "measured data",
            "The prediction does not lie on the data yet: train longer, or look for what the model lacks.",
        )
        return Verdict(
            (
                *recovered,
                fit,
                overlays(
                    self._predict_held_out(sought, settings),
                    held_out.values,
                    dataset.noise,
                    held_out.unit,
                    "held-out drive",
                    "The model fits what it saw and fails on what it did not see."
                    if fit.passed
                    else "It cannot predict a new drive as long as it does not fit the first.",
                ),
                looks_like_noise(uncertainty.whiteness if uncertainty else None),
                self._gradient_check(problem, sought, self.sought(settings)),
            )
        )

    def uncertainty(self, sought: Mapping[str, float], settings: Settings) -> Uncertainty | None:
        """How sure values of the sought parameters are, if they are the fit; None beyond the range of numbers."""
        return _uncertainty(self, frozenset(settings.items()), tuple(sought.items()))

    def _held_out_rms(self, sought: Mapping[str, float], settings: Settings) -> float:
        measured = self.data(settings).held_out.measured.values
        with np.errstate(all="ignore"):
            return root_mean_square(self._predict_held_out(sought, settings) - measured)

    def _predict_held_out(self, sought: Mapping[str, float], settings: Settings) -> Array:
        problem = replace(self.problem(settings), record=self.data(settings).held_out)
        with np.errstate(all="ignore"):
            predicted: Array = problem.predict(sought)
        return predicted

    def _gradient_check(
        self, problem: Problem, sought: Mapping[str, float], parameters: tuple[Parameter, ...]
    ) -> Check:
        """At the result, where the gradient nearly vanishes, and at the usual start, where it does not."""

        def loss(*values: Any) -> Any:
            return problem.loss(problem.predict(dict(zip(sought, values, strict=True))))

        # At the result the gradient is next to nothing: an allowance in its usual size would let any error pass. The
        # signal's own size, squared, is what a loss is large or small against, whatever the unit.
        allowance = 1e-9 * float(np.mean(np.square(problem.record.measured.values)))

        def check(*values: float) -> GradientCheck:
            return check_gradient(loss, *values, absolute=allowance)

        with np.errstate(all="ignore"):
            checks = [check(*(p.start for p in parameters)), check(*sought.values())]
        failing = [check for check in checks if not check.agrees]
        worst = failing[0] if failing else max(checks, key=lambda check: check.difference / check.limit)
        # With several parameters the elements have different units, and the worst of them is the one reported.
        units = {self._gradient_unit(problem, p) for p in parameters}
        return gradient_agrees(worst, units.pop() if len(units) == 1 else "")

    @staticmethod
    def _gradient_unit(problem: Problem, parameter: Parameter) -> str:
        return f"{problem.record.measured.unit}²/({parameter.unit})"

    # What a page shows

    def panels(self, settings: Settings) -> tuple[Panel, ...]:
        """The pictures of this bench; their columns are those of `fixed_columns`, `moving_columns` and `history`."""
        dataset = self.data(settings)
        measured, applied = dataset.fit.measured, dataset.fit.drive.input
        grain = max(dataset.noise, 1e-4 * float(np.max(np.abs(measured.values))))
        time = Axis("time", "s", domain=(0.0, None))
        channel = Axis(measured.name, measured.unit)
        iteration = Axis("iteration", "", domain=(0.0, None))
        return (
            Panel(
                key="trajectory",
                title=f"{measured.name.capitalize()} over time",
                x=time,
                y=channel,
                lines=(
                    Line(Role.START, "prediction at the start", "time", "start"),
                    Line(Role.MEASURED, "measured", "time", "measured"),
                    Line(Role.PREDICTED, "predicted", "time", "predicted"),
                ),
            ),
            Panel(
                key="loss",
                title="Loss over iterations",
                x=iteration,
                y=Axis("mean squared error", f"{measured.unit}²", scale="log"),
                lines=(
                    Line(Role.HISTORY, "loss", "iteration", "loss"),
                    Line(Role.TRUTH, "variance of the noise", value=dataset.noise**2),
                ),
            ),
            *(
                Panel(
                    key=f"parameter-{p.symbol}",
                    title=f"{p.symbol} over iterations",
                    x=iteration,
                    y=Axis(p.symbol, p.unit),
                    lines=(
                        Line(
                            Role.BAND,
                            "passes",
                            low=self.truth[p.symbol] - self.tolerances[p.symbol],
                            high=self.truth[p.symbol] + self.tolerances[p.symbol],
                        ),
                        Line(Role.INTERVAL, "95 % from", "iteration", f"{p.symbol}_low"),
                        Line(Role.INTERVAL, "95 % to", "iteration", f"{p.symbol}_high"),
                        Line(Role.HISTORY, p.symbol, "iteration", p.symbol),
                        Line(Role.TRUTH, "truth", value=self.truth[p.symbol]),
                    ),
                )
                for p in self.sought(settings)
            ),
            Panel(
                key="residuals",
                title="What the prediction leaves over",
                x=time,
                # Held to the size of the noise: what matters is the pattern once the fit is there.
                y=Axis("predicted − measured", measured.unit, domain=(-6 * grain, 6 * grain)),
                lines=(
                    Line(Role.BAND, "noise alone, 19 of 20", low=-1.96 * dataset.noise, high=1.96 * dataset.noise),
                    Line(Role.HISTORY, "residual", "time", "residual"),
                ),
            ),
            Panel(
                key="held-out",
                title="A drive the fit never saw",
                x=time,
                y=channel,
                lines=(
                    Line(Role.MEASURED, "measured", "held_out_time", "held_out_measured"),
                    Line(Role.PREDICTED, "predicted", "held_out_time", "held_out_predicted"),
                ),
            ),
            Panel(
                key="drives",
                title=f"The {applied.name} that was applied",
                x=time,
                y=Axis(applied.name, applied.unit),
                lines=(
                    Line(Role.DRIVE, "record to fit", "time", "drive"),
                    Line(Role.HELD_OUT, "held-out record", "held_out_time", "held_out_drive"),
                ),
            ),
        )

    def fixed_columns(self, settings: Settings, first: Step) -> dict[str, Array]:
        """The columns that stay as they are for a whole run: the data, and the prediction it starts from."""
        dataset = self.data(settings)
        return {
            "time": dataset.fit.drive.time,
            "measured": dataset.fit.measured.values,
            "drive": dataset.fit.drive.input.values,
            "held_out_drive": dataset.held_out.drive.input.values,
            "held_out_time": dataset.held_out.drive.time,
            "held_out_measured": dataset.held_out.measured.values,
            "start": first.predicted,
        }

    def moving_columns(self, settings: Settings, step: Step) -> dict[str, Array]:
        """The columns that each iterate replaces: its predictions."""
        return {
            "predicted": step.predicted,
            "residual": step.predicted - self.data(settings).fit.measured.values,
            "held_out_predicted": self._predict_held_out(step.parameters, settings),
        }

    def history(self, settings: Settings, step: Step) -> dict[str, float]:
        """What each iterate adds to the columns that grow."""
        grown = {"iteration": float(step.iteration), "loss": step.loss, **step.parameters}
        uncertainty = self.uncertainty(step.parameters, settings)
        for i, symbol in enumerate(step.parameters):
            low, high = uncertainty.intervals[i].tolist() if uncertainty else (math.nan, math.nan)
            grown |= {f"{symbol}_low": low, f"{symbol}_high": high}
        return grown

    def readout(self, settings: Settings) -> dict[str, str]:
        """The live numbers that stand beside the panels: name in `values` -> label."""
        labels = {"iteration": "iteration", "loss": "loss", "rms": "rms distance from the data"}
        for p in self.sought(settings):
            labels |= {p.symbol: p.symbol, f"interval_{p.symbol}": f"95 % interval of {p.symbol}"}
            labels |= {f"gradient_{p.symbol}": f"∂loss/∂{p.symbol}"}
        return labels | {f"rival_{i}": label for i, label in enumerate(self.rivals)}

    def values(self, settings: Settings, step: Step) -> dict[str, str]:
        """The live numbers that the prose may quote, as text with their units."""
        dataset = self.data(settings)
        unit = dataset.fit.measured.unit
        with np.errstate(all="ignore"):
            rms = root_mean_square(step.predicted - dataset.fit.measured.values)
        held_out = self._held_out_rms(step.parameters, settings)
        at_start = self._held_out_rms({p.symbol: p.start for p in self.sought(settings)}, settings)
        numbers = {
            "held_out_rms": quantity(held_out, unit),
            "held_out_rms_at_start": quantity(at_start, unit),
            "iteration": str(step.iteration),
            "loss": quantity(step.loss, f"{unit}²"),
            "rms": quantity(rms, unit),
            "noise": quantity(dataset.noise, unit),
            "steps": str(dataset.fit.drive.steps),
        }
        sought = self.sought(settings)
        for p in sought:
            numbers[p.symbol] = quantity(step.parameters[p.symbol], p.unit)
            numbers[f"interval_{p.symbol}"] = self._interval(p, step, settings)
            numbers[f"gradient_{p.symbol}"] = quantity(step.gradient[p.symbol], f"{unit}²/({p.unit})")
            numbers[f"start_{p.symbol}"] = quantity(float(settings[f"start_{p.symbol}"]), p.unit)
            numbers[f"true_{p.symbol}"] = quantity(self.truth[p.symbol], p.unit)
        for i, rival in enumerate(self.rivals.values()):
            found = rival(dataset.fit, [p.symbol for p in sought])
            numbers[f"rival_{i}"] = ", ".join(f"{p.symbol} = {quantity(found[p.symbol], p.unit)}" for p in sought)
        return numbers

    def _interval(self, parameter: Parameter, step: Step, settings: Settings) -> str:
        uncertainty = self.uncertainty(step.parameters, settings)
        if uncertainty is None:
            return "none"
        low, high = uncertainty.intervals[list(step.parameters).index(parameter.symbol)].tolist()
        return f"{quantity(low)} to {quantity(high, parameter.unit)}"


# A page asks for the same several times an iterate; a problem, once made, also keeps its compiled program.


@lru_cache(maxsize=8)
def _problem(bench: Bench, items: frozenset[tuple[str, float | str]]) -> Problem:
    settings = dict(items)
    start = {p.symbol: float(settings[f"start_{p.symbol}"]) for p in bench.sought(settings)}
    return Problem(bench.plant, bench.solver, bench.data(settings).fit, bench.known(settings), start)


@lru_cache(maxsize=8)
def _uncertainty(
    bench: Bench, items: frozenset[tuple[str, float | str]], sought: tuple[tuple[str, float], ...]
) -> Uncertainty | None:
    problem, values = _problem(bench, items), np.array([value for _, value in sought])
    with np.errstate(all="ignore"):
        residual = problem.predict(dict(sought)) - problem.record.measured.values
        slopes = problem.jacobian(values)
    if not (np.all(np.isfinite(residual)) and np.all(np.isfinite(slopes))):
        return None
    return estimate(residual, slopes, bench.sought(dict(items)), values)
