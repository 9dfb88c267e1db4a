"""`GET /v1/models` and `/v1/models/{id}`: the names a caller may ask for, in OpenAI's shape."""

import msgspec

from pointsman.domain.snapshot import Snapshot
from pointsman.routing.resolve import unknown_model


def listing(snapshot: Snapshot) -> bytes:
    """Every group and alias."""
    models = [_model(name, snapshot) for name in sorted(snapshot.groups)]
    return msgspec.json.encode({"object": "list", "data": models})


def one(name: str, snapshot: Snapshot) -> bytes:
    """One of them. Raises GatewayError (404)."""
    if name not in snapshot.groups:
        raise unknown_model(name, snapshot.groups)
    return msgspec.json.encode(_model(name, snapshot))


def _model(name: str, snapshot: Snapshot) -> dict[str, str | int]:
    return {"id": name, "object": "model", "created": snapshot.created_utc, "owned_by": "pointsman"}
