"""Leaving a group: larger windows, other groups, and what is told when nothing helps."""

from collections.abc import Mapping
from typing import Any

import pytest
from msgspec import structs

from pointsman.domain.decision import Exclusion
from pointsman.domain.holder import Holder
from pointsman.domain.outcome import ProviderError
from pointsman.domain.policy import Affinity, AffinityMode, Fallbacks, Retry
from pointsman.domain.preferences import Demands, Preferences
from pointsman.domain.request import Dialect
from pointsman.domain.target import ModelGroup
from pointsman.domain.view import TargetView
from pointsman.routing.exchange import Command, Exchange, Finish, Send, Wait
from pointsman.signals.board import SignalBoard
from pointsman.testing import builders
from tests.unit.routing.asking import NOW, Draws, HandBoard, paused_for
from tests.unit.routing.commands import error_of, target_of

TOO_LONG = ProviderError("prompt is too long: 9 tokens > 8 maximum", "invalid_request_error")
FORBIDDEN = ProviderError("No.", "invalid_request_error", "content_filter")
OTHER = builders.group("other", "z/m", strategy="failover")
LAST = builders.group("last", "y/m", strategy="failover")


def chat(*targets: str, windows: Mapping[str, int] | None = None, **policy: Any) -> ModelGroup:
    traits = {name: builders.traits(context_tokens=window) for name, window in (windows or {}).items()}
    return builders.group("chat", *targets, strategy="failover", traits=traits, **policy)


class Asking:
    """One exchange in a snapshot with two more groups."""

    def __init__(
        self,
        group: ModelGroup,
        *,
        views: Mapping[str, TargetView] | None = None,
        demands: Demands | None = None,
        allowed: frozenset[str] | None = None,
        others: tuple[ModelGroup, ...] = (OTHER, LAST),
        bound_to: Holder | None = None,
        **facts: object,
    ) -> None:
        self.board = HandBoard(views)
        ask = builders.ask(config=builders.snapshot([group, *others]), demands=demands, **facts)
        ask = structs.replace(ask, caller=structs.replace(ask.caller, groups=allowed), bound_to=bound_to)
        self.exchange = Exchange(ask, group, self.board, Draws(0.5), began_at=NOW, deadline=NOW + 600)

    def start(self) -> Command:
        return self.exchange.start(NOW)

    def fails(self, status: int = 503) -> Command:
        return self.exchange.finished(builders.outcome("upstream_fault", status=status), NOW)

    def refuses(self, error: ProviderError) -> Command:
        return self.exchange.finished(builders.outcome("caller_fault", status=400, error=error), NOW)


# --- too long


@pytest.mark.bug("B-08", "B-03")
def test_too_long_a_prompt_goes_to_a_larger_window_and_never_to_one_of_the_same_size() -> None:
    asking = Asking(chat("a/m", "b/m", "c/m", "d/m", windows={"a/m": 8, "b/m": 8, "c/m": 16, "d/m": 8}))
    asking.start()

    assert target_of(asking.refuses(TOO_LONG)) == "c/m"
    finish = asking.refuses(TOO_LONG)

    assert error_of(finish) == ("caller_fault", "context_length_exceeded")
    assert isinstance(finish, Finish)
    assert finish.error is not None
    assert (finish.error.status, finish.error.message) == (400, TOO_LONG.message)


@pytest.mark.bug("B-08")
def test_without_a_known_larger_window_the_refusal_is_the_callers() -> None:
    asking = Asking(chat("a/m", "b/m", windows={"b/m": 8}))
    asking.start()

    assert error_of(asking.refuses(TOO_LONG)) == ("caller_fault", "context_length_exceeded")


@pytest.mark.bug("B-09")
def test_refusal_of_a_smaller_one_does_not_hide_the_failure_that_heals() -> None:
    asking = Asking(chat("a/m", "b/m"))
    asking.start()
    asking.exchange.finished(builders.outcome("rate_limited", status=429), NOW)

    assert error_of(asking.refuses(TOO_LONG)) == ("targets_exhausted", "upstream_rate_limited")


@pytest.mark.parametrize(
    ("lists", "error", "expected"),
    [
        (Fallbacks(context=("other",)), TOO_LONG, "z/m"),
        (Fallbacks(policy=("other",)), FORBIDDEN, "z/m"),
        (Fallbacks(any_failure=("other",)), TOO_LONG, None),
        (Fallbacks(context=("other",)), FORBIDDEN, None),
        (Fallbacks(context=("other",), policy=("other",)), ProviderError("'top_p' is wrong"), None),
    ],
)
def test_refused_request_turns_to_the_groups_for_its_cause_only(
    lists: Fallbacks, error: ProviderError, expected: str | None
) -> None:
    asking = Asking(chat("a/m", fallbacks=lists))
    asking.start()

    command = asking.refuses(error)

    assert (target_of(command) if isinstance(command, Send) else None) == expected


@pytest.mark.case("I1")
def test_nothing_follows_a_refusal_after_the_first_content() -> None:
    asking = Asking(chat("a/m", fallbacks=Fallbacks(context=("other",))))
    asking.start()

    command = asking.exchange.finished(builders.outcome("caller_fault", committed=True, error=TOO_LONG), NOW)

    assert error_of(command) == ("response_started", None)


def test_request_that_fits_nobody_turns_to_a_group_with_more_room() -> None:
    group = chat("a/m", windows={"a/m": 100}, fallbacks=Fallbacks(context=("other",)))
    ask = builders.ask(config=builders.snapshot([group, OTHER]), demands=Demands(), text_chars=4_000)
    exchange = Exchange(ask, group, HandBoard(), Draws(0.5), began_at=NOW, deadline=NOW + 600)

    assert target_of(exchange.start(NOW)) == "z/m"
    assert exchange.decisions[0].excluded[0].rule is Exclusion.CONTEXT_TOO_SMALL
    assert (exchange.group.name, exchange.current.name) == ("chat", "other")


def test_request_that_fits_nobody_at_all_is_refused_with_the_code_for_it() -> None:
    group = chat("a/m", windows={"a/m": 100})
    ask = builders.ask(config=builders.snapshot([group]), demands=Demands(), text_chars=4_000)
    exchange = Exchange(ask, group, HandBoard(), Draws(0.5), began_at=NOW, deadline=NOW + 600)

    assert error_of(exchange.start(NOW)) == ("context_length_exceeded", "context_length_exceeded")


# --- any failure


def test_fallback_comes_after_all_targets_of_the_group() -> None:
    asking = Asking(chat("a/m", "b/m", fallbacks=Fallbacks(("other",))))

    steps = [asking.start(), asking.fails(), asking.fails()]

    assert [target_of(step) for step in steps] == ["a/m", "b/m", "z/m"]


@pytest.mark.bug("B-02")
@pytest.mark.parametrize(("most", "expected"), [(1, []), (2, ["z/m"]), (3, ["b/m", "z/m"])])
def test_last_attempt_is_for_the_fallback_and_all_together_stay_within_the_most(most: int, expected: list[str]) -> None:
    group = chat("a/m", "b/m", "c/m", fallbacks=Fallbacks(("other",)), retry=Retry(max_attempts=most))
    asking = Asking(group)
    asking.start()

    steps = [asking.fails() for _ in range(most)]

    assert [target_of(step) for step in steps if isinstance(step, Send)] == expected
    assert isinstance(steps[-1], Finish)


def test_fallback_comes_before_waiting() -> None:
    views = {"a/m": paused_for(1.0)}

    assert target_of(Asking(chat("a/m", fallbacks=Fallbacks(("other",))), views=views).start()) == "z/m"


def test_when_no_other_group_can_help_either_the_asked_one_decides() -> None:
    views = {"a/m": paused_for(1.0), "z/m": paused_for(200.0)}

    command = Asking(chat("a/m", fallbacks=Fallbacks(("other",))), views=views).start()

    assert isinstance(command, Wait)
    assert command.until == NOW + 1.0


def test_every_group_that_could_not_help_is_in_the_record() -> None:
    nobody = builders.group("other", ("z/m", 0))
    asking = Asking(builders.group("chat", ("a/m", 0), fallbacks=Fallbacks(("other",))), others=(nobody,))

    assert error_of(asking.start()) == ("no_eligible_target", "no_eligible_target")
    assert [decision.group.name for decision in asking.exchange.decisions] == ["chat", "other", "chat"]


def test_groups_are_turned_to_in_their_order_and_once() -> None:
    retry = Retry(max_attempts=9)
    asking = Asking(chat("a/m", fallbacks=Fallbacks(("other", "last")), retry=retry))

    steps = [asking.start(), asking.fails(), asking.fails()]

    assert [target_of(step) for step in steps] == ["a/m", "z/m", "y/m"]


@pytest.mark.bug("A-18")
def test_group_that_the_caller_may_not_use_is_passed_over() -> None:
    group = chat("a/m", fallbacks=Fallbacks(("other", "last")))
    asking = Asking(group, allowed=frozenset(("chat", "last")))
    asking.start()

    assert target_of(asking.fails()) == "y/m"


def test_target_that_has_failed_is_not_asked_again_in_another_group() -> None:
    same = builders.group("other", "a/m", "x/m", strategy="failover")
    asking = Asking(chat("a/m", fallbacks=Fallbacks(("other",))), others=(same,))
    asking.start()

    assert target_of(asking.fails()) == "x/m"


def test_failure_is_told_even_if_the_last_group_has_nobody() -> None:
    nobody = builders.group("other", ("z/m", 0))
    asking = Asking(chat("a/m", fallbacks=Fallbacks(("other",))), others=(nobody,))
    asking.start()

    assert error_of(asking.fails(501)) == ("targets_exhausted", "upstream_error")


def test_last_attempt_goes_to_the_group_itself_if_no_other_one_can_take_it() -> None:
    nobody = builders.group("other", ("z/m", 0))
    group = chat("a/m", "b/m", fallbacks=Fallbacks(("other",)), retry=Retry(max_attempts=2))
    asking = Asking(group, others=(nobody,))
    asking.start()

    assert target_of(asking.fails()) == "b/m"


def test_turns_of_a_fallback_are_its_own() -> None:
    in_turn = builders.group("other", "y/m", "z/m", strategy="round_robin")
    group, board = chat("a/m", fallbacks=Fallbacks(("other",))), SignalBoard(Draws(0.5))
    served = []
    for _ in range(4):
        ask = builders.ask(config=builders.snapshot([group, in_turn]))
        exchange = Exchange(ask, group, board, Draws(0.5), began_at=NOW, deadline=NOW + 600)
        exchange.start(NOW)
        served.append(target_of(exchange.finished(builders.outcome("upstream_fault", status=501), NOW)))

    assert served == ["y/m", "z/m", "y/m", "z/m"]


@pytest.mark.bug("N-06")
def test_credential_fault_after_a_refusal_is_never_shown_as_the_callers() -> None:
    asking = Asking(chat("a/m", "b/m", windows={"a/m": 8, "b/m": 16}))
    asking.start()
    asking.refuses(TOO_LONG)

    finish = asking.exchange.finished(builders.outcome("credential_fault", status=401), NOW)

    assert error_of(finish) == ("targets_exhausted", "context_length_exceeded")


# --- preferences


def test_models_of_the_request_replace_the_fallbacks_of_the_group_for_every_cause() -> None:
    demands = Demands(preferences=Preferences(models=("last",)))
    group = chat("a/m", fallbacks=Fallbacks(("other",), ("other",), ("other",)))
    asking, refused = Asking(group, demands=demands), Asking(group, demands=demands)
    asking.start()
    refused.start()

    assert target_of(asking.fails()) == "y/m"
    assert target_of(refused.refuses(FORBIDDEN)) == "y/m"


def test_without_fallbacks_the_first_choice_is_the_only_one() -> None:
    demands = Demands(preferences=Preferences(allow_fallbacks=False))
    asking = Asking(chat("a/m", "b/m", fallbacks=Fallbacks(("other",))), demands=demands)
    asking.start()

    assert error_of(asking.fails()) == ("attempts_exhausted", "upstream_error")


@pytest.mark.req("C-15")
def test_without_fallbacks_those_in_order_are_tried_and_nobody_else() -> None:
    demands = Demands(preferences=Preferences(order=("c", "a"), allow_fallbacks=False))
    asking = Asking(chat("a/m", "b/m", "c/m", fallbacks=Fallbacks(("other",))), demands=demands)

    steps = [asking.start(), asking.fails(501), asking.fails(501)]

    assert [target_of(step) for step in steps[:2]] == ["c/m", "a/m"]
    assert error_of(steps[2]) == ("targets_exhausted", "upstream_error")


# --- sessions


def test_pins_are_those_of_the_group_that_was_asked_for_and_no_fallback_makes_one() -> None:
    session = builders.session()
    group = chat("a/m", fallbacks=Fallbacks(("other",)), affinity=Affinity(AffinityMode.STRICT))
    board = HandBoard()
    ask = builders.ask(config=builders.snapshot([group, OTHER]), session=session)
    exchange = Exchange(ask, group, board, Draws(0.5), began_at=NOW, deadline=NOW + 600)
    exchange.start(NOW)

    assert target_of(exchange.finished(builders.outcome("upstream_fault", status=501), NOW)) == "z/m"
    exchange.finished(builders.outcome(), NOW)

    assert board.settled == []
    assert exchange.decisions[-1].pin is None


# --- embeddings


def embedding(group: ModelGroup, space: str) -> ModelGroup:
    targets = [structs.replace(member.target, dialects=frozenset(Dialect)) for member in group.members]
    members = tuple(structs.replace(old, target=new) for old, new in zip(group.members, targets, strict=True))
    return structs.replace(group, members=members, embedding_space=space)


@pytest.mark.parametrize("models", [(), ("other", "last")], ids=["configured", "named by the request"])
def test_embeddings_turn_to_groups_of_the_same_space_only(models: tuple[str, ...]) -> None:
    asked = embedding(chat("a/m", fallbacks=Fallbacks(any_failure=("other", "last"))), "bge")
    demands = Demands(preferences=Preferences(models=models)) if models else None
    others = (embedding(OTHER, "e5"), embedding(LAST, "bge"))
    asking = Asking(asked, demands=demands, others=others, dialect=Dialect.OPENAI_EMBEDDINGS)
    asking.start()

    assert target_of(asking.fails()) == "y/m"


def test_other_requests_turn_to_groups_of_any_space() -> None:
    asked = embedding(chat("a/m", fallbacks=Fallbacks(any_failure=("other",))), "bge")
    asking = Asking(asked, others=(embedding(OTHER, "e5"),))
    asking.start()

    assert target_of(asking.fails()) == "z/m"


# --- what builds on an earlier answer


@pytest.mark.bug("D-03")
@pytest.mark.parametrize(
    "fallbacks", [Fallbacks(any_failure=("last", "other")), Fallbacks(context=("other",)), Fallbacks(policy=("other",))]
)
def test_request_returns_to_the_group_that_an_earlier_one_had_turned_to(fallbacks: Fallbacks) -> None:
    asking = Asking(chat("a/m", fallbacks=fallbacks), bound_to=Holder("z/m", "z", "chat"))

    assert target_of(asking.start()) == "z/m"


@pytest.mark.bug("D-03")
def test_request_turns_to_no_group_that_lacks_what_it_builds_on() -> None:
    asked = chat("a/m", "b/m", fallbacks=Fallbacks(any_failure=("other", "last")), retry=Retry(backoff_base_s=0.0))
    asking = Asking(asked, bound_to=Holder("a/m", "a", "chat"))
    asking.start()

    finish = asking.fails()
    while not isinstance(finish, Finish):
        finish = asking.fails() if isinstance(finish, Send) else asking.exchange.resume(NOW)

    assert {pick.target.id for pick in asking.exchange.picks} == {"a/m"}
