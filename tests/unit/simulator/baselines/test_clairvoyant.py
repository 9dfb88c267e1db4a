"""The reference."""

from collections import Counter

from msgspec import structs

from pointsman.domain.outcome import Outcome, OutcomeClass
from pointsman.routing.market.worth import Worth
from pointsman.simulator.baselines.clairvoyant import Clairvoyant
from pointsman.simulator.endpoint import Answer
from tests.unit.simulator.baselines.playing import FAULT, LIMITED, OK, ok, picks
from tests.unit.simulator.simulated import target

AB = [target("a"), target("b")]
WORTH = Worth(reference_usd=0.001, ttft_usd_per_s=0.0005, decode_usd_per_s=0.00005)
BROKEN = structs.replace(OK, outcome_class=OutcomeClass.BROKEN_STREAM)


def picked(a: Outcome, b: Outcome) -> Counter[str]:
    foreseen = {"a": Answer(a), "b": Answer(b)}
    return picks(Clairvoyant(lambda _, name, __: foreseen[name], WORTH), AB, 1)


def test_sooner_is_better_at_the_same_price() -> None:
    assert picked(ok(2.0), ok(0.5)) == Counter(b=1)


def test_money_is_weighed_against_time() -> None:
    dear = [target("a", 1.0), target("b", 1.2)]
    foreseen = {"a": Answer(ok(0.6)), "b": Answer(ok(0.5))}
    reference = Clairvoyant(lambda _, name, __: foreseen[name], WORTH)

    assert picks(reference, dear, 1) == Counter(a=1)


def test_answer_is_better_than_any_failure_and_a_failure_than_a_broken_stream() -> None:
    assert picked(ok(19.0), FAULT) == Counter(a=1)
    assert picked(BROKEN, FAULT) == Counter(b=1)
    assert picked(FAULT, LIMITED) == Counter(b=1)
