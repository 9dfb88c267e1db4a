"""Callers of each dialect, and targets that speak only another one: over real sockets."""

from collections.abc import Iterator
from typing import Any

import pytest

from pointsman.dialects.bridges.bridge import BRIDGES
from pointsman.domain.outcome import Usage
from pointsman.domain.request import Dialect
from pointsman.testing import (
    Answer,
    Chat,
    Events,
    FakeProvider,
    Json,
    Status,
    ToolCall,
    chat,
    messages,
    responses,
    stream_of,
)
from pointsman.testing.wire import Reply, Wire, messages_request
from tests.integration.callers import CHAT, DONE, MESSAGES, REQUEST, RESPONSES, ask, events, text_of
from tests.integration.harness import group
from tests.integration.test_after_content import AFTER_ERROR, ERROR_EVENT, SUCCESS, TERMINATOR, deaths
from tests.integration.world import World

PAIRS = tuple(BRIDGES)  # of a caller's dialect and a target's
PATH = {CHAT: "/v1/chat/completions", MESSAGES: "/v1/messages", RESPONSES: "/v1/responses"}
SPEAKS = {
    dialect: {
        name: {"dialects": [str(dialect)], "models": {f"m-{name}": {"price": {"input": 1, "output": 2}}}}
        for name in "ab"
    }
    for dialect in PATH
}
CLAUDE = {"a": {"kind": "anthropic", "api_key": "sk-ours"}}
EVERY_PAIR = pytest.mark.parametrize(("asked", "spoken"), PAIRS)
EVERY_MODE = pytest.mark.parametrize("stream", [False, True], ids=["unary", "stream"])
CALL = {CHAT: b'"tool_calls"', MESSAGES: b'"tool_use"', RESPONSES: b'"function_call"'}
WEATHER = ToolCall("get_weather", '{"city": "Oslo"}')
USAGE = Usage(input_tokens=100, output_tokens=20, cached_tokens=60)


@pytest.fixture(scope="module", params=PAIRS, ids="-".join)
def abroad(request: pytest.FixtureRequest) -> Iterator[tuple[Dialect, Dialect, World]]:
    """A caller's dialect, that of the one target, and a gateway between them."""
    asked, spoken = request.param
    with World(provider_fields=SPEAKS[spoken]) as world:
        yield asked, spoken, world


@pytest.fixture(scope="module")
def to_claude() -> Iterator[World]:
    """A target of Anthropic's own."""
    with World(provider_fields=CLAUDE) as world:
        yield world


def made(asked: Dialect, *, stream: bool = False, **fields: Any) -> bytes:
    return REQUEST[asked]("chat", stream=stream, **fields)


# --- answers


@EVERY_MODE
def test_an_answer_is_the_callers_and_the_tokens_are_the_providers(
    abroad: tuple[Dialect, Dialect, World], stream: bool
) -> None:
    asked, spoken, world = abroad

    reply = world.exchange(made(asked, stream=stream), Chat("one two three", usage=USAGE))

    assert (reply.status, text_of(reply), world.a.log[-1].path) == (200, "one two three", PATH[spoken])
    assert world.a.log[-1].json()["model"] == "m-a"
    assert reply.header("x-pointsman-target") == b"a/m-a"


@EVERY_MODE
def test_a_call_of_a_tool_is_the_callers(abroad: tuple[Dialect, Dialect, World], stream: bool) -> None:
    asked, _, world = abroad

    reply = world.exchange(made(asked, stream=stream), Chat("", tool_calls=(WEATHER,)))

    assert b'"get_weather"' in reply.body
    assert CALL[asked] in reply.body


@pytest.mark.bug("E-08")
@pytest.mark.parametrize("wants", [False, True])
def test_usage_ends_a_stream_of_chat_only_if_it_is_asked_for(to_claude: World, wants: bool) -> None:
    options = {"stream_options": {"include_usage": True}} if wants else {}

    reply = to_claude.exchange(made(CHAT, stream=True, **options), Chat("so", usage=USAGE))

    assert [event["usage"]["prompt_tokens"] for event in events(reply) if "usage" in event] == [100] * wants
    assert reply.body.endswith(DONE)


def test_provider_gets_its_own_headers_and_none_that_belong_to_the_callers_dialect(to_claude: World) -> None:
    headers = (("openai-beta", "a=1"), ("authorization", "Bearer callers-own"), ("traceparent", "00-1-2-01"))

    to_claude.exchange(made(CHAT, headers=headers))

    received = {name.decode(): value.decode() for name, value in to_claude.a.log[-1].headers}
    del received["host"], received["content-length"]
    assert received == {
        "content-type": "application/json",
        "accept": "application/json",
        "accept-encoding": "identity",
        "x-api-key": "sk-ours",
        "anthropic-version": "2023-06-01",
        "traceparent": "00-1-2-01",
    }


@pytest.mark.req("O-060")
def test_tokens_are_estimated_for_targets_that_cannot_be_asked_in_this_dialect() -> None:
    with World(provider_fields=SPEAKS[CHAT]) as world:
        reply = world.exchange(messages_request("chat", path="/v1/messages/count_tokens"))

        assert (reply.status, reply.header("x-pointsman-reason")) == (200, b"estimated")
        assert world.a.log == []


# --- what was counted


@EVERY_PAIR
@EVERY_MODE
@pytest.mark.bug("H-02", "H-05")
def test_the_record_has_what_the_provider_counted(
    run: Any, gateway: Any, asked: Dialect, spoken: Dialect, stream: bool
) -> None:
    async def scenario() -> list[dict[str, Any]]:
        async with (
            FakeProvider(name="a", default=Chat("so", usage=USAGE)) as a,
            gateway(a, provider_fields={"a": SPEAKS[spoken]["a"]}) as gw,
        ):
            await ask(gw.base_url, made(asked, stream=stream))
            a.default = Chat("so", usage=None)
            await ask(gw.base_url, made(asked, stream=stream))
            records: list[dict[str, Any]] = await gw.records()
            return records

    counted, uncounted = run(scenario())

    usage = counted["usage"]
    assert (usage["input_tokens"], usage["output_tokens"], usage["cached_tokens"]) == (100, 20, 60)
    assert counted["cost_usd"] == pytest.approx((100 * 1 + 20 * 2) / 1e6)
    assert uncounted["cost_usd"] is None


# --- failures


BEFORE: dict[str, Answer] = {
    "status": Status(500),
    "rate_limit": Status(429),
    "not_a_stream": Json(200, {"what": "is this"}),
}


@EVERY_PAIR
@EVERY_MODE
@pytest.mark.parametrize("answer", BEFORE.values(), ids=BEFORE)
def test_a_failure_before_content_goes_to_the_next_target_of_any_dialect(
    run: Any, gateway: Any, asked: Dialect, spoken: Dialect, stream: bool, answer: Answer
) -> None:
    fields = {"a": SPEAKS[spoken]["a"], "b": SPEAKS[asked]["b"]}

    async def scenario() -> Reply:
        async with (
            FakeProvider(name="a", default=answer) as a,
            FakeProvider(name="b", default=Chat("from b")) as b,
            gateway(a, b, provider_fields=fields) as gw,
        ):
            return await ask(gw.base_url, made(asked, stream=stream))

    reply = run(scenario())

    assert (reply.status, text_of(reply), reply.header("x-pointsman-attempts")) == (200, "from b", b"2")


BEGINS = {CHAT: b'"role"', MESSAGES: b"event: message_start", RESPONSES: b"event: response.created"}
OPENING: dict[Dialect, tuple[Any, ...]] = {
    CHAT: (chat.chunk(chat.role_delta()),),
    MESSAGES: (messages.message_start(), messages.ping(), messages.block_start(messages.text_block(""))),
    RESPONSES: tuple(responses.numbered((*responses.created(), *responses.text_begin()))),
}
FAILED = {
    CHAT: chat.error(529, "busy"),
    MESSAGES: messages.error(529, "busy"),
    RESPONSES: responses.failed("server_error", "busy"),
}


@EVERY_PAIR
@pytest.mark.bug("E-05", "E-06", "E-16")
@pytest.mark.parametrize("how", ["error", "malformed", "end", "cut"])
def test_a_stream_that_has_only_begun_is_never_seen(
    run: Any, gateway: Any, asked: Dialect, spoken: Dialect, how: str
) -> None:
    last = {"error": (FAILED[spoken],), "malformed": (b'data: {"choices":[{"de\n\n',)}.get(how, ())
    fails = Events((*OPENING[spoken], *last), then=how if how in {"end", "cut"} else "done")

    async def scenario() -> Reply:
        async with (
            FakeProvider(name="a", default=fails) as a,
            FakeProvider(name="b", default=Chat("from b")) as b,
            gateway(a, b, provider_fields=SPEAKS[spoken]) as gw,
        ):
            return await ask(gw.base_url, made(asked, stream=True))

    reply = run(scenario())

    assert (reply.status, text_of(reply), reply.header("x-pointsman-attempts")) == (200, "from b", b"2")
    assert reply.body.count(BEGINS[asked]) == 1


EVERY_DEATH = pytest.mark.parametrize(
    ("asked", "spoken", "answer"),
    [
        pytest.param(asked, spoken, answer, id=f"{asked}-{spoken}-{name}")
        for asked, spoken in PAIRS
        for name, answer in deaths(spoken).items()
    ],
)


@EVERY_DEATH
@pytest.mark.req("D-063")
@pytest.mark.bug("E-04", "E-05", "E-12", "E-16")
@pytest.mark.case("T07", "I12")
def test_a_stream_that_dies_after_content_ends_with_an_error_of_the_callers(
    run: Any, gateway: Any, asked: Dialect, spoken: Dialect, answer: Answer
) -> None:
    async def scenario() -> tuple[Reply, list[dict[str, Any]], int]:
        async with (
            FakeProvider(name="a", default=answer) as a,
            FakeProvider(name="b", default=Chat("from b")) as b,
            gateway(a, b, provider_fields=SPEAKS[spoken]) as gw,
        ):
            reply = await ask(gw.base_url, made(asked, stream=True))
            return reply, await gw.records(), len(b.log)

    reply, (found,), others = run(scenario())

    assert (reply.status, others, found["attempts"][0]["outcome_class"]) == (200, 0, "broken_stream")
    assert "one two thrée " in text_of(reply)
    last = reply.body.removesuffix(AFTER_ERROR[asked]).rstrip().rpartition(b"\n\n")[2]
    assert last.startswith(ERROR_EVENT[asked])
    assert not any(event.get("type") in SUCCESS for event in events(reply))
    numbers = [event["sequence_number"] for event in events(reply) if "sequence_number" in event]
    assert numbers == list(range(len(numbers)))
    assert not any(choice["finish_reason"] for event in events(reply) for choice in event.get("choices", ()))


@pytest.mark.parametrize(("asked", "spoken"), [pair for pair in PAIRS if pair[1] is not RESPONSES])
@pytest.mark.bug("E-04")
def test_where_a_finish_is_enough_a_stream_without_a_terminator_is_whole(
    run: Any, gateway: Any, asked: Dialect, spoken: Dialect
) -> None:
    fields = {"a": {**SPEAKS[spoken]["a"], "terminator": "lenient"}}

    async def scenario() -> Reply:
        answer = stream_of("so", then="end", dialect=spoken)
        async with FakeProvider(name="a", default=answer) as a, gateway(a, provider_fields=fields) as gw:
            return await ask(gw.base_url, made(asked, stream=True))

    reply = run(scenario())

    assert (reply.status, text_of(reply)) == (200, "so")
    assert TERMINATOR[asked] in reply.body
    assert not any(event.get("error") for event in events(reply))


@EVERY_MODE
def test_what_a_provider_refuses_is_told_in_the_callers_dialect(
    abroad: tuple[Dialect, Dialect, World], stream: bool
) -> None:
    asked, _, world = abroad

    reply = world.exchange(made(asked, stream=stream), Status(400, error="that is no picture"))

    error = reply.json()["error"]
    assert (reply.status, error["message"], error["type"]) == (400, "that is no picture", "invalid_request_error")
    assert reply.json().get("type") == ("error" if asked is MESSAGES else None)


@EVERY_PAIR
@pytest.mark.bug("E-13")
def test_each_event_is_on_its_way_before_the_next_has_come(
    run: Any, gateway: Any, asked: Dialect, spoken: Dialect
) -> None:
    async def scenario() -> bytes:
        answer = stream_of("one ", "two ", then="stall", dialect=spoken)
        async with (
            FakeProvider(name="a", default=answer) as a,
            gateway(a, provider_fields={"a": SPEAKS[spoken]["a"]}) as gw,
            await Wire.open(gw.base_url) as wire,
        ):
            wire.send(made(asked, stream=True))
            count = 0
            while b"two " not in (got := await wire.received_bytes(count)):
                count = len(got) + 1
            return got

    assert b"one " in run(scenario())


# --- Responses


def test_a_response_over_a_bridge_says_that_nobody_keeps_it_and_what_was_asked_for() -> None:
    with World(provider_fields=SPEAKS[CHAT]) as world:
        reply = world.exchange(made(RESPONSES, store=True, metadata={"k": "v"}, tool_choice="none"), Chat("so"))

        answer = reply.json()
        assert (answer["object"], answer["status"], answer["store"]) == ("response", "completed", False)
        assert (answer["metadata"], answer["tool_choice"]) == ({"k": "v"}, "none")
        assert "store" not in world.a.log[-1].json()


@pytest.mark.bug("D-03")
@pytest.mark.parametrize("field", ["previous_response_id", "conversation"])
def test_what_a_provider_keeps_is_never_left_out(run: Any, gateway: Any, field: str) -> None:
    async def scenario() -> tuple[Reply, int]:
        async with FakeProvider(name="a") as a:
            groups = {"chat": group(a, drop_params="warn")}
            async with gateway(a, groups=groups, provider_fields={"a": SPEAKS[CHAT]["a"]}) as gw:
                return await ask(gw.base_url, made(RESPONSES, **{field: "kept_1"})), len(a.log)

    reply, sent = run(scenario())

    assert (reply.status, sent) == (400, 0)
    assert f"not carried: {field})" in reply.json()["error"]["message"]


@pytest.mark.parametrize("spoken", [CHAT, MESSAGES])
def test_what_codex_sends_is_carried_and_its_patch_comes_back_as_a_text(spoken: Dialect) -> None:
    codex = {
        "instructions": "You are a coding agent.",
        "input": [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hi"}]}],
        "tools": [
            {"type": "function", "name": "shell", "strict": False, "parameters": {"type": "object", "properties": {}}},
            {"type": "custom", "name": "apply_patch", "description": "Edit.",
             "format": {"type": "grammar", "syntax": "lark", "definition": "start: /.+/"}},
        ],
        "tool_choice": "auto", "parallel_tool_calls": False, "reasoning": {"effort": "medium", "summary": "auto"},
        "store": False, "include": ["reasoning.encrypted_content"], "prompt_cache_key": "k", "client_metadata": {},
    }  # fmt: skip
    patch = ToolCall("apply_patch", '{"input": "*** Begin\\n"}', "call_1")
    with World(provider_fields=SPEAKS[spoken]) as world:
        reply = world.exchange(made(RESPONSES, stream=True, **codex), Chat("", tool_calls=(patch,)))

    done = [event["item"] for event in events(reply) if event["type"] == "response.output_item.done"]
    assert [(item["type"], item["name"], item["call_id"], item["input"]) for item in done] == [
        ("custom_tool_call", "apply_patch", "call_1", "*** Begin\n")
    ]
    assert events(reply)[-1]["type"] == "response.completed"


# --- what is not carried


def test_a_parameter_without_a_place_is_refused_by_its_name(abroad: tuple[Dialect, Dialect, World]) -> None:
    asked, _, world = abroad
    sent = len(world.a.log)

    reply = world.exchange(made(asked, what_comes_next=7))

    message = reply.json()["error"]["message"]
    assert (reply.status, len(world.a.log)) == (400, sent)
    assert "a/m-a: its provider speaks another dialect, which cannot carry all of the request" in message
    assert "not carried: what_comes_next)" in message


@EVERY_PAIR
def test_a_target_that_speaks_the_dialect_takes_what_others_cannot(
    run: Any, gateway: Any, asked: Dialect, spoken: Dialect
) -> None:
    fields = {"a": SPEAKS[spoken]["a"], "b": SPEAKS[asked]["b"]}

    async def scenario() -> list[dict[str, Any]]:
        async with (
            FakeProvider(name="a") as a,
            FakeProvider(name="b") as b,
            gateway(a, b, provider_fields=fields) as gw,
        ):
            await ask(gw.base_url, made(asked, what_comes_next=7))
            await ask(gw.base_url, made(asked))
            assert (len(a.log), len(b.log)) == (1, 1)
            records: list[dict[str, Any]] = await gw.records()
            return records

    odd, plain = run(scenario())

    assert odd["decisions"][0]["excluded"] == {"a/m-a": "not_carried"}
    assert plain["decisions"][0]["excluded"] == {}


@EVERY_MODE
def test_a_group_may_leave_parameters_out_and_says_so(run: Any, gateway: Any, stream: bool) -> None:
    async def scenario() -> tuple[Reply, Reply, Reply]:
        async with FakeProvider(name="a", default=Chat("ok")) as a:
            groups = {"chat": group(a, drop_params="warn")}
            async with gateway(a, groups=groups, provider_fields={"a": SPEAKS[MESSAGES]["a"]}) as gw:
                odd = {"seed": 7, "x\r\nset-cookie: a=b": 1}
                dropped = await ask(gw.base_url, made(CHAT, stream=stream, **odd))
                whole = await ask(gw.base_url, made(CHAT, stream=stream))
                custom = await ask(gw.base_url, made(CHAT, stream=stream, tools=[{"type": "custom"}]))
                assert "seed" not in a.log[0].json()
                return dropped, whole, custom

    dropped, whole, custom = run(scenario())

    assert (dropped.status, dropped.header("x-pointsman-dropped")) == (200, b"seed,x??set-cookie: a=b")
    assert dropped.header("set-cookie") is None
    assert (whole.status, whole.header("x-pointsman-dropped")) == (200, None)
    assert custom.status == 400


def test_who_takes_over_and_speaks_the_dialect_gets_every_parameter(run: Any, gateway: Any) -> None:
    fields = {"a": SPEAKS[MESSAGES]["a"], "b": SPEAKS[CHAT]["b"]}

    async def scenario() -> tuple[Reply, Any]:
        async with FakeProvider(name="a", default=Status(500)) as a, FakeProvider(name="b", default=Chat("b")) as b:
            groups = {"chat": group(a, b, drop_params="warn")}
            async with gateway(a, b, groups=groups, provider_fields=fields) as gw:
                return await ask(gw.base_url, made(CHAT, seed=7)), b.log[-1].json()["seed"]

    reply, seed = run(scenario())

    assert (text_of(reply), seed, reply.header("x-pointsman-dropped")) == ("b", 7, None)


def test_a_group_that_the_request_names_itself_is_reached_over_a_bridge(run: Any, gateway: Any) -> None:
    fields = {"a": SPEAKS[CHAT]["a"], "b": SPEAKS[MESSAGES]["b"]}

    async def scenario() -> tuple[Reply, Reply]:
        async with FakeProvider(name="a", default=Status(500)) as a, FakeProvider(name="b", default=Chat("b")) as b:
            groups = {"chat": group(a), "other": group(b)}
            async with gateway(a, b, groups=groups, provider_fields=fields) as gw:
                carried = await ask(gw.base_url, made(CHAT, models=["other"]))
                refused = await ask(gw.base_url, made(CHAT, models=["other"], seed=7))
                return carried, refused

    carried, refused = run(scenario())

    assert (carried.status, text_of(carried)) == (200, "b")
    assert refused.status == 502
