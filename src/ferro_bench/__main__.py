"""The benches in a terminal: ``python -m ferro_bench list`` and ``python -m ferro_bench train friction``.

Training prints a progress line, the result and every check. The exit code is 0 on PASS and 1 otherwise; 2 says that the
command itself made no sense.
"""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Callable, Generator

from . import benches
from .bench import Bench
from .control import NumberControl, Settings, SettingsError
from .identify import Identified, Step
from .quantity import quantity

ALIKE = 1.01  # times the best loss: searches below it ended in the same minimum


def main(arguments: list[str] | None = None) -> int:
    """Run one command.

    Args:
        arguments: the words after the program's name; those of the process by default.

    Returns:
        The exit code.
    """
    parser = argparse.ArgumentParser(prog="ferro_bench", description="Identification benches in a terminal.")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("list", help="name the benches")
    train = commands.add_parser("train", help="train a bench and judge the result")
    train.add_argument("bench", help="a bench's name, as the list command gives it")
    train.add_argument(
        "--set", dest="settings", metavar="NAME=VALUE", action="append", default=[], help="change a setting"
    )
    train.add_argument(
        "--starts",
        metavar="COUNT",
        type=int,
        default=1,
        help="begin from so many places all over the ranges that make sense, and judge the best end",
    )
    given = parser.parse_args(arguments)
    if given.command == "list":
        for name in benches.names():
            print(f"{name:12}{benches.load(name).summary}")
        return 0
    try:
        bench = benches.load(given.bench)
        settings = bench.checked(bench.defaults() | dict(_setting(bench, text) for text in given.settings))
    except (LookupError, SettingsError) as error:
        print(error.args[0], file=sys.stderr)
        return 2
    if given.starts < 1:
        print(f"A search needs at least one start, not {given.starts}.", file=sys.stderr)
        return 2
    return _train(bench, settings, given.starts)


def _setting(bench: Bench, text: str) -> tuple[str, float | str]:
    key, separator, value = text.partition("=")
    if not separator:
        raise SettingsError(f"A setting is written NAME=VALUE, but {text!r} has no '='.")
    numeric = {c.key for c in bench.all_controls() if isinstance(c, NumberControl)}
    if key not in numeric:
        return key, value
    try:
        return key, float(value)
    except ValueError:
        return key, value  # not a number: its control will say so, and what it accepts


def _train(bench: Bench, settings: Settings, starts: int) -> int:
    print(bench.title)
    result = _pull(bench, settings) if starts == 1 else _pull_all(bench, settings, starts)
    verdict = bench.judge(result.step.parameters, settings)
    print(result.sentence)
    for parameter in bench.sought(settings):
        found = quantity(result.step.parameters[parameter.symbol], parameter.unit, digits=6)
        print(f"{parameter.symbol} = {found} ({parameter.name})")
    if uncertainty := bench.uncertainty(result.step.parameters, settings):
        for parameter, (low, high) in zip(bench.sought(settings), uncertainty.intervals.tolist(), strict=True):
            print(f"  95 % interval of {parameter.symbol}: {quantity(low)} to {quantity(high, parameter.unit)}")
        for warning in uncertainty.warnings:
            print(f"  {warning}")
    for check in verdict.checks:
        print(f"  {'pass' if check.passed else 'FAIL'}  {check.sentence}")
    print(verdict.sentence)
    return 0 if verdict.passed else 1


def _pull(bench: Bench, settings: Settings) -> Identified:
    """Pull the whole training, showing each iterate on one line; an interrupt stops it at the next one."""

    def show(step: Step) -> str:
        values = ", ".join(f"{s} = {quantity(v)}" for s, v in step.parameters.items())
        return f"iteration {step.iteration:4}, {values}, loss {step.loss:.4e}"

    return _to_the_end(bench.train(settings), show)


def _pull_all(bench: Bench, settings: Settings, starts: int) -> Identified:
    """Pull many searches at once; return the one that ended best, and say how many others ended there."""

    def show(steps: tuple[Step, ...]) -> str:
        losses = [step.loss for step in steps]
        return f"iteration {max(step.iteration for step in steps):4}, losses {min(losses):.4e} to {max(losses):.4e}"

    results = _to_the_end(bench.train_from(settings, starts), show)
    best = min(results, key=lambda result: result.step.loss)
    alike = sum(result.step.loss <= ALIKE * best.step.loss for result in results)
    print(f"{alike} of {starts} searches ended where the best one did.")
    return best


def _to_the_end[Seen, Found](training: Generator[Seen, bool | None, Found], show: Callable[[Seen], str]) -> Found:
    interrupts: list[int] = []
    # An exception would arrive in the middle of an iterate and leave nothing to report, so the signal is only noted.
    usual = signal.signal(signal.SIGINT, lambda number, frame: interrupts.append(number))
    try:
        seen = next(training)
        while True:
            print(f"\r{show(seen)}", end="   ", flush=True)
            seen = training.send(bool(interrupts))
    except StopIteration as end:
        print()
        found: Found = end.value
        return found
    finally:
        signal.signal(signal.SIGINT, usual)


if __name__ == "__main__":
    sys.exit(main())
