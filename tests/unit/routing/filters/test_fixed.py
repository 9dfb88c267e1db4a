"""Filters that hold for every request: weight, dialect, credential, contract."""

import pytest
from msgspec import structs

from pointsman.domain.capability import Capability
from pointsman.domain.decision import Exclusion
from pointsman.domain.policy import Contract
from pointsman.domain.preferences import Demands, Uncarried
from pointsman.domain.request import Dialect
from pointsman.domain.target import Member
from pointsman.routing.filters import fixed
from pointsman.routing.filters.asked import Asked
from pointsman.testing import builders


def asked(contract: Contract) -> Asked:
    return Asked(Dialect.OPENAI_CHAT, builders.policy(contract=contract), Demands())


def member(*able: str, tags: tuple[str, ...] = (), **known: object) -> Member:
    return Member(builders.target("a/m", traits=builders.traits(*able, **known)), 1.0, frozenset(tags))


MESSAGES = "anthropic_messages"
SEED, AUDIO = Uncarried(MESSAGES, ("seed",)), Uncarried(MESSAGES, ("seed",), ("messages.input_audio",))


@pytest.mark.req("D-060")
@pytest.mark.parametrize(
    ("spoken", "uncarried", "drops", "expected"),
    [
        (Dialect.OPENAI_CHAT, None, False, None),
        (Dialect.OPENAI_CHAT, (AUDIO,), False, None),
        (Dialect.OPENAI_EMBEDDINGS, (), False, Exclusion.DIALECT_UNSUPPORTED),
        (Dialect.ANTHROPIC_MESSAGES, None, False, Exclusion.DIALECT_UNSUPPORTED),  # nobody has looked
        (Dialect.ANTHROPIC_MESSAGES, (), False, None),
        (Dialect.ANTHROPIC_MESSAGES, (Uncarried("openai_responses", ("seed",)),), False, None),
        (Dialect.ANTHROPIC_MESSAGES, (SEED,), False, Exclusion.NOT_CARRIED),
        (Dialect.ANTHROPIC_MESSAGES, (SEED,), True, None),
        (Dialect.ANTHROPIC_MESSAGES, (AUDIO,), True, Exclusion.NOT_CARRIED),  # content is never left out
    ],
)
def test_request_goes_to_who_speaks_its_dialect_or_one_that_carries_it(
    spoken: Dialect, uncarried: tuple[Uncarried, ...] | None, drops: bool, expected: Exclusion | None
) -> None:
    target = structs.replace(builders.target("a/m"), dialects=frozenset((spoken,)))
    wants = Asked(Dialect.OPENAI_CHAT, builders.policy(drops_parameters=drops), Demands(uncarried=uncarried))

    assert fixed.dialect(wants, Member(target, 1.0)) is expected


@pytest.mark.req("D-004")
@pytest.mark.parametrize(
    "contract",
    [
        Contract(require=frozenset((Capability.TOOLS,))),
        Contract(require_tags=frozenset(("validated",))),
        Contract(min_quality_score=0.7),
        Contract(min_pass_rate=0.9),
    ],
)
def test_contract_excludes_what_nobody_knows(contract: Contract) -> None:
    assert fixed.contract(asked(contract), member()) is Exclusion.CONTRACT


@pytest.mark.parametrize(
    ("contract", "meets"),
    [
        (Contract(require=frozenset((Capability.TOOLS,))), member("tools")),
        (Contract(require_tags=frozenset(("validated",))), member(tags=("coding", "validated"))),
        (Contract(min_quality_score=0.7), member(quality_score=0.7)),
        (Contract(min_pass_rate=0.9), member(pass_rate=0.95)),
        (Contract(), member()),
    ],
)
def test_target_that_meets_the_contract_stays_in(contract: Contract, meets: Member) -> None:
    assert fixed.contract(asked(contract), meets) is None


@pytest.mark.parametrize(
    ("contract", "misses"),
    [
        (Contract(require=frozenset((Capability.TOOLS,))), member(unable=("tools",))),
        (Contract(min_quality_score=0.7), member(quality_score=0.69)),
    ],
)
def test_target_below_the_contract_is_out(contract: Contract, misses: Member) -> None:
    assert fixed.contract(asked(contract), misses) is Exclusion.CONTRACT


def test_weight_zero_dialect_and_credential_have_rules_of_their_own() -> None:
    target, any_contract = builders.target("a/m"), asked(Contract())
    mute = structs.replace(target, dialects=frozenset())
    keyless = structs.replace(target, has_credential=False)

    assert fixed.weight(any_contract, Member(target, 0)) is Exclusion.WEIGHT_ZERO
    assert fixed.dialect(any_contract, Member(mute, 1)) is Exclusion.DIALECT_UNSUPPORTED
    assert fixed.credential(any_contract, Member(keyless, 1)) is Exclusion.NO_CREDENTIAL
