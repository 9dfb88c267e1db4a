"""Thousands of connections that want nothing, or want it very slowly: everybody else is served as before."""

import asyncio
import socket
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from pointsman.testing import Events, chat, keys, stream_of
from pointsman.testing.wire import Wire, chat_request
from tests.e2e.served import KIB, play, served
from tests.integration.callers import ask, text_of

PROBE_S = 0.05  # p99
HEAD_S = 10.0
TICK_S = 1.0  # slack of deadlines, on a busy machine
HALF_HEAD = b"POST /v1/chat/completions HTTP/1.1\r\nhost: test\r\nx-slow: "
AUTH = keys.section(keys.declaration("pm_good", name="good"))
OWN = (("x-api-key", "pm_good"),)

pytestmark = pytest.mark.slow


async def dial(base_url: str, count: int, addresses: int = 1) -> list[Wire]:
    """Connections from so many addresses of this machine."""
    loop, parts = asyncio.get_running_loop(), urlsplit(base_url)
    wires = []
    for number in range(count):
        local = (f"127.0.1.{number % addresses + 1}", 0)
        _, wire = await loop.create_connection(Wire, parts.hostname, parts.port, local_addr=local)
        wires.append(wire)
    return wires


async def p99_s(url: str, path: str, count: int = 100) -> float:
    """How long a probe takes, at worst but one in a hundred."""
    took = []
    for _ in range(count):
        began = time.monotonic()
        reply = await ask(url, f"GET {path} HTTP/1.1\r\nhost: test\r\nconnection: close\r\n\r\n".encode())
        took.append(time.monotonic() - began)
        assert reply.status == 200
        await asyncio.sleep(0.005)
    return sorted(took)[count - 1 - count // 100]


def open_ones(wires: Sequence[Wire]) -> int:
    return sum(wire.ended is None for wire in wires)


async def all_closed(wires: Sequence[Wire], within_s: float) -> float:
    """After how long the server had closed all of them."""
    began = time.monotonic()
    async with asyncio.timeout(within_s):
        while open_ones(wires):
            await asyncio.sleep(0.1)
    return time.monotonic() - began


@pytest.mark.bug("L-09")
@pytest.mark.case("T71")
def test_gateway_that_may_open_few_files_sheds_and_recovers(tmp_path: Path, figure: Any) -> None:
    async def story() -> dict[str, float]:
        async with served(tmp_path, files=128) as gateway:
            lines = gateway.log_lines()
            wires = await dial(gateway.base_url, 500)
            await asyncio.sleep(0.5)
            began, cpu_s = time.monotonic(), gateway.cpu_s()
            await asyncio.sleep(1.5)
            busy = (gateway.cpu_s() - cpu_s) / (time.monotonic() - began)
            probe_s = await p99_s(gateway.admin_url, "/livez", 20)
            held = open_ones(wires)
            lines = gateway.log_lines() - lines
            for wire in wires:
                wire.close()
            began = time.monotonic()
            while True:
                reply = await ask(gateway.base_url, chat_request("chat"))
                if reply.status == 200 or time.monotonic() > began + 5.0:
                    break
            gateway.process.check()
            return {"status": reply.status, "recovered_s": time.monotonic() - began, "busy": busy, "held": held,
                    "lines": lines, "probe_s": probe_s}  # fmt: skip

    found = play(story)

    figure(f"{found['busy']:.0%} of a core, {found['lines']:.0f} lines, {found['recovered_s']:.1f} s")
    assert found["status"] == 200
    assert found["recovered_s"] < 2.0
    assert found["busy"] < 0.2
    assert found["held"] < 64
    assert found["lines"] <= 4
    assert found["probe_s"] < 4 * PROBE_S


@pytest.mark.full
@pytest.mark.case("T67")
def test_three_thousand_slow_heads_hold_up_nobody(tmp_path: Path, figure: Any) -> None:
    async def story() -> tuple[float, float]:
        async with served(tmp_path, server={"limits": {"strangers_per_address": None}}) as gateway:
            rss = gateway.rss_bytes()
            wires = await dial(gateway.base_url, 3_000, addresses=50)
            for wire in wires:
                wire.send(HALF_HEAD)
            each = (gateway.rss_bytes() - rss) / len(wires)
            probe_s = await p99_s(gateway.base_url, "/livez")
            for wire in wires:
                if wire.ended is None:
                    wire.send(b"x")  # a dripper gains no time
            await all_closed(wires, HEAD_S + TICK_S)
            return each, probe_s

    each, probe_s = play(story)

    figure(f"probe p99 {probe_s * 1000:.0f} ms, {each / KIB:.1f} KiB each")
    assert each < 12 * KIB
    assert probe_s < PROBE_S


@pytest.mark.full
@pytest.mark.case("T68")
def test_five_hundred_slow_bodies_hold_up_nobody_and_are_ended_in_time(tmp_path: Path, figure: Any) -> None:
    slow = b"POST /v1/chat/completions HTTP/1.1\r\nhost: test\r\ncontent-length: 2048\r\n\r\n{"
    deadline_s = 30.0 + 2.0

    async def story() -> tuple[float, float]:
        async with served(tmp_path) as gateway:
            wires = await dial(gateway.base_url, 500)
            began = time.monotonic()
            for wire in wires:
                wire.send(slow)
            probe_s = await p99_s(gateway.base_url, "/livez")
            while open_ones(wires) == len(wires) and time.monotonic() < began + deadline_s - 3:
                for wire in wires:
                    wire.send(b" ")
                await asyncio.sleep(1.0)
            await all_closed(wires, 10.0)
            return probe_s, time.monotonic() - began

    probe_s, took_s = play(story)

    figure(f"probe p99 {probe_s * 1000:.0f} ms, ended after {took_s:.1f} s")
    assert probe_s < PROBE_S
    assert deadline_s - TICK_S < took_s < deadline_s + 2 * TICK_S  # one of them to read the refusal


@pytest.mark.full
@pytest.mark.case("T32", "T69", "I25")
def test_a_thousand_callers_that_do_not_read_hold_little_and_are_let_go(tmp_path: Path, figure: Any) -> None:
    async def story() -> tuple[float, float]:
        event = chat.sse(chat.chunk(chat.text_delta("x" * 4_000)))
        ten_mb = Events((event,) * 2_500, gap_s=1e-9)  # a turn for each: written when there is room
        async with served(tmp_path, answer=ten_mb) as gateway:
            rss = gateway.rss_bytes()
            wires = await dial(gateway.base_url, 1_000)
            for wire in wires:
                wire.pause()
                sock = wire._transport.get_extra_info("socket")
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 * KIB)  # or else the kernel reads for a while
                wire.send(chat_request("chat", stream=True))
            await asyncio.sleep(10.0)
            each = (gateway.rss_bytes() - rss) / len(wires)
            began = time.monotonic()
            async with asyncio.timeout(40.0):
                while gateway.provider.open_connections:
                    await asyncio.sleep(0.1)
            took_s = time.monotonic() - began
            for wire in wires:
                wire.reset()
            return each, took_s

    each, took_s = play(story)

    figure(f"{each / KIB:.0f} KiB each, let go after {took_s:.1f} s")
    assert each < 256 * KIB, f"{each / KIB:.0f} KiB"
    assert took_s < 35.0


@pytest.mark.full
@pytest.mark.case("T70")
@pytest.mark.parametrize("addresses", [1, 50])
def test_five_thousand_silent_connections_hold_up_nobody(tmp_path: Path, figure: Any, addresses: int) -> None:
    async def story() -> tuple[float, float, str]:
        async with served(tmp_path, auth=AUTH) as gateway:
            wires = await dial(gateway.base_url, 5_000, addresses)
            probe_s = await p99_s(gateway.base_url, "/livez")
            admin_s = await p99_s(gateway.admin_url, "/livez")
            said = text_of(await ask(gateway.base_url, chat_request("chat", headers=OWN)))
            async with asyncio.timeout(5.0):  # two looks at who has come, and the time until one is a stranger
                while open_ones(wires) > 256 * addresses:
                    await asyncio.sleep(0.1)
            await all_closed(wires, HEAD_S + 5.0)
            return probe_s, admin_s, said

    probe_s, admin_s, said = play(story)

    figure(f"probe p99 {probe_s * 1000:.0f} ms, admin {admin_s * 1000:.0f} ms")
    assert (probe_s < PROBE_S, admin_s < PROBE_S, said) == (True, True, "fine")


@pytest.mark.full
@pytest.mark.case("T31")
@pytest.mark.parametrize("way", [Wire.close, Wire.reset], ids=["FIN", "RST"])
def test_thirty_big_streams_that_are_left_at_once_hold_up_nobody(
    tmp_path: Path, figure: Any, way: Callable[[Wire], None]
) -> None:
    each_bytes, count = 5 * KIB * KIB, 30

    async def story() -> tuple[float, float, list[str]]:
        event = chat.sse(chat.chunk(chat.text_delta("x" * 4_000)))
        endless = Events((event,) * (each_bytes // len(event) + 1), then="stall")
        async with served(tmp_path, answer=endless) as gateway:
            wires = await dial(gateway.base_url, count)
            for wire in wires:
                wire.send(chat_request("chat", stream=True))
            async with asyncio.timeout(30.0):
                while min(len(wire.received) for wire in wires) < each_bytes:
                    await asyncio.sleep(0.05)
            probing, began = asyncio.create_task(p99_s(gateway.base_url, "/readyz")), time.monotonic()
            for wire in wires:
                way(wire)
            await gateway.provider.until(lambda: gateway.provider.open_connections == 0)
            closed_s, probe_s = time.monotonic() - began, await probing
            gateway.process.stop()
            return probe_s, closed_s, [record["reason"] for record in gateway.records()]

    probe_s, closed_s, reasons = play(story)

    figure(f"probe p99 {probe_s * 1000:.0f} ms, closed after {closed_s * 1000:.0f} ms")
    assert probe_s < 2 * PROBE_S
    assert closed_s < 0.25
    assert reasons == ["caller_gone"] * count


@pytest.mark.full
@pytest.mark.case("T74")
def test_two_thousand_streams_for_a_minute_end_well_and_hold_little(tmp_path: Path, figure: Any) -> None:
    """An event a second each: provider and callers, who share one core, can feed and read as much."""
    count, events = 2_000, 60

    async def story() -> tuple[float, list[tuple[int, str]]]:
        minute = stream_of(*"x" * events, gap_s=1.0)
        async with served(tmp_path, answer=minute, server={"limits": {"strangers_per_address": None}}) as gateway:
            rss = gateway.rss_bytes()
            wires = await dial(gateway.base_url, count, addresses=50)
            for wire in wires:
                wire.send(chat_request("chat", stream=True))
            await asyncio.sleep(events / 2)
            each = (gateway.rss_bytes() - rss) / count
            replies = [await wire.reply(3.0 * events) for wire in wires]
            for wire in wires:
                wire.close()
            return each, [(reply.status, text_of(reply)) for reply in replies]

    each, answers = play(story)

    figure(f"{each / KIB:.0f} KiB each")
    assert answers == [(200, "x" * events)] * count
    assert each <= 150_000
