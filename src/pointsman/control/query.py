"""The query of a request to the admin API: known names only, each once, each of its kind."""

from collections.abc import Collection
from enum import StrEnum
from typing import TypeVar

from starlette.requests import Request

from pointsman.config.problems import nearest
from pointsman.control.problems import bad

_MAX_DIGITS = 18
_Choice = TypeVar("_Choice", bound=StrEnum)


class Query:
    """Raises ProblemError (400) for whatever could be a mistake."""

    def __init__(self, request: Request, known: Collection[str]) -> None:
        self._values = dict(request.query_params)
        if len(request.query_params.multi_items()) > len(self._values):
            raise bad("Each parameter may be given once.")
        for name in self._values:
            if name not in known:
                raise bad(f"There is no parameter '{name[:40]}'. {nearest(name, known)}")

    def text(self, name: str) -> str | None:
        return self._values.get(name)

    def number(self, name: str, default: int | None, low: int, high: int) -> int | None:
        """A whole number between the bounds."""
        written = self._values.get(name)
        if written is None:
            return default
        is_number = written.isascii() and written.isdigit() and len(written) <= _MAX_DIGITS
        if not is_number or not low <= int(written) <= high:
            raise bad(f"'{name}' must be a whole number from {low} to {high}.")
        return int(written)

    def choice(self, name: str, default: _Choice) -> _Choice:
        """One of the closed set that the default belongs to."""
        kind = type(default)
        try:
            return kind(self._values.get(name, default))
        except ValueError:
            raise bad(f"'{name}' must be one of: {', '.join(kind)}.") from None
