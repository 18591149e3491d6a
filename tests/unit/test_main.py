"""The benches in a terminal: words, exit codes, and an interrupt."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from dataclasses import replace
from typing import Any

import pytest

from ferro_bench import GradientDescent, benches
from ferro_bench.__main__ import main

Output = pytest.CaptureFixture[str]


def test_list_names_every_bench_with_its_summary(capsys: Output) -> None:
    assert main(["list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(benches.names())
    for line, name in zip(lines, benches.names(), strict=True):
        assert line.split()[0] == name
        assert line.endswith(benches.load(name).summary)


def test_training_friction_passes(capsys: Output) -> None:
    assert main(["train", "friction"]) == 0
    out, err = capsys.readouterr()
    progress, report = out.rsplit("\r", 1)[0], out.rsplit("\r", 1)[1].splitlines()
    assert progress.count("\riteration") >= 20
    assert report[1].startswith("Converged after")
    assert report[2].startswith("c = 0.850")
    assert sum(line.startswith("  pass  ") for line in report) == 5
    assert report[-1] == "PASS: all 5 checks hold."
    assert err == ""


def test_many_starts_are_searched_side_by_side_and_the_best_is_judged(capsys: Output) -> None:
    assert main(["train", "actuator", "--starts", "12"]) == 0
    out, err = capsys.readouterr()
    report = out.rsplit("\r", 1)[1].splitlines()
    assert re.match(r"(\d+) of 12 searches ended where the best one did\.", report[1])
    assert report[-1] == "PASS: all 8 checks hold."
    assert err == ""


def test_no_start_at_all_is_refused(capsys: Output) -> None:
    assert main(["train", "friction", "--starts", "0"]) == 2
    assert capsys.readouterr().err == "A search needs at least one start, not 0.\n"


def test_a_rate_that_diverges_is_not_a_pass(capsys: Output) -> None:
    assert main(["train", "friction", "--set", "learning_rate=5"]) == 1
    out, err = capsys.readouterr()
    assert "Training diverged" in out
    assert "\n  FAIL  " in out
    assert out.splitlines()[-1].startswith("Not yet: ")
    assert err == ""


def test_a_setting_changes_the_training(capsys: Output) -> None:
    assert main(["train", "friction", "--set", "optimizer=adam", "--set", "start_c=2.5"]) == 0
    assert "\riteration    0, c = 2.500, " in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["warp"], "There is no bench 'warp'; there is"),
        (["friction", "--set", "warp=9"], "The bench friction has no setting 'warp'"),
        (["friction", "--set", "start_c"], "A setting is written NAME=VALUE, but 'start_c' has no '='"),
        (["friction", "--set", "start_c=3.5"], "The start value of c must lie from 0 to 3 kg/m, but 3.5 does not"),
        (["friction", "--set", "start_c=nan"], "The start value of c must be a number from 0 to 3, not nan"),
        (["friction", "--set", "start_c=big"], "The start value of c must be a number from 0 to 3, not 'big'"),
        (["friction", "--set", "optimizer=warp"], "The optimizer must be one of gradient descent, momentum"),
    ],
    ids=" ".join,
)
def test_a_command_that_makes_no_sense_says_so(capsys: Output, words: list[str], sentence: str) -> None:
    assert main(["train", *words]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(sentence)


@pytest.mark.parametrize("words", [[], ["fly"], ["train"]], ids=str)
def test_words_that_are_no_command_show_the_usage(capsys: Output, words: list[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(words)
    assert end.value.code == 2
    assert capsys.readouterr().err.startswith("usage: ferro_bench")


class Interrupted(GradientDescent):
    """Ctrl-C is pressed while it computes its third step."""

    steps = 0

    def step(self, gradient: Any) -> Any:
        self.steps += 1
        if self.steps == 3:
            signal.raise_signal(signal.SIGINT)
        return super().step(gradient)


def test_an_interrupt_stops_training_and_still_judges(capsys: Output, monkeypatch: pytest.MonkeyPatch) -> None:
    bench = replace(benches.load("friction"), optimizer=lambda settings: Interrupted(0.35))
    monkeypatch.setattr(benches, "load", lambda name: bench)
    usual = signal.getsignal(signal.SIGINT)
    assert main(["train", "friction"]) == 1
    out = capsys.readouterr().out
    assert "\nStopped on request at iteration 3.\n" in out
    assert out.splitlines()[-1].startswith("Not yet: ")
    assert signal.getsignal(signal.SIGINT) is usual


def test_it_runs_as_a_command() -> None:
    command = [sys.executable, "-W", "error", "-m", "ferro_bench", "train", "friction"]
    passing = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (passing.returncode, passing.stderr) == (0, "")
    assert passing.stdout.endswith("PASS: all 5 checks hold.\n")
    refused = subprocess.run([*command, "--set", "start_c=9"], capture_output=True, text=True, timeout=60)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr == "The start value of c must lie from 0 to 3 kg/m, but 9 does not.\n"
