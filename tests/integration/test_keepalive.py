"""A provider is silent: the caller of a stream is told that it goes on, and failover is as honest as without that."""

from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Any

import pytest
from msgspec import structs

from pointsman.domain.request import Dialect
from pointsman.testing import Answer, Chat, CloseEarly, FakeProvider, Status, stream_of
from pointsman.testing.wire import Reply, Wire
from tests.integration.callers import CHAT, DONE, MESSAGES, REQUEST, RESPONSES, events, text_of
from tests.integration.conftest import Run
from tests.integration.harness import Gateway

Start = Callable[..., AbstractAsyncContextManager[Gateway]]

COMMENT = b": keepalive\n\n"
SERVER = {"stream_keepalive": "100ms"}
OFF = {"stream_keepalive": 0}
SILENCE_S = 0.6
PATIENCE_S = 10.0
COMPLETIONS = Dialect.OPENAI_COMPLETIONS
EVERY_DIALECT = pytest.mark.parametrize("dialect", [CHAT, RESPONSES, MESSAGES, COMPLETIONS])
LATE_FAULTS: Mapping[str, Callable[[Dialect], Answer]] = {
    "closed": lambda _: CloseEarly(delay_s=SILENCE_S),
    "500": lambda _: Status(500, "from a", delay_s=SILENCE_S),
    "opening_then_cut": lambda dialect: structs.replace(stream_of(then="cut", dialect=dialect), delay_s=SILENCE_S),
}


async def ask(gateway: Gateway, dialect: Dialect, *, stream: bool = True) -> tuple[Reply, bytes]:
    """One answer, and every byte of it."""
    async with await Wire.open(gateway.base_url) as wire:
        wire.send(REQUEST[dialect]("chat", stream=stream))
        return await wire.reply(PATIENCE_S), bytes(wire.received)


def names(reply: Reply) -> set[bytes]:
    return {name for name, _ in reply.headers}


@EVERY_DIALECT
def test_caller_that_waits_for_the_first_content_gets_comments(run: Run, gateway: Start, dialect: Dialect) -> None:
    async def story() -> tuple[Reply, bytes]:
        late = Chat("from a", delay_s=SILENCE_S)
        async with FakeProvider(name="a", default=late) as a, gateway(a, server=SERVER) as running:
            return await ask(running, dialect)

    reply, raw = run(story())

    assert reply.status == 200
    assert reply.header("content-type") == b"text/event-stream; charset=utf-8"
    assert reply.body.startswith(COMMENT * 2)
    assert text_of(reply) == "from a"
    assert raw.count(b"HTTP/1.1 ") == 1


@EVERY_DIALECT
def test_answer_is_the_one_without_comments_but_for_them(run: Run, gateway: Start, dialect: Dialect) -> None:
    async def story() -> list[bytes]:
        late = stream_of("one ", "two", dialect=dialect, gap_s=SILENCE_S / 3)
        bodies = []
        async with FakeProvider(name="a", default=late) as a:
            for server in (OFF, SERVER):
                async with gateway(a, server=server) as running:
                    bodies.append((await ask(running, dialect))[0].body)
        return bodies

    without, with_comments = run(story())

    assert COMMENT not in without
    assert with_comments.count(COMMENT) >= 2
    assert with_comments.replace(COMMENT, b"") == without


@EVERY_DIALECT
@pytest.mark.parametrize("fault", LATE_FAULTS)
@pytest.mark.case("I1")
def test_failure_after_comments_still_fails_over(run: Run, gateway: Start, dialect: Dialect, fault: str) -> None:
    async def story() -> tuple[Reply, bytes, list[dict[str, Any]]]:
        async with (
            FakeProvider(name="a", default=LATE_FAULTS[fault](dialect)) as a,
            FakeProvider(name="b", default=Chat("from b")) as b,
            gateway(a, b, server=SERVER) as running,
        ):
            reply, raw = await ask(running, dialect)
            return reply, raw, await running.records()

    reply, raw, (record,) = run(story())

    assert reply.body.startswith(COMMENT)
    assert text_of(reply) == "from b"
    assert raw.count(b"HTTP/1.1 ") == 1
    assert (record["status"], record["reason"]) == (200, "ok")
    assert [attempt["committed"] for attempt in record["attempts"]] == [False, True]


@EVERY_DIALECT
@pytest.mark.parametrize("fault", LATE_FAULTS)
@pytest.mark.case("I12")
def test_failure_of_everybody_after_comments_is_told_once_in_the_stream(
    run: Run, gateway: Start, dialect: Dialect, fault: str
) -> None:
    async def story() -> tuple[Reply, list[dict[str, Any]]]:
        async with (
            FakeProvider(name="a", default=LATE_FAULTS[fault](dialect)) as a,
            gateway(a, server=SERVER, retry={"max_attempts": 1}) as running,
        ):
            return (await ask(running, dialect))[0], await running.records()

    reply, (record,) = run(story())

    said = events(reply)
    assert reply.status == 200
    assert reply.body.startswith(COMMENT)
    assert len(said) == 1
    assert "error" in said[0].get("response", said[0])
    assert reply.body.endswith(DONE) is (dialect in {CHAT, COMPLETIONS})
    assert (record["status"], record["reason"]) == (200, "attempts_exhausted")
    assert [attempt["committed"] for attempt in record["attempts"]] == [False]


def test_head_that_goes_out_early_names_nobody_who_may_not_serve(run: Run, gateway: Start) -> None:
    async def story() -> Reply:
        async with (
            FakeProvider(name="a", default=CloseEarly(delay_s=SILENCE_S)) as a,
            FakeProvider(name="b", default=Chat("from b")) as b,
            gateway(a, b, server=SERVER) as running,
        ):
            return (await ask(running, CHAT))[0]

    reply = run(story())

    ours = {name for name in names(reply) if name.startswith(b"x-pointsman")}
    assert ours == {b"x-pointsman-model", b"x-pointsman-attempts"}
    assert reply.header("x-request-id")


def test_caller_that_waits_for_a_paused_target_gets_comments(run: Run, gateway: Start) -> None:
    answers = [Status(429), Chat("at last")]
    soon = {"base": "800ms", "max": "800ms"}

    async def story() -> Reply:
        async with (
            FakeProvider(name="a", answer_for=lambda _: answers.pop(0)) as a,
            gateway(a, server=SERVER, cooldown=soon) as running,
        ):
            return (await ask(running, CHAT))[0]

    reply = run(story())

    assert reply.body.startswith(COMMENT * 2)
    assert text_of(reply) == "at last"


def test_silence_in_a_whole_answer_stays_silence(run: Run, gateway: Start) -> None:
    async def story() -> tuple[Reply, bytes]:
        async with (
            FakeProvider(name="a", default=CloseEarly(delay_s=SILENCE_S)) as a,
            gateway(a, server=SERVER, retry={"max_attempts": 1}) as running,
        ):
            return await ask(running, CHAT, stream=False)

    reply, raw = run(story())

    assert reply.status == 502
    assert COMMENT not in raw


@EVERY_DIALECT
def test_without_comments_a_late_failure_has_a_status_of_its_own(run: Run, gateway: Start, dialect: Dialect) -> None:
    async def story() -> Reply:
        async with (
            FakeProvider(name="a", default=CloseEarly(delay_s=SILENCE_S)) as a,
            gateway(a, server=OFF, retry={"max_attempts": 1}) as running,
        ):
            return (await ask(running, dialect))[0]

    assert run(story()).status == 502
