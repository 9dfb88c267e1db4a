"""The gateway has too much to do: some requests are turned away, honestly and cheaply, and nothing else suffers."""

import time
from collections import Counter
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

import pytest

from pointsman.domain.request import Dialect
from pointsman.http1.overload import MIN_RATIO
from pointsman.observability.stalls import STALL_S
from pointsman.testing import Chat, FakeProvider, Hang
from pointsman.testing.wire import Reply, Wire, chat_request
from tests.integration.callers import REQUEST, ask, text_of
from tests.integration.conftest import Run
from tests.integration.harness import Gateway, eventually

Start = Callable[..., AbstractAsyncContextManager[Gateway]]

BUSY = {"limits": {"queue": "0.000001"}}  # no turn of the loop is so short
SMALL = {"limits": {"memory": "1MiB"}}
PROBES = [f"GET {path} HTTP/1.1\r\nhost: test\r\n\r\n".encode() for path in ("/livez", "/readyz", "/")]
SCRAPE = b"GET /metrics HTTP/1.1\r\nhost: test\r\nconnection: close\r\n\r\n"
OVERLOADED = {
    Dialect.OPENAI_CHAT: (503, "server_error"),
    Dialect.OPENAI_RESPONSES: (503, "server_error"),
    Dialect.OPENAI_COMPLETIONS: (503, "server_error"),
    Dialect.ANTHROPIC_MESSAGES: (529, "overloaded_error"),
}


async def overloaded(gateway: Gateway) -> None:
    """Wait until as few as ever are admitted."""
    await eventually(lambda: gateway.samples("admitted_ratio") == {"": MIN_RATIO})


async def ask_over(wire: Wire, request: bytes) -> Reply:
    wire.send(request)
    return await wire.reply()


@pytest.mark.case("T73")
@pytest.mark.bug("B-04", "B-14")
@pytest.mark.parametrize("dialect", OVERLOADED)
def test_who_is_turned_away_is_told_so_in_the_dialect_asked_in(run: Run, gateway: Start, dialect: Dialect) -> None:
    async def story() -> Reply:
        async with FakeProvider(name="a") as a, gateway(a, server=BUSY) as running:
            await overloaded(running)
            async with await Wire.open(running.base_url) as wire:
                replies = [await ask_over(wire, REQUEST[dialect]("chat")) for _ in range(3)]
            return next(reply for reply in replies if reply.status != 200)

    reply = run(story())

    status, kind = OVERLOADED[dialect]
    assert (reply.status, reply.json()["error"]["type"]) == (status, kind)
    assert reply.header("retry-after") == b"20"
    assert reply.header("x-should-retry") == b"true"
    assert reply.header("x-request-id")


@pytest.mark.case("T73")
def test_some_are_served_as_ever_and_only_the_others_are_counted(run: Run, gateway: Start) -> None:
    async def story() -> tuple[Counter[int], float, int, list[dict[str, Any]]]:
        async with FakeProvider(name="a", default=Chat("fine")) as a, gateway(a, server=BUSY) as running:
            await overloaded(running)
            before = running.samples("requests_shed_total")['{cause="queue"}']
            async with await Wire.open(running.base_url) as wire:
                replies = [await ask_over(wire, chat_request("chat")) for _ in range(100)]
            assert {text_of(reply) for reply in replies if reply.status == 200} == {"fine"}
            shed = running.samples("requests_shed_total")['{cause="queue"}'] - before
            return Counter(reply.status for reply in replies), shed, len(a.log), await running.records()

    statuses, shed, sent, records = run(story())

    assert set(statuses) == {200, 503}
    assert statuses[200] == sent == len(records)
    assert statuses[503] == shed
    assert 4 <= sent <= 6


@pytest.mark.case("T72", "T73")
@pytest.mark.bug("L-09")
@pytest.mark.parametrize("limits", [BUSY, SMALL], ids=["queue", "memory"])
def test_probes_and_the_admin_listener_are_never_turned_away(
    run: Run, gateway: Start, limits: dict[str, object]
) -> None:
    async def story() -> list[int]:
        async with FakeProvider(name="a") as a, gateway(a, server=limits) as running:
            await eventually(lambda: running.app.overload.is_shedding)
            probes = [(await ask(running.base_url, probe)).status for _ in range(10) for probe in PROBES]
            admin = [(await ask(running.admin_url, SCRAPE)).status for _ in range(10)]
            return probes + admin

    assert run(story()) == [200] * 40


@pytest.mark.case("T72", "T73")
@pytest.mark.parametrize("limits", [BUSY, SMALL], ids=["queue", "memory"])
def test_long_bodies_are_turned_away_before_they_are_read(run: Run, gateway: Start, limits: dict[str, object]) -> None:
    head = b"POST /v1/messages HTTP/1.1\r\nhost: test\r\ncontent-length: 1000000\r\n\r\n"

    async def story() -> tuple[list[int], int]:
        async with FakeProvider(name="a") as a, gateway(a, server=limits) as running:
            await eventually(lambda: running.app.overload.is_shedding)
            statuses = []
            for _ in range(3):
                async with await Wire.open(running.base_url) as wire:
                    wire.send(head)
                    if not await wire.is_silent(0.2):
                        statuses.append((await wire.reply()).status)
            return statuses, len(a.log)

    statuses, sent = run(story())

    assert set(statuses) == {529}
    assert len(statuses) >= 2  # one of twenty is admitted
    assert sent == 0


@pytest.mark.case("T73")
def test_request_whose_body_comes_later_is_drawn_for_once(run: Run, gateway: Start) -> None:
    whole = chat_request("chat")
    end = whole.index(b"\r\n\r\n") + 4

    async def story() -> list[int]:
        async with FakeProvider(name="a") as a, gateway(a, server=BUSY) as running:
            await overloaded(running)
            running.app.overload.queue._credit = 1.0 - MIN_RATIO
            async with await Wire.open(running.base_url) as wire:
                wire.send(whole[: end + 1])
                await eventually(lambda: any(c.missing_bytes for c in running.app._edge.connections))
                wire.send(whole[end + 1 :])
                first = await wire.reply()
                return [first.status, (await ask_over(wire, whole)).status]

    assert run(story()) == [200, 503]


@pytest.mark.case("T73")
def test_stream_that_has_begun_is_not_touched(run: Run, gateway: Start) -> None:
    async def story() -> str:
        words = Chat("one two three four five six", gap_s=0.2)
        async with FakeProvider(name="a", default=words) as a, gateway(a, server=BUSY) as running:
            async with await Wire.open(running.base_url) as wire:
                wire.send(chat_request("chat", stream=True))
                await wire.received_bytes(1)
                await eventually(lambda: running.app.overload.is_shedding)
                return text_of(await wire.reply(5.0))

    assert run(story()) == "one two three four five six"


@pytest.mark.case("T72")
def test_limit_of_memory_that_is_too_small_refuses_all_until_it_is_raised(
    run: Run, gateway: Start, caplog: pytest.LogCaptureFixture
) -> None:
    async def story() -> tuple[Reply, int]:
        async with FakeProvider(name="a") as a, gateway(a, server={"limits": {"memory": "1GiB"}}) as running:
            listen = {"listen": "127.0.0.1:0", "admin_listen": "127.0.0.1:0"}
            async with await Wire.open(running.base_url) as wire:
                await running.reload(server={**listen, **SMALL})
                await eventually(lambda: running.app.overload.is_shedding)
                refused = await ask_over(wire, chat_request("chat"))
                await running.reload(server=listen)
                await eventually(lambda: not running.app.overload.is_shedding)
                return refused, (await ask_over(wire, chat_request("chat"))).status

    refused, later = run(story())

    assert (refused.status, refused.header("retry-after")) == (503, b"5")
    assert b"short of memory" in refused.body
    assert later == 200
    assert [record.levelname for record in caplog.records if "memory" in record.message] == ["WARNING", "INFO"]


def test_quiet_gateway_admits_everybody(run: Run, gateway: Start) -> None:
    async def story() -> tuple[dict[str, float], dict[str, float]]:
        async with FakeProvider(name="a") as a, gateway(a, server={"limits": {"queue": "10s"}}) as running:
            assert {(await ask(running.base_url, chat_request("chat"))).status for _ in range(50)} == {200}
            return running.samples("admitted_ratio"), running.samples("requests_shed_total")

    ratio, shed = run(story())

    assert ratio == {"": 1.0}
    assert shed == {'{cause="queue"}': 0, '{cause="memory"}': 0}


@pytest.mark.case("I24")
def test_whatever_holds_the_loop_is_told_while_it_does(
    run: Run, gateway: Start, caplog: pytest.LogCaptureFixture
) -> None:
    async def story() -> dict[str, float]:
        async with FakeProvider(name="a") as a, gateway(a) as running:
            assert running.samples("loop_stalls_total") == {"": 0.0}
            time.sleep(4 * STALL_S)  # noqa: ASYNC251  # what nobody should do
            return running.samples("loop_stalls_total")

    assert run(story())[""] >= 1
    (stack,) = [record.__dict__["fields"]["stack"] for record in caplog.records if "held up" in record.message]
    assert any(line.endswith(" story") for line in stack)


@pytest.mark.case("I3", "I23")
@pytest.mark.parametrize("stream", [False, True])
def test_request_that_outlives_its_deadline_is_ended_honestly_and_holds_nothing(
    run: Run, gateway: Start, stream: bool
) -> None:
    async def story() -> tuple[Reply, float, dict[str, float], list[dict[str, Any]]]:
        async with FakeProvider(name="a", default=Hang()) as a, gateway(a) as running:
            async with await Wire.open(running.base_url) as wire:
                wire.send(chat_request("chat", stream=stream))
                await eventually(lambda: running.in_flight == 1)
                (connection,) = running.app._edge.connections
                longest_s = running.app._edge.longest_request_s
                connection.check(connection._received_at + longest_s + connection._limits.overdue_s)
                reply = await wire.reply()
                assert await wire.end() == "fin"
            return reply, running.in_flight, running.samples("requests_overdue_total"), await running.records()

    reply, in_flight, overdue, (record,) = run(story())

    assert (reply.status, reply.json()["error"]["code"]) == (504, "deadline_exceeded")
    assert in_flight == 0
    assert overdue == {"": 1.0}
    assert (record["status"], record["reason"]) == (504, "deadline")
