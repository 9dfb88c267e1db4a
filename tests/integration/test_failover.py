"""Failing over, one rule at a time: who is asked next, how often, with which bytes and within which time."""

from typing import Any

import pytest

from pointsman.domain.outcome import Usage
from pointsman.testing import Answer, Chat, Events, FakeProvider, Hang, Status, chat, refused_port, stream_of
from tests.integration.callers import ask_all, asks, tally
from tests.integration.harness import At, eventually

CALLERS = 1_000
FINE = Chat("from b")
NO_PAUSE = {"base": "1ms", "max": "1ms"}  # the failing target comes back at once, as a probe
ROLE = chat.chunk(chat.role_delta())
LIMIT_S = 0.2
TOLERANCE_S = 0.25
IMPATIENT = {"first_content": f"{LIMIT_S}s", "first_content_reasoning": f"{LIMIT_S}s", "idle": f"{LIMIT_S}s"}
STATUSES = (408, 409, 425, 429, 498, 499, 500, 502, 503, 504, 520, 522, 524, 529, 530)
EITHER_WAY = pytest.mark.parametrize("stream", [False, True], ids=["unary", "streamed"])


@pytest.mark.bug("A-21")
@EITHER_WAY
def test_every_status_of_a_failing_provider_fails_over(run: Any, gateway: Any, stream: bool) -> None:
    async def scenario() -> list[dict[str, Any]]:
        async with (
            FakeProvider(name="a") as a,
            FakeProvider(name="b", default=FINE) as b,
            gateway(a, b, cooldown=NO_PAUSE) as gw,
        ):
            a.script(*(Status(code, "from a") for code in STATUSES))
            while a.unused_answers:
                assert tally(await ask_all(gw.base_url, asks(1, stream=stream), 1)) == {(200, "from b"): 1}
            records: list[dict[str, Any]] = await gw.records()
            return records

    records = run(scenario())

    first_attempts = [record["attempts"][0] for record in records]
    assert [each["status"] for each in first_attempts if each["target_id"] == "a/m-a"] == list(STATUSES)


@pytest.mark.bug("A-01")
@pytest.mark.case("T01")
@EITHER_WAY
def test_a_refused_connection_fails_over_and_is_paused(run: Any, gateway: Any, stream: bool) -> None:
    async def scenario() -> list[dict[str, Any]]:
        with refused_port() as nowhere:
            async with FakeProvider(name="b", default=FINE) as b, gateway(At("a", nowhere), b) as gw:
                replies = await ask_all(gw.base_url, asks(CALLERS, stream=stream), concurrency=1)

                assert tally(replies) == {(200, "from b"): CALLERS}
                records: list[dict[str, Any]] = await gw.records()
                return records

    records = run(scenario())

    refused = [each for record in records for each in record["attempts"] if each["target_id"] == "a/m-a"]
    assert [attempt["detail"] for attempt in refused] == ["connect_refused"] * 3


@pytest.mark.bug("A-02")
def test_every_failed_attempt_of_a_chain_counts_against_its_own_target(run: Any, gateway: Any) -> None:
    async def scenario() -> None:
        async with (
            FakeProvider(name="a", default=Status(500)) as a,
            FakeProvider(name="b", default=Status(500)) as b,
            FakeProvider(name="c", default=Chat("from c")) as c,
            gateway(a, b, c) as gw,
        ):
            replies = await ask_all(gw.base_url, asks(10, stream=False), concurrency=1)

            assert tally(replies) == {(200, "from c"): 10}
            assert (len(a.log), len(b.log), len(c.log)) == (3, 3, 10)
            assert gw.breaker("a/m-a") == gw.breaker("b/m-b") == 1

    run(scenario())


@pytest.mark.bug("A-10")
def test_the_second_attempt_goes_to_the_next_target_and_the_first_returns_by_itself(run: Any, gateway: Any) -> None:
    async def scenario() -> list[dict[str, Any]]:
        async with (
            FakeProvider(name="a", default=Chat("back")) as a,
            FakeProvider(name="b", default=FINE) as b,
            gateway(a, b, cooldown={"base": "100ms", "max": "1s"}) as gw,
        ):
            a.script(*[Status(500)] * 3)
            await ask_all(gw.base_url, asks(4, stream=False), concurrency=1)
            await eventually(lambda: gw.breaker("a/m-a") == 0.5)
            await ask_all(gw.base_url, asks(1, stream=False), concurrency=1)
            await eventually(lambda: gw.samples("gate")['{target="a/m-a"}'] == 1)  # after its slow start
            await ask_all(gw.base_url, asks(1, stream=False), concurrency=1)
            records: list[dict[str, Any]] = await gw.records()
            return records

    records = run(scenario())

    order = ["".join(attempt["target_id"][0] for attempt in record["attempts"]) for record in records]
    assert order == ["ab", "ab", "ab", "b", "a", "a"]


@pytest.mark.bug("A-18")
@EITHER_WAY
def test_a_second_choice_is_sent_the_bytes_of_a_first_choice(run: Any, gateway: Any, stream: bool) -> None:
    fields = {"b": {"api_key": "sk-test-b", "headers": {"x-title": "t"}}}
    groups = {
        "second": {"strategy": "failover", "targets": [{"model": "a/m-a"}, {"model": "b/m-b"}]},
        "direct": {"strategy": "failover", "targets": [{"model": "b/m-b"}]},
    }

    async def scenario() -> list[tuple[Any, bytes]]:
        async with (
            FakeProvider(name="a", default=Status(500)) as a,
            FakeProvider(name="b", default=FINE) as b,
            gateway(a, b, groups=groups, provider_fields=fields) as gw,
        ):
            for model in groups:
                await ask_all(gw.base_url, asks(1, stream=stream, model=model, extra={"z": [1.0, "ü"]}), 1)
            return [(received.headers, received.body) for received in b.log]

    second, direct = run(scenario())

    assert second == direct
    assert (b"authorization", b"Bearer sk-test-b") in second[0]


@pytest.mark.bug("B-02")
def test_one_target_that_always_fails_is_called_max_attempts_times(run: Any, gateway: Any) -> None:
    async def scenario() -> int:
        async with FakeProvider(name="a", default=Status(500)) as a, gateway(a, retry={"max_attempts": 2}) as gw:
            (reply,) = await ask_all(gw.base_url, asks(1, stream=False), concurrency=1)

            assert reply.status == 502
            return len(a.log)

    assert run(scenario()) == 2


@pytest.mark.bug("B-07")
@EITHER_WAY
def test_an_attempt_that_hangs_leaves_time_for_the_next(run: Any, gateway: Any, stream: bool) -> None:
    limits = {**IMPATIENT, "total": "1s", "total_stream": "1s", "idle_reasoning": "1s", "connect": "1s"}

    async def scenario() -> float:
        async with (
            FakeProvider(name="a", default=Hang()) as a,
            FakeProvider(name="b", default=Chat("from b", delay_s=0.1)) as b,
            gateway(a, b, timeouts=limits) as gw,
        ):
            replies = await ask_all(gw.base_url, asks(1, stream=stream), concurrency=1)

            assert tally(replies) == {(200, "from b"): 1}
            (record,) = await gw.records()
            duration_s: float = record["attempts"][0]["duration_s"]
            return duration_s

    assert abs(run(scenario()) - LIMIT_S) <= TOLERANCE_S


@pytest.mark.bug("B-07")
@EITHER_WAY
def test_two_targets_that_hang_end_in_one_504_at_the_deadline(run: Any, gateway: Any, stream: bool) -> None:
    each = dict.fromkeys(("connect", "first_content", "first_content_reasoning", "idle", "idle_reasoning"), "300ms")

    async def scenario() -> tuple[Any, float, int]:
        async with (
            FakeProvider(name="a", default=Hang()) as a,
            FakeProvider(name="b", default=Hang()) as b,
            gateway(a, b, timeouts={**each, "total": "500ms", "total_stream": "500ms"}) as gw,
        ):
            (reply,) = await ask_all(gw.base_url, asks(1, stream=stream), concurrency=1)
            (record,) = await gw.records()
            return reply, record["duration_s"], len(a.log) + len(b.log)

    reply, duration_s, calls = run(scenario())

    assert (reply.status, reply.json()["error"]["code"]) == (504, "deadline_exceeded")
    assert abs(duration_s - 0.5) <= TOLERANCE_S
    assert calls == 2


@pytest.mark.bug("E-06")
@pytest.mark.parametrize("answer", [stream_of(then="cut"), Events((ROLE, chat.error(500)))], ids=["cut", "error"])
def test_when_all_streams_fail_before_content_the_caller_gets_a_status(run: Any, gateway: Any, answer: Answer) -> None:
    async def scenario() -> Any:
        async with (
            FakeProvider(name="a", default=answer) as a,
            FakeProvider(name="b", default=answer) as b,
            gateway(a, b, retry={"max_attempts": 2}) as gw,
        ):
            (reply,) = await ask_all(gw.base_url, asks(1, stream=True), concurrency=1)
            return reply

    reply = run(scenario())

    assert reply.status == 502
    assert reply.header("content-type") == b"application/json"
    assert reply.json()["error"]["code"] == "upstream_error"


@pytest.mark.bug("B-16")
@EITHER_WAY
@pytest.mark.parametrize(("finish", "tokens"), [("stop", 1), ("length", 0)])
def test_an_answer_that_is_rightly_empty_passes(run: Any, gateway: Any, stream: bool, finish: str, tokens: int) -> None:
    silent = Chat("", usage=Usage(output_tokens=tokens), finish_reason=finish)

    async def scenario() -> int:
        async with (
            FakeProvider(name="a", default=silent) as a,
            FakeProvider(name="b", default=FINE) as b,
            gateway(a, b) as gw,
        ):
            replies = await ask_all(gw.base_url, asks(5, stream=stream), concurrency=1)

            assert tally(replies) == {(200, ""): 5}
            return len(b.log)

    assert run(scenario()) == 0
