"""Most requests need no closer look; what makes one necessary."""

import math

import pytest
from msgspec import structs

from pointsman.dialects.registry import DIALECTS
from pointsman.domain.errors import GatewayError
from pointsman.domain.policy import Scan
from pointsman.domain.preferences import Preferences
from pointsman.domain.request import Caller, Dialect, Scope
from pointsman.http1.header_block import HeaderBlock
from pointsman.proxy import closer
from pointsman.testing import builders

CODEC = DIALECTS[Dialect.OPENAI_CHAT]
PLAIN = b'{"model":"chat","max_tokens":10}'
NO_HEADERS = HeaderBlock(b"\r\nhost: test\r\n")
UTC_S = 1_800_000_000.0
ALICE = builders.caller("alice", Scope.CHAT, Scope.STEER)


def is_needed(*, body: bytes = PLAIN, head: bytes = b"", caller: Caller = ALICE, up_to: float = math.inf) -> bool:
    group = builders.group("chat", "a/m", scan=Scan(plain_up_to_tokens=up_to))
    return closer.is_needed(group, CODEC.read_request(body), caller, HeaderBlock(NO_HEADERS.raw + head))


def test_plain_request_needs_none() -> None:
    assert not is_needed()
    assert not is_needed(head=b"x-pointsman-explain: full\r\n")


@pytest.mark.parametrize(("up_to", "expected"), [(len(PLAIN) + 10, False), (len(PLAIN) + 9, True), (-1.0, True)])
def test_body_and_cap_together_are_what_counts(up_to: float, expected: bool) -> None:
    assert is_needed(up_to=up_to) is expected


def test_a_bridge_that_some_target_needs_for_this_dialect_needs_one() -> None:
    scans = (Scan(bridged=frozenset((dialect,))) for dialect in (Dialect.OPENAI_CHAT, Dialect.ANTHROPIC_MESSAGES))

    needed = [
        closer.is_needed(builders.group("chat", "a/m", scan=scan), CODEC.read_request(PLAIN), ALICE, NO_HEADERS)
        for scan in scans
    ]

    assert needed == [True, False]


def test_preferences_headers_and_limits_of_a_key_need_one() -> None:
    assert is_needed(body=b'{"model":"chat","provider":{}}')
    assert is_needed(head=b"X-Pointsman-Max-Price: 1,1\r\n")
    assert is_needed(caller=structs.replace(ALICE, policy=Preferences(zdr=True)))


def test_body_and_head_are_one_set_of_preferences() -> None:
    body, head = b'{"model":"chat","provider":{"zdr":true}}', HeaderBlock(b"\r\nx-pointsman-target: a\r\n")
    parsed = CODEC.read_request(body)
    ask = structs.replace(builders.ask(), caller=ALICE, facts=parsed.facts)

    found = closer.look(ask, builders.group("chat", "a/m"), CODEC, parsed, head, UTC_S)

    assert found.demands is not None
    assert found.demands.preferences == Preferences(zdr=True, only=(("a",),))


def test_unknown_model_to_turn_to_is_told_at_once() -> None:
    parsed = CODEC.read_request(b'{"model":"chat","models":["chta"]}')
    ask = structs.replace(builders.ask(), facts=parsed.facts)

    with pytest.raises(GatewayError) as raised:
        closer.look(ask, builders.group("chat", "a/m"), CODEC, parsed, NO_HEADERS, UTC_S)

    assert (raised.value.status, "'chat'" in raised.value.message) == (404, True)
