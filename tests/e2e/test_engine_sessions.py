"""Sessions and load on real engines: what affinity saves, and that nobody waits while a slot is free."""

import asyncio
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from pointsman.testing.wire import Wire, chat_request
from tests.e2e.engine.engine import Engine
from tests.e2e.engine.serve import SLOTS
from tests.e2e.gateway import serve
from tests.integration.callers import ask, text_of
from tests.integration.harness import eventually, weighted

PATIENCE_S = 20.0
TURNS = 8
FOR_EVER = chat_request("chat", messages=[{"role": "user", "content": "Go on for ever."}], stream=True)

pytestmark = pytest.mark.slow


def manual(name: str) -> dict[str, str]:
    """A system prompt that no other conversation begins with, of some thousand tokens."""
    return {"role": "system", "content": f"{name} signals. " * 100}


async def converse(base_url: str, name: str, *, is_named: bool) -> None:
    """One agent: each turn sends all that was said before, and the answer to it."""
    headers = (("x-session-id", name),) if is_named else ()
    messages = [manual(name), {"role": "user", "content": "Tell me."}]
    for _ in range(TURNS):
        reply = await ask(base_url, chat_request("chat", headers=headers, messages=messages))
        assert reply.status == 200, reply.body
        messages += [{"role": "assistant", "content": text_of(reply)}, {"role": "user", "content": "Tell me."}]


def cached_ratio(records: list[dict[str, Any]]) -> float:
    """Share of the input that engines did not have to read again."""
    usages = [record["usage"] for record in records]
    return sum(usage["cached_tokens"] or 0 for usage in usages) / sum(usage["input_tokens"] for usage in usages)


def talk(folder: Path, engines: tuple[Engine, Engine], name: str, *, is_named: bool = True, **fields: Any) -> float:
    """What three agents, one after the other, find in caches; without affinity every turn is read elsewhere."""
    group = weighted(engines, (1, 1), strategy="round_robin", **fields)
    (folder / name).mkdir()

    async def agents(base_url: str) -> None:
        for number in range(3):
            await converse(base_url, f"{name}-{number}", is_named=is_named)

    with serve(folder / name, *engines, groups={"chat": group}) as gateway:
        asyncio.run(agents(gateway.base_url))
        return cached_ratio(gateway.records())


@pytest.mark.bug("D-04")
@pytest.mark.req("G-080")
def test_sessions_that_stay_are_read_from_the_cache_of_their_engine(
    tmp_path: Path, alpha: Engine, beta: Engine
) -> None:
    engines = alpha, beta

    apart = talk(tmp_path, engines, "apart")
    kept = talk(tmp_path, engines, "kept", affinity={"mode": "strict"})
    begun = talk(tmp_path, engines, "begun", is_named=False, affinity={"mode": "strict"})

    assert kept > 0.8  # all but the first turn, which nobody has read before
    assert kept > apart + 0.1
    assert kept > begun > apart  # nobody named these: the second turn decides


# p2c compares two draws that may be the same target twice: it fills slots evenly only where it is told how many
@pytest.mark.parametrize(("strategy", "limits"), [("least_busy", {}), ("p2c", {"max_concurrent": SLOTS})])
def test_nobody_waits_while_a_slot_is_free(
    tmp_path: Path, alpha: Engine, beta: Engine, strategy: str, limits: dict[str, object]
) -> None:
    fields = {"strategy": strategy, "affinity": {"mode": "off"}}

    async def crowd(base_url: str) -> tuple[int, int]:
        for _ in range(4):  # so that both have a time
            await ask(base_url, chat_request("chat"))
        async with AsyncExitStack() as callers:
            for _ in range(2 * SLOTS):
                wire = await callers.enter_async_context(await Wire.open(base_url))
                wire.send(FOR_EVER)
                async with asyncio.timeout(PATIENCE_S):
                    await wire.received_bytes(500)  # it speaks: it has a slot
            busy = alpha.busy_slots, beta.busy_slots
        await eventually(lambda: alpha.busy_slots + beta.busy_slots == 0, patience_s=PATIENCE_S)
        return busy

    groups = {"chat": weighted((alpha, beta), (1, 1), **fields)}
    with serve(tmp_path, alpha, beta, groups=groups, fields=limits) as gateway:
        busy = asyncio.run(crowd(gateway.base_url))

    assert busy == (SLOTS, SLOTS)
