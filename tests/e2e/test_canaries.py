"""Secrets and prompts planted everywhere, every way to fail at the level debug: none shows in what is written or said.

Prompts and answers are searched for everywhere but in what their own caller is told.
"""

import asyncio
import itertools
import signal
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from pointsman.domain.access import digest_of
from pointsman.domain.secret import Secret
from pointsman.testing import (
    Answer,
    Chat,
    CloseEarly,
    Events,
    Hang,
    Json,
    Raw,
    Status,
    Truncated,
    chat,
    keys,
    stream_of,
)
from pointsman.testing.received import Received
from pointsman.testing.wire import Wire, chat_request, messages_request, post, responses_request
from tests.canaries import ANSWER, PEPPER, PLANTED, PROMPT, PROVIDER_HEADER, PROVIDER_KEY, leaks
from tests.e2e.served import Served, play, served

CALLER_KEY = "pm_canary-of-the-caller-0123456789"
ADMIN_TOKEN = "pm_canary-of-the-admin-0123456789"
WRONG_KEY = "pm_canary-that-is-wrong-0123456789"
SECRETS = (*PLANTED, CALLER_KEY, ADMIN_TOKEN, WRONG_KEY)
ECHO = f"Refused: key {PROVIDER_KEY}, tenant {PROVIDER_HEADER}."  # as of providers that repeat their request's head
ERROR_EVENT = {"error": {"message": ECHO, "type": ECHO, "code": ECHO, "param": ECHO}}
BEGIN = chat.chunk(chat.text_delta(ANSWER))

FAULTS: Mapping[str, Answer] = {
    **{f"status {status}": Status(status, {"message": f"{ECHO} {ANSWER}"}) for status in (401, 402, 403, 404)},
    **{f"told {status}": Status(status, ECHO) for status in (400, 408, 409, 413, 422, 429, 451, 499, 500, 503, 529)},
    "odd fields": Status(400, {"message": ECHO, "type": ECHO, "code": ECHO, "param": ECHO}),
    "a page": Status(502, body=f"<html>{ECHO}{ANSWER}</html>".encode(), content_type="text/html"),
    "a page as an answer": Status(200, body=f"<html>{ECHO}{ANSWER}</html>".encode(), content_type="text/html"),
    "an error as an answer": Json(200, ERROR_EVENT),
    "an odd answer": Json(200, {"choices": [ECHO, ANSWER]}),
    "a redirect": Status(307, ECHO, headers=(("location", f"http://127.0.0.1:9/{PROVIDER_KEY}"),)),
    "half an answer": Truncated(ANSWER),
    "no answer": CloseEarly(),
    "a reset": CloseEarly(reset=True),
    "silence": Hang(),
    "no HTTP": Raw((f"{ECHO} {ANSWER}\r\n\r\n".encode(),)),
    "a bad head": Raw((f"HTTP/1.1 200 OK\r\n{PROVIDER_KEY} {ANSWER}\r\n\r\n".encode(),)),
    "a bad chunk": Raw((f"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n{PROVIDER_KEY}\r\n".encode(),)),
    "an error event first": Events((ERROR_EVENT,)),
    "an error event later": Events((BEGIN, ERROR_EVENT)),
    "a broken event": Events((BEGIN, f"data: {{{ECHO}\n\n".encode())),
    "a cut stream": stream_of(ANSWER, then="cut"),
    "a reset stream": stream_of(ANSWER, then="reset"),
    "a stream that stalls": stream_of(ANSWER, then="stall"),
    "a stream without an end": stream_of(ANSWER, then="end"),
}


def fault_of(asked: Received) -> Answer:
    """The fault that the name of the model is about."""
    named = (asked.body or b"").partition(b'"m-')[2].partition(b'"')[0].decode()
    return FAULTS[named.replace("-", " ")] if named else Chat(ANSWER)


def sections() -> dict[str, Any]:
    """The configuration, its secrets from the environment."""
    names = [name.replace(" ", "-") for name in FAULTS]
    digest = digest_of(ADMIN_TOKEN.encode(), Secret(PEPPER))
    auth = keys.section(keys.declaration(CALLER_KEY, name="good", scopes=["chat", "explain", "steer"]))
    return {
        "auth": {**auth, "pepper": "${PEPPER}", "admin_token": f"hmac-sha256:{digest}"},
        "logs": {"level": "debug", "requests": True},
        "timeouts": {"first_content": "300ms", "first_content_reasoning": "300ms", "idle": "300ms"},
        "cooldown": {"base": "10ms", "max": "10ms"},
        "server": {"limits": {"body": "64KiB"}},
        "provider_fields": {
            "a": {"kind": "openai", "api_key": "${PROVIDER_KEY}", "headers": {"x-tenant": "${PROVIDER_HEADER}"}}
        },
        "groups": {
            "chat": {"targets": [{"model": "a/fine"}]},
            **{name: {"targets": [{"model": f"a/m-{name}"}]} for name in names},
        },
    }


def traffic() -> Iterator[bytes]:
    """Every fault of the provider, then every mistake that a caller makes."""
    own = (("x-api-key", CALLER_KEY), ("connection", "close"))
    said = [{"role": "user", "content": PROMPT}]
    for name in ("chat", *(name.replace(" ", "-") for name in FAULTS)):
        for stream in (False, True):
            yield chat_request(name, headers=own, messages=said, stream=stream)
            yield messages_request(name, headers=own, messages=said, stream=stream)
            yield responses_request(name, headers=own, input=PROMPT, stream=stream)
    fine = chat_request("chat", headers=own, messages=said)
    path = "/v1/chat/completions"
    yield from (
        chat_request("chat", headers=(("x-api-key", WRONG_KEY), ("connection", "close")), messages=said),
        chat_request("chat", headers=(*own, ("authorization", f"Bearer {WRONG_KEY}")), messages=said),
        chat_request("chat", headers=own, messages=PROMPT),
        post(path, f'{{"model": ["{PROMPT}"]}}'.encode(), own),
        chat_request("chat", headers=own, messages=said, stream=PROMPT),
        chat_request("chat", headers=own, messages=said, pad=PROMPT * 4_000),
        chat_request("chat", headers=(*own, ("x-pointsman-max-price", PROMPT)), messages=said),
        chat_request("chat", headers=(*own, ("x-pointsman-explain", "full")), messages=said),
        post(path, f'{{"model": "chat", "messages": "{PROMPT}'.encode(), own),
        post(path, f'{{"model": "chat", "{PROMPT}": 1, "{PROMPT}": 2}}'.encode(), own),
        post(path, f'["{PROMPT}"]'.encode(), own),
        post(path, b'{"model": "chat", "x": "\xff%b"}' % PROMPT.encode(), own),
        post(path, PROMPT.encode(), (*own, ("content-encoding", "gzip"))),
        post(f"{path}?api_key={CALLER_KEY}", b"{}", own),
        post(f"/v1/{CALLER_KEY}", PROMPT.encode(), own),
        fine.replace(b"content-length", b"content-length: 1\r\ncontent-length", 1),
        fine.replace(b"host: test", b"host: test\r\nx-key: \x01" + CALLER_KEY.encode(), 1),
        fine.replace(b"host: test", b"host: test\r\nbad name: " + CALLER_KEY.encode(), 1),
        fine.replace(b"HTTP/1.1", b"HTTP/9.9", 1),
        f"{CALLER_KEY} {PROMPT}\r\n\r\n".encode(),
    )


def admin_traffic() -> Iterator[bytes]:
    """Every page of the admin listener, with the token, without one, and with a wrong one."""
    api = (
        "status",
        "targets",
        "adaptive-routing-telemetry",
        "decisions",
        "decisions/none",
        f"decisions?x={ADMIN_TOKEN}",
    )
    pages = ("/metrics", "/readyz", f"/{WRONG_KEY}", *(f"/api/v1/{page}" for page in api))
    for token in (ADMIN_TOKEN, WRONG_KEY, CALLER_KEY):
        head = f"host: a\r\nauthorization: Bearer {token}\r\nconnection: close\r\n"
        yield from (f"GET {page} HTTP/1.1\r\n{head}\r\n".encode() for page in pages)
        asked = chat_request("chat", messages=[{"role": "user", "content": PROMPT}]).partition(b"\r\n\r\n")[2]
        yield f"POST /api/v1/explain HTTP/1.1\r\n{head}content-length: {len(asked)}\r\n\r\n".encode() + asked
        yield f"POST /api/v1/explain HTTP/1.1\r\n{head}content-length: 9\r\n\r\n{PROMPT[:9]}".encode()


def batched(raws: Iterable[bytes], size: int = 24) -> Iterator[list[bytes]]:
    """So many at a time."""
    rest = iter(raws)
    return iter(lambda: list(itertools.islice(rest, size)), [])


async def heard(url: str, raws: Iterable[bytes]) -> list[bytes]:
    """Every byte of the answers to all of them, asked at once."""

    async def one(raw: bytes) -> bytes:
        async with await Wire.open(url) as wire:
            wire.send(raw)
            await wire.end()
            return bytes(wire.received)

    return await asyncio.gather(*map(one, raws))


async def broken_reloads(gateway: Served) -> None:
    """Files that are refused, with secrets in the wrong places."""
    good = gateway.file.read_text()
    for bad in (
        good.replace("kind: openai", f"kind: '{PROVIDER_KEY}'"),
        good.replace("kind: openai", f"kind: openai\n    api-key: {PROVIDER_KEY}"),
        good.replace("${PROVIDER_KEY}", f"{PROVIDER_KEY} \x7f"),
        good.replace("${PROVIDER_KEY}", "file:/nowhere"),
        good.replace("${PROVIDER_KEY}", f"{PROVIDER_KEY}\n  - x"),
        good.replace("version: 1", f"version: '{PROVIDER_KEY}"),
    ):
        refused = gateway.log().count(b"reload")
        gateway.file.write_text(bad)
        async with asyncio.timeout(10.0):
            while gateway.log().count(b"reload") == refused:
                await asyncio.sleep(0.02)
    gateway.file.write_text(good)


@pytest.mark.slow
@pytest.mark.case("I14", "I15")
@pytest.mark.bug("N-06", "N-07", "N-08")
def test_no_planted_secret_shows_in_anything_on_any_error_path(tmp_path: Path, monkeypatch: Any) -> None:
    for name, value in {"PEPPER": PEPPER, "PROVIDER_KEY": PROVIDER_KEY, "PROVIDER_HEADER": PROVIDER_HEADER}.items():
        monkeypatch.setenv(name, value)

    async def story() -> dict[str, bytes]:
        async with served(tmp_path, answer_for=fault_of, **sections()) as gateway:
            told = [piece for raws in batched(traffic()) for piece in await heard(gateway.base_url, raws)]
            admin = [piece for raws in batched(admin_traffic()) for piece in await heard(gateway.admin_url, raws)]
            await broken_reloads(gateway)
            shown = gateway.command_line()
            gateway.process.send(signal.SIGTERM)
            assert await gateway.ended(10.0) == 0
            return {
                "told": b"".join(told), "admin": b"".join(admin), "log": gateway.log(), "records": gateway.lines(),
                "process list": shown,
            }  # fmt: skip

    written = play(story)

    told = written.pop("told")
    assert leaks(written, SECRETS) == []
    assert leaks({"told": told}, [secret for secret in SECRETS if secret not in (ANSWER, PROMPT)]) == []
    assert all(written.values())
    assert b"***" in told
    assert written["records"].count(b"\n") > 6 * len(FAULTS)
