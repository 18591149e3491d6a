"""The learner's own motion: from a table and what its columns mean to drag, mass and a prediction.

The record is one experiment and is cut in two. The first part is fitted. The rest is *predicted*: the rollout simply
goes on beyond the cut from the state that the fitted model has there by itself, so that no measurement of the held-out
part, and none at the cut, enters its prediction.

A column of velocities is compared with the model and not fitted. Mostly it was differenced from the positions by
whatever made the file; fitted beside them it would count the same noise twice and make the intervals too narrow.
"""

from __future__ import annotations

import math
import re
from collections.abc import Generator, Mapping
from dataclasses import asdict, dataclass, replace
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

from .dataset import Array, step_of
from .drag import LAWS, Fit, Glance, Model, Motion, Sight, fit, look, moving_start
from .identify import Ending
from .loss import root_mean_square
from .panel import Axis, Line, Panel, Role
from .quantity import quantity
from .table import PREVIEW, Table, TableError, letters
from .verdict import Check, looks_like_noise

try:
    VERSION = version("ferro-bench")
except PackageNotFoundError:  # run from its sources
    VERSION = "unknown"

FEWEST = 20  # rows, so that either part has a few more samples than there are unknowns
LARGEST = 1e9  # of any number, in SI units: beyond that a unit or a column is wrong
HELD_OUT = 0.3  # share of the record that is predicted
DRAWN = 600  # samples of a long record that a picture is made of

# For each column its name, its units in SI units, and words by which a header gives it away.
CHANNELS: dict[str, tuple[str, dict[str, float], str]] = {
    "time": ("time", {"s": 1.0, "ms": 1e-3}, r"t|time|zeit|temps|clock"),
    "force": ("force", {"N": 1.0, "mN": 1e-3}, r"f|u|force|input|drive|kraft"),
    "position": ("position", {"m": 1.0, "cm": 1e-2, "mm": 1e-3}, r"x|y|s|pos|position|distance|weg|height"),
    "velocity": ("velocity", {"m/s": 1.0, "cm/s": 1e-2}, r"v|vx|vy|vel|velocity|speed"),
}
MASS = {"kg": 1.0, "g": 1e-3}
OPTIONAL = {"force": "the same in every row", "velocity": "none"}
CHOICES = {
    "law": ("drag", {"quadratic": "quadratic, c v |v|", "linear": "linear, b v", "mixed": "mixed, b v + c v |v|"}),
    "known": ("mass", {"known": "known", "fitted": "fitted too"}),
    "start": ("start", {"moving": "in motion, or not known", "rest": "from rest"}),
    "between": ("force between two rows", {"held": "held until the next row", "line": "a straight line"}),
    "compare": ("compare the drag laws", {"no": "no", "yes": "yes"}),
}
MODEL = (
    "The model is m v̇ = u − b v − c v |v| with ẋ = v. It was rolled out by the classical Runge–Kutta method and "
    "fitted by Levenberg and Marquardt’s."
)


class ProjectError(ValueError):
    """A table or settings that nothing can be fitted with.

    Attributes:
        faults: field -> a sentence about what it holds.
    """

    def __init__(self, faults: Mapping[str, str]) -> None:
        super().__init__(" ".join(faults.values()))
        self.faults = dict(faults)


def describe() -> dict[str, Any]:
    """All that a page shows before a file is there: the fields, with their units and their choices."""
    return {
        "channels": [
            {"key": key, "name": name, "units": list(units), "without": OPTIONAL.get(key)}
            for key, (name, units, _) in CHANNELS.items()
        ],
        "mass": list(MASS),
        "sample_settings": {"mass": str(SAMPLE["m"]), "mass_unit": "kg", "known": "known"},
        "choices": [{"key": key, "name": name, "options": options} for key, (name, options) in CHOICES.items()],
    }


def glance(table: Table) -> dict[str, Any]:
    """What a page shows of a table: its columns, its first rows, and what the columns seem to be."""
    return {
        "rows": len(table.rows),
        "columns": [f"{letters(i)}{f': {name}' if name else ''}" for i, name in enumerate(table.names)],
        "preview": [
            [str(row), *line[: len(table.names)]]
            for row, line in zip(table.rows[:PREVIEW], table.lines[:PREVIEW], strict=True)
        ],
        "guess": _guess(table),
    }


def _guess(table: Table) -> dict[str, Any]:
    """By the names above the columns, else by the order time, force, position, velocity."""
    columns: dict[str, int | None] = {}
    for key, (_, _, words) in CHANNELS.items():
        fits = (i for i, name in enumerate(table.names) if re.match(rf"\W*({words})\b", name.replace("_", " "), re.I))
        columns[key] = next((i for i in fits if i not in columns.values()), None)
    if columns["time"] is None or columns["position"] is None:
        width = len(table.names)
        order = ["time", "position"] if width == 2 else list(CHANNELS)
        columns = {key: order.index(key) if key in order[:width] else None for key in CHANNELS}
    units = {key: _unit(table, columns[key], list(units)) for key, (_, units, _) in CHANNELS.items()}
    return {"columns": columns, "units": units}


def _unit(table: Table, column: int | None, units: list[str]) -> str:
    name = table.names[column] if column is not None else ""
    return next((unit for unit in units if re.search(rf"[\s(\[/_]{re.escape(unit)}[\s)\]]*$", name)), units[0])


# From a table to a motion ----------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Recording:
    """A motion as it was recorded, in SI units.

    Attributes:
        motion: clock, force and position.
        begin: the time of the first row, in seconds.
        velocity: as the file has it, in m/s, shape (n,), or None.
        split: how many samples are fitted; the rest is held out.
    """

    motion: Motion
    begin: float
    velocity: Array | None
    split: int

    @property
    def time(self) -> Array:
        """In seconds, shape (n,)."""
        return self.begin + self.motion.dt * np.arange(len(self.motion.position))


def prepare(table: Table, settings: Mapping[str, Any]) -> tuple[Recording, Model]:
    """Take the columns for what the settings say they are.

    Args:
        table: the file.
        settings: ``columns`` and ``units`` by channel (a column of None is left out), ``force`` and ``mass`` as they
            were typed, ``mass_unit``, and a value for each of `CHOICES`.

    Raises:
        ProjectError: with a sentence for every field that is in the way.
    """
    faults: dict[str, str] = {}
    channels: dict[str, Array] = {}
    if not all(isinstance(settings.get(key), Mapping) for key in ("columns", "units")):
        raise ProjectError({"position": "The settings lack the columns and their units."})
    for key, (name, units, _) in CHANNELS.items():
        column, unit = settings["columns"].get(key), settings["units"].get(key)
        try:
            if unit not in units:
                raise TableError(f"The {name} can be in {' or '.join(units)}, not in {unit!r}.")
            if column is None and key not in OPTIONAL:
                raise TableError(f"Choose the column that holds the {name}.")
            if column is not None:
                channels[key] = table.numbers(_column(table, column)) * units[unit]
        except TableError as error:
            faults[key] = str(error)
    chosen = [column for column in settings["columns"].values() if column is not None]
    for key, column in settings["columns"].items():
        if column is not None and chosen.count(column) > 1:
            faults.setdefault(key, f"The {table.column(column)} is chosen twice.")
    for key, (name, options) in CHOICES.items():
        if settings.get(key) not in options:
            faults[key] = f"The {name} must be one of {', '.join(options)}."
    mass = None
    if settings.get("known") == "known":
        mass = _typed("mass", settings, faults) * MASS.get(str(settings.get("mass_unit")), 1.0)
        if mass <= 0:
            faults.setdefault("mass", "The mass must be greater than zero.")
    if settings["columns"].get("force") is None and "force" not in faults:
        value = _typed("force", settings, faults) * CHANNELS["force"][1][settings["units"]["force"]]
        channels["force"] = np.full(len(table.rows), value)
    if not faults:
        faults |= _faults(table, settings, channels, mass)
    if faults:
        raise ProjectError(faults)
    time, force = channels["time"], channels["force"]
    applied = force[:-1] if settings["between"] == "held" else (force[1:] + force[:-1]) / 2
    recording = Recording(
        Motion(step_of(time), applied, channels["position"]),
        float(time[0]),
        channels.get("velocity"),
        _split(len(time)),
    )
    return recording, Model(settings["law"], mass, settings["start"] == "rest")


def _column(table: Table, column: Any) -> int:
    if not isinstance(column, int) or not 0 <= column < len(table.names):
        raise TableError(f"There is no column {column!r} in this table.")
    return column


def _typed(key: str, settings: Mapping[str, Any], faults: dict[str, str]) -> float:
    """A number as somebody typed it; NaN, and a fault, where it is none."""
    text = str(settings.get(key, "")).strip()
    try:
        value = float(text.replace(",", ".").replace("\N{MINUS SIGN}", "-"))
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        given = f"“{text}” is none" if text else "the field is empty"
        faults[key] = f"The {key} must be a number; {given}."
    return value


def _faults(
    table: Table, settings: Mapping[str, Any], channels: Mapping[str, Array], mass: float | None
) -> dict[str, str]:
    """What is wrong with columns that are numbers, each for itself."""
    faults: dict[str, str] = {}
    rows = len(table.rows)
    if rows < FEWEST:
        return {"position": f"There are {rows} rows of numbers; a fit and a part held out need at least {FEWEST}."}
    try:
        step_of(channels["time"])
    except ValueError as error:
        # The clock counts samples from 0, a spreadsheet rows from 1 and with whatever stands above them.
        faults["time"] = (
            "In the time column "
            + re.sub(r"\brow (\d+)", lambda match: f"row {table.rows[int(match[1])]}", str(error))
            + "."
        )
    for key, values in channels.items():
        index = int(np.argmax(np.abs(values)))
        if abs(values[index]) > LARGEST and (column := settings["columns"].get(key)) is not None:
            unit = settings["units"][key]
            faults[key] = f"{table.cell(index, column)} is {values[index]:g} in SI units. Is the unit {unit} right?"
    fitted = channels["position"][: _split(rows)]
    if np.ptp(fitted) == 0:
        cell = table.cell(0, settings["columns"]["position"])
        where = "in every row" if np.ptp(channels["position"]) == 0 else "in all of the first part, which is fitted"
        faults["position"] = (
            f"{cell} and all below it hold the same number {where}: nothing moves, nothing can be found."
        )
    if mass is None and not np.any(channels["force"][: len(fitted) - 1]):
        faults["force" if settings["columns"].get("force") is None else "mass"] = (
            "Without a force only the ratio of drag to mass can be found. Say that the mass is known, and how large."
        )
    return faults


def _split(rows: int) -> int:
    return rows - round(HELD_OUT * rows)


def begin(table: Table, settings: Mapping[str, Any]) -> Generator[dict[str, Any], None, dict[str, Any]]:
    """A fit, ready to be pulled; see `prepare` for the settings and what is refused, and `solve` for what it gives.

    Its result has the settings and the version of this package with it.

    Raises:
        ProjectError: as `prepare` does, before anything is pulled.
    """
    recording, model = prepare(table, settings)

    def fitting() -> Generator[dict[str, Any], None, dict[str, Any]]:
        result = yield from solve(recording, model, compare=settings["compare"] == "yes")
        columns = {key: table.column(column) for key, column in settings["columns"].items() if column is not None}
        return result | {"settings": dict(settings), "columns_used": columns, "version": VERSION}

    return fitting()


# The fit ---------------------------------------------------------------------------------------------------------


def solve(recording: Recording, model: Model, *, compare: bool) -> Generator[dict[str, Any], None, dict[str, Any]]:
    """Fit, predict, and compare the drag laws if asked.

    Yields:
        ``share`` of the work that is likely done and a ``sentence``, after a few thousand steps each.

    Returns:
        The result as plain data, see `_result`.
    """
    laws = [model.law, *(law for law in LAWS if compare and law != model.law)]
    fitted = recording.motion.until(recording.split)
    fits: list[Fit] = []
    for done, law in enumerate(laws):
        fitting = fit(replace(model, law=law), fitted)
        steps = 0
        while True:
            try:
                at = next(fitting)
            except StopIteration as end:
                fits.append(end.value)
                break
            steps += at.steps
            yield {"share": (done + _share(at, steps, fitted)) / len(laws), "sentence": _how_far(at, law)}
    found = fits[0]
    looking = look(found.model, recording.motion, found.values)
    while True:
        try:
            next(looking)
        except StopIteration as end:
            return _result(recording, found, end.value, fits)
        yield {"share": 1.0, "sentence": "Predicting the held-out part."}


def _share(at: Glance, steps: int, motion: Motion) -> float:
    """Nobody knows how many iterations there will be; most take a few, and the bar never gets full before its time."""
    return 1 - math.exp(-steps / (3 * len(motion.force)))


def _how_far(at: Glance, law: str) -> str:
    if not math.isfinite(at.rms):
        return f"Fitting the {law} law."
    numbers = ", ".join(f"{symbol} = {quantity(at.values[symbol], digits=3)}" for symbol in LAWS[law])
    where = f"iteration {at.iteration}" if at.iteration else "a first look at fewer samples"
    return f"Fitting the {law} law, {where}: {numbers}, rms {quantity(at.rms, 'm', 3)}."


def _result(recording: Recording, found: Fit, sight: Sight, fits: list[Fit]) -> dict[str, Any]:
    """All that is known of a fit.

    ``state`` is fitted, not-yet (a check fails) or failed (nothing was found); ``sentence`` says so and how the search
    ended. ``values`` has a row for each unknown, ``checks`` what was asked of the fit, ``warnings`` what the data leave
    open, ``numbers`` the rest. ``laws`` has a row for each law that was fitted, and ``comparison`` a sentence about
    them. ``panels`` and ``columns`` are the pictures.
    """
    motion, split = recording.motion, recording.split
    residual = sight.position - motion.position
    checks = _checks(recording, found, sight)
    is_whole = found.uncertainty is not None and found.ending is Ending.CONVERGED
    passed = is_whole and all(check.passed for check in checks)
    warnings = [*found.warnings, moving_start(found, motion.until(split))]
    failed = [check.name[0].lower() + check.name[1:] for check in checks if not check.passed]
    verdict = (
        "The fit holds." if passed else f"Do not trust this fit yet: {' and '.join(failed) or 'it has not arrived'}."
    )
    numbers = {
        "rows": len(motion.position),
        "rows_fitted": split,
        "rows_held_out": len(motion.position) - split,
        "time_step": motion.dt,
        "iterations": found.iterations,
        "rms_fitted": root_mean_square(residual[:split]),
        "rms_held_out": root_mean_square(residual[split:]),
        "noise": math.sqrt(found.uncertainty.variance) if found.uncertainty else math.nan,
    }
    if recording.velocity is not None:
        difference = sight.velocity - recording.velocity
        numbers |= {
            "rms_velocity_fitted": root_mean_square(difference[:split]),
            "rms_velocity_held_out": root_mean_square(difference[split:]),
        }
    laws = [_law(fit, motion.until(split)) for fit in fits]
    return {
        "state": "failed" if found.uncertainty is None else "fitted" if passed else "not-yet",
        "sentence": f"{verdict} {found.sentence}",
        "ending": found.ending,
        "model": MODEL,
        "law": found.model.law,
        "values": _values(found),
        "checks": [_check(check) for check in checks],
        "whiteness": found.uncertainty.whiteness.sentence if found.uncertainty else "",
        "warnings": [warning for warning in warnings if warning],
        "numbers": numbers,
        "texts": _texts(numbers),
        "laws": laws,
        "comparison": _comparison(laws) if len(laws) > 1 else "",
        "panels": [asdict(panel) for panel in _panels(recording, numbers["noise"])],
        "columns": _columns(recording, sight),
        "split_note": (
            f"The first {split} rows were fitted. The other {len(motion.position) - split} were predicted from the "
            "state that the fitted model has at the cut by itself; nothing measured there was used."
        ),
    }


def _values(found: Fit) -> list[dict[str, Any]]:
    if found.uncertainty is None:
        return []
    u = found.uncertainty
    rows = zip(u.parameters, u.values.tolist(), u.standard_errors.tolist(), u.intervals.tolist(), strict=True)
    return [
        {
            "symbol": p.symbol,
            "name": p.name,
            "unit": p.unit,
            "value": value,
            "standard_error": error,
            "low": low,
            "high": high,
            "text": quantity(value, p.unit),
            "interval": _interval(low, high, p.unit),
        }
        for p, value, error, (low, high) in rows
    ]


def _interval(low: float, high: float, unit: str) -> str:
    """Its ends, with the unit once where both have the same."""
    (begin, _, of), (end, _, other) = (quantity(value, unit).partition(" ") for value in (low, high))
    return f"{begin} to {end} {other}".rstrip() if of == other else f"{begin} {of} to {end} {other}"


def _texts(numbers: Mapping[str, float]) -> list[dict[str, str]]:
    labels = {
        "rms_fitted": ("rms distance from the fitted rows", "m"),
        "rms_held_out": ("rms distance from the held-out rows", "m"),
        "noise": ("noise on one position, as the fit leaves it", "m"),
        "rms_velocity_fitted": ("rms distance from the velocity column, fitted rows", "m/s"),
        "rms_velocity_held_out": ("rms distance from the velocity column, held-out rows", "m/s"),
        "time_step": ("time step", "s"),
    }
    return [
        {"label": label, "text": quantity(numbers[key], unit)}
        for key, (label, unit) in labels.items()
        if key in numbers
    ]


def _checks(recording: Recording, found: Fit, sight: Sight) -> tuple[Check, ...]:
    """Is what is left over noise, and is the rest of the record where the fit says it will be?

    The held-out residual is noise plus what the uncertain values do to the prediction, whose variance is j Σ jᵀ for a
    row j of the Jacobian. Four standard deviations of either are allowed, as in `verdict.overlays`.
    """
    split = recording.split
    left = (sight.position - recording.motion.position)[split:]
    limit = math.nan
    if found.uncertainty is not None:
        slopes = sight.jacobian[split:, : len(found.model.sought)]
        with np.errstate(all="ignore"):
            spread = float(np.mean(np.einsum("ni,ij,nj->n", slopes, found.uncertainty.covariance, slopes)))
        scatter = (1 + 4 / math.sqrt(2 * len(left))) ** 2
        limit = math.sqrt(found.uncertainty.variance * scatter + 16 * spread) if spread >= 0 else math.inf
    return (
        looks_like_noise(found.uncertainty.whiteness if found.uncertainty else None),
        Check(
            name="Rms distance from the held-out rows",
            value=root_mean_square(left),
            limit=limit,
            unit="m",
            because="what the noise and the intervals explain",
            advice="The model fits what it saw and misses what comes after: it lacks something.",
        ),
    )


def _check(check: Check) -> dict[str, Any]:
    return {
        "name": check.name,
        "passed": check.passed,
        "value": quantity(check.value, check.unit, 3),
        "limit": quantity(check.limit, check.unit, 3),
        "because": check.because,
        "advice": check.advice,
    }


# Which law -------------------------------------------------------------------------------------------------------


def _law(fit: Fit, motion: Motion) -> dict[str, Any]:
    """A law's criterion, BIC = n ln(RSS/n) + k ln n, for white Gaussian noise of unknown variance.

    Source: Schwarz, "Estimating the dimension of a model", *Annals of Statistics* 6 (1978), 461-464.
    """
    residual = fit.sight.position - motion.position
    n, squares = len(residual), float(residual @ residual)
    # Without noise the sum of squares is rounding, and its logarithm would rank what is equally good.
    squares = max(squares, n * (1e-9 * float(np.ptp(motion.position))) ** 2)
    is_there = fit.uncertainty is not None
    return {
        "law": fit.model.law,
        "bic": n * math.log(squares / n) + len(fit.model.sought) * math.log(n) if is_there else math.inf,
        "rms": root_mean_square(residual),
        "text": quantity(root_mean_square(residual), "m"),
        "white": bool(fit.uncertainty and fit.uncertainty.whiteness.passed),
        "found": ", ".join(
            f"{row['symbol']} = {row['text']}" for row in _values(fit) if row["symbol"] not in {"x0", "v0"}
        ),
    }


def _comparison(laws: list[dict[str, Any]]) -> str:
    """Differences of BIC in words: below 2 no more than a bare mention, above 10 very strong evidence.

    Source: Kass and Raftery, "Bayes factors", *Journal of the American Statistical Association* 90 (1995), 773-795,
    section 3.2.
    """
    best = min(laws, key=lambda law: law["bic"])
    if not math.isfinite(best["bic"]):
        return "None of the drag laws could be fitted, so there is nothing to compare."
    rest = sorted((law for law in laws if law is not best), key=lambda law: law["bic"])
    gap = rest[0]["bic"] - best["bic"]
    others = " and ".join(f"{law['law']} by {quantity(law['bic'] - best['bic'], digits=3)}" for law in rest)
    white = [law["law"] for law in laws if law["white"]]
    strength = "not told apart from the next" if gap < 2 else "preferred" if gap < 10 else "strongly preferred"
    noise = (
        f"Residuals that look like noise are left by the {' and the '.join(white)} law."
        if white
        else "None of them leaves residuals that look like noise, so all of them lack something; the order only says "
        "which lacks least."
    )
    return f"By the Bayesian information criterion the {best['law']} law is {strength} (worse: {others}). {noise}"


# Pictures --------------------------------------------------------------------------------------------------------


def _columns(recording: Recording, sight: Sight) -> dict[str, Array]:
    """Every so manieth sample of a long record; a picture has no more room."""
    motion, split, time = recording.motion, recording.split, recording.time
    thin = slice(None, None, max(1, -(-len(time) // DRAWN)))
    residual = sight.position - motion.position
    columns = {
        "time": time[thin],
        "measured": motion.position[thin],
        "predicted": sight.position[thin],
        "fitted_time": time[:split][thin],
        "residual": residual[:split][thin],
        "held_out_time": time[split:][thin],
        "held_out_measured": motion.position[split:][thin],
        "held_out_predicted": sight.position[split:][thin],
        "drive_time": time[:-1][thin],
        "drive": motion.force[thin],
    }
    if recording.velocity is not None:
        columns |= {"velocity": recording.velocity[thin], "predicted_velocity": sight.velocity[thin]}
    return columns


def _panels(recording: Recording, noise: float) -> list[Panel]:
    thin = max(1, -(-len(recording.time) // DRAWN))
    every = "" if thin == 1 else f" (one row in {thin} is drawn)"
    time, position = Axis("time", "s"), Axis("position", "m")
    pair = (Role.MEASURED, "measured"), (Role.PREDICTED, "predicted")

    def both(x: str, *y: str) -> tuple[Line, ...]:
        return tuple(Line(role, label, x, name) for (role, label), name in zip(pair, y, strict=True))

    velocity = Panel(
        "velocity", "Velocity, which was not fitted", time, Axis("velocity", "m/s"),
        both("time", "velocity", "predicted_velocity"),
    )  # fmt: skip
    band = () if not math.isfinite(noise) else (
        Line(Role.BAND, "noise alone, 19 of 20", low=-1.96 * noise, high=1.96 * noise),
    )  # fmt: skip
    return [
        Panel("trajectory", f"Position over time{every}", time, position, both("time", "measured", "predicted")),
        Panel(
            "residuals", "What the fit leaves over", time, Axis("predicted − measured", "m"),
            (*band, Line(Role.HISTORY, "residual", "fitted_time", "residual")),
        ),
        Panel(
            "held-out", "The held-out rows, predicted", time, position,
            both("held_out_time", "held_out_measured", "held_out_predicted"),
        ),
        *([velocity] if recording.velocity is not None else []),
        Panel("drive", "The force", time, Axis("force", "N"), (Line(Role.DRIVE, "force", "drive_time", "drive"),)),
    ]  # fmt: skip


# The sample ------------------------------------------------------------------------------------------------------

SAMPLE = {"m": 0.5, "b": 0.06, "c": 0.42, "x0": 0.12, "v0": 0.3}
SAMPLE_ROWS = 400
SAMPLE_STEP = 0.02  # s
SAMPLE_NOISE = 1.5e-3  # m


def sample() -> str:
    """A file to try: a trolley that is pushed to and fro, with quadratic drag and a little linear drag beside it."""
    t = SAMPLE_STEP * np.arange(SAMPLE_ROWS)
    force = np.round(1.6 * np.sin(1.1 * t) + 1.1 * np.sin(2.9 * t + 0.8), 4)
    motion = Motion(SAMPLE_STEP, force[:-1], np.zeros(SAMPLE_ROWS))
    looking = look(Model("mixed", SAMPLE["m"], at_rest=False), motion, SAMPLE)
    while True:
        try:
            next(looking)
        except StopIteration as end:
            position = end.value.position
            break
    position = position + SAMPLE_NOISE * np.random.default_rng(42).standard_normal(SAMPLE_ROWS)
    lines = [f"{a:.2f},{b:.4f},{100 * c:.3f}" for a, b, c in zip(t, force, position, strict=True)]
    head = ["# A trolley of 0.5 kg, made up by ferro-bench.", "time (s),force (N),position (cm)"]
    return "\n".join([*head, *lines]) + "\n"
