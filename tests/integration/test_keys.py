"""Callers with keys: who gets in, who does not, what each of them is told, and what a swap of the keys does."""

import asyncio
import logging
import random
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml
from msgspec import structs

from pointsman.app import App
from pointsman.config.load import load
from pointsman.domain.errors import ErrorKind, GatewayError
from pointsman.http1.door import Request
from pointsman.http1.head import parse_request_head
from pointsman.http1.reply import Reply as Answer
from pointsman.observability.logging import JsonFormatter
from pointsman.testing import Chat, FakeProvider, SystemClock, keys
from pointsman.testing.wire import Reply, Wire, chat_request
from tests.integration.callers import DONE, ask, text_of
from tests.integration.harness import Gateway, eventually, group, weighted

GOOD, NARROW, WATCHER, OLD, WRONG = "pm_good", "pm_narrow", "pm_watcher", "pm_old", "pm_wrong"
EXPIRES = "2027-01-31T18:00:00Z"
EXPIRES_UTC_S = 1_801_418_400.0
AUTH = keys.section(
    keys.declaration(GOOD, name="good"),
    keys.declaration(NARROW, name="narrow", models=["small*"]),
    keys.declaration(WATCHER, name="watcher", scopes=["explain"]),
    keys.declaration(OLD, name="old", expires=EXPIRES),
)


class At:
    """The real clock, but for the date."""

    def __init__(self, utc_s: float) -> None:
        self._utc_s = utc_s
        self.now = SystemClock().now

    def utc(self) -> float:
        return self._utc_s


def groups(a: FakeProvider) -> dict[str, object]:
    return {"chat": group(a, aliases=["gpt"]), "small": group(a, aliases=["mini"])}


def by(key: str | None, model: str = "chat", **fields: Any) -> bytes:
    return chat_request(model, headers=() if key is None else (("x-api-key", key),), **fields)


def get(path: str, key: str | None = None, method: str = "GET") -> bytes:
    line = "" if key is None else f"authorization: Bearer {key}\r\n"
    return f"{method} {path} HTTP/1.1\r\nhost: test\r\n{line}connection: close\r\n\r\n".encode()


def error(message: str, code: str, param: str | None = None) -> bytes:
    """The body, byte for byte."""
    fields = {"message": message, "type": "invalid_request_error", "param": param, "code": code}
    return msgspec.json.encode({"error": fields})


WRONG_KEY = error(
    "This API key is not valid here. Check that it was copied whole, or ask the operator of this gateway for one.",
    "invalid_api_key",
)
REFUSED: dict[str, tuple[bytes, int, bytes]] = {
    "missing": (
        by(None),
        401,
        error(
            "There is no API key in this request. Send one as 'Authorization: Bearer KEY', or in the header "
            "'x-api-key' or 'api-key'.",
            "invalid_api_key",
        ),
    ),
    "wrong": (by(WRONG), 401, WRONG_KEY),
    "wrong, with a body that is no JSON": (by(WRONG).replace(b'{"model"', b'["model"'), 401, WRONG_KEY),
    "expired": (
        by(OLD),
        401,
        error("This API key has expired. Ask the operator of this gateway for a new one.", "invalid_api_key"),
    ),
    "two different": (
        chat_request("chat", headers=(("x-api-key", GOOD), ("authorization", f"Bearer {NARROW}"))),
        401,
        error("This request carries different API keys in its headers; send one.", "invalid_api_key"),
    ),
    "foreign model": (
        by(NARROW, "gpt"),
        403,
        error(
            "This API key may not use the model 'gpt'. GET /v1/models lists those it may use.",
            "permission_denied",
            "model",
        ),
    ),
    "wrong scope": (
        by(WATCHER),
        403,
        error(
            "This API key lacks the scope 'chat', which this path needs. Ask the operator of this gateway.",
            "permission_denied",
        ),
    ),
}


@pytest.mark.bug("N-05", "N-08")
@pytest.mark.parametrize("case", REFUSED)
def test_refusal_is_the_documented_error_byte_for_byte(run: Any, gateway: Any, case: str) -> None:
    raw, status, body = REFUSED[case]

    async def scenario() -> tuple[Reply, int]:
        async with FakeProvider(name="a") as a:
            async with gateway(a, groups=groups(a), auth=AUTH, clock=At(EXPIRES_UTC_S)) as gw:
                return await ask(gw.base_url, raw), len(a.log)

    reply, calls = run(scenario())

    assert (reply.status, reply.body, calls) == (status, body, 0)
    assert (reply.header("x-should-retry"), reply.header("retry-after")) == (b"false", None)
    assert reply.header("www-authenticate") == (b"Bearer" if status == 401 else None)
    assert reply.header("x-request-id")


@pytest.mark.parametrize("key", [GOOD, OLD])
@pytest.mark.parametrize("header", ["authorization", "x-api-key", "api-key"])
@pytest.mark.bug("I-03")
def test_valid_key_is_served_and_stays_here(run: Any, gateway: Any, key: str, header: str) -> None:
    value = f"Bearer {key}" if header == "authorization" else key

    async def scenario() -> tuple[Reply, bytes, list[dict[str, Any]]]:
        async with FakeProvider(name="a", default=Chat("hello")) as a:
            async with gateway(a, groups=groups(a), auth=AUTH, clock=At(EXPIRES_UTC_S - 1)) as gw:
                reply = await ask(gw.base_url, chat_request("gpt", headers=((header, value),)))
                return reply, repr((a.log[0].headers, a.log[0].body)).encode(), await gw.records()

    reply, received, (record,) = run(scenario())

    assert (reply.status, text_of(reply)) == (200, "hello")
    assert key.encode() not in received
    assert record["caller"] == {GOOD: "good", OLD: "old"}[key]


def test_strangers_leave_no_record_and_known_callers_do(run: Any, gateway: Any) -> None:
    async def scenario() -> list[dict[str, Any]]:
        async with FakeProvider(name="a") as a, gateway(a, groups=groups(a), auth=AUTH) as gw:
            for raw in (by(None), by(WRONG), by(WATCHER), by(NARROW)):
                await ask(gw.base_url, raw)
            records: list[dict[str, Any]] = await gw.records()
            return records

    (record,) = run(scenario())

    assert (record["caller"], record["status"], record["reason"]) == ("narrow", 403, "permission_denied")


@pytest.mark.req("D-002")
@pytest.mark.bug("J-07")
@pytest.mark.parametrize(
    ("key", "names"), [(GOOD, ["chat", "gpt", "mini", "small"]), (NARROW, ["mini", "small"]), (WATCHER, None)]
)
def test_list_shows_what_the_key_may_use(run: Any, gateway: Any, key: str, names: list[str] | None) -> None:
    async def scenario() -> dict[str, Reply]:
        async with FakeProvider(name="a") as a, gateway(a, groups=groups(a), auth=AUTH) as gw:
            paths = ("/v1/models", "/v1/models/chat", "/v1/models/mini", "/v1/models/nobodys")
            return {path: await ask(gw.base_url, get(path, key)) for path in paths}

    replies = run(scenario())

    shown = names or ["chat", "gpt", "mini", "small"]
    assert [model["id"] for model in replies["/v1/models"].json()["data"]] == shown
    assert replies["/v1/models/mini"].status == 200
    assert replies["/v1/models/chat"].status == (200 if "chat" in shown else 404)
    assert replies["/v1/models/nobodys"].status == 404


# --- every route


PROBES = ("/", "/v1", "/v1/", "/livez", "/readyz")
PREFIXES = ("", "/v1", "/v1/v1")
POSTS = ("/chat/completions", "/responses", "/messages", "/messages/count_tokens", "/embeddings", "/completions")
MODEL_CALLS = tuple(prefix + path for prefix in PREFIXES for path in POSTS)
STORED = tuple(f"{prefix}/responses/resp_1" for prefix in PREFIXES)  # nobody has stored anything
FOR_ANY_KEY = tuple(f"{prefix}/models{rest}" for prefix in PREFIXES for rest in ("", "/small"))
NOWHERE = (
    "/x", "/metrics", "/v1/images/generations", "/V1/models", "/v1//models", "/v1/../v1/models", "/v1/%2e%2e/models",
    "/v1%2fmodels", "/v1/models;x", "/v1/models.", "/v1/models%00", "/v1/chat/completions/", "/v1/chat/completions%20",
)  # fmt: skip
METHODS = ("GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS")


def verdict(path: str, method: str, key: str | None) -> int:
    """The table: a key comes first, then its scope, then the method."""
    takes = ("POST",) if path in MODEL_CALLS else ("GET", "HEAD")
    if path not in PROBES:
        if key in (None, WRONG, OLD):
            return 401
        if key == WATCHER and path in MODEL_CALLS + STORED:
            return 403
        if path in STORED:
            return 404 if method in ("GET", "DELETE", "POST") else 405
        if path in NOWHERE:
            return 404 if method in ("GET", "HEAD", "POST") else 405
    if method not in takes:
        return 405
    return 400 if path in MODEL_CALLS else 200  # there is no body


@pytest.mark.case("T95", "T58", "I34")
@pytest.mark.bug("N-05", "J-07")
@pytest.mark.parametrize("key", [None, WRONG, OLD, GOOD, NARROW, WATCHER])
def test_every_route_asks_for_what_the_table_says(run: Any, gateway: Any, key: str | None) -> None:
    expected = {
        (path, method): verdict(path, method, key)
        for path in (*PROBES, *MODEL_CALLS, *STORED, *FOR_ANY_KEY, *NOWHERE)
        for method in METHODS
    }

    async def scenario() -> tuple[dict[tuple[str, str], int], set[str]]:
        async with FakeProvider(name="a") as a:
            async with gateway(a, groups=groups(a), auth=AUTH, clock=At(EXPIRES_UTC_S)) as gw:
                found = {}
                for path, method in expected:
                    reply = await head_of(gw.base_url, get(path, key, method))
                    found[path, method] = int(reply.split(b" ")[1])
                return found, set(gw.app._edge.door._routes)  # type: ignore[attr-defined]

    found, routes = run(scenario())

    assert found == expected
    beginnings = [path.replace("/small", "/").replace("/resp_1", "/") for path in FOR_ANY_KEY + STORED]
    assert routes == {*PROBES, *MODEL_CALLS, *beginnings}


async def head_of(base_url: str, raw: bytes) -> bytes:
    """The bytes of an answer that may have no body although it has a length."""
    async with await Wire.open(base_url) as wire:
        wire.send(raw)
        await wire.end()
        return bytes(wire.received)


# --- before the body


@pytest.mark.parametrize(
    ("raw", "status"),
    [
        (chat_request("chat", headers=(("x-api-key", WRONG),), pad="x" * 1_000_000), b"401"),
        (chat_request("chat", pad="x" * 1_000_000), b"401"),
        (chat_request("chat", headers=(("x-api-key", WATCHER),), pad="x" * 1_000_000), b"403"),
    ],
)
def test_body_of_a_stranger_is_not_waited_for(run: Any, gateway: Any, raw: bytes, status: bytes) -> None:
    head = raw[: raw.index(b"\r\n\r\n") + 4]

    async def scenario() -> tuple[bytes, str]:
        async with FakeProvider(name="a") as a, gateway(a, auth=AUTH) as gw, await Wire.open(gw.base_url) as wire:
            wire.send(head)
            ended = await wire.end()
            return bytes(wire.received), ended

    received, ended = run(scenario())

    assert received.startswith(b"HTTP/1.1 %b " % status)
    assert ended == "fin"


def test_long_body_of_a_caller_is_served(run: Any, gateway: Any) -> None:
    async def scenario() -> Reply:
        async with FakeProvider(name="a", default=Chat("hello")) as a, gateway(a, auth=AUTH) as gw:
            return await ask(gw.base_url, by(GOOD, pad="x" * 2_000_000))

    assert run(scenario()).status == 200


def test_connection_of_a_stranger_can_be_used_again_with_a_key(run: Any, gateway: Any) -> None:
    async def scenario() -> list[int]:
        async with FakeProvider(name="a") as a, gateway(a, auth=AUTH) as gw, await Wire.open(gw.base_url) as wire:
            found = []
            for key in (None, WRONG, GOOD, WRONG, GOOD):
                wire.send(by(key))
                found.append((await wire.reply()).status)
            return found

    assert run(scenario()) == [401, 401, 200, 401, 200]


# --- what a swap does


def without(gw: Gateway, key: str) -> None:
    """Revoke a key as a reload does: with another snapshot."""
    live = gw.app.live
    ring = live.snapshot.keys
    assert ring is not None
    entry = ring.find(key.encode())
    kept = {digest: other for digest, other in ring.keys.items() if other is not entry}
    live.snapshot = structs.replace(live.snapshot, keys=structs.replace(ring, keys=kept))


@pytest.mark.case("T95")
def test_revoked_key_is_refused_from_the_swap_on_and_its_running_stream_goes_on(run: Any, gateway: Any) -> None:
    async def scenario() -> tuple[list[int], Reply]:
        async with (
            FakeProvider(name="a", default=Chat("one two three", gap_s=0.05)) as a,
            gateway(a, groups=groups(a), auth=AUTH) as gw,
            await Wire.open(gw.base_url) as running,
            await Wire.open(gw.base_url) as wire,
        ):
            running.send(by(GOOD, stream=True))
            await running.received_bytes(1)
            statuses = []
            for key in (GOOD, NARROW):
                wire.send(get("/v1/models", key).replace(b"connection: close\r\n", b""))
                statuses.append((await wire.reply()).status)
            without(gw, GOOD)
            for key in (GOOD, NARROW):
                wire.send(get("/v1/models", key).replace(b"connection: close\r\n", b""))
                statuses.append((await wire.reply()).status)
            return statuses, await running.reply()

    statuses, reply = run(scenario())

    assert statuses == [200, 200, 401, 200]
    assert (text_of(reply), reply.body.endswith(DONE)) == ("one two three", True)


def test_key_that_is_revoked_while_its_body_arrives_is_refused(run: Any, gateway: Any) -> None:
    raw = by(GOOD, pad="x" * 100_000)

    async def scenario() -> int:
        async with FakeProvider(name="a") as a, gateway(a, auth=AUTH) as gw, await Wire.open(gw.base_url) as wire:
            wire.send(raw[:50_000])
            await eventually(lambda: any(c._reader.head for c in gw.app._edge.connections))
            without(gw, GOOD)
            wire.send(raw[50_000:])
            return (await wire.reply()).status

    assert run(scenario()) == 401


# --- who sees details


class Recorded:
    """A wire that keeps what is written."""

    date_line = b""

    def __init__(self) -> None:
        self.data = b""

    def write(self, data: bytes) -> None:
        self.data += data

    def abort(self) -> None:
        raise AssertionError("the answer was cut")


async def served(gw: Gateway, raw: bytes, *, is_local: bool) -> set[str]:
    """The names of our headers in the answer to a caller here or elsewhere."""
    end = raw.index(b"\r\n\r\n") + 4
    wire = Recorded()
    now = asyncio.get_running_loop().time()
    request = Request(parse_request_head(raw[:end]), raw[end:], now, is_local, False)
    await gw.app._edge.door(request, Answer(wire, wire, keep_alive=True))
    names = [line.partition(b":")[0].decode() for line in wire.data.partition(b"\r\n\r\n")[0].split(b"\r\n")]
    return {name.removeprefix("x-pointsman-") for name in names if name.startswith("x-pointsman-")}


EXPLAINING = keys.section(
    keys.declaration(GOOD, name="good"), keys.declaration(WATCHER, name="watcher", scopes=["chat", "explain"])
)


@pytest.mark.parametrize(
    ("key", "is_local", "setting", "sees_details"),
    [
        (GOOD, True, "full", True),
        (GOOD, False, "full", False),
        (WATCHER, False, "full", True),
        (WATCHER, True, "full", True),
        (GOOD, True, "minimal", False),
        (WATCHER, False, "minimal", False),
    ],
)
def test_details_are_for_loopback_and_the_scope_explain(
    run: Any, gateway: Any, key: str, is_local: bool, setting: str, sees_details: bool
) -> None:
    async def scenario() -> list[set[str]]:
        async with FakeProvider(name="a") as a:
            async with gateway(a, auth=EXPLAINING, server={"response_headers": setting}) as gw:
                requests = (by(key), by(key, stream=True), by(key, "nobodys"), get("/v2", key))
                return [await served(gw, raw, is_local=is_local) for raw in requests]

    unary, stream, unknown, nowhere = run(scenario())

    routed = {"attempts", "model"} | ({"target", "provider", "mode"} if sees_details else set())
    refused = {"attempts"} | ({"reason"} if sees_details else set())
    assert (unary, stream, unknown, nowhere) == (routed, routed, refused, refused)


@pytest.mark.parametrize(("is_local", "told"), [(True, {"attempts", "reason"}), (False, {"attempts"})])
def test_strangers_see_details_on_loopback_only(run: Any, gateway: Any, is_local: bool, told: set[str]) -> None:
    async def scenario() -> list[set[str]]:
        async with FakeProvider(name="a") as a, gateway(a, auth=AUTH) as gw:
            requests = (by(WRONG), by(None), get("/livez", method="POST"))
            door = gw.app._edge.door
            _, lines, _ = door.render_error(GatewayError(ErrorKind.BAD_REQUEST, "no"), None, is_local=is_local)
            edge = {line.partition(b":")[0].decode().removeprefix("x-pointsman-") for line in lines.split(b"\r\n")}
            return [edge & {"attempts", "reason"}, *[await served(gw, raw, is_local=is_local) for raw in requests]]

    assert run(scenario()) == [told] * 4


# --- secrets


class Broken(random.Random):
    """Chance that fails."""

    def random(self) -> float:
        raise ZeroDivisionError


@pytest.mark.case("T98", "I14")
def test_failure_of_the_gateway_itself_logs_no_secret(
    run: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)

    async def scenario() -> Reply:
        async with FakeProvider(name="a") as a, FakeProvider(name="b") as b:
            document = {
                "version": 1,
                "auth": AUTH,
                "server": {"listen": "127.0.0.1:0", "admin_listen": "127.0.0.1:0"},
                "records": {"decisions": {"path": str(tmp_path / "decisions.jsonl")}},
                "providers": {each.name: {"kind": "vllm", "base_url": each.base_url} for each in (a, b)},
                "models": {"chat": weighted([a, b], [1, 1]), "small": group(a)},
            }
            file = tmp_path / "pointsman.yaml"
            file.write_text(yaml.safe_dump(document))
            app = App(load(file, environ={}), rng=Broken())
            await app.start()
            try:
                return await ask(f"http://127.0.0.1:{app.port}", by(GOOD))
            finally:
                await app.stop()

    reply = run(scenario())

    logged = "\n".join(JsonFormatter().format(record) for record in caplog.records)
    assert reply.status == 500
    assert "ZeroDivisionError" in logged
    assert not any(secret in logged for secret in (GOOD, keys.PEPPER, *(hash_[:24] for hash_ in hashes())))


def hashes() -> list[str]:
    """The digests that the file declares, without their prefix."""
    declared: Any = AUTH["keys"]
    return [entry["hash"].partition(":")[2] for entry in declared]
