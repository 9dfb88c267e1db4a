"""`GET /v1/models` and `/v1/models/{id}`: the names a caller may ask for, in OpenAI's shape."""

import msgspec

from pointsman.domain.request import Caller
from pointsman.domain.snapshot import Snapshot
from pointsman.routing.resolve import names_for, unknown_model


def listing(caller: Caller, snapshot: Snapshot) -> bytes:
    """Every group and alias that the caller may use."""
    models = [_model(name, snapshot) for name in sorted(names_for(caller, snapshot))]
    return msgspec.json.encode({"object": "list", "data": models})


def one(name: str, caller: Caller, snapshot: Snapshot) -> bytes:
    """One of them. Raises GatewayError (404), also for a name that exists for others only."""
    names = names_for(caller, snapshot)
    if name not in names:
        raise unknown_model(name, names)
    return msgspec.json.encode(_model(name, snapshot))


def _model(name: str, snapshot: Snapshot) -> dict[str, str | int]:
    return {"id": name, "object": "model", "created": snapshot.created_utc, "owned_by": "pointsman"}
