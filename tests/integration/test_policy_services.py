"""Policy services over real sockets: what they say is done, and no fault of theirs is a fault of a request."""

import asyncio
import time
from collections import Counter
from typing import Any

import msgspec
import pytest

from pointsman.signals.circuit import FAILURES
from pointsman.testing import Answer, FakeProvider, Hang, Json, Raw, Status, Truncated
from pointsman.testing.provider import refused_port
from pointsman.testing.wire import Reply, chat_request
from tests.integration.callers import ask, ask_all, asks
from tests.integration.harness import At, Gateway, weighted

COUNT = 12
SCORES = Json(200, {"scores": {"a/m-a": 0.1, "b/m-b": 0.9}})
FAULTS: dict[str, tuple[Answer, str]] = {
    "status 500": (Status(500), "no_answer"),
    "status 204": (Json(204, {}), "no_answer"),
    "redirect": (Json(302, {"scores": {"b/m-b": 1}}), "no_answer"),
    "silence": (Hang(), "no_answer"),
    "slow": (Json(200, {"scores": {"b/m-b": 1}}, delay_s=0.5), "no_answer"),
    "cut": (Truncated(), "no_answer"),
    "no HTTP": (Raw((b"hello\r\n\r\n",)), "no_answer"),
    "no JSON": (Status(200, body=b"<html>"), "bad_answer"),
    "no object": (Json(200, [1]), "bad_answer"),
    "neither": (Json(200, {}), "bad_answer"),
    "both": (Json(200, {"scores": {"a/m-a": 1}, "order": ["a/m-a"]}), "bad_answer"),
    "unknown target": (Json(200, {"order": ["c/m-c"]}), "bad_answer"),
    "negative": (Json(200, {"scores": {"a/m-a": -1}}), "bad_answer"),
    "NaN": (Status(200, body=b'{"scores": {"a/m-a": NaN}}'), "bad_answer"),
    "huge number": (Status(200, body=b'{"scores": {"a/m-a": 1e999}}'), "bad_answer"),
    "huge": (Status(200, body=b'{"order": [' + b" " * 300_000 + b"]}"), "bad_answer"),
    "nobody": (Json(200, {"order": []}), "no_opinion"),
}


async def served(
    gateway: Any, answer: Answer | None, count: int = COUNT, *, concurrency: int = 1, **external: object
) -> tuple[list[Reply], list[dict[str, Any]], dict[str, float], FakeProvider]:
    """Replies, records, counted questions by outcome, and the service. None: it is closed."""
    async with FakeProvider(name="a") as a, FakeProvider(name="b") as b, FakeProvider(name="policy") as policy:
        policy.default = answer or policy.default
        with refused_port() as closed:
            url = f"{closed if answer is None else policy.base_url}/decide"
            section = {"url": url, **external}
            groups = {"chat": weighted((a, b), (1, 1), strategy="external", external=section)}
            async with gateway(a, b, groups=groups) as gw:
                replies = await ask_all(gw.base_url, asks(count, stream=True), concurrency=concurrency)
                counted = questions(gw)
                return replies, await gw.records(), counted, policy


def questions(gw: Gateway) -> dict[str, float]:
    return {labels.split('"')[3]: value for labels, value in gw.samples("policy_questions_total").items()}


def first(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [record["decisions"][0] for record in records]


def test_traffic_goes_where_the_service_says_and_records_show_what_it_said(run: Any, gateway: Any) -> None:
    replies, records, counted, policy = run(served(gateway, SCORES, concurrency=4))

    assert {reply.status for reply in replies} == {200}
    assert {(note["mode"], note["picked"]) for note in first(records)} == {("external", "b/m-b")}
    assert first(records)[0]["scores"]["terms"] == {"score": [0.1, 0.9]}
    assert counted == {"ok": COUNT}
    assert policy.connections_accepted <= 4


def test_service_gets_numbers_and_names_and_neither_prompt_nor_credential(run: Any, gateway: Any) -> None:
    _, _, _, policy = run(served(gateway, SCORES, 1))

    (received,) = policy.log
    asked = received.json()
    assert [candidate["id"] for candidate in asked["candidates"]] == ["a/m-a", "b/m-b"]
    assert (asked["version"], asked["group"], asked["stream"]) == (1, "chat", True)
    assert "request" not in asked
    assert b"messages" not in received.body
    assert {name.lower() for name, _ in received.headers} == {
        b"host", b"content-type", b"accept", b"accept-encoding", b"content-length",
    }  # fmt: skip


def test_service_gets_the_request_only_if_the_file_says_so(run: Any, gateway: Any) -> None:
    _, _, _, policy = run(served(gateway, SCORES, 1, include_request=True))

    sent = asks(1, stream=True)[0].partition(b"\r\n\r\n")[2]
    assert policy.log[0].json()["request"] == msgspec.json.decode(sent)


@pytest.mark.parametrize("fault", FAULTS)
def test_fault_of_the_service_leaves_it_to_the_weights(run: Any, gateway: Any, fault: str) -> None:
    answer, reason = FAULTS[fault]

    replies, records, counted, _ = run(served(gateway, answer, 3))

    assert {reply.status for reply in replies} == {200}
    assert {(note["mode"], note["scores"]["fallback"]) for note in first(records)} == {("fallback", reason)}
    assert counted == {"ok" if reason == "no_opinion" else reason: 3}


@pytest.mark.parametrize("answer", [None, Status(500), Hang()])
def test_group_that_fails_closed_answers_503(run: Any, gateway: Any, answer: Answer | None) -> None:
    replies, records, counted, _ = run(served(gateway, answer, 2, on_error="fail_closed"))

    assert {reply.status for reply in replies} == {503}
    assert replies[0].json()["error"]["code"] == "policy_unavailable"
    assert {(record["reason"], len(record["attempts"])) for record in records} == {("policy_unavailable", 0)}
    assert {(note["picked"], note["scores"]["fallback"]) for note in first(records)} == {(None, "no_answer")}
    assert counted == {"no_answer": 2}


def test_service_that_is_down_is_not_asked_for_every_request(run: Any, gateway: Any) -> None:
    replies, records, counted, policy = run(served(gateway, Status(500)))

    assert {reply.status for reply in replies} == {200}
    assert len(policy.log) == FAILURES
    assert counted == {"no_answer": FAILURES, "circuit_open": COUNT - FAILURES}
    assert Counter(note["scores"]["fallback"] for note in first(records)) == counted


def test_closed_service_costs_no_more_than_its_budget(run: Any, gateway: Any) -> None:
    async def scenario() -> tuple[float, dict[str, float]]:
        began = time.monotonic()
        _, _, counted, _ = await served(gateway, Hang(), FAILURES, timeout="30ms")
        return time.monotonic() - began, counted

    took_s, counted = run(scenario())

    assert counted == {"no_answer": FAILURES}
    assert took_s < 3.0  # not a first_content of 60 s for any of them


def test_caller_who_leaves_while_the_service_thinks_leaves_nothing_behind(run: Any, gateway: Any) -> None:
    async def scenario() -> list[dict[str, Any]]:
        async with FakeProvider(name="a") as a, FakeProvider(name="b") as b, FakeProvider(default=Hang()) as policy:
            section = {"url": f"{policy.base_url}/decide", "timeout": "60s"}
            groups = {"chat": weighted((a, b), (1, 1), strategy="external", external=section)}
            async with gateway(a, b, groups=groups) as gw:
                caller = asyncio.create_task(ask(gw.base_url, chat_request("chat")))
                await policy.until(lambda: len(policy.log) == 1)
                caller.cancel()
                await policy.until(lambda: not policy.open_connections)
                return list(await gw.records())

    (record,) = run(scenario())

    assert (record["reason"], record["attempts"]) == ("caller_gone", [])


def test_reload_moves_the_service_and_forgets_its_failures(run: Any, gateway: Any) -> None:
    async def scenario() -> tuple[str, set[int], int]:
        async with FakeProvider(name="a") as a, FakeProvider(name="policy", default=SCORES) as policy:
            with refused_port() as closed:
                providers = a, At("b", a.base_url)

                def groups(base_url: str) -> dict[str, object]:
                    section = {"url": f"{base_url}/decide", "on_error": "fail_closed"}
                    return {"chat": weighted(providers, (1, 1), strategy="external", external=section)}

                async with gateway(*providers, groups=groups(closed)) as gw:
                    await ask_all(gw.base_url, asks(1, stream=False))
                    result = await gw.reload(models=groups(policy.base_url))
                    replies = await ask_all(gw.base_url, asks(3, stream=False), concurrency=1)
                    return result, {reply.status for reply in replies}, len(policy.log)

    assert run(scenario()) == ("ok", {200}, 3)
