"""The admin API without a socket: an application on sources made by hand, and requests to it."""

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct, structs
from starlette.applications import Starlette

from pointsman.config.settings import Address, Settings
from pointsman.control.api import application
from pointsman.control.sources import Sources
from pointsman.domain.access import AdminToken, digest_of
from pointsman.domain.secret import Secret
from pointsman.observability.recent import RecentDecisions
from pointsman.signals.board import SignalBoard
from pointsman.testing import builders, keys
from pointsman.testing.clock import FakeClock
from tests.unit.routing.asking import Draws

TOKEN = "pm_admin_of-the-tests"
LOCAL = ("127.0.0.1", 50_000)
ELSEWHERE = ("192.0.2.7", 50_000)
GROUPS = (
    builders.group("chat", ("a/m", 70), ("b/m", 30), aliases=("gpt",)),
    builders.group("code", "b/m", ("c/m", 0), strategy="failover"),
)


class Answer(Struct):
    """What came back."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> Any:
        return msgspec.json.decode(self.body)


class Admin:
    """An admin API and what it reads; `settings` may be changed at any time."""

    def __init__(self, *, has_token: bool = False) -> None:
        pepper = Secret(keys.PEPPER)
        token = AdminToken(pepper, Secret(digest_of(TOKEN.encode(), pepper))) if has_token else None
        self.settings = Settings(
            listen=Address("127.0.0.1", 0), admin_listen=Address("127.0.0.1", 0), body_limit_bytes=1_000,
            max_connections=10, strangers_per_address=None, queue_s=0.1, memory_bytes=None,
            stream_keepalive_s=10.0, drain_s=1.0,
            decisions_path=Path("unused"), decisions_max_bytes=1_000, decisions_max_rows=100,
            log_level="info", log_requests=False, admin_token=token,
        )  # fmt: skip
        self.board, self.clock, self.recent = SignalBoard(Draws()), FakeClock(), RecentDecisions(100)
        self.snapshot = builders.snapshot(GROUPS, config_version=3)
        self.attempts: dict[str, dict[str, int]] = {}
        self.scored: dict[str, dict[str, int]] = {}
        self.is_ready = True
        self.app: Starlette = application(
            Sources(
                exposition=lambda: b"metrics",
                attempts=lambda: self.attempts,
                scored_decisions=lambda group: self.scored.get(group, {}),
                node_id="node-1",
                status=lambda: {"version": "0"},
                is_ready=lambda: self.is_ready,
                snapshot=lambda: self.snapshot,
                settings=lambda: self.settings,
                recent=lambda: self.recent,
                board=self.board,
                clock=self.clock,
            )
        )

    def limit(self, **changes: object) -> None:
        self.settings = structs.replace(self.settings, **changes)

    def get(self, path: str, **options: Any) -> Answer:
        return self.ask("GET", path, **options)

    def ask(
        self,
        method: str,
        path: str,
        *,
        body: bytes = b"",
        headers: Mapping[str, str] | None = None,
        more: Sequence[tuple[str, str]] = (),
        client: tuple[str, int] | None = LOCAL,
        token: str | None = None,
    ) -> Answer:
        """One request, from this machine and to `localhost` unless something else is said; `more` repeats headers."""
        sent = {"host": "localhost:4001", **(headers or {})}
        if token is not None:
            sent["authorization"] = f"Bearer {token}"
        return asyncio.run(_asked(self.app, method, path, [*sent.items(), *more], body, client))


async def _asked(
    app: Starlette,
    method: str,
    path: str,
    headers: Sequence[tuple[str, str]],
    body: bytes,
    client: tuple[str, int] | None,
) -> Answer:
    name, _, query = path.partition("?")
    scope = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": method, "scheme": "http",
        "path": name, "raw_path": name.encode(), "query_string": query.encode(), "root_path": "",
        "headers": [(key.lower().encode(), value.encode()) for key, value in headers], "client": client,
        "server": ("127.0.0.1", 4001),
    }  # fmt: skip
    pieces = [body[start : start + 400] for start in range(0, len(body), 400)] or [b""]
    received: list[Any] = []

    async def receive() -> dict[str, object]:
        return {"type": "http.request", "body": pieces.pop(0), "more_body": bool(pieces)}

    async def send(message: Any) -> None:
        received.append(message)

    await app(scope, receive, send)
    head, *rest = received
    found = {key.decode(): value.decode() for key, value in head["headers"]}
    return Answer(head["status"], found, b"".join(message.get("body", b"") for message in rest))
