"""The target dies after content has reached the caller: one call, an honest end, nothing replayed, nothing faked."""

from typing import Any

import pytest

from pointsman.domain.request import Dialect
from pointsman.testing import Answer, Chat, Events, FakeProvider, Json, chat, messages, responses, stream_of
from pointsman.testing.wire import Reply, Wire, chat_request
from tests.integration.callers import CHAT, DONE, MESSAGES, RESPONSES, ask, ask_all, asks, events, tally

# the machinery is the same: the other dialects show their own signs only
CALLERS = {CHAT: 1_000, RESPONSES: 200, MESSAGES: 200}
TEXTS = ("one ", "two ", "thrée ")
HALF_AN_EVENT = b'data: {"choices":[{"delta":{"con'
NAMED_ERROR = b'event: error\ndata: {"error": {"message": "overloaded"}}\n\n'

BEGINNING = {dialect: stream_of(*TEXTS, then="cut", dialect=dialect).events for dialect in CALLERS}
SSE = {CHAT: chat.sse, RESPONSES: responses.sse, MESSAGES: messages.sse}
PREFIX = {
    dialect: b"".join(SSE[dialect](event) for event in events_ if not isinstance(event, bytes))
    for dialect, events_ in BEGINNING.items()
}
ERROR = {CHAT: chat.error, RESPONSES: chat.error, MESSAGES: messages.error}
MORE = {
    CHAT: chat.chunk(chat.text_delta("more")),
    RESPONSES: responses.text_delta("more"),
    MESSAGES: messages.text_delta("more"),
}
ERROR_EVENT = {
    CHAT: b'data: {"error":{',
    RESPONSES: b'event: response.failed\ndata: {"type":"response.failed","sequence_number":',
    MESSAGES: b'event: error\ndata: {"type":"error","error":{',
}
TERMINATOR = {CHAT: DONE, RESPONSES: b"event: response.completed\n", MESSAGES: messages.STOP}
AFTER_ERROR = {CHAT: DONE, RESPONSES: b"", MESSAGES: b""}
SUCCESS = {"message_delta", "message_stop", "response.completed", "response.incomplete"}


def deaths(dialect: Dialect) -> dict[str, Answer]:
    """How a stream can end wrongly after content."""
    beginning = BEGINNING[dialect]
    found: dict[str, Answer] = {
        "fin": Events(beginning, then="cut"),
        "rst": Events(beginning, then="reset"),
        "fin_inside_an_event": Events((*beginning, HALF_AN_EVENT), then="cut"),
        "in_band_error": Events((*beginning, ERROR[dialect](500, "out of order"))),
        "in_band_error_without_done": Events((*beginning, ERROR[dialect](500, "out of order")), then="end"),
        "named_error_event": Events((*beginning, NAMED_ERROR)),
        "malformed_event": Events((*beginning, HALF_AN_EVENT + b"\n\n", MORE[dialect])),
        "no_terminator": Events(beginning, then="end"),
    }
    if dialect is CHAT:
        found["error_as_finish_reason"] = Events((*beginning, chat.chunk({}, finish_reason="error")))
    if dialect is RESPONSES:
        found["failed_event"] = Events((*beginning, responses.failed("server_error", "out of order")), then="end")
    return found


EVERY_DEATH = pytest.mark.parametrize(
    ("dialect", "answer"),
    [
        pytest.param(dialect, answer, id=f"{dialect}-{name}")
        for dialect in CALLERS
        for name, answer in deaths(dialect).items()
    ],
)
EVERY_DIALECT = pytest.mark.parametrize("dialect", CALLERS)


def assert_honest_end(reply: Reply, dialect: Dialect = CHAT) -> None:
    """The beginning unchanged, one error event, the terminator, and nothing that looks like success."""
    prefix, last = PREFIX[dialect], AFTER_ERROR[dialect]
    if not (reply.status == 200 and reply.body.startswith(prefix) and reply.body.endswith(last)):
        raise AssertionError(reply)
    error_event = reply.body[len(prefix) :].removesuffix(last)
    if not (error_event.startswith(ERROR_EVENT[dialect]) and error_event.count(b"\n\n") == 1):
        raise AssertionError(reply)
    if any(choice["finish_reason"] for event in events(reply) for choice in event.get("choices", ())):
        raise AssertionError(reply)
    if any(event.get("type") in SUCCESS for event in events(reply)):
        raise AssertionError(reply)


@pytest.mark.bug("E-04", "E-05", "E-11", "E-12", "E-16")
@pytest.mark.case("T07", "T28", "I1", "I12")
@EVERY_DEATH
def test_a_stream_that_dies_after_content_ends_honestly_and_is_never_replayed(
    run: Any, gateway: Any, dialect: Dialect, answer: Answer
) -> None:
    callers = CALLERS[dialect]

    async def scenario() -> list[dict[str, Any]]:
        async with (
            FakeProvider(name="a", default=answer) as a,
            FakeProvider(name="b", default=answer) as b,
            gateway(a, b) as gw,
        ):
            # both are paused after three faults each: then every request is sent to the least bad one, and only there
            requests = asks(callers, stream=True, dialect=dialect)
            replies = await ask_all(gw.base_url, requests)  # over kept connections: the end is clean

            for reply in replies:
                assert_honest_end(reply, dialect)
            assert len(a.log) + len(b.log) == callers
            records: list[dict[str, Any]] = await gw.records()
            return records

    records = run(scenario())

    assert len(records) == callers
    assert {record["reason"] for record in records} == {"response_started"}
    attempts = [attempt for record in records for attempt in record["attempts"]]
    assert {(each["outcome_class"], each["committed"]) for each in attempts} == {("broken_stream", True)}


@pytest.mark.bug("E-04", "F-04", "P-11")
@pytest.mark.case("T09", "T28")
@EVERY_DIALECT
def test_a_stream_that_stalls_after_content_ends_honestly_at_the_idle_limit(
    run: Any, gateway: Any, dialect: Dialect
) -> None:
    answer = Events(BEGINNING[dialect], then="stall")

    async def scenario() -> list[dict[str, Any]]:
        async with (
            FakeProvider(name="a", default=answer) as a,
            FakeProvider(name="b", default=answer) as b,
            gateway(a, b, timeouts={"idle": "200ms"}) as gw,
        ):
            requests = asks(200, stream=True, dialect=dialect)
            replies = await ask_all(gw.base_url, requests, concurrency=100)  # each costs an idle limit

            for reply in replies:
                assert_honest_end(reply, dialect)
            assert len(a.log) + len(b.log) == 200
            await gw.quiet()
            await a.until(lambda: a.open_connections == 0)
            records: list[dict[str, Any]] = await gw.records()
            return records

    records = run(scenario())

    attempts = [attempt for record in records for attempt in record["attempts"]]
    assert {attempt["detail"] for attempt in attempts} == {"timeout_idle"}
    assert max(attempt["duration_s"] for attempt in attempts) <= 0.2 + 0.25 + 0.1  # the last: both ends on one loop


@pytest.mark.bug("E-04")
@EVERY_DEATH
def test_the_next_request_on_the_same_connection_is_not_affected(
    run: Any, gateway: Any, dialect: Dialect, answer: Answer
) -> None:
    async def scenario() -> list[Reply]:
        async with FakeProvider(name="a", default=Chat("fine")) as a, gateway(a) as gw:
            a.script(answer)
            return await ask_all(gw.base_url, asks(2, stream=True, dialect=dialect), concurrency=1)

    broken, fine = run(scenario())

    assert_honest_end(broken, dialect)
    assert tally([fine]) == {(200, "fine"): 1}
    assert TERMINATOR[dialect] in fine.body


@pytest.mark.bug("E-05")
@pytest.mark.parametrize(("dialect", "type_"), [(CHAT, "server_error"), (MESSAGES, "api_error")])
def test_the_error_event_keeps_the_providers_words(run: Any, gateway: Any, dialect: Dialect, type_: str) -> None:
    async def scenario() -> Reply:
        async with FakeProvider(name="a", default=deaths(dialect)["in_band_error"]) as a, gateway(a) as gw:
            return await ask(gw.base_url, asks(1, stream=True, dialect=dialect)[0])

    reply = run(scenario())

    (error,) = [event["error"] for event in events(reply) if "error" in event]
    assert (error["message"], error["type"]) == ("out of order", type_)


@pytest.mark.parametrize("dialect", [CHAT, MESSAGES])  # Responses tell the end in the terminator only
def test_a_lenient_provider_may_end_a_stream_without_its_terminator(run: Any, gateway: Any, dialect: Dialect) -> None:
    async def scenario() -> Reply:
        async with (
            FakeProvider(name="a", default=stream_of("hi", then="end", dialect=dialect)) as a,
            gateway(a, provider_fields={"a": {"terminator": "lenient"}}) as gw,
        ):
            return await ask(gw.base_url, asks(1, stream=True, dialect=dialect)[0])

    reply = run(scenario())

    assert tally([reply]) == {(200, "hi"): 1}
    assert reply.body.endswith(TERMINATOR[dialect])


@pytest.mark.case("T29")
@EVERY_DIALECT
def test_nothing_is_sent_before_the_first_content(run: Any, gateway: Any, dialect: Dialect) -> None:
    answer = stream_of(then="stall", dialect=dialect)

    async def scenario() -> bool:
        async with FakeProvider(name="a", default=answer) as a, gateway(a) as gw, await Wire.open(gw.base_url) as wire:
            wire.send(asks(1, stream=True, dialect=dialect)[0])
            await a.until(lambda: len(a.log) == 1)
            return await wire.is_silent(0.1)

    assert run(scenario())


@pytest.mark.bug("B-12")
@pytest.mark.parametrize("stream", [False, True], ids=["unary", "streamed"])
def test_a_refusal_of_the_request_itself_reaches_the_caller_in_the_providers_words(
    run: Any, gateway: Any, stream: bool
) -> None:
    error = {"type": "invalid_request_error", "param": "messages", "code": "context_length_exceeded"}
    said = {"error": {"message": "too long", **error}}

    async def scenario() -> tuple[Reply, int]:
        async with FakeProvider(name="a", default=Json(400, said)) as a, FakeProvider(name="b") as b:
            async with gateway(a, b) as gw:
                return await ask(gw.base_url, chat_request("chat", stream=stream)), len(b.log)

    reply, calls_of_b = run(scenario())

    assert (reply.status, reply.json(), calls_of_b) == (400, said, 0)
    assert reply.header("x-should-retry") == b"false"
