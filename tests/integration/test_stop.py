"""A graceful stop: running answers end within the drain time, the rest end honestly, and every record is written."""

import asyncio
from typing import Any

import pytest

from pointsman.testing import Chat, FakeProvider, Hang, stream_of
from pointsman.testing.wire import Reply, Wire, chat_request
from tests.integration.callers import DONE, ask, events, text_of
from tests.integration.harness import Gateway, eventually

STREAMS = 20
SHORT_DRAIN = {"drain": "100ms"}


async def running_streams(gw: Gateway) -> list[Wire]:
    """Callers whose answers have begun."""
    wires = [await Wire.open(gw.base_url) for _ in range(STREAMS)]
    for wire in wires:
        wire.send(chat_request("chat", stream=True))
    for wire in wires:
        await wire.received_bytes(1)
    return wires


def get(path: str) -> bytes:
    return f"GET {path} HTTP/1.1\r\nhost: test\r\nconnection: close\r\n\r\n".encode()


@pytest.mark.bug("F-07")
@pytest.mark.case("I8")
def test_running_streams_end_properly_within_the_drain_time(run: Any, gateway: Any) -> None:
    async def scenario() -> tuple[list[Reply], list[dict[str, Any]]]:
        async with FakeProvider(name="a", default=Chat("one two three", gap_s=0.1)) as a, gateway(a) as gw:
            wires = await running_streams(gw)
            stopping = asyncio.create_task(gw.stop_now())
            replies = [await wire.reply() for wire in wires]
            ends = [await wire.end() for wire in wires]
            for wire in wires:
                wire.close()
            await stopping

            assert ends == ["fin"] * STREAMS
            return replies, await gw.records()

    replies, records = run(scenario())

    assert {text_of(reply) for reply in replies} == {"one two three"}
    assert all(reply.body.endswith(DONE) for reply in replies)
    assert [record["reason"] for record in records] == ["ok"] * STREAMS


@pytest.mark.bug("F-07")
@pytest.mark.case("I4", "I8")
def test_streams_that_outlast_the_drain_time_get_the_error_event(run: Any, gateway: Any) -> None:
    async def scenario() -> tuple[list[Reply], list[dict[str, Any]]]:
        async with FakeProvider(name="a", default=stream_of("one", then="stall")) as a:
            async with gateway(a, server=SHORT_DRAIN) as gw:
                wires = await running_streams(gw)
                await gw.stop_now()
                replies = [await wire.reply() for wire in wires]
                for wire in wires:
                    wire.close()
                await a.until(lambda: a.open_connections == 0)
                return replies, await gw.records()

    replies, records = run(scenario())

    for reply in replies:
        assert text_of(reply) == "one"
        assert [event["error"]["code"] for event in events(reply) if "error" in event] == ["overloaded"]
        assert reply.body.endswith(DONE)
    assert [record["reason"] for record in records] == ["shutdown"] * STREAMS
    assert {record["attempts"][0]["outcome_class"] for record in records} == {"caller_gone"}


@pytest.mark.bug("F-07")
@pytest.mark.case("I4", "I8")
@pytest.mark.parametrize("stream", [False, True], ids=["unary", "streamed"])
def test_requests_without_content_at_the_end_of_the_drain_time_get_a_503(run: Any, gateway: Any, stream: bool) -> None:
    async def scenario() -> tuple[Reply, list[dict[str, Any]]]:
        async with FakeProvider(name="a", default=Hang()) as a, gateway(a, server=SHORT_DRAIN) as gw:
            async with await Wire.open(gw.base_url) as wire:
                wire.send(chat_request("chat", stream=stream))
                await a.until(lambda: len(a.log) == 1)
                await gw.stop_now()
                return await wire.reply(), await gw.records()

    reply, (record,) = run(scenario())

    assert (reply.status, reply.json()["error"]["code"]) == (503, "overloaded")
    assert reply.header("retry-after") == b"1"
    assert (record["reason"], record["status"]) == ("shutdown", 503)


@pytest.mark.bug("F-07")
@pytest.mark.case("I31")
def test_while_draining_new_connections_are_refused_and_readiness_is_off(run: Any, gateway: Any) -> None:
    async def scenario() -> int:
        async with FakeProvider(name="a", default=Chat("one two", gap_s=0.3)) as a, gateway(a) as gw:
            async with await Wire.open(gw.base_url) as wire:
                wire.send(chat_request("chat", stream=True))
                await wire.received_bytes(1)
                stopping = asyncio.create_task(gw.stop_now())
                await eventually(lambda: gw.app._edge.is_draining)
                with pytest.raises(ConnectionRefusedError):
                    await Wire.open(gw.base_url)
                status = (await ask(gw.admin_url, get("/readyz"))).status
                await wire.reply()
            await stopping
            return status

    assert run(scenario()) == 503


def test_the_admin_listener_shows_what_happened(run: Any, gateway: Any) -> None:
    async def scenario() -> bytes:
        async with FakeProvider(name="a") as a, gateway(a) as gw:
            await ask(gw.base_url, chat_request("chat"))
            await eventually(lambda: bool(gw.samples("requests_total")))
            return (await ask(gw.admin_url, get("/metrics"))).body

    exposition = run(scenario())

    assert b'pointsman_requests_total{dialect="openai_chat",group="chat",outcome="ok"} 1.0' in exposition
    assert b'pointsman_in_flight{target="a/m-a"} 0.0' in exposition
