"""`GET /v1/models` and `/v1/models/{id}` in Anthropic's shape: the same names, page by page."""

from urllib.parse import parse_qs

import msgspec

from pointsman.domain.errors import ErrorKind, GatewayError
from pointsman.domain.request import Caller
from pointsman.domain.snapshot import Snapshot
from pointsman.observability.times import rfc3339
from pointsman.routing.resolve import names_for, unknown_model

DEFAULT_LIMIT, MAX_LIMIT = 20, 1000  # Anthropic's own


def page(caller: Caller, snapshot: Snapshot, query: str) -> bytes:
    """Names that the caller may use, from behind `after_id` on or up to `before_id`. Raises GatewayError (400)."""
    fields = {name: values[-1] for name, values in parse_qs(query).items()}
    limit, names = _limit(fields.get("limit")), sorted(names_for(caller, snapshot))
    if "before_id" in fields:
        names = names[: _place(fields["before_id"], names, "before_id")]
        found = names[-limit:]
    else:
        names = names[_place(fields["after_id"], names, "after_id") + 1 :] if "after_id" in fields else names
        found = names[:limit]
    return msgspec.json.encode(
        {
            "data": [_model(name, snapshot) for name in found],
            "has_more": len(found) < len(names),
            "first_id": found[0] if found else None,
            "last_id": found[-1] if found else None,
        }
    )


def one(name: str, caller: Caller, snapshot: Snapshot) -> bytes:
    """One of them. Raises GatewayError (404), also for a name that exists for others only."""
    names = names_for(caller, snapshot)
    if name not in names:
        raise unknown_model(name, names)
    return msgspec.json.encode(_model(name, snapshot))


def _model(name: str, snapshot: Snapshot) -> dict[str, str]:
    created_at = rfc3339(snapshot.created_utc)
    return {"type": "model", "id": name, "display_name": name, "created_at": created_at, "lifecycle": "active"}


def _limit(given: str | None) -> int:
    if given is None:
        return DEFAULT_LIMIT
    if not (given.isascii() and given.isdigit() and 1 <= int(given[:5]) <= MAX_LIMIT):
        message = f"'limit' must be a number from 1 to {MAX_LIMIT}."
        raise GatewayError(ErrorKind.BAD_REQUEST, message, param="limit")
    return int(given)


def _place(name: str, names: list[str], field: str) -> int:
    if name not in names:
        raise GatewayError(ErrorKind.BAD_REQUEST, f"'{field}' must be the id of a model in the list.", param=field)
    return names.index(name)
