"""Lies about where a request ends, told through a reverse proxy: nobody ever gets the answer of another."""

import asyncio
import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from msgspec import Struct

from pointsman.testing import Chat, Received
from pointsman.testing.wire import Wire, chat_request
from tests.e2e.front import KINDS, front
from tests.e2e.served import play, served
from tests.integration.callers import text_of
from tests.integration.harness import raw_server
from tests.integration.test_hostile_callers import SMUGGLED
from tests.unit.http1.heads import MUST_REFUSE
from tests.unit.http1.mutants import mutants

CORPUS = (*SMUGGLED.values(), *(raw for raw, _ in MUST_REFUSE.values()))
MARK = re.compile(rb"mark-\d+-")
CALLERS = 20
SILENCE_S = 0.2  # what is not answered by then is a request that the proxy thinks unfinished

pytestmark = pytest.mark.slow


class Found(Struct):
    """What came back to the markers."""

    answered: int = 0  # on connections that carried nothing but markers
    same: int = 0  # behind a payload, on its connection
    foreign: list[tuple[bytes, bytes]] = []  # payload, and what came back instead
    unanswered: list[tuple[bytes, bytes]] = []


def marker(mark: str) -> bytes:
    return chat_request("chat", messages=[{"role": "user", "content": mark}])


def echo(received: Received) -> Chat:
    """A provider that says what it was told."""
    return Chat(json.loads(received.body)["messages"][0]["content"])


async def everything(wire: Wire) -> bytes:
    while wire.ended is None and not await wire.is_silent(SILENCE_S):
        pass
    return bytes(wire.received)


async def told(base_url: str, payloads: Iterable[bytes]) -> Found:
    """Each payload on a connection of its own and a marker behind it; then a marker from somebody else."""
    found, numbers, waiting = Found(), iter(range(1_000_000)), iter(payloads)

    async def caller() -> None:
        honest = await Wire.open(base_url)
        for payload in waiting:
            own, other = (f"mark-{next(numbers)}-" for _ in range(2))
            async with await Wire.open(base_url) as wire:
                wire.send(payload)
                await everything(wire)
                if wire.ended is None:
                    wire.send(marker(own))
                if honest.ended is not None:
                    honest = await Wire.open(base_url)
                honest.send(marker(other))
                reply = await honest.reply()
                answer = await everything(wire)
            marks = MARK.findall(answer)
            found.same += len(marks)
            if marks not in ([], [own.encode()]):
                found.foreign.append((payload, answer))
            if reply.status in (502, 503):
                found.unanswered.append((payload, reply.body))
            elif reply.status != 200 or text_of(reply) != other:
                found.foreign.append((payload, reply.body))
            else:
                found.answered += 1
        honest.close()

    async with asyncio.TaskGroup() as callers:
        for _ in range(CALLERS):
            callers.create_task(caller())
    return found


def through(name: str, folder: Path, payloads: Iterable[bytes]) -> tuple[Found, set[bytes]]:
    """What was found, and what reached the provider: the first ten bytes of what was said to it."""

    async def story() -> tuple[Found, set[bytes]]:
        async with served(folder, answer_for=echo) as gateway:
            port = urlsplit(gateway.base_url).port
            assert port is not None
            with front(name, folder, port) as base_url:
                found = await told(base_url, payloads)
            bodies = {json.loads(got.body)["messages"][0]["content"][:5].encode() for got in gateway.provider.log}
            return found, bodies

    return play(story)


def hostile(count: int) -> Iterator[bytes]:
    yield from CORPUS
    yield from mutants(count - len(CORPUS), seed=53)


@pytest.mark.case("T53")
@pytest.mark.parametrize("name", KINDS)
def test_no_lie_told_through_a_proxy_takes_the_answer_of_another(tmp_path: Path, figure: Any, name: str) -> None:
    found, said = through(name, tmp_path, CORPUS)

    figure(f"{name}: {len(CORPUS)} payloads, {len(found.foreign)} desynchronised, {found.same} answered behind one")
    assert found.foreign == []
    assert found.unanswered == []
    assert found.answered == len(CORPUS)
    assert said == {b"mark-"}


@pytest.mark.full
@pytest.mark.case("T53")
@pytest.mark.parametrize("name", KINDS)
def test_two_thousand_lies_through_a_proxy_take_no_answer_of_another(tmp_path: Path, figure: Any, name: str) -> None:
    count = 2_000

    found, said = through(name, tmp_path, hostile(count))

    figure(f"{name}: {count} payloads, {len(found.foreign)} desynchronised, {found.same} answered behind one")
    assert found.foreign == []
    assert found.unanswered == []
    assert found.answered == count
    assert said == {b"mark-"}


@pytest.mark.case("T53")
@pytest.mark.parametrize("name", KINDS)
def test_a_server_that_is_one_answer_behind_would_be_found_out(tmp_path: Path, name: str) -> None:
    last = b"mark-9999999-"

    async def behind(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answers every marker with the one before it."""
        nonlocal last
        while raw := await reader.read(1 << 16):
            mark = MARK.search(raw)
            body = b'{"choices":[{"message":{"content":"%b"}}]}' % last
            last = mark[0] if mark else last
            writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%b" % (len(body), body))
        writer.close()

    async def story() -> Found:
        async with raw_server(behind) as server:
            port = urlsplit(server.base_url).port
            assert port is not None
            proxy = front(name, tmp_path, port)
            base_url = await asyncio.to_thread(proxy.__enter__)  # waits for an answer of this loop
            try:
                return await told(base_url, CORPUS[:20])
            finally:
                proxy.__exit__(None, None, None)

    assert play(story).foreign
