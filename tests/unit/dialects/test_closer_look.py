"""What else is found out about a request, and when."""

import pytest
from msgspec import structs

from pointsman.dialects.closer_look import looked_at
from pointsman.dialects.registry import DIALECTS
from pointsman.domain.ask import Ask
from pointsman.domain.capability import Capability
from pointsman.domain.carried import CARRIED_AS
from pointsman.domain.policy import Scan
from pointsman.domain.preferences import Demands, Preferences, Sort, Uncarried
from pointsman.domain.request import Dialect
from pointsman.testing import builders

BODY = b'{"model":"chat","messages":[],"tools":[{}],"max_tokens":9}'
CODEC = DIALECTS[Dialect.OPENAI_CHAT]
NEEDS = (Capability.TOOLS, Capability.HONORS_MAX_TOKENS)

LOST = tuple(
    Uncarried(into, content=("tools.function",)) for into in CARRIED_AS[Dialect.OPENAI_CHAT]
)  # a tool that says nothing about itself


def look(scan: Scan, preferences: Preferences | None = None, policy: Preferences | None = None) -> Ask:
    parsed, ask = CODEC.read_request(BODY), builders.ask()
    ask = structs.replace(ask, caller=structs.replace(ask.caller, policy=policy), facts=parsed.facts)
    group = builders.group("chat", "a/m", scan=scan)
    return looked_at(ask, group, CODEC, parsed, {}, preferences)


def test_group_that_compares_prices_wants_to_know_how_much_text_there_is() -> None:
    found = look(Scan(sizes_text=True))

    assert (found.facts.text_chars, found.facts.needs, found.demands) == (len(BODY), None, None)


def test_group_with_a_target_that_lacks_something_wants_to_know_what_is_needed() -> None:
    found = look(Scan(finds_needs=True))

    assert (found.facts.text_chars, found.facts.needs) == (None, NEEDS)
    assert found.demands == Demands(NEEDS, 9)


@pytest.mark.parametrize(("window", "is_long"), [(len(BODY) + 8, True), (len(BODY) + 9, False)])
def test_request_that_may_exceed_a_window_is_measured(window: int, is_long: bool) -> None:
    found = look(Scan(window_tokens=window))

    assert (found.facts.text_chars is not None, found.demands is not None) == (is_long, is_long)


def test_preferences_and_key_policy_are_demands() -> None:
    wanted, policy = Preferences(zdr=True), Preferences(only=(("a",),))

    assert look(Scan(), wanted).demands == Demands((), 9, wanted)
    assert look(Scan(), None, policy).demands == Demands((), 9, Preferences(), policy)


def test_sort_by_price_wants_to_know_how_much_text_there_is() -> None:
    assert look(Scan(), Preferences(sort=Sort.PRICE)).facts.text_chars == len(BODY)


def test_group_with_a_target_that_needs_a_bridge_wants_to_know_what_would_not_arrive() -> None:
    found = look(Scan(bridged=frozenset((Dialect.OPENAI_CHAT,))))

    assert found.demands == Demands((), 9, uncarried=LOST)


def test_request_that_may_turn_to_any_group_is_looked_at_for_bridges_of_theirs() -> None:
    found = look(Scan(), Preferences(models=("other",)))

    assert found.demands is not None
    assert found.demands.uncarried == LOST


def test_group_whose_bridges_are_for_other_dialects_wants_to_know_nothing() -> None:
    assert look(Scan(bridged=frozenset((Dialect.ANTHROPIC_MESSAGES,)))).demands is None


def test_scans_of_two_groups_together_look_for_what_either_wants() -> None:
    bridged = frozenset((Dialect.OPENAI_CHAT,))

    both = Scan(window_tokens=8_000).settled().with_more(Scan(4_000, finds_needs=True, bridged=bridged).settled())

    assert both == Scan(4_000, sizes_text=False, finds_needs=True, bridged=bridged, plain_up_to_tokens=-1.0)
    assert Scan(window_tokens=8_000).settled().plain_up_to_tokens == 8_000
