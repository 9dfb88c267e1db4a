"""What requests of Responses build on, and what answers leave behind."""

import json
from typing import Any

import pytest

from pointsman.dialects.openai_responses import OpenAIResponses
from pointsman.testing import responses
from tests.unit.dialects.reader import Reader

CODEC = OpenAIResponses()
READER = Reader(CODEC)


def answered(*output: dict[str, Any], **fields: Any) -> dict[str, Any]:
    items = output or (responses.message_item("hi"),)
    return responses.response(items, usage={"output_tokens": 1}) | {"id": "resp_1"} | fields


def sealed(content: object) -> dict[str, Any]:
    return responses.reasoning_item("hm") | {"encrypted_content": content}


@pytest.mark.parametrize(
    ("fields", "keys"),
    [
        ({}, ()),
        ({"previous_response_id": "resp_1"}, ("resp_1",)),
        ({"previous_response_id": None, "conversation": None}, ()),
        ({"previous_response_id": 5, "conversation": []}, ()),
        ({"previous_response_id": ""}, ()),
        ({"conversation": "conv_1"}, ("conv_1",)),
        ({"conversation": {"id": "conv_1"}}, ("conv_1",)),
        ({"conversation": {"id": None}}, ()),
        ({"conversation": "conv_1", "previous_response_id": "resp_1"}, ("resp_1", "conv_1")),
        ({"metadata": {"previous_response_id": "resp_1"}}, ()),
    ],
)
def test_request_builds_on_a_response_or_a_conversation(fields: dict[str, object], keys: tuple[str, ...]) -> None:
    assert READER.parsed(**fields).builds_on == keys


@pytest.mark.parametrize(
    ("fields", "keys"),
    [
        ({}, ("resp_1",)),
        ({"store": True}, ("resp_1",)),
        ({"store": None}, ("resp_1",)),
        ({"store": "odd", "incomplete_details": "odd"}, ("resp_1",)),
        ({"store": False}, ()),
        ({"conversation": {"id": "conv_1"}}, ("resp_1", "conv_1")),
        ({"id": None}, ()),
    ],
)
@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
def test_answer_leaves_behind_what_is_stored(fields: dict[str, object], keys: tuple[str, ...], streamed: bool) -> None:
    answer = answered(**fields)

    kept = READER.event(responses.ended(answer)).kept if streamed else READER.answer(answer).kept

    assert kept == keys


@pytest.mark.parametrize(("background", "keys"), [(True, ("resp_1",)), (False, ()), (None, ()), ("true", ())])
def test_response_in_the_background_is_kept_from_the_start(background: object, keys: tuple[str, ...]) -> None:
    begun = {"type": "response.created", "response": answered(status="queued", background=background)}

    assert READER.event(begun).kept == keys


@pytest.mark.bug("D-03")
@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
def test_sealed_reasoning_is_known_again_when_it_comes_back(streamed: bool) -> None:
    answer = answered(sealed("gAAAAAB1=="), sealed("gAAAAAB2=="), store=False)

    (key,) = READER.event(responses.ended(answer)).kept if streamed else READER.answer(answer).kept

    items = [{"role": "user", "content": '"encrypted_content":"no"'}, *answer["output"], {"role": "user"}]
    spaced = json.dumps({"model": "m", "input": items}, indent=1).encode()
    assert CODEC.read_request(spaced).builds_on == (key,)
    assert READER.parsed(input=[sealed("gAAAAAB1==")]).builds_on != (key,)
    assert "gAAAAAB" not in key


@pytest.mark.parametrize("content", ["", None, 5, 'odd"one'])
def test_what_is_no_sealed_reasoning_binds_nothing(content: object) -> None:
    assert READER.parsed(input=[sealed(content)]).builds_on == ()


@pytest.mark.parametrize("answer", [answered(status="failed"), {"id": "resp_1", "status": "completed", "output": None}])
def test_answer_that_is_none_leaves_nothing_behind(answer: dict[str, Any]) -> None:
    assert READER.answer(answer).kept == ()
