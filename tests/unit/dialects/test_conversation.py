"""Digests of how prompts begin."""

import pytest

from pointsman.dialects.conversation import MAX_BOUNDARIES, messages_of, prefix_of
from pointsman.domain.conversation import Prefix
from pointsman.domain.request import Dialect
from tests.unit.dialects.talk import CACHED, answer, spoken, text, user

TOOLS = [{"name": "read", "input_schema": {"type": "object"}}]


def prefix(*messages: dict[str, object], **fields: object) -> Prefix:
    said = spoken(*messages, **fields)
    found = prefix_of(said, messages_of(said), "alice")
    assert found is not None
    return found


def test_next_turn_begins_with_everything_that_was_said_before() -> None:
    before = prefix(user(), tools=TOOLS, system="Be brief.")

    after = prefix(user(), answer(), user("more"), tools=TOOLS, system="Be brief.")

    assert after.ends[:2] == before.ends
    assert after.lengths[:2] == before.lengths


@pytest.mark.parametrize("change", [{"tools": []}, {"system": "Be long."}, {"system": None}])
def test_other_tools_or_instructions_are_another_beginning(change: dict[str, object]) -> None:
    usual = {"tools": TOOLS, "system": "Be brief."}

    assert not set(prefix(user(), **usual).ends) & set(prefix(user(), **{**usual, **change}).ends)


@pytest.mark.case("I20")
def test_same_prompt_of_another_caller_is_another_one() -> None:
    said = spoken(user())

    of_alice, of_bob = (prefix_of(said, messages_of(said), caller) for caller in ("alice", "bob"))

    assert of_alice is not None
    assert of_bob is not None
    assert not set(of_alice.ends) & set(of_bob.ends)


def test_boundaries_lie_after_each_message_and_grow() -> None:
    found = prefix(user(), answer(), user("more"))

    assert len(found.ends) == len(found.lengths) == 4
    assert list(found.lengths) == sorted(set(found.lengths))
    assert {len(end) for end in found.ends} == {8}


@pytest.mark.bug("D-05", "D-06")
def test_marks_of_what_to_cache_may_wander_on() -> None:
    marked = prefix(user(text(cache_control=CACHED)), system=text("Be brief.", cache_control=CACHED), tools=TOOLS)
    later = prefix(
        user(), answer(), user(text("more", cache_control={**CACHED, "ttl": "1h"})),
        system=text("Be brief."), tools=[{**TOOLS[0], "cache_control": CACHED}],
    )  # fmt: skip

    assert later.ends[:2] == marked.ends


@pytest.mark.parametrize("place", ["first", "last", "null"])
def test_mark_is_left_out_wherever_it_stands(place: str) -> None:
    mark = {"cache_control": None if place == "null" else CACHED}
    image = {"type": "image", "source": {"data": "abc"}}
    marked = {**mark, **image} if place == "first" else {**image, **mark}

    assert prefix(user([marked])).ends == prefix(user([image])).ends


def test_text_that_speaks_of_marks_is_text() -> None:
    spoken_of = '{"cache_control": {"type": "ephemeral"}}'

    assert prefix(user(spoken_of)).ends[-1] != prefix(user("{}")).ends[-1]


def test_order_of_the_fields_of_a_message_says_nothing() -> None:
    assert prefix({"role": "user", "content": "a"}).ends == prefix({"content": "a", "role": "user"}).ends


def test_long_conversation_keeps_its_head_and_its_latest_boundaries() -> None:
    messages = [user(f"turn {number}") for number in range(500)]

    whole, shorter = prefix(*messages), prefix(*messages[:-1])

    assert len(whole.ends) == len(whole.lengths) == MAX_BOUNDARIES
    assert whole.ends[0] == prefix(user()).ends[0]
    assert whole.ends[-2] == shorter.ends[-1]


@pytest.mark.parametrize("messages", ["text", 5, None, {}, [5], []])
def test_request_that_says_nothing_has_no_prefix(messages: object) -> None:
    said = spoken(messages=messages)

    assert prefix_of(said, messages_of(said), "alice") is None


def test_prompt_of_responses_begins_with_tools_instructions_and_input() -> None:
    def ends(*items: dict[str, object], **fields: object) -> tuple[bytes, ...]:
        said = spoken(dialect=Dialect.OPENAI_RESPONSES, input=list(items), **fields)
        found = prefix_of(said, messages_of(said), "alice")
        return () if found is None else found.ends

    first = ends(user(), instructions="Be brief.")

    assert ends(user(), answer(), instructions="Be brief.")[:2] == first
    assert not set(ends(user(), instructions="Be long.")) & set(first)
    assert ends(user(), instructions="Be brief.", previous_response_id="resp_1") == ()
