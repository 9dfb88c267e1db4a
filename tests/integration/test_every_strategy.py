"""What holds for a group whatever its strategy is: the file alone says it, and callers see nothing but the group."""

from pathlib import Path
from typing import Any

import pytest

from pointsman.routing.strategies import STRATEGIES
from pointsman.testing import Chat, FakeProvider, Status, keys
from pointsman.testing.wire import Reply, Wire, chat_request
from tests.integration.callers import ask
from tests.integration.harness import Gateway, weighted
from tests.packages import install

NAMES = sorted(STRATEGIES)
TURNS = 6
KEY = "pm_chat"
AUTH = keys.section(keys.declaration(KEY, name="chat", models=NAMES[:2]), keys.declaration("pm_all", name="all"))
MODELS = b"GET /v1/models HTTP/1.1\r\nhost: test\r\nx-api-key: %b\r\n\r\n"


PLUGIN = """
class Plugin:
    api_version = 1

    def __init__(self, options):
        pass

    def scores(self, question, *, now, rng):
        return {candidate.id: 1.0 for candidate in question.candidates}
"""


@pytest.fixture(autouse=True)
def _installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(install(tmp_path, {"even": "plugin_even:Plugin"}, {"plugin_even": PLUGIN}))


def groups(a: FakeProvider, b: FakeProvider) -> dict[str, object]:
    """One group per strategy, which bears its name; all have the same targets. No policy service answers."""
    own = {"plugin": {"plugin": {"name": "even"}}, "external": {"external": {"url": "http://127.0.0.1:9/decide"}}}
    return {name: weighted((a, b), (1, 1), strategy=name, **own.get(name, {})) for name in NAMES}


async def serve(gw: Gateway, name: str) -> list[Reply]:
    request = chat_request(name, headers=(("x-api-key", "pm_all"),))
    return [await ask(gw.base_url, request) for _ in range(TURNS)]


@pytest.mark.req("D-001", "D-002", "D-005")
def test_one_line_in_the_file_chooses_the_strategy_and_callers_see_the_name_of_the_group(
    run: Any, gateway: Any
) -> None:
    async def scenario() -> tuple[list[str], dict[str, set[Any]], list[dict[str, Any]], list[str]]:
        async with FakeProvider(name="a") as a, FakeProvider(name="b") as b:
            a.script(Status(500))
            async with gateway(a, b, groups=groups(a, b), auth=AUTH) as gw:
                listed = [each["id"] for each in (await ask(gw.base_url, MODELS % b"pm_all")).json()["data"]]
                shown = {
                    name: {(reply.status, reply.header("x-pointsman-model")) for reply in await serve(gw, name)}
                    for name in NAMES
                }
                return listed, shown, await gw.records(), [str(each.json()["model"]) for each in (*a.log, *b.log)]

    listed, shown, records, asked = run(scenario())

    assert listed == NAMES
    assert shown == {name: {(200, name.encode())} for name in NAMES}
    assert [(record["group"], record["strategy"]) for record in records] == [
        (name, name) for name in NAMES for _ in range(TURNS)
    ]
    assert set(asked) <= {"m-a", "m-b"}


@pytest.mark.req("D-002")
def test_key_lists_and_reaches_the_groups_it_names_and_no_other(run: Any, gateway: Any) -> None:
    async def scenario() -> tuple[list[str], dict[str, int]]:
        async with FakeProvider(name="a") as a, FakeProvider(name="b") as b:
            async with gateway(a, b, groups=groups(a, b), auth=AUTH) as gw, await Wire.open(gw.base_url) as wire:
                wire.send(MODELS % KEY.encode())
                listed = [each["id"] for each in (await wire.reply()).json()["data"]]
                statuses = {}
                for name in NAMES:
                    wire.send(chat_request(name, headers=(("x-api-key", KEY),)))
                    statuses[name] = (await wire.reply()).status
                return listed, statuses

    listed, statuses = run(scenario())

    assert listed == NAMES[:2]
    assert statuses == {name: 200 if name in listed else 403 for name in NAMES}


@pytest.mark.req("D-074")
def test_record_tells_all_that_a_decision_came_from(run: Any, gateway: Any) -> None:
    blend = {"strategy": "blend", "affinity": {"mode": "strict"}, "fallbacks": ["spare"]}
    named = (("x-session-id", "s1"),)

    async def scenario() -> list[dict[str, Any]]:
        async with FakeProvider(name="a", default=Status(500)) as a, FakeProvider(name="b", default=Chat("hi")) as b:
            models = {"chat": weighted((a,), (1,), **blend), "spare": weighted((b,), (1,))}
            models["both"] = weighted((a, b), (9, 1), **{**blend, "fallbacks": []})
            async with gateway(a, b, groups=models) as gw:
                for name, headers in (("chat", ()), ("both", ()), ("both", named)):
                    await ask(gw.base_url, chat_request(name, headers=headers, reasoning_effort="high", max_tokens=9))
                return list(await gw.records())

    turned, _, scored = run(scenario())

    assert [note["fallback"] for note in turned["decisions"]] == [None, "spare"]
    assert [attempt["target_id"] for attempt in turned["attempts"]] == ["a/m-a", "b/m-b"]
    assert scored["strategy"] == "blend"
    facts = {name: scored["facts"][name] for name in ("stream", "tool_count", "reasoning", "max_output_tokens")}
    assert facts == {"stream": False, "tool_count": 0, "reasoning": True, "max_output_tokens": 9}
    first, second = scored["decisions"]
    assert (first["mode"], first["picked"], first["candidates"]) == ("fallback", "a/m-a", ["a/m-a", "b/m-b"])
    assert first["scores"]["fallback"] == "warming"
    assert [seen.get("samples", 0) for seen in first["scores"]["measured"]] == [0, 1]
    assert set(first["scores"]["terms"]) == {"session_score", "weight_score", "load_score", "prefix_score", "score"}
    assert first["pin"] == {"outcome": "created", "reason": None, "binds": True}
    assert (second["picked"], second["excluded"]) == ("b/m-b", {"a/m-a": "tried"})
