"""Which bridges there are, and who needs one."""

import json

import pytest
from msgspec import structs

from pointsman.dialects.bridges.bridge import BRIDGES, bridge_to, surroundings, uncarried_of
from pointsman.dialects.registry import DIALECTS
from pointsman.domain.carried import CARRIED_AS, carried_as
from pointsman.domain.preferences import Uncarried
from pointsman.domain.request import Dialect
from pointsman.testing import builders
from tests.unit.dialects.bridges.carried import CHAT, MESSAGES


def test_there_is_a_bridge_for_every_pair_that_routing_counts_on() -> None:
    assert set(BRIDGES) == {(asked, into) for asked, others in CARRIED_AS.items() for into in others}
    assert all(bridge.codec.dialect is into for (_, into), bridge in BRIDGES.items())


def test_a_request_becomes_what_the_target_speaks() -> None:
    target = structs.replace(builders.target("a/m"), dialects=frozenset((MESSAGES, Dialect.OPENAI_EMBEDDINGS)))

    assert carried_as(CHAT, target.dialects) is MESSAGES
    assert bridge_to(target, CHAT).codec.dialect is MESSAGES


def test_nobody_is_asked_who_speaks_nothing_that_it_could_become() -> None:
    target = structs.replace(builders.target("a/m"), dialects=frozenset((Dialect.OPENAI_EMBEDDINGS,)))

    with pytest.raises(RuntimeError, match="a/m"):
        bridge_to(target, CHAT)


def test_what_would_not_arrive_is_told_by_dialect() -> None:
    fields = {"model": "chat", "messages": [{"role": "user", "content": [{"type": "input_audio"}]}], "seed": 7}

    found = uncarried_of(DIALECTS[CHAT].read_request(json.dumps(fields).encode()))

    assert found == tuple(Uncarried(into, ("seed",), ("messages.input_audio",)) for into in CARRIED_AS[CHAT])


def test_nothing_is_told_where_all_arrives_or_nothing_can() -> None:
    plain = DIALECTS[CHAT].read_request(b'{"model":"chat","messages":[]}')
    vectors = DIALECTS[Dialect.OPENAI_EMBEDDINGS].read_request(b'{"model":"chat","input":"x"}')

    assert uncarried_of(plain) == uncarried_of(vectors) == ()


def test_input_is_estimated_by_its_text() -> None:
    body = json.dumps({"model": "chat", "messages": [{"role": "user", "content": "word " * 400}]}).encode()

    around = surroundings(DIALECTS[CHAT].read_request(body), 1_800_000_000.9)

    assert (around.created_s, around.expected_input_tokens) == (1_800_000_000, len(body) // 4)
