"""Programs that the build runs."""

from pathlib import Path

import pytest

from building.commands import CommandError, run


def test_a_program_gets_its_input_and_answers(tmp_path: Path) -> None:
    assert run("cat", given="words") == "words"


def test_a_program_that_fails_is_quoted(tmp_path: Path) -> None:
    failing = tmp_path / "failing"
    failing.write_text("#!/bin/sh\necho first >&2\necho 'no such package' >&2\nexit 1\n", "utf-8")
    failing.chmod(0o755)
    with pytest.raises(CommandError, match="failing failed: first\nno such package"):
        run(failing)


def test_a_program_that_is_missing_is_named() -> None:
    with pytest.raises(CommandError, match="no-such-program is not installed"):
        run("no-such-program")
