"""What is wrong with a configuration, where, and how to repair it."""

import difflib
import re
from collections.abc import Iterable

from msgspec import Struct

from pointsman.domain.errors import PointsmanError

KeyPath = tuple[str | int, ...]

_PLAIN_KEY = re.compile(r"[\w./:@-]{1,80}", re.ASCII)
_MAX_SHOWN = 80  # characters of a name that a message repeats
_MAX_LISTED = 15  # names that a message lists


class Problem(Struct, frozen=True):
    """One fault. `line` and `column` count from 1; 0 means that the source has no lines, e.g. a variable."""

    path: str
    line: int
    column: int
    message: str
    fix: str
    source: str = ""  # file, environment variable or "command line"

    def __str__(self) -> str:
        place = f"{self.source}:{self.line}:{self.column}" if self.line else self.source
        where = f"{place}: {self.path}" if self.path else place
        return f"{where}: {self.message}. {self.fix}".rstrip()


class ConfigError(PointsmanError):
    """Everything that is wrong with one configuration, in the order of its lines."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(sorted(problems, key=lambda p: (p.line, p.column, p.path)))
        super().__init__("\n".join(str(problem) for problem in self.problems))


def dotted(path: KeyPath) -> str:
    """`models.chat.targets[0].provider`; keys that could garble a terminal are quoted and cut."""
    text = ""
    for key in path:
        if isinstance(key, int):
            text += f"[{key}]"
        else:
            text += f".{key}" if _PLAIN_KEY.fullmatch(key) else f".{quoted(key)}"
    return text.removeprefix(".")


def quoted(text: str) -> str:
    """The text in quotes, without control characters, cut to a readable length."""
    return repr(text) if len(text) <= _MAX_SHOWN else repr(text[:_MAX_SHOWN] + "...")


def nearest(word: str, names: Iterable[str], *, otherwise: str = "") -> str:
    """A fix that names the closest of `names`; else `otherwise`, else the list of them."""
    known = sorted(names)
    folded = {name.lower(): name for name in known}
    # Longer words are no typing errors, and comparing them takes quadratic time.
    close = difflib.get_close_matches(word.lower(), folded, n=1) if len(word) <= _MAX_SHOWN else []
    if close:
        return f"Did you mean '{folded[close[0]]}'?"
    listed, more = ", ".join(known[:_MAX_LISTED]), len(known) - _MAX_LISTED
    return otherwise or f"Known here: {listed}{f' and {more} more' if more > 0 else ''}."
