"""What a request may say about who serves it, and who can serve it at all: over real sockets."""

from collections.abc import Mapping
from typing import Any

import msgspec
import pytest

from pointsman.domain.request import Dialect
from pointsman.testing import Chat, FakeProvider, Status, keys
from pointsman.testing.wire import Reply, chat_request, embeddings_request
from tests.integration.callers import REQUEST, ask, text_of
from tests.integration.harness import group

A, B = Chat("from a"), Chat("from b")
IMAGE = [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "http://x"}}]}]


def served(run: Any, gateway: Any, *requests: bytes, **options: Any) -> list[Reply]:
    """Each request against a gateway with the providers a and b, whose names their answers tell."""

    async def scenario() -> list[Reply]:
        async with (
            FakeProvider(name="a", default=options.pop("first", A)) as a,
            FakeProvider(name="b", default=options.pop("second", B)) as b,
            gateway(a, b, **options) as gw,
        ):
            return [await ask(gw.base_url, request) for request in requests]

    replies: list[Reply] = run(scenario())
    return replies


def both(strategy: str) -> dict[str, object]:
    return {"chat": {"strategy": strategy, "targets": [{"model": "a/m-a"}, {"model": "b/m-b"}]}}


@pytest.mark.req("C-14")
@pytest.mark.parametrize("dialect", list(REQUEST))
@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    "provider", [{"order": ["b"]}, {"only": ["b"]}, {"ignore": ["a/m-a"]}, {"order": ["b"], "allow_fallbacks": False}]
)
def test_request_is_served_by_whom_it_names(
    run: Any, gateway: Any, dialect: Dialect, stream: bool, provider: Mapping[str, Any]
) -> None:
    (reply,) = served(run, gateway, REQUEST[dialect]("chat", stream=stream, provider=provider))

    assert (reply.status, text_of(reply)) == (200, "from b")


@pytest.mark.bug("A-18")
@pytest.mark.parametrize("request_of", [*REQUEST.values(), embeddings_request])
def test_provider_object_never_reaches_a_provider(run: Any, gateway: Any, request_of: Any) -> None:
    async def scenario() -> list[dict[str, Any]]:
        async with FakeProvider(name="a") as a, gateway(a) as gw:
            await ask(gw.base_url, request_of("chat", provider={"only": ["a"]}, models=["chat"], top_p=1))
            return [msgspec.json.decode(received.body) for received in a.log]

    (sent,) = run(scenario())

    assert sent.keys().isdisjoint({"provider", "models"})
    assert sent["top_p"] == 1


def test_preferences_fail_closed_with_every_target_and_its_rule(run: Any, gateway: Any) -> None:
    (reply,) = served(run, gateway, chat_request("chat", provider={"zdr": True, "ignore": ["b"]}))

    error = reply.json()["error"]
    assert (reply.status, error["code"]) == (400, "no_eligible_target")
    assert "a/m-a: it keeps data, or that is not known" in error["message"]
    assert "b/m-b: the request rules its provider out" in error["message"]


def test_promise_of_a_provider_lets_it_serve(run: Any, gateway: Any) -> None:
    promises = {"b": {"data": {"zdr": True, "training": False}}}
    wanted = {"zdr": True, "data_collection": "deny"}

    (reply,) = served(run, gateway, chat_request("chat", provider=wanted), provider_fields=promises)

    assert text_of(reply) == "from b"


def test_unknown_preference_is_refused(run: Any, gateway: Any) -> None:
    (reply,) = served(run, gateway, chat_request("chat", provider={"ordr": ["a"]}))

    assert (reply.status, reply.json()["error"]["param"]) == (400, "provider")
    assert "ordr" in reply.json()["error"]["message"]


@pytest.mark.bug("C-10")
@pytest.mark.parametrize("request_", [chat_request("chat:floor"), chat_request("chat", provider={"sort": "price"})])
def test_cheapest_serves_where_the_request_wants_it(run: Any, gateway: Any, request_: bytes) -> None:
    prices = {"overrides": {"a/m-a": {"input": 5, "output": 5}, "b/m-b": {"input": 1, "output": 1}}}

    (reply,) = served(run, gateway, request_, prices=prices)

    assert (text_of(reply), reply.header("x-pointsman-mode")) == ("from b", b"cost")


@pytest.mark.parametrize(
    ("request_", "mode"),
    [
        (chat_request("chat:nitro", stream=True), b"throughput"),
        (chat_request("chat", stream=True, provider={"sort": "throughput"}), b"throughput"),
        (chat_request("chat", stream=True, provider={"sort": "latency"}), b"latency"),
        (chat_request("chat", provider={"sort": {"by": "latency", "partition": "model"}}), b"latency"),
    ],
)
def test_fastest_serves_where_the_request_wants_it_though_the_group_takes_turns(
    run: Any, gateway: Any, request_: bytes, mode: bytes
) -> None:
    """It is measured from the first such request on; the plain requests after it teach, too."""
    plain = chat_request("chat", stream=b'"stream":true' in request_)
    requests = [request_, *[plain] * 40, *[request_] * 10]
    slow = Chat("from a " + "word " * 20, delay_s=0.02, gap_s=0.002)
    quick = Chat("from b " + "word " * 20)

    replies = served(run, gateway, *requests, first=slow, second=quick, groups=both("round_robin"))

    assert {reply.header("x-pointsman-mode") for reply in replies[1:41]} == {b"round_robin"}
    served_by = {(text_of(reply)[:6], reply.header("x-pointsman-mode")) for reply in replies[-10:]}
    assert served_by == {("from b", mode)}


@pytest.mark.req("O-001")
@pytest.mark.parametrize("wish", [{"order": ["a"]}, *[{"sort": sort} for sort in ("price", "latency", "throughput")]])
def test_market_is_left_out_when_the_request_says_who_serves(run: Any, gateway: Any, wish: dict[str, Any]) -> None:
    requests = chat_request("chat"), chat_request("chat", provider=wish)

    left_to_us, chosen = served(run, gateway, *requests, groups=both("market"))

    assert left_to_us.header("x-pointsman-mode") == b"market"
    assert chosen.header("x-pointsman-mode") in (b"failover", b"cost", b"latency", b"throughput")


@pytest.mark.parametrize(
    "headers",
    [(("x-pointsman-target", "b"),), (("x-pointsman-exclude", "a"),), (("x-pointsman-max-price", "2,2"),)],
)
def test_headers_narrow_who_serves(run: Any, gateway: Any, headers: tuple[tuple[str, str], ...]) -> None:
    prices = {"overrides": {"b/m-b": {"input": 1, "output": 1}}}

    (reply,) = served(run, gateway, chat_request("chat", headers=headers), prices=prices)

    assert text_of(reply) == "from b"


def test_header_and_body_hold_together(run: Any, gateway: Any) -> None:
    headers = (("x-pointsman-target", "b"),)

    (reply,) = served(run, gateway, chat_request("chat", headers=headers, provider={"only": ["a"]}))

    assert reply.status == 400


# --- keys


def test_limits_of_a_key_cannot_be_widened(run: Any, gateway: Any) -> None:
    auth = keys.section(keys.declaration("pm_k", name="k", providers=["b"], scopes=["chat", "explain"]))
    bearer = (("authorization", "Bearer pm_k"),)
    requests = [chat_request("chat", headers=bearer, **more) for more in ({}, {"provider": {"only": ["a"]}})]

    free, widened = served(run, gateway, *requests, auth=auth)

    assert text_of(free) == "from b"
    assert widened.status == 400
    assert "a/m-a: the policy of the caller's key does not allow it" in widened.json()["error"]["message"]


def test_naming_targets_needs_a_scope_and_a_single_target_a_key_that_lists_it(run: Any, gateway: Any) -> None:
    auth = keys.section(
        keys.declaration("pm_plain", name="plain"), keys.declaration("pm_direct", name="direct", models=["b/any"])
    )
    plain, direct = (("authorization", "Bearer pm_plain"),), (("authorization", "Bearer pm_direct"),)
    requests = [
        chat_request("chat", headers=(*plain, ("x-pointsman-target", "b"))),
        chat_request("b/any", headers=plain),
        chat_request("b/any", headers=direct),
        chat_request("chat", headers=direct),
    ]

    replies = served(run, gateway, *requests, auth=auth)

    assert [reply.status for reply in replies] == [403, 404, 200, 403]
    assert (text_of(replies[2]), replies[2].header("x-pointsman-model")) == ("from b", b"b/any")


# --- abilities


def abilities(**known: Any) -> dict[str, Any]:
    return {"a": {"models": {"m-a": known}}}


@pytest.mark.req("D-020", "D-021", "D-022", "D-078")
@pytest.mark.parametrize(
    ("known", "fields"),
    [
        ({"capabilities": {"tools": False}}, {"tools": [{"type": "function", "function": {"name": "f"}}]}),
        ({"capabilities": {"images": False}}, {"messages": IMAGE}),
        ({"capabilities": {"structured_output": False}}, {"response_format": {"type": "json_object"}}),
        ({"capabilities": {"reasoning": False}}, {"reasoning_effort": "high"}),
        ({"honors_max_tokens": False}, {"max_completion_tokens": 1}),
        ({"max_output": 100}, {"max_tokens": 101}),
        ({"context": 1_000}, {"messages": [{"role": "user", "content": "word " * 2_000}]}),
    ],
)
def test_target_that_cannot_serve_is_passed_over(
    run: Any, gateway: Any, known: Mapping[str, Any], fields: Mapping[str, Any]
) -> None:
    able, other = served(
        run, gateway, chat_request("chat", **fields), chat_request("chat"), provider_fields=abilities(**known)
    )

    assert (text_of(able), text_of(other)) == ("from b", "from a")


@pytest.mark.bug("B-09")
def test_rate_limit_is_told_and_not_the_window_of_a_smaller_one(run: Any, gateway: Any) -> None:
    fields = {"b": {"models": {"m-b": {"context": 1_000}}}}
    long = chat_request("chat", messages=[{"role": "user", "content": "word " * 2_000}])

    (reply,) = served(run, gateway, long, first=Status(429, retry_after=300), provider_fields=fields)

    assert (reply.status, reply.json()["error"]["code"]) == (429, "upstream_rate_limited")


# --- other groups


@pytest.mark.parametrize("stream", [False, True])
def test_fallback_serves_and_header_and_record_tell_the_group(run: Any, gateway: Any, stream: bool) -> None:
    async def scenario() -> tuple[Reply, dict[str, Any]]:
        async with (
            FakeProvider(name="a", default=Status(501)) as a,
            FakeProvider(name="b", default=B) as b,
            gateway(a, b, groups={"chat": group(a, fallbacks=["spare"]), "spare": group(b)}) as gw,
        ):
            reply = await ask(gw.base_url, chat_request("chat", stream=stream))
            return reply, (await gw.records())[0]

    reply, record = run(scenario())

    assert (reply.status, text_of(reply)) == (200, "from b")
    assert reply.header("x-pointsman-model") == b"spare"
    assert reply.header("x-pointsman-reason") == b"upstream_fault:status_501"
    assert record["group"] == "chat"
    assert [note["fallback"] for note in record["decisions"]] == [None, "spare"]


@pytest.mark.bug("A-07", "B-08")
@pytest.mark.parametrize(
    ("key", "error"),
    [
        ("context_fallbacks", {"message": "No.", "code": "context_length_exceeded"}),
        ("policy_fallbacks", {"message": "No.", "code": "content_filter"}),
    ],
)
def test_refused_request_turns_to_another_group_and_pauses_nobody(
    run: Any, gateway: Any, key: str, error: Mapping[str, Any]
) -> None:
    async def scenario() -> tuple[list[Reply], float]:
        refuses = Status(400, error=error)
        async with (
            FakeProvider(name="a", default=refuses) as a,
            FakeProvider(name="b", default=B) as b,
            gateway(a, b, groups={"chat": group(a, **{key: ["spare"]}), "spare": group(b)}) as gw,
        ):
            replies = [await ask(gw.base_url, chat_request("chat")) for _ in range(5)]
            return replies, gw.breaker("a/m-a")

    replies, breaker = run(scenario())

    assert {text_of(reply) for reply in replies} == {"from b"}
    assert breaker == 0


def test_models_are_turned_to_in_their_order_and_unknown_ones_are_told_at_once(run: Any, gateway: Any) -> None:
    async def scenario() -> list[Reply]:
        async with (
            FakeProvider(name="a", default=Status(501)) as a,
            FakeProvider(name="b", default=B) as b,
            gateway(a, b, groups={"chat": group(a), "spare": group(b)}) as gw,
        ):
            return [await ask(gw.base_url, chat_request("chat", models=models)) for models in (["spare"], ["spair"])]

    found, unknown = run(scenario())

    assert text_of(found) == "from b"
    assert unknown.status == 404
    assert "'spare'" in unknown.json()["error"]["message"]
