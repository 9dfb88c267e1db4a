"""Messages payloads are shaped as Anthropic's are."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pointsman.domain.outcome import Usage
from pointsman.testing import ToolCall, messages
from pointsman.testing.chat import Asked


def test_message_without_usage_has_no_such_field() -> None:
    assert "usage" not in messages.message((), to=Asked())


def test_message_start_has_no_content_and_no_end_yet() -> None:
    started = messages.message_start(to=Asked(model="m"))["message"]

    assert (started["model"], started["content"], started["stop_reason"]) == ("m", [], None)


@given(text=st.text(max_size=20))
def test_streamed_text_brings_all_of_it(text: str) -> None:
    begin, *deltas, end = messages.text_events(text, 3)

    assert (begin["content_block"], end["type"]) == ({"type": "text", "text": ""}, "content_block_stop")
    assert "".join(delta["delta"]["text"] for delta in deltas) == text
    assert {event["index"] for event in (begin, *deltas, end)} == {3}


def test_streamed_thinking_ends_with_its_signature() -> None:
    *_, signed, _ = messages.thinking_events("a b", 0)

    assert signed["delta"] == {"type": "signature_delta", "signature": messages.SIGNATURE}


@given(arguments=st.text(max_size=20))
def test_streamed_tool_call_opens_with_its_name_and_brings_all_arguments(arguments: str) -> None:
    begin, *deltas, _ = messages.tool_use_events(ToolCall("f", arguments, id="t1"), 0)

    assert begin["content_block"] == {"type": "tool_use", "id": "t1", "name": "f", "input": {}}
    assert "".join(delta["delta"]["partial_json"] for delta in deltas) == arguments


@pytest.mark.parametrize(("arguments", "shown"), [('{"a": 1}', {"a": 1}), ("{", "{")])
def test_arguments_of_a_whole_answer_are_an_object_if_they_can_be(arguments: str, shown: object) -> None:
    assert messages.tool_use_block(ToolCall("f", arguments))["input"] == shown


@pytest.mark.parametrize(
    ("counted", "expected"),
    [
        (Usage(), (10, 0, 0, 3)),
        (Usage(100, 7, cached_tokens=60, cache_write_tokens=30), (10, 30, 60, 7)),
        (Usage(0, 0), (0, 0, 0, 0)),
    ],
)
def test_usage_keeps_the_parts_of_the_input_apart(counted: Usage, expected: tuple[int, ...]) -> None:
    usage = messages.usage(counted, to=Asked(body_bytes=40), text="a b c")

    names = "input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens"
    assert tuple(usage[name] for name in names) == expected


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, "invalid_request_error"),
        (401, "authentication_error"),
        (404, "not_found_error"),
        (418, "invalid_request_error"),
        (429, "rate_limit_error"),
        (500, "api_error"),
        (529, "overloaded_error"),
    ],
)
def test_error_has_the_type_of_its_status(status: int, kind: str) -> None:
    assert messages.error(status, "no")["error"] == {"type": kind, "message": "no"}


def test_error_fields_replace_the_usual_ones() -> None:
    assert messages.error(400, {"type": "billing_error"})["error"]["type"] == "billing_error"


def test_event_is_named_like_its_type() -> None:
    assert messages.sse({"type": "ping"}) == b'event: ping\ndata: {"type":"ping"}\n\n'
    assert msgspec.json.decode(messages.STOP.split(b"data: ")[1]) == {"type": "message_stop"}
