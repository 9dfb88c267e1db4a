"""How a plain YAML scalar is read: the JSON types and nothing else."""

import re
from collections.abc import Callable

_MAX_DIGITS = 18  # more is an identifier, not a number; also keeps conversion cheap
_INT = re.compile(rf"[-+]?(0|[1-9][0-9]{{0,{_MAX_DIGITS - 1}}})")  # no leading zero: `010` is neither 8 nor 10
_FLOAT = re.compile(r"[-+]?(?:(?:0|[1-9][0-9]{0,17})(?:\.[0-9]{0,40})?|\.[0-9]{1,40})(?:[eE][-+]?[0-9]{1,3})?")
_WORDS: dict[str, object] = {
    "": None,
    "~": None,
    "null": None,
    "true": True,  # only these two: `off` and `yes` are text
    "false": False,
    ".inf": float("inf"),
    "-.inf": float("-inf"),
    ".nan": float("nan"),
}
_NUMBERS: tuple[tuple[re.Pattern[str], Callable[[str], object]], ...] = ((_INT, int), (_FLOAT, float))


class VariableText(str):
    """Text that came out of a variable: never expanded again; number and boolean fields re-read it as a scalar."""

    __slots__ = ()


def read_scalar(text: str) -> object:
    """None, bool, int, float or the text itself. No octal and base-60 numbers, no dates."""
    if text in _WORDS:
        return _WORDS[text]
    for pattern, convert in _NUMBERS:
        if pattern.fullmatch(text):
            return convert(text)
    return text


def reread(value: object) -> object:
    """The scalar in a VariableText; every other value as it is."""
    return read_scalar(value.strip()) if isinstance(value, VariableText) else value
