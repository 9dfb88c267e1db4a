"""How far a comparison is."""

import pytest

from pointsman.simulator.progress import reporting


def test_without_a_terminal_some_lines_go_to_stderr_and_none_to_stdout(capsys: pytest.CaptureFixture[str]) -> None:
    with reporting() as step:
        for number in range(1, 101):
            step(number, 100, "steady, market, seed 1")

    out, err = capsys.readouterr()
    assert not out
    assert err.splitlines()[0] == "5 of 100 runs (steady, market, seed 1)"
    assert len(err.splitlines()) == 20


def test_few_runs_are_all_told(capsys: pytest.CaptureFixture[str]) -> None:
    with reporting() as step:
        for number in range(1, 4):
            step(number, 3, "x")

    assert len(capsys.readouterr().err.splitlines()) == 3
