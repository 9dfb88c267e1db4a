"""Callers of a real engine leave in the middle of a stream, and its slot is free for the next one.

llama.cpp notices only when it writes, so a leaving caller of a whole answer keeps a slot busy, gateway or not.
"""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from pointsman.testing.wire import Wire, chat_request
from tests.e2e.engine.engine import Engine
from tests.e2e.gateway import serve
from tests.e2e.sdk import NEWEST, said
from tests.integration.callers import ask
from tests.integration.harness import eventually, group

FREE_WITHIN_S = 2.0  # undisturbed, the stream goes on for more than a minute
FOR_EVER = chat_request("chat", messages=[{"role": "user", "content": "Go on for ever."}], stream=True)
WAYS = {"fin": Wire.close, "rst": Wire.reset, "half_close": Wire.half_close}

pytestmark = pytest.mark.slow


async def free_slots(engine: Engine) -> None:
    await eventually(lambda: engine.busy_slots == 0, lambda: "a slot is still busy", FREE_WITHIN_S)


async def leave(base_url: str, engine: Engine, way: Callable[[Wire], None]) -> None:
    """Begin a stream, leave, and wait for the slot."""
    async with await Wire.open(base_url) as wire:
        wire.send(FOR_EVER)
        await wire.received_bytes(1_000)
        assert engine.busy_slots == 1
        way(wire)
        await free_slots(engine)


@pytest.mark.req("D-061")
@pytest.mark.case("T25", "I2")
@pytest.mark.bug("F-01")
@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_the_slot_of_a_caller_who_leaves_is_free_and_the_engine_is_not_blamed(
    tmp_path: Path, alpha: Engine, beta: Engine, way: Callable[[Wire], None]
) -> None:
    with serve(tmp_path, alpha, beta, groups={"chat": group(alpha, beta)}) as gateway:
        for _ in range(4):  # faults in a row would pause it after three
            asyncio.run(leave(gateway.base_url, alpha, way))
        assert asyncio.run(ask(gateway.base_url, chat_request("chat"))).status == 200
        *gone, last = gateway.records()

    attempts = [(each["target_id"], each["outcome_class"]) for record in gone for each in record["attempts"]]
    assert attempts == [("alpha/m-alpha", "caller_gone")] * 4
    assert {(record["reason"], record["status"]) for record in gone} == {("caller_gone", 499)}
    assert last["attempts"][0]["target_id"] == "alpha/m-alpha"


@pytest.mark.req("D-061")
def test_closing_a_stream_of_the_sdk_frees_the_slot(tmp_path: Path, alpha: Engine) -> None:
    with serve(tmp_path, alpha, groups={"chat": group(alpha)}) as gateway:
        seen = said(NEWEST, gateway.base_url, "chat", "leave")
        asyncio.run(free_slots(alpha))
        (gone,) = gateway.records()

    assert seen["text"] == " alpha!"
    assert gone["reason"] == "caller_gone"
