"""Signals to a process that serves: answers in time are whole, the others end honestly, and every record is written."""

import asyncio
import signal
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec import Struct

from pointsman.testing import Chat, stream_of
from pointsman.testing.wire import Reply, Wire, chat_request
from tests.e2e.served import Served, play, served
from tests.integration.callers import DONE, ask, events, text_of

STREAMS = 100
TEXT = "one two three four five six seven eight nine ten "
REFUSED_S = 0.2
EXIT_S = 2.0  # after the drain time
GET_READY = b"GET /readyz HTTP/1.1\r\nhost: test\r\nconnection: close\r\n\r\n"


class Stop(Struct):
    """What became of a process that was told to stop."""

    replies: list[Reply] = []
    status: int = -1
    took_s: float = 0.0
    records: list[dict[str, Any]] = []


async def streams(gateway: Served, count: int = STREAMS) -> list[Wire]:
    """Callers whose answers have begun."""
    wires = [await Wire.open(gateway.base_url) for _ in range(count)]
    for wire in wires:
        wire.send(chat_request("chat", stream=True))
    for wire in wires:
        await wire.received_bytes(1)
    return wires


async def end_of(gateway: Served, wires: Sequence[Wire], *, numbers: Sequence[int], patience_s: float) -> Stop:
    """Send the signals, and see everything end."""
    began = time.monotonic()
    for number in numbers:
        gateway.process.send(number)
        await readiness(gateway, 503)
    replies = [await wire.reply(patience_s) for wire in wires]
    for wire in wires:
        wire.close()
    status = await gateway.ended(patience_s)
    return Stop(replies, status, time.monotonic() - began, gateway.records())


async def readiness(gateway: Served, status: int) -> None:
    """Poll until it is so; a process that has ended is not ready, either."""
    try:
        async with asyncio.timeout(2.0):
            while (await ask(gateway.admin_url, GET_READY)).status != status:
                await asyncio.sleep(0.005)
    except (ConnectionError, TimeoutError):
        assert status == 503
        await gateway.ended(1.0)


async def is_refused(base_url: str) -> bool:
    try:
        (await Wire.open(base_url)).close()
    except ConnectionRefusedError:
        return True
    return False


@pytest.mark.slow
@pytest.mark.case("T88", "I8", "I31")
@pytest.mark.bug("F-07")
@pytest.mark.parametrize("length_s", [3.0, pytest.param(20.0, marks=pytest.mark.full)])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT], ids=["SIGTERM", "SIGINT"])
def test_a_hundred_open_streams_are_finished_before_the_process_ends(
    tmp_path: Path, figure: Any, length_s: float, number: int
) -> None:
    answer = Chat(TEXT * 2, gap_s=length_s / 20)

    async def story() -> tuple[Stop, float, str]:
        async with served(tmp_path, answer=answer) as gateway:
            wires = await streams(gateway)
            idle = await Wire.open(gateway.base_url)
            began = time.monotonic()
            stopping = asyncio.create_task(end_of(gateway, wires, numbers=[number], patience_s=length_s + 15.0))
            while not await is_refused(gateway.base_url):
                await asyncio.sleep(0.005)
            refused_s = time.monotonic() - began
            return await stopping, refused_s, await idle.end()

    stop, refused_s, idle_end = play(story)

    figure(f"refused after {refused_s * 1000:.0f} ms, ended after {stop.took_s:.1f} s")
    whole = [text_of(reply) == TEXT * 2 and reply.body.endswith(DONE) for reply in stop.replies]
    assert (sum(whole), stop.status) == (STREAMS, 0)
    assert [record["reason"] for record in stop.records] == ["ok"] * STREAMS
    assert (refused_s < REFUSED_S, idle_end) == (True, "fin")
    assert stop.took_s < length_s + EXIT_S


@pytest.mark.case("T88")
def test_an_answer_that_begins_while_the_process_stops_says_that_the_connection_closes(tmp_path: Path) -> None:
    async def story() -> Reply:
        async with (
            served(tmp_path, answer=Chat("fine", delay_s=0.5)) as gateway,
            await Wire.open(gateway.base_url) as wire,
        ):
            wire.send(chat_request("chat"))
            await gateway.provider.until(lambda: len(gateway.provider.log) == 1)
            gateway.process.send(signal.SIGTERM)
            return await wire.reply()

    reply = play(story)

    assert (reply.status, reply.header("connection")) == (200, b"close")


@pytest.mark.slow
@pytest.mark.case("T89", "I4", "I8")
@pytest.mark.bug("F-07")
@pytest.mark.parametrize(
    ("drain_s", "numbers"),
    [
        pytest.param(1.0, [signal.SIGTERM], id="SIGTERM"),
        pytest.param(1.0, [signal.SIGINT], id="SIGINT"),
        pytest.param(60.0, [signal.SIGTERM, signal.SIGTERM], id="a second SIGTERM"),
    ],
)
def test_streams_that_outlast_the_drain_get_an_error_event_and_a_record(
    tmp_path: Path, figure: Any, drain_s: float, numbers: list[int]
) -> None:
    async def story() -> Stop:
        endless = stream_of("one", then="stall")
        async with served(tmp_path, answer=endless, server={"drain": f"{drain_s:g}s"}) as gateway:
            return await end_of(gateway, await streams(gateway), numbers=numbers, patience_s=drain_s + 10.0)

    stop = play(story)

    figure(f"drain {drain_s:g} s, ended after {stop.took_s:.1f} s")
    for reply in stop.replies:
        assert text_of(reply) == "one"
        assert [event["error"]["code"] for event in events(reply) if "error" in event] == ["overloaded"]
        assert reply.body.endswith(DONE)
    assert [record["reason"] for record in stop.records] == ["shutdown"] * STREAMS
    assert stop.status == 0
    assert stop.took_s < (drain_s if len(numbers) == 1 else 0.0) + EXIT_S
