"""Filters that hold for every request: weight, dialect, credential, contract."""

import pytest
from msgspec import structs

from pointsman.domain.capability import Capability
from pointsman.domain.decision import Exclusion
from pointsman.domain.policy import Contract
from pointsman.domain.preferences import Demands
from pointsman.domain.request import Dialect
from pointsman.domain.target import Member
from pointsman.routing.filters import fixed
from pointsman.routing.filters.asked import Asked
from pointsman.testing import builders


def asked(contract: Contract) -> Asked:
    return Asked(Dialect.OPENAI_CHAT, builders.policy(contract=contract), Demands())


def member(*able: str, tags: tuple[str, ...] = (), **known: object) -> Member:
    return Member(builders.target("a/m", traits=builders.traits(*able, **known)), 1.0, frozenset(tags))


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
