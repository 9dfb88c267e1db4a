"""Streams of Responses, on their way from and to other dialects."""

from typing import Any

import pytest
from msgspec import Raw

from pointsman.dialects.bridges.bridge import Surroundings
from pointsman.testing import chat, messages, responses
from tests.unit.dialects.bridges.carried import (
    AROUND,
    CHAT,
    CREATED_S,
    LIMIT_BYTES,
    MESSAGES,
    RESPONSES,
    bridge_from,
    end,
    finishes,
    message,
    output,
    raw,
    streamed,
)

ROLE = chat.chunk(chat.role_delta())
STOP = chat.chunk({}, finish_reason="stop")
DONE = chat.DONE
USAGE = chat.usage_chunk({"prompt_tokens": 9, "completion_tokens": 4})


def text(said: str) -> dict[str, Any]:
    return chat.chunk(chat.text_delta(said))


def piece(index: int, arguments: str, **fields: str) -> dict[str, Any]:
    """A delta with one piece of a call."""
    function = {"arguments": arguments, **{key: value for key, value in fields.items() if key == "name"}}
    call = {"index": index, "function": function, **({"id": fields["id"]} if "id" in fields else {})}
    return chat.chunk({"tool_calls": [call]})


def types(events: list[Any]) -> list[str]:
    return [event["type"].removeprefix("response.") for event in events]


# --- to Responses


@pytest.mark.bug("E-13")
def test_each_event_goes_on_at_once_and_the_end_with_its_usage() -> None:
    found = streamed(RESPONSES, ROLE, text("one "), text("two"), STOP, USAGE, DONE)

    assert types(found) == [
        "created", "in_progress", "output_item.added", "content_part.added", "output_text.delta", "output_text.delta",
        "output_text.done", "content_part.done", "output_item.done", "completed",
    ]  # fmt: skip
    assert output(found)[0]["content"][0]["text"] == "one two"
    assert (end(found)["usage"]["total_tokens"], end(found)["created_at"]) == (13, CREATED_S)


def test_events_have_the_names_of_their_types() -> None:
    decoder = bridge_from(RESPONSES).decoder(LIMIT_BYTES, AROUND, is_lenient=False)

    found = decoder.feed(raw((ROLE, text("x"), STOP, DONE), CHAT))

    assert all(event.raw.startswith(b'event: %b\ndata: {"type":"%b",' % (name, name))
               for event in found for name in [event.raw.split(b"\n")[0].removeprefix(b"event: ")])  # fmt: skip


@pytest.mark.bug("G-10")
def test_thoughts_are_a_summary_and_end_where_the_text_begins() -> None:
    found = streamed(
        RESPONSES, ROLE, chat.chunk(chat.reasoning_delta("h")), chat.chunk(chat.reasoning_delta("m")), text("x"), STOP,
        DONE,
    )  # fmt: skip

    thoughts, said = output(found)
    assert (thoughts["summary"], said["content"][0]["text"]) == ([{"type": "summary_text", "text": "hm"}], "x")
    assert types(found).index("reasoning_summary_part.done") < types(found).index("output_text.delta")


@pytest.mark.bug("G-01", "G-03")
def test_calls_that_come_interleaved_go_on_as_they_come() -> None:
    found = streamed(
        RESPONSES, ROLE, piece(0, "", id="c1", name="f"), piece(1, "", id="c2", name="g"), piece(1, '{"b":'),
        piece(0, '{"a":1}'), piece(1, "2}"), STOP, DONE,
    )  # fmt: skip

    calls = [(item["call_id"], item["name"], item["arguments"]) for item in output(found)]
    assert calls == [("c1", "f", '{"a":1}'), ("c2", "g", '{"b":2}')]
    deltas = [
        (event["output_index"], event["delta"]) for event in found
        if isinstance(event, dict) and event["type"] == "response.function_call_arguments.delta"
    ]  # fmt: skip
    assert deltas == [(1, '{"b":'), (0, '{"a":1}'), (1, "2}")]


def test_a_call_without_arguments_has_an_empty_object() -> None:
    found = streamed(RESPONSES, ROLE, piece(0, "", id="c1", name="f"), STOP, DONE)

    assert output(found)[0]["arguments"] == "{}"


def test_text_after_a_call_is_a_message_of_its_own() -> None:
    found = streamed(
        RESPONSES, ROLE, text("one"), piece(0, "{}", id="c1", name="f"), text("two"), STOP, DONE
    )  # fmt: skip

    assert [item["type"] for item in output(found)] == ["message", "function_call", "message"]


def test_what_a_tool_takes_as_a_text_is_said_when_it_is_known() -> None:
    around = Surroundings(CREATED_S, 7, {"tools": Raw(b'[{"type":"custom","name":"p"}]')})

    found = streamed(
        RESPONSES, ROLE, piece(0, '{"input":', id="c1", name="p"), piece(0, '"a\\nb"}'), STOP, DONE, around=around
    )  # fmt: skip

    (item,) = output(found)
    assert (item["type"], item["input"]) == ("custom_tool_call", "a\nb")
    assert types(found).count("custom_tool_call_input.delta") == 1


def test_a_refusal_is_complete_and_a_cap_is_not() -> None:
    refused = streamed(RESPONSES, ROLE, chat.chunk({"refusal": "no"}), STOP, DONE)
    capped = streamed(RESPONSES, ROLE, text("x"), chat.chunk({}, finish_reason="length"), DONE)

    assert (end(refused)["status"], output(refused)[0]["content"][0]["refusal"]) == ("completed", "no")
    assert (end(capped)["status"], end(capped)["incomplete_details"]) == ("incomplete", {"reason": "max_output_tokens"})


def test_a_response_of_messages_has_its_calls_and_thoughts() -> None:
    call = {"type": "tool_use", "id": "t1", "name": "f", "input": {}}

    found = streamed(
        RESPONSES, messages.message_start(), *messages.thinking_events("hm", 0), messages.block_start(call, 1),
        messages.block_stop(1), messages.message_delta("tool_use", {"output_tokens": 4}), messages.STOP,
        spoken=MESSAGES,
    )  # fmt: skip

    thoughts, made = output(found)
    assert (thoughts["summary"][0]["text"], made["call_id"], made["arguments"]) == ("hm", "t1", "{}")


@pytest.mark.bug("E-04", "E-12")
def test_a_failure_ends_what_is_numbered() -> None:
    decoder = bridge_from(RESPONSES).decoder(LIMIT_BYTES, AROUND, is_lenient=False)

    found = decoder.feed(raw((b": hi\n\n", ROLE, text("x"), chat.error(500, "down"), text("more"), DONE), CHAT))

    first, number = decoder.so_far()
    assert found[-1].data is not None
    assert found[-1].data.startswith(b'{"type":"error",')
    assert (first, number) == (found[1].data, 5)


@pytest.mark.bug("E-05")
def test_an_event_that_is_none_counts_for_nothing() -> None:
    decoder = bridge_from(RESPONSES).decoder(LIMIT_BYTES, AROUND, is_lenient=False)

    decoder.feed(raw((ROLE, b"data: {\n\n", text("x")), CHAT))

    assert decoder.so_far()[1] == 2


def test_the_terminator_has_no_number_until_the_message_has_ended() -> None:
    decoder = bridge_from(RESPONSES).decoder(LIMIT_BYTES, AROUND, is_lenient=False)

    found = decoder.feed(raw((ROLE, text("x"), STOP, DONE), CHAT))

    assert decoder.so_far()[1] == len(found) - 1


# --- from Responses


def chunks(*events: dict[str, Any] | bytes) -> list[Any]:
    """What a caller of Chat gets of a stream of Responses."""
    return streamed(CHAT, *responses.created(), *events, spoken=RESPONSES)


def ended(status: str = "completed", **fields: Any) -> dict[str, Any]:
    return {"type": f"response.{status}", "response": {"status": status, "output": [{}], **fields}}


def item(name: str, arguments: str = "", *, added: bool = True, index: int = 0) -> dict[str, Any]:
    call = {"type": "function_call", "call_id": f"c_{name}", "name": name, "arguments": arguments}
    return {"type": f"response.output_item.{'added' if added else 'done'}", "output_index": index, "item": call}


def delta(kind: str, said: str, index: int = 0) -> dict[str, Any]:
    return {"type": f"response.{kind}.delta", "output_index": index, "delta": said}


def test_text_and_refusal_come_as_they_are_said() -> None:
    found = chunks(*responses.text_events("one two", 0), delta("refusal", "no", 1), ended())

    assert (message(found)["content"], message(found)["refusal"]) == ("one two", "no")
    assert (finishes(found), found[-1]) == (["content_filter"], "[DONE]")


@pytest.mark.bug("G-05")
def test_what_came_in_one_piece_is_carried_and_what_came_in_many_is_not_repeated() -> None:
    whole = {"type": "response.output_text.done", "output_index": 1, "text": "two"}
    empty = {"type": "response.output_text.done", "output_index": 2, "text": ""}

    found = chunks(*responses.text_events("one ", 0), whole, empty, item("f", '{"a":1}', added=False, index=3), ended())

    assert message(found)["content"] == "one two"
    assert message(found)["tool_calls"] == [{"id": "c_f", "name": "f", "arguments": '{"a":1}'}]


@pytest.mark.bug("G-01", "G-03")
def test_calls_are_counted_over_calls_and_not_over_items() -> None:
    found = chunks(
        *responses.text_events("x", 0), item("f", index=1), item("g", index=2),
        delta("function_call_arguments", "{", 2),
        delta("function_call_arguments", "{}", 1), delta("function_call_arguments", "}", 2),
        item("f", "{}", added=False, index=1), item("g", "{}", added=False, index=2), ended(),
    )  # fmt: skip

    assert [(call["name"], call["arguments"]) for call in message(found)["tool_calls"]] == [("f", "{}"), ("g", "{}")]
    assert finishes(found) == ["tool_calls"]


def test_a_call_that_never_said_arguments_has_none() -> None:
    found = chunks(item("f"), item("f", added=False), ended())

    assert message(found)["tool_calls"][0]["arguments"] == "{}"


def test_pieces_of_nothing_that_has_begun_are_left_out() -> None:
    found = chunks(delta("function_call_arguments", "{}", 7), delta("output_text", ""), text("x"), ended())

    assert message(found)["tool_calls"] == []


def test_thoughts_are_told_once_and_their_parts_are_apart() -> None:
    part = {"type": "response.reasoning_summary_part.added", "summary_index": 1}
    found = chunks(
        {**part, "summary_index": 0}, delta("reasoning_summary_text", "a"), delta("reasoning_text", "a"),
        delta("reasoning_summary_text", ""), part, delta("reasoning_summary_text", "b"), ended(),
    )  # fmt: skip

    assert message(found)["reasoning_content"] == "a\n\nb"


def test_a_stream_that_begins_without_its_beginning_is_an_answer_all_the_same() -> None:
    found = streamed(CHAT, delta("output_text", "x"), ended(), spoken=RESPONSES)

    assert message(found)["content"] == "x"


@pytest.mark.parametrize(
    ("event", "finish"),
    [
        (ended(), "stop"),
        (ended("incomplete", incomplete_details={"reason": "max_output_tokens"}), "length"),
        ({"type": "response.completed", "response": 7}, "stop"),
    ],
)
def test_its_end_is_why_it_ended(event: dict[str, Any], finish: str) -> None:
    assert finishes(chunks(delta("output_text", "x"), event)) == [finish]


@pytest.mark.bug("H-02")
def test_usage_comes_with_the_end() -> None:
    usage = {"input_tokens": 9, "output_tokens": 4, "input_tokens_details": {"cached_tokens": 6}}

    found = chunks(delta("output_text", "x"), ended(usage=usage))

    assert found[-2]["usage"]["prompt_tokens_details"] == {"cached_tokens": 6}


@pytest.mark.bug("D-07")
@pytest.mark.parametrize(
    "event",
    [
        ended("failed", error={"code": "server_error", "message": "down"}),
        ended("completed", error={"code": "server_error", "message": "down"}),
        {"type": "error", "code": "server_error", "message": "down"},
        {"type": "error", "error": {"code": "server_error", "message": "down"}},
    ],
)
def test_a_failure_is_one_whatever_it_is_called(event: dict[str, Any]) -> None:
    found = chunks(delta("output_text", "x"), event, ended())

    assert (found[-1]["error"]["message"], found[-1]["error"]["code"]) == ("down", "server_error")
    assert finishes(found[:-1]) == []


def test_events_that_say_nothing_new_are_left_out() -> None:
    found = chunks(b"data: \n\n", {"type": "what_comes_next"}, item("f") | {"item": {"type": "message"}}, ended())

    assert len(found) == 3


def test_an_event_that_cannot_be_read_is_no_event_of_the_caller_either() -> None:
    assert chunks(b'data: {"type":\n\n')[-1] == "{"
