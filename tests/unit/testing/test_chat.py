"""Chat payloads are shaped as OpenAI's are."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pointsman.domain.outcome import Usage
from pointsman.testing import ToolCall, chat
from pointsman.testing.chat import Asked

COUNT_FOR_ME = Usage()


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b"{}", Asked(model="fake-model", body_bytes=2, id="i", created=5)),
        (b'{"model":"m","stream":true}', Asked("m", stream=True, body_bytes=27, id="i", created=5)),
        (b'{"stream":null,"stream_options":null}', Asked(body_bytes=37, id="i", created=5)),
        (
            b'{"stream":true,"stream_options":{"include_usage":true}}',
            Asked(stream=True, include_usage=True, body_bytes=55, id="i", created=5),
        ),
    ],
)
def test_what_a_request_asks_for_is_read_from_its_body(body: bytes, expected: Asked) -> None:
    assert chat.asked(body, answer_id="i", created=5) == expected


@pytest.mark.parametrize("body", [b"", b"[]", b'{"model":1}', b'{"stream":"yes"}'])
def test_what_is_no_chat_request_is_refused(body: bytes) -> None:
    with pytest.raises(msgspec.MsgspecError):
        chat.asked(body, answer_id="i", created=5)


@given(text=st.text())
def test_words_joined_give_the_text(text: str) -> None:
    assert "".join(chat.words(text)) == text


def test_words_keep_the_white_space_behind_them() -> None:
    assert chat.words("  a b\n c") == ["  ", "a ", "b\n ", "c"]


def test_completion_without_usage_has_no_such_field() -> None:
    assert "usage" not in chat.completion("a", to=Asked())


@pytest.mark.parametrize(
    ("text", "calls", "content"),
    [("a", (), "a"), ("", (), ""), ("", (ToolCall("f"),), None), ("a", (ToolCall("f"),), "a")],
)
def test_content_is_null_only_beside_tool_calls(text: str, calls: tuple[ToolCall, ...], content: str | None) -> None:
    message = chat.completion(text, to=Asked(), tool_calls=calls)["choices"][0]["message"]

    assert message["content"] == content
    assert ("tool_calls" in message) == bool(calls)


@given(arguments=st.text(max_size=20))
def test_streamed_tool_call_opens_with_its_name_and_brings_all_arguments(arguments: str) -> None:
    opening, *rest = chat.tool_call_deltas([ToolCall("f", arguments, id="c1")])

    (first,) = opening["tool_calls"]
    assert (first["index"], first["id"], first["function"]) == (0, "c1", {"name": "f", "arguments": ""})
    assert "".join(delta["tool_calls"][0]["function"]["arguments"] for delta in rest) == arguments


def test_streamed_tool_calls_are_numbered() -> None:
    deltas = chat.tool_call_deltas([ToolCall("f"), ToolCall("g")])

    assert [delta["tool_calls"][0]["index"] for delta in deltas] == [0, 0, 0, 1, 1, 1]


def test_usage_is_null_in_every_chunk_if_it_was_asked_for() -> None:
    assert chat.chunk({}, to=Asked(include_usage=True))["usage"] is None
    assert "usage" not in chat.chunk({}, to=Asked())


def test_usage_chunk_has_no_choices() -> None:
    last = chat.usage_chunk({"total_tokens": 3}, to=Asked(include_usage=True))

    assert (last["choices"], last["usage"]) == ([], {"total_tokens": 3})


@pytest.mark.parametrize(
    ("counted", "expected"),
    [
        (COUNT_FOR_ME, {"prompt_tokens": 10, "completion_tokens": 3, "total_tokens": 13}),
        (Usage(0, 0), {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}),
        (
            Usage(5, 6, cache_write_tokens=4),
            {
                "prompt_tokens": 5,
                "completion_tokens": 6,
                "total_tokens": 11,
                "prompt_tokens_details": {"cache_write_tokens": 4},
            },
        ),
        (
            Usage(5, 6, cached_tokens=4, reasoning_tokens=0),
            {
                "prompt_tokens": 5,
                "completion_tokens": 6,
                "total_tokens": 11,
                "prompt_tokens_details": {"cached_tokens": 4},
                "completion_tokens_details": {"reasoning_tokens": 0},
            },
        ),
    ],
)
def test_usage_invents_only_what_is_left_open(counted: Usage, expected: dict[str, object]) -> None:
    assert chat.usage(counted, to=Asked(body_bytes=40), text="a b c") == expected


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, "invalid_request_error"),
        (401, "authentication_error"),
        (403, "permission_error"),
        (429, "rate_limit_error"),
        (500, "server_error"),
        (529, "server_error"),
    ],
)
def test_error_has_the_type_of_its_status(status: int, kind: str) -> None:
    assert chat.error(status)["error"] == {
        "message": f"scripted answer {status}",
        "type": kind,
        "param": None,
        "code": None,
    }


def test_error_fields_replace_the_usual_ones() -> None:
    error = chat.error(404, {"code": "model_not_found", "extra": 1})["error"]

    assert (error["code"], error["extra"], error["type"]) == ("model_not_found", 1, "invalid_request_error")


def test_models_are_a_list_with_owner() -> None:
    listed = chat.models("a", "b", owner="me")

    assert listed["object"] == "list"
    assert [(row["id"], row["owned_by"]) for row in listed["data"]] == [("a", "me"), ("b", "me")]


def test_event_is_one_data_line_and_a_blank_one() -> None:
    assert chat.sse({"a": 1}) == b'data: {"a":1}\n\n'
