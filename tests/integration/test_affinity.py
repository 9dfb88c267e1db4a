"""Sessions over real sockets: where they stay, when they leave, and what tells of it."""

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import pytest

from pointsman.domain.request import Dialect
from pointsman.testing import Chat, FakeProvider, Status, keys
from pointsman.testing.wire import Reply, responses_request
from tests.integration.callers import CHAT, MESSAGES, REQUEST, RESPONSES, ask
from tests.integration.harness import Gateway, weighted

SESSION = (("x-session-id", "s1"),)
STRICT = {"affinity": {"mode": "strict"}}
FIRST, ANSWER, MORE = ({"role": role, "content": "hi"} for role in ("user", "assistant", "user"))
BUSY = Status(429, headers=(("retry-after", "300"),))


def turn(*messages: dict[str, str], headers: Sequence[tuple[str, str]] = SESSION, **fields: Any) -> bytes:
    dialect = fields.pop("dialect", Dialect.OPENAI_CHAT)
    return REQUEST[dialect]("chat", headers=headers, messages=list(messages) or [FIRST], **fields)


async def turns(gw: Gateway, count: int, **options: Any) -> list[str]:
    """Who served each of them."""
    replies = [await ask(gw.base_url, turn(**options)) for _ in range(count)]
    assert {reply.status for reply in replies} == {200}
    return [served_by(reply) for reply in replies]


def served_by(reply: Reply) -> str:
    return (reply.header("x-pointsman-provider") or b"").decode()


@pytest.mark.bug("D-04")
@pytest.mark.req("G-080", "G-082")
@pytest.mark.parametrize("strategy", ["weighted", "round_robin", "failover", "least_busy", "p2c"])
@pytest.mark.parametrize("dialect", list(REQUEST))
def test_session_stays_where_it_is(run: Any, gateway: Any, strategy: str, dialect: Dialect) -> None:
    async def scenario() -> tuple[list[str], list[dict[str, Any]]]:
        async with FakeProvider(name="a") as a, FakeProvider(name="b") as b, FakeProvider(name="c") as c:
            fields = {name: {"dialects": [each.value for each in Dialect]} for name in "abc"}
            groups = {"chat": weighted((a, b, c), (1, 1, 1), strategy=strategy, **STRICT)}
            async with gateway(a, b, c, groups=groups, provider_fields=fields) as gw:
                return await turns(gw, 20, dialect=dialect), await gw.records()

    served, records = run(scenario())

    assert len(set(served)) == 1
    modes = Counter(record["decisions"][0]["mode"] for record in records)
    assert modes["pinned"] == 19
    pins = [record["decisions"][0]["pin"] for record in records]
    assert pins == [
        {"outcome": "created", "reason": None, "binds": True},
        *[{"outcome": "honored", "reason": None, "binds": True}] * 19,
    ]
    assert {record["facts"]["session"]["source"] for record in records} == {"x-session-id"}


def test_group_without_affinity_looks_for_no_session(run: Any, gateway: Any) -> None:
    async def scenario() -> list[dict[str, Any]]:
        async with FakeProvider(name="a") as a, FakeProvider(name="b") as b:
            async with gateway(a, b, groups={"chat": weighted((a, b), (1, 1))}) as gw:
                await turns(gw, 2)
                return list(await gw.records())

    for record in run(scenario()):
        assert record["facts"]["session"] is None
        assert record["decisions"][0]["pin"] is None


@pytest.mark.bug("D-01")
@pytest.mark.req("G-083", "G-084", "G-085")
def test_session_of_a_target_that_turns_429_moves_once_and_stays_away(run: Any, gateway: Any) -> None:
    async def scenario() -> tuple[list[str], int, dict[str, float]]:
        async with FakeProvider(name="a") as a, FakeProvider(name="b") as b:
            cooldown = {"base": "50ms", "max": "100ms"}
            async with gateway(a, b, groups={"chat": weighted((a, b), (1, 0.0001), **STRICT)}, cooldown=cooldown) as gw:
                assert await turns(gw, 2) == ["a", "a"]
                a.default, before = BUSY, len(a.log)
                served = await turns(gw, 6)
                return served, len(a.log) - before, gw.samples("routing_session_affinity_total")

    served, calls, counted = run(scenario())

    assert served == ["b"] * 6
    assert calls == 1
    assert counted == {
        '{group="chat",outcome="created",reason=""}': 1,
        '{group="chat",outcome="honored",reason=""}': 1 + 1 + 5,
        '{group="chat",outcome="released",reason="paused"}': 1,
    }


@pytest.mark.case("I20", "T35")
@pytest.mark.req("D-050")
def test_same_id_of_two_callers_is_two_sessions(run: Any, gateway: Any) -> None:
    names = ("alice", "bob", "carol", "dave", "erin", "frank")
    auth = {
        "mode": "keys",
        "pepper": keys.PEPPER,
        "keys": [keys.declaration(f"pm_{name}", name=name) for name in names],
    }

    async def scenario() -> dict[str, set[str]]:
        async with FakeProvider(name="a") as a, FakeProvider(name="b") as b:
            async with gateway(a, b, groups={"chat": weighted((a, b), (1, 1), **STRICT)}, auth=auth) as gw:
                found = {}
                for name in names:
                    headers = (*SESSION, ("authorization", f"Bearer pm_{name}"))
                    replies = [await ask(gw.base_url, turn(headers=headers)) for _ in range(3)]
                    found[name] = {reply.header("x-pointsman-provider") for reply in replies}
                return found

    served = run(scenario())

    assert {len(providers) for providers in served.values()} == {1}
    assert len(set.union(*served.values())) == 2


@pytest.mark.req("D-051")
def test_conversation_in_responses_that_nobody_names_is_kept_from_its_second_turn_on(run: Any, gateway: Any) -> None:
    async def scenario() -> list[dict[str, Any]]:
        async with FakeProvider(name="a") as a, FakeProvider(name="b") as b:
            async with gateway(a, b, groups={"chat": weighted((a, b), (1, 1), **STRICT)}) as gw:
                for said in ("hi", [FIRST, ANSWER, MORE], [FIRST, ANSWER, MORE, ANSWER, MORE]):
                    await ask(gw.base_url, responses_request("chat", input=said, instructions="Be brief."))
                return list(await gw.records())

    records = run(scenario())

    assert {record["facts"]["session"]["source"] for record in records} == {"auto"}
    assert len({record["facts"]["session"]["key"] for record in records}) == 1
    assert [record["decisions"][0]["pin"]["binds"] for record in records] == [False, True, True]
    assert records[2]["decisions"][0]["pin"]["outcome"] == "honored"


def test_conversation_that_nobody_names_is_kept_from_its_second_turn_on(run: Any, gateway: Any) -> None:
    async def scenario() -> list[dict[str, Any]]:
        async with FakeProvider(name="a") as a, FakeProvider(name="b") as b:
            async with gateway(a, b, groups={"chat": weighted((a, b), (1, 1), **STRICT)}) as gw:
                for messages in ((FIRST,), (FIRST, ANSWER, MORE), (FIRST, ANSWER, MORE, ANSWER, MORE)):
                    await ask(gw.base_url, turn(*messages, headers=()))
                return list(await gw.records())

    records = run(scenario())

    assert [record["decisions"][0]["pin"]["outcome"] for record in records] == ["none", "created", "honored"]
    assert len({record["facts"]["session"]["key"] for record in records}) == 1


@pytest.mark.req("X-09", "R-034", "D-057")
def test_pins_survive_a_reload_and_the_switch_that_ends_them_works_at_once(run: Any, gateway: Any) -> None:
    async def scenario() -> tuple[set[str], set[str], set[str]]:
        async with FakeProvider(name="a") as a, FakeProvider(name="b") as b:
            async with gateway(a, b, groups={"chat": weighted((a, b), (1, 1), **STRICT)}) as gw:
                before = set(await turns(gw, 3))
                await gw.reload(models={"chat": weighted((b, a), (1, 1), **STRICT)})
                after = set(await turns(gw, 10))
                await gw.reload(models={"chat": weighted((b, a), (1, 1))})
                return before, after, set(await turns(gw, 30))

    before, after, switched_off = run(scenario())

    assert len(before) == 1
    assert after == before
    assert switched_off == {"a", "b"}


@pytest.mark.case("I7")
@pytest.mark.req("D-075")
def test_neither_id_nor_text_of_a_session_is_in_a_record(run: Any, gateway: Any, tmp_path: Any) -> None:
    async def scenario() -> None:
        async with FakeProvider(name="a", default=Chat("ok")) as a, FakeProvider(name="b") as b:
            async with gateway(a, b, groups={"chat": weighted((a, b), (1, 1), **STRICT)}) as gw:
                await ask(gw.base_url, turn({"role": "user", "content": "my secret"}, headers=()))
                await ask(gw.base_url, turn(headers=(("x-session-id", "my secret"),)))

    run(scenario())

    assert b"my secret" not in (tmp_path / "decisions.jsonl").read_bytes()


@pytest.mark.bug("D-04")
def test_cost_keeps_a_conversation_where_its_prompt_is_cached(run: Any, gateway: Any) -> None:
    said = [{"role": "user", "content": "Signals. " * 5_000}]  # 11,250 tokens
    price = {"input": 2.0, "output": 8.0, "cache_read": 0.2}

    async def scenario() -> tuple[list[str], list[dict[str, Any]]]:
        async with FakeProvider(name="a") as a, FakeProvider(name="b") as b, FakeProvider(name="c") as c:
            prices = {"overrides": {f"{name}/m-{name}": price for name in "abc"}}
            groups = {"chat": weighted((a, b, c), (1, 1, 1), strategy="cost")}
            async with gateway(a, b, c, groups=groups, prices=prices) as gw:
                served = []
                for number in range(20):
                    talk = said + [ANSWER, {"role": "user", "content": f"Turn {number}"}] * number
                    served.append(served_by(await ask(gw.base_url, turn(*talk, headers=()))))
                return served, await gw.records()

    served, records = run(scenario())

    assert len(set(served)) == 1
    last = records[-1]["decisions"][0]
    pairs = zip(last["candidates"], last["estimates"], strict=True)
    cached = {name: estimate["cached_tokens"] for name, estimate in pairs}
    assert [name for name, tokens in cached.items() if tokens > 10_000] == [f"{served[0]}/m-{served[0]}"]
    assert records[-1]["facts"]["session"] is None


@pytest.mark.req("G-063")
def test_p2c_prefers_the_target_that_answered_the_session_last(run: Any, gateway: Any) -> None:
    async def scenario() -> list[str]:
        async with FakeProvider(name="a") as a, FakeProvider(name="b") as b:
            policy = {"p2c": {"warm_cache_weight": 1_000, "min_weight_fraction": 0}}
            fields = {"strategy": "p2c", "affinity": {"mode": "off"}, "routing_policy": policy}
            async with gateway(a, b, groups={"chat": weighted((a, b), (1, 1), **fields)}) as gw:
                return await turns(gw, 40)

    served = run(scenario())

    moves = sum(before != after for before, after in pairwise(served))
    assert moves <= 3


@pytest.mark.req("D-056")
@pytest.mark.parametrize("dialect", [CHAT, RESPONSES, MESSAGES])
def test_session_that_is_named_is_apart_from_the_beginning_that_it_shares_with_others(
    run: Any, gateway: Any, dialect: Dialect
) -> None:
    async def scenario() -> list[dict[str, Any]]:
        async with FakeProvider(name="a") as a, FakeProvider(name="b") as b:
            fields = {name: {"dialects": [each.value for each in Dialect]} for name in "ab"}
            groups = {"chat": weighted((a, b), (1, 1), affinity={"mode": "prefix"})}
            async with gateway(a, b, groups=groups, provider_fields=fields) as gw:
                said = [FIRST, ANSWER, MORE]
                more = {"input": said} if dialect is RESPONSES else {}
                for headers in ((), SESSION, (), SESSION):
                    await ask(gw.base_url, turn(*said, headers=headers, dialect=dialect, **more))
                return list(await gw.records())

    records = run(scenario())

    sessions = [record["facts"]["session"] for record in records]
    assert [each["source"] for each in sessions] == ["auto", "x-session-id"] * 2
    assert sessions[0]["key"] == sessions[2]["key"] != sessions[1]["key"] == sessions[3]["key"]
    pins = [record["decisions"][0]["pin"]["outcome"] for record in records]
    assert pins == ["created", "created", "honored", "honored"]
