"""Every eligible target is unavailable: wait, try, or refuse."""

import pytest
from msgspec import structs

from pointsman.domain.policy import OnAllUnavailable
from pointsman.domain.view import PauseCause, TargetView
from pointsman.routing import unavailable
from pointsman.routing.unavailable import Refuse, TryAnyway, WaitUntil
from pointsman.testing import builders
from tests.unit.routing.asking import LIMITED, NOW, PROBING, decided, paused_for, view_of

FAULTS, RATE_LIMIT = PauseCause.FAULTS, PauseCause.RATE_LIMIT
CREDENTIAL, MISSING = PauseCause.CREDENTIAL, PauseCause.MISSING
Advice = WaitUntil | TryAnyway | Refuse


def advice(
    mode: str, *seen: TargetView, tried: frozenset[str] = frozenset(), deadline_s: float = 600.0, limit_s: float = 10.0
) -> Advice:
    """What to do when the targets 0/m, 1/m, ... look like this."""
    ids = [f"{number}/m" for number in range(len(seen))]
    group = builders.group("chat", *ids, on_all_unavailable=OnAllUnavailable(mode))
    views = dict(zip(ids, seen, strict=True))
    decision = decided(group, views, tried=tried)
    assert decision.pick is None
    view = view_of(group, views)
    return unavailable.advise(decision, view, now=NOW, wait_limit=NOW + limit_s, deadline=NOW + deadline_s)


def refusal(mode: str, *seen: TargetView) -> tuple[str | None, float | None]:
    found = advice(mode, *seen)
    assert isinstance(found, Refuse)
    return found.error.code, found.error.retry_after_s


# --- auto


@pytest.mark.bug("A-16")
@pytest.mark.parametrize("cause", list(PauseCause))
def test_auto_waits_for_the_soonest_return_if_it_is_within_ten_seconds(cause: PauseCause) -> None:
    assert advice("auto", paused_for(60, cause), paused_for(2, cause)) == WaitUntil(NOW + 2)


def test_auto_waits_at_most_to_the_wait_limit() -> None:
    exactly, past = advice("auto", paused_for(10, RATE_LIMIT)), advice("auto", paused_for(10.01, RATE_LIMIT))

    assert exactly == WaitUntil(NOW + 10)
    assert isinstance(past, Refuse)


@pytest.mark.case("I23")
def test_auto_does_not_wait_past_the_deadline() -> None:
    assert isinstance(advice("auto", paused_for(5, RATE_LIMIT), deadline_s=4), Refuse)


@pytest.mark.req("G-061")
def test_auto_tries_the_target_that_comes_back_first_when_the_pauses_are_for_faults() -> None:
    assert advice("auto", paused_for(200), paused_for(100), paused_for(300)) == TryAnyway(1)


@pytest.mark.parametrize("cause", [RATE_LIMIT, CREDENTIAL, MISSING])
def test_auto_tries_no_target_that_is_held_for_another_reason(cause: PauseCause) -> None:
    assert isinstance(advice("auto", paused_for(100, cause)), Refuse)


@pytest.mark.parametrize("cause", [RATE_LIMIT, CREDENTIAL, MISSING])
def test_auto_prefers_a_faulty_target_to_a_held_one(cause: PauseCause) -> None:
    assert advice("auto", paused_for(50, cause), paused_for(100, FAULTS)) == TryAnyway(1)


def test_auto_looks_again_soon_while_a_probe_is_on_its_way() -> None:
    assert advice("auto", PROBING, paused_for(5)) == WaitUntil(NOW + unavailable.PROBE_RECHECK_S)


def test_tried_targets_are_not_waited_for() -> None:
    assert isinstance(advice("auto", paused_for(2), tried=frozenset({"0/m"})), Refuse)


# --- wait, try, refuse


@pytest.mark.parametrize("cause", list(PauseCause))
def test_wait_waits_as_long_as_the_deadline_allows(cause: PauseCause) -> None:
    assert advice("wait", paused_for(120, cause)) == WaitUntil(NOW + 120)


@pytest.mark.parametrize("cause", list(PauseCause))
def test_wait_refuses_when_nobody_returns_in_time(cause: PauseCause) -> None:
    assert isinstance(advice("wait", paused_for(700, cause)), Refuse)


@pytest.mark.parametrize("cause", list(PauseCause))
def test_try_never_waits_and_tries_whatever_the_cause(cause: PauseCause) -> None:
    assert advice("try", paused_for(1, cause)) == TryAnyway(0)


def test_try_prefers_faulty_targets() -> None:
    assert advice("try", paused_for(1, RATE_LIMIT), paused_for(100, FAULTS)) == TryAnyway(1)


@pytest.mark.parametrize("cause", list(PauseCause))
def test_refuse_neither_waits_nor_tries(cause: PauseCause) -> None:
    assert isinstance(advice("refuse", paused_for(0.5, cause)), Refuse)


# --- what a refusal says


@pytest.mark.bug("A-16", "B-04")
@pytest.mark.parametrize(
    ("causes", "code"),
    [
        ((FAULTS, FAULTS), "all_targets_unavailable"),
        ((FAULTS, RATE_LIMIT), "all_targets_unavailable"),
        ((RATE_LIMIT, RATE_LIMIT), "upstream_rate_limited"),
        ((RATE_LIMIT, CREDENTIAL), "upstream_rate_limited"),
        ((FAULTS, MISSING), "all_targets_unavailable"),
    ],
)
def test_refusal_names_what_heals_and_the_soonest_return(causes: tuple[PauseCause, PauseCause], code: str) -> None:
    assert refusal("refuse", paused_for(40, causes[0]), paused_for(20, causes[1])) == (code, 20)


@pytest.mark.parametrize("causes", [(CREDENTIAL,), (MISSING,), (CREDENTIAL, MISSING)])
def test_refusal_for_faults_of_ours_promises_no_time(causes: tuple[PauseCause, ...]) -> None:
    assert refusal("refuse", *[paused_for(20, cause) for cause in causes]) == ("upstream_misconfigured", None)


# --- when the first one returns


@pytest.mark.bug("B-04")
@pytest.mark.parametrize(
    ("seen", "soonest_s"),
    [
        ((builders.view(),), 0.0),
        ((paused_for(20), builders.view()), 0.0),
        ((paused_for(20), paused_for(7, RATE_LIMIT)), 7.0),
        ((paused_for(20), PROBING), pytest.approx(unavailable.PROBE_RECHECK_S)),
    ],
)
def test_soonest_return_is_that_of_the_first_member_to_come_back(
    seen: tuple[TargetView, ...], soonest_s: float
) -> None:
    view = builders.group_view(*seen)

    assert unavailable.soonest_return_s(view, range(len(seen)), NOW) == soonest_s


def test_target_that_was_far_worse_than_its_peers_may_have_healed() -> None:
    assert advice("auto", paused_for(200, PauseCause.OUTLIER)) == TryAnyway(0)


# --- limits


def test_limit_that_soon_lets_something_through_is_waited_for() -> None:
    assert advice("auto", paused_for(5), LIMITED) == WaitUntil(NOW + 0.5)


@pytest.mark.parametrize("mode", ["auto", "try"])
def test_target_at_its_limit_is_never_tried_anyway(mode: str) -> None:
    limited = structs.replace(LIMITED, limited_until=NOW + 50)

    assert advice(mode, limited, paused_for(100)) == TryAnyway(1)
    assert isinstance(advice(mode, limited), Refuse)


@pytest.mark.bug("B-04")
def test_refusal_of_a_group_at_its_limits_says_when_to_come_again() -> None:
    assert refusal("refuse", LIMITED) == ("upstream_rate_limited", 0.5)
