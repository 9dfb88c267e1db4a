"""`dynamic_score` in a running gateway: what is asked for decides, and records say why without a word of it."""

from collections.abc import Iterator
from typing import Any

import pytest

from pointsman.testing import FakeProvider
from pointsman.testing.wire import chat_request, messages_request, responses_request
from tests.integration.callers import ask
from tests.integration.world import World

CODE = "fix this:\n```\nsecret-word = 1\n```\nTraceback (most recent call last):\n  File x"
PLAIN = "What is the capital of France?"
GROUPS = {
    "chat": {
        "strategy": "dynamic_score",
        "targets": [
            {"provider": "a", "model_ref": "cheap", "weight": 50},
            {"provider": "a", "model_ref": "good", "weight": 50, "tags": ["validated"]},
        ],
        "routing_policy": {
            "dynamic_score": {
                "min_observations": 0,
                "exploration_ratio": 0,
                "affinity": {"enabled": False},
                "score_terms": [
                    {"name": "cheapest", "when": {"complexity_lte": "standard"}, "expression": "cost_score"},
                    {
                        "name": "best",
                        "when": {"complexity_gte": "complex", "prompt_feature": "stack_trace"},
                        "require_tags": ["validated"],
                        "expression": "0.8 * eval_quality_score + 0.2 * reliability_score",
                    },
                ],
            }
        },
    }
}
MODELS = {
    "cheap": {"price": {"input": 1, "output": 1}, "eval": {"score": 0.5}},
    "good": {"price": {"input": 9, "output": 9}, "eval": {"score": 0.9}},
}
PROVIDER = {"a": {"models": MODELS}}


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    with World(groups=GROUPS, provider_fields=PROVIDER) as found:
        yield found


@pytest.mark.req("D-015", "D-016", "D-030", "D-034", "D-035", "D-036", "D-078")
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize(
    ("said", "more", "target"),
    [
        (PLAIN, {}, "a/cheap"),
        (PLAIN, {"tools": [{"type": "function", "function": {"name": "f"}}]}, "a/cheap"),
        (CODE, {}, "a/cheap"),
        (CODE, {"tools": [{"type": "function", "function": {"name": "f"}}]}, "a/good"),
    ],
)
def test_what_is_asked_for_decides(world: World, said: str, more: dict[str, Any], target: str, stream: bool) -> None:
    request = chat_request("chat", stream=stream, messages=[{"role": "user", "content": said}], **more)

    reply = world.exchange(request)

    assert reply.status == 200
    assert reply.header("x-pointsman-target") == target.encode()
    assert reply.header("x-pointsman-group") in (None, b"chat")


@pytest.mark.req("D-020", "D-078")
def test_other_dialects_are_scored_alike(world: World) -> None:
    tool = {"name": "f", "input_schema": {"type": "object"}}
    messages = messages_request("chat", messages=[{"role": "user", "content": CODE}], tools=[tool])
    responses = responses_request("chat", input=CODE, tools=[{"type": "function", "name": "f"}])

    assert world.exchange(messages).header("x-pointsman-target") == b"a/good"
    assert world.exchange(responses).header("x-pointsman-target") == b"a/good"


@pytest.mark.trap("31")
def test_what_a_person_asked_decides_though_results_of_tools_came_last(world: World) -> None:
    tools = [{"type": "function", "function": {"name": "f"}}]
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    turns = [
        {"role": "user", "content": CODE},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": "42"},
    ]

    reply = world.exchange(chat_request("chat", messages=turns, tools=tools))

    assert reply.header("x-pointsman-target") == b"a/good"


@pytest.mark.trap("30")
def test_one_hard_request_of_a_session_does_not_keep_its_easy_ones_at_the_dear_target(world: World) -> None:
    tools = [{"type": "function", "function": {"name": "f"}}]
    easy = chat_request("chat", messages=[{"role": "user", "content": PLAIN}], session_id="s1")
    hard = chat_request("chat", messages=[{"role": "user", "content": CODE}], tools=tools, session_id="s1")

    served = [world.exchange(request).header("x-pointsman-target") for request in (easy, hard) * 5]

    assert served == [b"a/cheap", b"a/good"] * 5


@pytest.mark.req("D-074", "D-075", "D-076")
def test_record_and_metrics_tell_buckets_and_no_word_of_the_prompt(run: Any, gateway: Any) -> None:
    tools = [{"type": "function", "function": {"name": "f"}}]
    request = chat_request("chat", messages=[{"role": "user", "content": CODE}], tools=tools)

    async def scenario() -> tuple[str, Any]:
        async with FakeProvider(name="a") as a, gateway(a, groups=GROUPS, provider_fields=PROVIDER) as gw:
            assert (await ask(gw.base_url, request)).status == 200
            return gw.metrics(), (await gw.records())[-1]

    metrics, record = run(scenario())

    decision = record["decisions"][0]
    note = decision["scores"]["note"]
    assert (decision["mode"], decision["picked"], decision["excluded"]) == (
        "score", "a/good", {"a/cheap": "term_tags"},
    )  # fmt: skip
    assert (note["complexity"], note["tools_bucket"], note["input_bucket"]) == ("complex", "few", "small")
    assert (note["applied"], note["observations"], note["dropped"]) == (["best"], 0, [])
    assert decision["scores"]["terms"]["best: 0.8 * eval_quality_score"] == [pytest.approx(0.72)]
    assert record["facts"]["features"] == ["code", "stack_trace", "tool_agent"]
    assert "secret-word" not in str(record) + metrics
    assert 'pointsman_score_values_total{bucket="0.8",group="chat",name="best"} 1.0' in metrics
