"""The ladder of session identity: every rung, and what is no session."""

import json
import re
from typing import Any

import pytest

from pointsman.dialects.session import SOURCES
from pointsman.domain.conversation import AUTO, Session
from pointsman.domain.request import Dialect
from tests.unit.dialects.talk import FIRST, answer, key, session, text, user

UUID = "0b9e1c7e-5f0a-4a53-9d8e-1f2a3b4c5d6e"
CODEX = {b"user-agent": b"codex_exec/0.171.0 (Linux)"}
# source -> headers and body fields that name the session s1 in its way
NAMED: dict[str, tuple[dict[bytes, bytes], dict[str, object]]] = {
    **{
        name: ({name.encode(): b"s1"}, {})
        for name in (
            "x-pointsman-session", "x-claude-code-session-id", "x-session-affinity", "x-session-id",
            "x-litellm-session-id", "helicone-session-id", "agent-session-id", "x-opencode-session",
            "x-openwebui-chat-id",
        )
    },
    "session_id": ({}, {"session_id": "s1"}),
    "litellm_session_id": ({}, {"litellm_session_id": "s1"}),
    "session-id": ({**CODEX, b"session-id": b"s1"}, {}),
    "thread-id": ({**CODEX, b"thread-id": b"s1"}, {}),
    "prompt_cache_key": ({}, {"prompt_cache_key": "s1"}),
    "conversation": ({}, {"conversation": "s1"}),
    "metadata.session_id": ({}, {"metadata": {"session_id": "s1"}}),
    "metadata.user_id": ({}, {"metadata": {"user_id": json.dumps({"device_id": "d", "session_id": "s1"})}}),
}  # fmt: skip


@pytest.mark.req("G-088")
@pytest.mark.parametrize("source", SOURCES)
def test_each_source_names_a_session(source: str) -> None:
    headers, fields = NAMED[source]

    found = session(user(), headers=headers, **fields)

    assert found is not None
    assert (found.source, found.is_explicit) == (source, True)


@pytest.mark.req("G-088")
def test_first_source_wins() -> None:
    headers: dict[bytes, bytes] = {}
    fields: dict[str, object] = {}
    for source in reversed(SOURCES):
        headers |= NAMED[source][0]
        fields |= NAMED[source][1]

        found = session(user(), headers=headers, **fields)

        assert found is not None
        assert source in {found.source, "metadata.session_id"}  # two fields of one object: the later stays alone


@pytest.mark.case("I20")
@pytest.mark.req("G-088", "D-050")
@pytest.mark.parametrize("headers", [{b"x-session-id": b"s1"}, {}])
def test_session_belongs_to_one_caller_and_one_group(headers: dict[bytes, bytes]) -> None:
    keys = {
        key(user(), headers=headers, caller=caller, group=group)
        for caller in ("alice", "bob")
        for group in ("chat", "code")
    }

    assert len(keys) == 4


def test_parts_of_a_key_cannot_be_shifted_between_its_fields() -> None:
    assert key(caller="ab", group="c", headers={b"x-session-id": b"d"}) != key(
        caller="a", group="bc", headers={b"x-session-id": b"d"}
    )


@pytest.mark.req("G-088")
@pytest.mark.case("I7")
def test_no_source_is_a_header_that_carries_a_credential_or_names_a_person() -> None:
    named = re.compile("authorization|api[-_]key|cookie|token|^user$|safety")

    assert not [source for source in SOURCES if named.search(source)]


def test_names_of_persons_are_no_sessions() -> None:
    assert key(user(), user="u1", safety_identifier="p1") == key(user())


def test_key_tells_neither_the_id_nor_the_text() -> None:
    found = session(user("my secret"), headers={b"x-session-id": b"s1"})

    assert found is not None
    assert re.fullmatch("[0-9a-f]{32}", found.key)
    assert "secret" not in repr(found)


@pytest.mark.case("T96", "I26")
@pytest.mark.parametrize("bad", ["", "x" * 257, "a\nb", "a\0b", "a\x7fb", "a\x85b", 5, None, ["s1"], {}])
def test_what_is_no_id_is_passed_over(bad: object) -> None:
    found = session(user(), session_id=bad, metadata={"session_id": "s2"})

    assert found is not None
    assert found.source == "metadata.session_id"


@pytest.mark.parametrize("bad", [b"", b"x" * 257, b"a\tb"])
def test_header_that_is_no_id_is_passed_over(bad: bytes) -> None:
    found = session(user(), headers={b"x-pointsman-session": bad, b"x-session-id": b"s1"})

    assert found is not None
    assert found.source == "x-session-id"


def test_longest_id_is_taken() -> None:
    found = session(headers={b"x-session-id": b"x" * 256})

    assert found is not None
    assert found.source == "x-session-id"


def test_subagent_of_claude_code_has_a_session_of_its_own() -> None:
    of_main = {b"x-claude-code-session-id": b"s1"}

    assert key(headers={**of_main, b"x-claude-code-agent-id": b"a1"}) != key(headers=of_main)
    assert key(user(), headers={b"x-claude-code-agent-id": b"a1"}) == key(user())


@pytest.mark.parametrize("name", [b"session-id", b"thread-id"])
def test_general_names_are_believed_of_codex_only(name: bytes) -> None:
    others = [session(user(), headers={name: b"s1", **agent}) for agent in ({}, {b"user-agent": b"curl/8 codex"})]

    assert [found and found.source for found in others] == [AUTO, AUTO]


@pytest.mark.parametrize(
    ("user_id", "source"),
    [
        (f"user_ab_account__session_{UUID}", "metadata.user_id"),
        (f"user_session_{UUID}_more", AUTO),
        ("user-17", AUTO),
        ('{"session_id": 5}', AUTO),
        ('{"device_id": "d"}', AUTO),
        ("{", AUTO),
        (17, AUTO),
    ],
)
def test_user_id_names_a_session_only_in_the_ways_of_claude_code(user_id: object, source: str) -> None:
    found = session(user(), metadata={"user_id": user_id})

    assert found is not None
    assert found.source == source


@pytest.mark.parametrize("metadata", ["text", 5, [], None, {}])
def test_metadata_of_any_shape_does_no_harm(metadata: object) -> None:
    found = session(user(), metadata=metadata)

    assert found is not None
    assert found.source == AUTO


def test_cache_key_that_an_application_sends_always_tells_conversations_apart() -> None:
    one, two = (key(user(said), prompt_cache_key="app") for said in ("a", "b"))

    assert one != two
    assert one == key(user("a"), answer(), user("more"), prompt_cache_key="app")
    assert session(prompt_cache_key="app") is None


@pytest.mark.req("D-050", "D-051", "D-052")
def test_conversation_that_nobody_names_is_known_by_how_it_begins() -> None:
    found = session(user())

    assert found is not None
    assert (found.source, found.is_explicit, found.has_begun) == (AUTO, False, False)
    assert found.key == key(user(), answer(), user("And now?"))
    assert found.key != key(user("Something else"))
    assert found.key != key(user(), system="Be brief.")
    assert found.key != key({"role": "system", "content": "Be brief."}, user())
    assert found.key != key({**user(), "name": "bob"})


def test_further_instructions_before_the_first_turn_count() -> None:
    system, developer = {"role": "system", "content": "a"}, {"role": "developer", "content": "b"}

    assert key(system, developer, user()) != key(system, user())


@pytest.mark.req("D-051")
def test_beginnings_of_two_dialects_are_two_sessions_and_a_name_is_one() -> None:
    both = Dialect.OPENAI_CHAT, Dialect.ANTHROPIC_MESSAGES

    assert len({key(user(), dialect=dialect) for dialect in both}) == 2
    assert len({key(user(), dialect=dialect, headers={b"x-session-id": b"s1"}) for dialect in both}) == 1


@pytest.mark.bug("D-05")
def test_text_and_a_list_of_one_text_are_the_same_beginning() -> None:
    plain = key(user('Say "hi"\n'), system="Be brief.")

    assert plain == key(user(text('Say "hi"\n')), system="Be brief.")
    assert plain == key(user(text('Say "hi"\n', cache_control={"type": "ephemeral"})), system="Be brief.")
    assert plain != key(user(text('Say "ho"\n')), system="Be brief.")


def test_request_without_a_turn_has_no_session() -> None:
    assert session() is None
    assert session({"role": "system", "content": "Be brief."}) is None
    assert session(messages="no list") is None  # type: ignore[misc]


@pytest.mark.parametrize("named", [True, False])
def test_conversation_has_begun_once_an_answer_is_part_of_it(named: bool) -> None:
    headers = {b"x-session-id": b"s1"} if named else {}

    first, second = session(user(), headers=headers), session(user(), answer(), user("more"), headers=headers)

    assert first is not None
    assert second is not None
    assert (first.has_begun, second.has_begun) == (False, True)
    assert (first.is_worth_keeping, second.is_worth_keeping) == (named, True)


# --- Responses


def of_responses(said: object, **fields: Any) -> Session | None:
    return session(dialect=Dialect.OPENAI_RESPONSES, input=said, **fields)


def key_of_responses(said: object, **fields: Any) -> str | None:
    found = of_responses(said, **fields)
    return None if found is None else found.key


@pytest.mark.req("D-051")
@pytest.mark.parametrize(
    "said",
    [
        [user()],
        [{"type": "message", **user()}],
        [user([{"type": "input_text", "text": FIRST}])],
        [user(), {"type": "reasoning", "summary": []}, {"type": "message", **answer()}, user("And now?")],
    ],
    ids=["a list", "a typed message", "a list of parts", "a later turn"],
)
def test_input_of_responses_is_a_conversation_in_whatever_way_it_is_written(said: object) -> None:
    assert key_of_responses(said, instructions="Be brief.") == key_of_responses(FIRST, instructions="Be brief.")


@pytest.mark.req("D-051")
def test_instructions_and_input_of_responses_tell_conversations_apart() -> None:
    found = {
        key_of_responses(FIRST), key_of_responses("Something else"), key_of_responses(FIRST, instructions="Be brief."),
    }  # fmt: skip

    assert None not in found
    assert len(found) == 3


@pytest.mark.parametrize(
    "item",
    [
        {"type": "message", **answer()},
        {"type": "reasoning", "summary": []},
        {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"},
    ],
)
def test_conversation_of_responses_has_begun_once_a_model_has_said_anything(item: dict[str, object]) -> None:
    first, second = of_responses([{"type": "message", **user()}]), of_responses([user(), item])

    assert first is not None
    assert second is not None
    assert (first.has_begun, second.has_begun) == (False, True)


@pytest.mark.req("G-088")
def test_conversation_of_responses_is_a_session_whatever_is_said_in_it() -> None:
    named, as_object = of_responses("a", conversation="conv_1"), of_responses("b", conversation={"id": "conv_1"})

    assert named == as_object
    assert named is not None
    assert named.source == "conversation"


@pytest.mark.req("D-051")
def test_next_part_of_a_stored_response_does_not_tell_how_it_began() -> None:
    assert of_responses(FIRST, previous_response_id="resp_1") is None
    assert of_responses(FIRST, previous_response_id=None) == of_responses(FIRST)
    assert of_responses(FIRST, previous_response_id="resp_1", session_id="s1") is not None


@pytest.mark.parametrize("dialect", [Dialect.OPENAI_EMBEDDINGS, Dialect.OPENAI_COMPLETIONS])
def test_texts_that_are_no_conversation_have_no_session(dialect: Dialect) -> None:
    assert session(dialect=dialect, input=FIRST, prompt=FIRST) is None
