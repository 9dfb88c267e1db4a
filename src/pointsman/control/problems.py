"""Errors of the admin API: RFC 9457, `application/problem+json`."""

from collections.abc import Mapping
from http import HTTPStatus

import msgspec
from starlette.requests import Request
from starlette.responses import Response


class ProblemError(Exception):
    """An answer that is an error. `detail` says what to do and shows no secret."""

    def __init__(self, status: int, detail: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(detail)
        self.status, self.detail, self.headers = status, detail, headers


def bad(detail: str) -> ProblemError:
    """A query that cannot be answered as it is."""
    return ProblemError(400, detail)


async def render(_: Request, error: Exception) -> Response:
    """For Starlette's table of exception handlers."""
    if not isinstance(error, ProblemError):
        raise error
    body = {"title": HTTPStatus(error.status).phrase, "status": error.status, "detail": error.detail}
    return Response(msgspec.json.encode(body), error.status, error.headers, "application/problem+json")
