"""Many callers at once, and what each of them got."""

import asyncio
from collections import Counter
from collections.abc import Iterable
from typing import Any

import msgspec

from pointsman.domain.request import Dialect
from pointsman.testing.wire import (
    PATIENCE_S,
    Reply,
    Wire,
    chat_request,
    completions_request,
    messages_request,
    responses_request,
)

CONCURRENCY = 50
CHAT, RESPONSES, MESSAGES = Dialect.OPENAI_CHAT, Dialect.OPENAI_RESPONSES, Dialect.ANTHROPIC_MESSAGES
REQUEST = {
    CHAT: chat_request, RESPONSES: responses_request, MESSAGES: messages_request,
    Dialect.OPENAI_COMPLETIONS: completions_request,
}  # fmt: skip
DONE = b"data: [DONE]\n\n"


def asks(count: int, *, stream: bool, model: str = "chat", dialect: Dialect = CHAT, **fields: Any) -> list[bytes]:
    """`count` equal requests."""
    return [REQUEST[dialect](model, stream=stream, **fields)] * count


def to_pairs(count: int, *streams: bool, dialect: Dialect = CHAT) -> list[bytes]:
    """Requests to `count` groups of `harness.pairs`: one for each of `streams` to every group."""
    return [REQUEST[dialect](f"chat-{number}", stream=stream) for stream in streams for number in range(count)]


async def ask(base_url: str, request: bytes, patience_s: float = PATIENCE_S) -> Reply:
    """One request over a connection of its own."""
    async with await Wire.open(base_url) as wire:
        wire.send(request)
        return await wire.reply(patience_s)


async def ask_all(base_url: str, requests: Iterable[bytes], concurrency: int = CONCURRENCY) -> list[Reply]:
    """All requests over `concurrency` kept connections; each must be answered by exactly one response head."""
    replies: list[Reply] = []
    waiting = iter(requests)

    async def caller() -> None:
        async with await Wire.open(base_url) as wire:
            answered = 0
            for request in waiting:
                wire.send(request)
                replies.append(await wire.reply())
                answered += 1
            heads = wire.received.count(b"HTTP/1.1 ")
            if heads != answered:
                raise AssertionError(f"{heads} response heads for {answered} requests")

    async with asyncio.TaskGroup() as callers:
        for _ in range(concurrency):
            callers.create_task(caller())
    return replies


def text_of(reply: Reply) -> str:
    """What the model said, of a unary or a streamed answer."""
    if (reply.header("content-type") or b"").startswith(b"text/event-stream"):
        return "".join(map(_said, events(reply)))
    answer = reply.json()
    if "choices" in answer:
        choice = answer["choices"][0]
        return str(choice["text"] if "text" in choice else choice["message"]["content"])
    if "output" in answer:
        parts = [part for item in answer["output"] if item["type"] == "message" for part in item["content"]]
        return "".join(part.get("text", "") for part in parts)
    return "".join(block.get("text", "") for block in answer["content"])


def _said(event: dict[str, Any]) -> str:
    if event.get("type") == "response.output_text.delta":
        return str(event["delta"])
    if event.get("type") == "content_block_delta":
        return str(event["delta"].get("text", ""))
    choices = event.get("choices") or ()
    return "".join(choice["text"] if "text" in choice else choice["delta"].get("content") or "" for choice in choices)


def events(reply: Reply) -> list[dict[str, Any]]:
    """The JSON events of a streamed answer."""
    lines = [line for line in reply.body.split(b"\n") if line.startswith(b"data: {")]
    return [msgspec.json.decode(line.removeprefix(b"data: ")) for line in lines]


def tally(replies: Iterable[Reply]) -> Counter[tuple[int, str]]:
    """How often each status and text came; anything but a proper answer shows its body."""
    return Counter((reply.status, text_of(reply) if reply.status == 200 else reply.body.decode()) for reply in replies)
