"""The benches in a terminal: ``python -m ferro_bench list`` and ``python -m ferro_bench train friction``.

Training prints a progress line, the result and every check. The exit code is 0 on PASS and 1 otherwise; 2 says that the
command itself made no sense.
"""

from __future__ import annotations

import argparse
import signal
import sys

from . import benches
from .bench import Bench
from .control import NumberControl, Settings, SettingsError
from .identify import Identified
from .quantity import quantity


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
    return _train(bench, settings)


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


def _train(bench: Bench, settings: Settings) -> int:
    print(bench.title)
    result = _pull(bench, settings)
    verdict = bench.judge(result.step.parameters, settings)
    print(result.sentence)
    for parameter in bench.sought:
        found = quantity(result.step.parameters[parameter.symbol], parameter.unit, digits=6)
        print(f"{parameter.symbol} = {found} ({parameter.name})")
    if uncertainty := bench.uncertainty(result.step.parameters, settings):
        for parameter, (low, high) in zip(bench.sought, uncertainty.intervals.tolist(), strict=True):
            print(f"  95 % interval of {parameter.symbol}: {quantity(low)} to {quantity(high, parameter.unit)}")
        for warning in uncertainty.warnings:
            print(f"  {warning}")
    for check in verdict.checks:
        print(f"  {'pass' if check.passed else 'FAIL'}  {check.sentence}")
    print(verdict.sentence)
    return 0 if verdict.passed else 1


def _pull(bench: Bench, settings: Settings) -> Identified:
    """Pull the whole training, showing each iterate on one line; an interrupt stops it at the next one."""
    interrupts: list[int] = []
    # An exception would arrive in the middle of an iterate and leave nothing to report, so the signal is only noted.
    usual = signal.signal(signal.SIGINT, lambda number, frame: interrupts.append(number))
    training = bench.train(settings)
    try:
        step = next(training)
        while True:
            values = ", ".join(f"{s} = {quantity(v)}" for s, v in step.parameters.items())
            print(f"\riteration {step.iteration:4}, {values}, loss {step.loss:.4e}", end="   ", flush=True)
            step = training.send(bool(interrupts))
    except StopIteration as end:
        print()
        result: Identified = end.value
        return result
    finally:
        signal.signal(signal.SIGINT, usual)


if __name__ == "__main__":
    sys.exit(main())
