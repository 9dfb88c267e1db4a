"""Which of the two screens is used, and the lines of the plain one."""

import io
import re

import pytest
from msgspec import structs

from pointsman.demo import table
from pointsman.demo.picture import WINDOW_S, Kind, Line, Picture
from pointsman.demo.screen import LiveScreen, PlainScreen, fitting, is_live
from tests.unit.demo.test_table import NOTHING_YET, PICTURE, PLACE


class Terminal(io.TextIOWrapper):
    """Looks like one."""

    def __init__(self, encoding: str = "utf-8") -> None:
        super().__init__(io.BytesIO(), encoding=encoding)

    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def _terminal_of_usual_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(table.COLUMNS))
    monkeypatch.setenv("LINES", str(table.ROWS))


# --- which


def test_able_terminal_gets_the_live_view() -> None:
    assert is_live(Terminal(), {"TERM": "xterm-256color"})


@pytest.mark.parametrize(
    "environ",
    [{}, {"TERM": ""}, {"TERM": "dumb"}, {"TERM": "xterm", "NO_COLOR": "1"}, {"TERM": "xterm", "CI": "true"}],
)
def test_terminal_that_is_not_able_or_not_willing_gets_plain_lines(environ: dict[str, str]) -> None:
    assert not is_live(Terminal(), environ)


def test_empty_variable_is_no_objection() -> None:
    assert is_live(Terminal(), {"TERM": "xterm", "NO_COLOR": "", "CI": ""})


def test_what_is_no_terminal_gets_plain_lines() -> None:
    assert not is_live(io.TextIOWrapper(io.BytesIO(), encoding="utf-8"), {"TERM": "xterm"})


def test_terminal_that_cannot_show_a_bar_gets_plain_lines() -> None:
    assert not is_live(Terminal("latin-1"), {"TERM": "xterm"})


@pytest.mark.parametrize(("name", "value"), [("COLUMNS", table.COLUMNS - 1), ("LINES", table.ROWS - 1)])
def test_terminal_that_is_too_small_gets_plain_lines(name: str, value: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, str(value))

    assert not is_live(Terminal(), {"TERM": "xterm"})


def test_fitting_screen_is_that_of_standard_output(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = fitting(PLACE, "Ctrl-C", {"TERM": "xterm"})
    monkeypatch.setattr("sys.stdout", Terminal())
    live = fitting(PLACE, "Ctrl-C", {"TERM": "xterm"})

    assert (type(plain), type(live)) == (PlainScreen, LiveScreen)


# --- plain


def told(*pictures: Picture) -> None:
    with PlainScreen(PLACE, "Ctrl-C") as screen:
        for picture in pictures:
            screen.show(picture)


def test_plain_screen_begins_with_the_welcome(capsys: pytest.CaptureFixture[str]) -> None:
    told()

    out = capsys.readouterr().out
    assert out.startswith("Pointsman demo: ")
    assert out.endswith("Stop with Ctrl-C.\n\n\n")


def test_each_line_of_the_story_is_printed_once(capsys: pytest.CaptureFixture[str]) -> None:
    lines = tuple(Line(number, number * 1.0, f"line {number}", Kind.EVENT) for number in range(1, 6))

    told(*(structs.replace(NOTHING_YET, lines=lines[:count]) for count in (1, 1, 3, 5)))

    assert re.findall(r"^00:0\d  line (\d)$", capsys.readouterr().out, re.MULTILINE) == list("12345")


def test_table_is_printed_once_per_window(capsys: pytest.CaptureFixture[str]) -> None:
    times_s = [WINDOW_S * factor for factor in (0.5, 1.01, 1.5, 2.0, 2.9, 3.1)]

    told(*(structs.replace(PICTURE, elapsed_s=at_s) for at_s in times_s))

    assert capsys.readouterr().out.count(table.plain(PICTURE)) == 3
