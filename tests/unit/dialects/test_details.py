"""Only what a group wants to know is worked out."""

import pytest
from msgspec import structs

from pointsman.dialects.conversation import MAX_DIGESTED_BYTES
from pointsman.dialects.details import with_details
from pointsman.domain.ask import Ask
from pointsman.domain.holder import Holder
from pointsman.domain.policy import Detail
from pointsman.testing import builders
from tests.unit.dialects.talk import body, user

NAMED = {b"x-session-id": b"s1"}


def told(*wanted: Detail, said: str = "hi", bound_to: Holder | None = None) -> Ask:
    group = builders.group("chat", "a/m", "b/m")
    policy = structs.replace(group.policy, details=frozenset(wanted))
    ask = structs.replace(builders.ask(), bound_to=bound_to)
    return with_details(ask, structs.replace(group, policy=policy), body(user(said)), NAMED)


@pytest.mark.parametrize("wanted", Detail)
def test_nothing_else_is_worked_out(wanted: Detail) -> None:
    ask = told(wanted)

    found = {
        Detail.TEXT_SIZE: ask.facts.text_chars, Detail.SESSION: ask.facts.session, Detail.PREFIX: ask.prefix,
        Detail.PROMPT: ask.facts.features,
    }  # fmt: skip
    assert [detail for detail, value in found.items() if value is not None] == [wanted]


def test_all_of_it_can_be_had_at_once() -> None:
    ask = told(*Detail)

    assert None not in (ask.facts.text_chars, ask.facts.session, ask.prefix, ask.facts.has_images)
    assert (ask.request_id, ask.caller) == (builders.ask().request_id, builders.ask().caller)


@pytest.mark.bug("D-03")
@pytest.mark.parametrize("wanted", Detail)
def test_what_the_request_builds_on_stays_known(wanted: Detail) -> None:
    holder = Holder("a/m", "a", "chat")

    assert told(wanted, bound_to=holder).bound_to == holder


@pytest.mark.req("G-088")
def test_long_body_has_no_digests_but_may_name_its_session() -> None:
    ask = told(*Detail, said="x" * MAX_DIGESTED_BYTES)

    assert ask.prefix is None
    assert ask.facts.session is not None
    assert ask.facts.session.source == "x-session-id"
