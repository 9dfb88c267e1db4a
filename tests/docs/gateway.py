"""One run of the whole gateway, which documents are compared with."""

import asyncio
import json
import tempfile
from functools import cache
from pathlib import Path

import msgspec
from msgspec import Struct

from pointsman.app import App, new_loop
from pointsman.config.load import load
from pointsman.domain.outcome import Usage
from pointsman.observability.decision_log import DecisionRecord
from pointsman.testing import Chat, FakeProvider, Received, Status, keys
from pointsman.testing.wire import (
    Reply,
    Wire,
    chat_request,
    completions_request,
    embeddings_request,
    messages_request,
    responses_request,
)

USAGE = Usage(input_tokens=20, output_tokens=5, cached_tokens=8, cache_write_tokens=4)
KEY = "callers-own"  # of a caller who may use every group but one
QUOTA = (
    ("x-ratelimit-remaining-requests", "7"),
    ("anthropic-ratelimit-requests-remaining", "7"),
    ("x-internal-host", "secret"),
)

PRICE = "{price: {input: 1, output: 2}}"  # of every model of the provider that answers

CONFIGURATION = """\
version: 1
server: {{listen: 127.0.0.1:0, admin_listen: 127.0.0.1:0, response_headers: {headers}}}
auth: {auth}
records: {{decisions: {{path: decisions.jsonl}}}}
providers:
  good: {{kind: vllm, base_url: '{good}', models: {{m: {price}, n: {price}}}}}
  bad: {{kind: vllm, base_url: '{bad}'}}
  limited: {{kind: vllm, base_url: '{limited}'}}
  abroad: {{kind: vllm, base_url: '{good}', dialects: [anthropic_messages], models: {{m: {price}}}}}
models:
  one: {{targets: [{{model: good/m}}]}}
  two: {{strategy: failover, targets: [{{model: bad/m}}, {{model: good/m}}]}}
  scored: {{strategy: blend, targets: [{{model: good/m}}, {{model: good/n}}], affinity: {{mode: strict}}}}
  asked: {{strategy: external, external: {{url: '{bad}/decide'}}, targets: [{{model: good/m}}, {{model: good/n}}]}}
  written: {{strategy: dynamic_score, routing_policy: {{dynamic_score: {{score_terms: [{{name: t, require_tags: [x],
    expression: cost_score}}]}}}}, targets: [{{model: good/m}}, {{model: good/n}}]}}
  spent: {{on_all_unavailable: refuse, targets: [{{model: limited/m}}]}}
  carried: {{drop_params: warn, targets: [{{model: abroad/m}}]}}
  foreign: {{targets: [{{model: good/m}}]}}
"""

REQUEST_HEADERS = (
    ("authorization", f"Bearer {KEY}"),
    ("cookie", "a=b"),
    ("openai-beta", "assistants=v2"),
    ("anthropic-version", "2026-10-21"),
    ("anthropic-beta", "b-2026-01-01"),
    ("x-api-key", "callers-own"),
    ("traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"),
    ("user-agent", "callers-own"),
    ("x-anything", "callers-own"),
    ("x-request-id", "callers-own-1"),
)

AUTH = keys.section(
    keys.declaration(
        KEY, models=["one", "two", "scored", "written", "asked", "spent", "carried"], scopes=["chat", "explain"]
    )
)


def ask(model: str, *headers: tuple[str, str], **fields: object) -> bytes:
    """A chat request with the key."""
    return chat_request(model, headers=(("x-api-key", KEY), *headers), **fields)


PROBE = f"GET {{path}} HTTP/1.1\r\nhost: localhost\r\nx-api-key: {KEY}\r\n\r\n"
REQUESTS: dict[str, bytes] = {
    "whole": chat_request("one", headers=REQUEST_HEADERS),
    "streamed": ask("one", stream=True),
    "scored": ask("scored"),
    "written": ask("written"),
    "asked": ask("asked"),
    "failed over": ask("two"),
    "rate limited": ask("spent"),
    "explained": ask("one", ("x-pointsman-explain", "full")),
    "HTTP/1.0": ask("one", ("connection", "keep-alive")).replace(b"HTTP/1.1", b"HTTP/1.0"),
    "no key": chat_request("one"),
    "foreign model": ask("foreign"),
    "unknown model": ask("no-such-model"),
    "not JSON": ask("one").replace(b'{"model"', b'["model"'),
    "wrong method": PROBE.format(path="/v1/chat/completions").encode(),
    "wrong path": PROBE.format(path="/v2").encode(),
    "list of models": PROBE.format(path="/v1/models").encode(),
    "one model": PROBE.format(path="/v1/models/one").encode(),
    "no host": b"GET /v1/models HTTP/1.1\r\n\r\n",
    "too long": ask("one").replace(b"content-length: ", b"content-length: 99999999"),
    "response": responses_request("one", headers=REQUEST_HEADERS),
    "streamed response": responses_request("one", stream=True, headers=(("x-api-key", KEY),)),
    "embeddings": embeddings_request("one", headers=REQUEST_HEADERS),
    "completion": completions_request("one", headers=REQUEST_HEADERS),
    "message": messages_request("one", headers=REQUEST_HEADERS),
    "streamed message": messages_request("one", stream=True, headers=(("x-api-key", KEY),)),
    "carried": ask("carried", seed=7),
    "alive?": PROBE.format(path="/livez").encode(),
    "ready?": PROBE.format(path="/readyz").encode(),
    "root": PROBE.format(path="/").encode(),
}
PROBES = frozenset(("alive?", "ready?", "root"))
STREAMS = frozenset(("streamed", "streamed response", "streamed message"))
MESSAGES = frozenset(("message", "streamed message"))
ROUTED = MESSAGES | frozenset(
    (
        "whole", "streamed", "response", "streamed response", "embeddings", "completion", "scored", "written", "asked",
        "carried", "failed over", "rate limited", "explained",
        "HTTP/1.0",
    )
)  # fmt: skip
ERRORS = frozenset(
    (
        "rate limited", "no key", "foreign model", "unknown model", "not JSON", "wrong method", "wrong path", "no host",
        "too long",
    )
)  # fmt: skip


class Run(Struct):
    """What came of every request, by its name."""

    replies: dict[str, Reply]
    records: list[DecisionRecord]
    exposition: str
    status: str
    received: list[Received]  # by the provider that answers

    def names(self, reply: str) -> set[str]:
        """The response headers of one answer."""
        return {name.decode() for name, _ in self.replies[reply].headers}


@cache
def run(headers: str = "full") -> Run:
    """All requests, once."""
    with tempfile.TemporaryDirectory() as folder, asyncio.Runner(loop_factory=new_loop) as runner:
        return runner.run(_run(Path(folder), headers))


async def _run(folder: Path, headers: str) -> Run:
    async with (
        FakeProvider(default=Chat("fine", usage=USAGE, headers=QUOTA)) as good,
        FakeProvider(default=Status(500)) as bad,
        FakeProvider(default=Status(429, retry_after=20)) as limited,
    ):
        file = folder / "pointsman.yaml"
        urls = {"good": good.base_url, "bad": bad.base_url, "limited": limited.base_url}
        file.write_text(
            CONFIGURATION.format(headers=headers, auth=json.dumps(AUTH), price=PRICE, **urls), encoding="utf-8"
        )
        app = App(load(file, environ={}))
        await app.start()
        try:
            base_url = f"http://127.0.0.1:{app.port}"
            replies = {name: await _ask(base_url, request) for name, request in REQUESTS.items()}
            admin_url = f"http://127.0.0.1:{app.admin_port}"
            exposition, status = [
                (await _ask(admin_url, PROBE.format(path=path).encode())).body.decode()
                for path in ("/metrics", "/api/v1/status")
            ]
        finally:
            await app.stop()
        lines = (folder / "decisions.jsonl").read_bytes().splitlines()
        records = [msgspec.json.decode(line, type=DecisionRecord) for line in lines]
        return Run(replies, records, exposition, status, good.log)


async def _ask(base_url: str, request: bytes) -> Reply:
    async with await Wire.open(base_url) as wire:
        wire.send(request)
        return await wire.reply()
