"""The real OpenAI SDK, its newest release and one of 2.x, each in an environment of its own, against a gateway."""

import json
import re
import subprocess
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from pointsman.testing import Answer, Chat, Status, ToolCall, keys, stream_of
from tests.e2e.scene import played
from tests.e2e.sdk import CLIENTS, PATIENCE_S, ROOT, said

GROUPS = {"chat": {"strategy": "failover", "targets": [{"model": "a/m"}, {"model": "b/m"}]}}

pytestmark = [pytest.mark.slow, pytest.mark.parametrize("client", CLIENTS)]


def call(
    client: str,
    name: str,
    tmp_path: Path,
    *,
    a: Sequence[Answer],
    model: str = "chat",
    key: str = "sk-caller",
    **sections: Any,
) -> dict[str, Any]:
    """What the SDK saw of one call, and under `asked` the bodies that reached the providers a and b."""
    speak = partial(said, client, model=model, name=name, key=key)
    return played(tmp_path, speak, a=a, groups=GROUPS, **sections)


def test_each_client_is_the_release_it_claims_to_be(client: str, tmp_path: Path) -> None:
    seen = call(client, "models", tmp_path, a=())

    assert seen["version"].startswith(f"{client}.")


def test_a_unary_call_gets_its_answer_and_knows_who_served(client: str, tmp_path: Path) -> None:
    seen = call(client, "unary", tmp_path, a=[Chat("hello there")])

    assert (seen["text"], seen["finish"], seen["target"]) == ("hello there", "stop", "a/m")
    assert seen["request_id"] == seen["header_id"]
    assert seen["tokens"] > 0


def test_a_stream_arrives_whole_without_an_event_that_was_not_asked_for(client: str, tmp_path: Path) -> None:
    seen = call(client, "stream", tmp_path, a=[Chat("one two three")])

    assert (seen["text"], seen["finishes"]) == ("one two three", ["stop"])
    assert seen["asked"][0]["stream_options"] == {"include_usage": True}


def test_a_stream_carries_its_usage_when_it_was_asked_for(client: str, tmp_path: Path) -> None:
    seen = call(client, "stream_with_usage", tmp_path, a=[Chat("one two three")])

    assert seen["choices_of_last"] == 0
    assert seen["tokens"] > 0


def test_a_tool_call_comes_back_as_the_model_made_it(client: str, tmp_path: Path) -> None:
    made = ToolCall("get_weather", '{"city": "Oslo"}')

    seen = call(client, "tools", tmp_path, a=[Chat("", tool_calls=(made,))])

    assert (seen["name"], seen["arguments"], seen["finish"]) == ("get_weather", {"city": "Oslo"}, "tool_calls")
    assert seen["asked"][0]["tools"][0]["function"]["name"] == "get_weather"


def test_structured_output_is_untouched_in_both_directions(client: str, tmp_path: Path) -> None:
    seen = call(client, "structured", tmp_path, a=[Chat('{"name": "Oslo", "people": 717710}')])

    assert (seen["name"], seen["people"]) == ("Oslo", 717710)
    assert seen["asked"][0]["response_format"]["type"] == "json_schema"


def test_models_are_listed_and_retrieved(client: str, tmp_path: Path) -> None:
    seen = call(client, "models", tmp_path, a=())

    assert (seen["ids"], seen["one"]) == (["chat"], "chat")


@pytest.mark.bug("A-09")
def test_a_failover_is_invisible_to_the_caller(client: str, tmp_path: Path) -> None:
    seen = call(client, "unary", tmp_path, a=[Status(429, retry_after=30)])

    assert (seen["text"], seen["target"], len(seen["asked"])) == ("served by b", "b/m", 2)


@pytest.mark.bug("E-04")
def test_a_stream_that_dies_raises_and_is_never_retried_behind_the_callers_back(client: str, tmp_path: Path) -> None:
    seen = call(client, "error", tmp_path, a=[stream_of("one", "two", then="cut")])

    assert (seen["kind"], seen["code"]) == ("APIError", "upstream_error")
    assert len(seen["asked"]) == 1


def test_an_unknown_model_is_a_not_found_error_with_the_nearest_name(client: str, tmp_path: Path) -> None:
    seen = call(client, "error", tmp_path, a=(), model="chta")

    assert (seen["kind"], seen["status"], seen["code"]) == ("NotFoundError", 404, "model_not_found")
    assert "Did you mean 'chat'?" in seen["message"]


AUTH = keys.section(
    keys.declaration("pm_good", name="good"),
    keys.declaration("pm_other", name="other", models=["nothing*"]),
    keys.declaration("pm_watcher", name="watcher", scopes=["explain"]),
    keys.declaration("pm_old", name="old", expires="2020-01-01T00:00:00Z"),
)


def test_a_key_lets_the_sdk_in(client: str, tmp_path: Path) -> None:
    seen = call(client, "unary", tmp_path, a=[Chat("hello")], key="pm_good", auth=AUTH)

    assert (seen["text"], seen["target"]) == ("hello", "a/m")


def test_a_list_of_models_needs_a_key_only(client: str, tmp_path: Path) -> None:
    seen = call(client, "models", tmp_path, a=(), key="pm_watcher", auth=AUTH)

    assert (seen["ids"], seen["one"]) == (["chat"], "chat")


REFUSED: dict[str, tuple[str, int, str, str | None, str]] = {
    "pm_wrong": (
        "AuthenticationError",
        401,
        "invalid_api_key",
        None,
        "This API key is not valid here. Check that it was copied whole, or ask the operator of this gateway for one.",
    ),
    "pm_old": (
        "AuthenticationError",
        401,
        "invalid_api_key",
        None,
        "This API key has expired. Ask the operator of this gateway for a new one.",
    ),
    "pm_watcher": (
        "PermissionDeniedError",
        403,
        "permission_denied",
        None,
        "This API key lacks the scope 'chat', which this path needs. Ask the operator of this gateway.",
    ),
    "pm_other": (
        "PermissionDeniedError",
        403,
        "permission_denied",
        "model",
        "This API key may not use the model 'chat'. GET /v1/models lists those it may use.",
    ),
}


@pytest.mark.bug("N-05", "N-08")
@pytest.mark.parametrize("key", REFUSED)
def test_a_refused_key_is_the_documented_error_byte_for_byte(client: str, tmp_path: Path, key: str) -> None:
    kind, status, code, param, message = REFUSED[key]

    seen = call(client, "error", tmp_path, a=(), key=key, auth=AUTH)

    fields = {"message": message, "type": "invalid_request_error", "param": param, "code": code}
    assert (seen["kind"], seen["status"], seen["code"]) == (kind, status, code)
    assert seen["body"] == json.dumps({"error": fields}, separators=(",", ":"))
    assert seen["asked"] == []


def test_a_refusal_reaches_a_caller_that_is_still_sending_a_long_body(client: str, tmp_path: Path) -> None:
    seen = call(client, "error_of_much", tmp_path, a=(), key="pm_wrong", auth=AUTH)

    assert (seen["kind"], seen["status"], seen["code"]) == ("AuthenticationError", 401, "invalid_api_key")


def test_the_demo_serves_the_sdk(client: str, tmp_path: Path) -> None:
    demo = subprocess.Popen(
        [sys.executable, "-m", "pointsman", "demo", "--port", "0", "--duration", "60"],
        stdout=subprocess.PIPE,
        text=True,
        env={"PYTHONPATH": str(ROOT / "src"), "PATH": "/usr/bin:/bin"},
    )
    try:
        lines = iter(demo.stdout or ())
        base_url = next(found.group(1) for line in lines if (found := re.search(r"base URL +(\S+)", line)))
        seen = {name: said(client, base_url, "demo-failover", name) for name in ("unary", "stream", "models")}
    finally:
        demo.terminate()
        demo.communicate(timeout=PATIENCE_S)

    assert seen["unary"]["text"]
    assert seen["stream"]["finishes"] == ["stop"]
    assert "demo" in seen["models"]["ids"]
    assert demo.returncode == 0
