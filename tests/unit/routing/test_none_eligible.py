"""The error when nobody can serve: every target with its reason, and what would help."""

import pytest
from msgspec import structs

from pointsman.domain.decision import Decision, Excluded, Exclusion
from pointsman.domain.errors import GatewayError
from pointsman.domain.preferences import Demands, Uncarried
from pointsman.domain.request import Dialect
from pointsman.routing.none_eligible import error_of
from pointsman.testing import builders


def error(*rules: Exclusion) -> GatewayError:
    excluded = tuple(Excluded(f"{index}/m", rule) for index, rule in enumerate(rules))
    return error_of(Decision(builders.group("chat", "a/m"), None, excluded=excluded))


@pytest.mark.bug("I-09")
def test_every_target_is_named_with_its_reason() -> None:
    found = error(Exclusion.NO_TOOLS, Exclusion.NO_IMAGES)

    assert (found.status, found.code) == (400, "no_eligible_target")
    assert "(0/m: it does not take tools; 1/m: it does not take images)" in found.message
    assert found.message.endswith("Ask for another model, or leave out what the targets cannot do.")


@pytest.mark.parametrize(
    ("rule", "advice"),
    [
        (Exclusion.NOT_NAMED, "Relax the preferences"),
        (Exclusion.TOO_EXPENSIVE, "Relax the preferences"),
        (Exclusion.KEY_POLICY, "Ask the operator"),
        (Exclusion.STATE_ELSEWHERE, "Ask for the model that gave the earlier answer"),
        (Exclusion.CONTRACT, "The operator of this gateway has to change the group"),
        (Exclusion.NOT_PROVEN, "declare what its models can do"),
    ],
)
def test_what_would_help_is_told(rule: Exclusion, advice: str) -> None:
    assert advice in error(Exclusion.NO_TOOLS, rule).message


@pytest.mark.bug("B-08")
def test_prompt_that_is_too_long_for_all_has_the_code_at_which_agents_shorten_it() -> None:
    found = error(Exclusion.NO_TOOLS, Exclusion.CONTEXT_TOO_SMALL)

    assert (found.status, found.code) == (400, "context_length_exceeded")
    assert "Shorten it." in found.message


def not_carried(*spoken: str) -> Decision:
    """By the targets of a group that speak these dialects, one each."""
    group = builders.group("chat", *(f"{index}/m" for index, _ in enumerate(spoken)))
    members = tuple(
        structs.replace(member, target=structs.replace(member.target, dialects=frozenset((Dialect(dialect),))))
        for member, dialect in zip(group.members, spoken, strict=True)
    )
    excluded = tuple(Excluded(member.target.id, Exclusion.NOT_CARRIED) for member in members)
    return Decision(structs.replace(group, members=members), None, excluded=excluded)


def test_what_other_targets_could_not_carry_is_not_named() -> None:
    losses = (Uncarried("openai_chat", (), ("tools.web_search",)), Uncarried("anthropic_messages", ("verbosity",)))

    found = error_of(not_carried("openai_chat"), Demands(uncarried=losses))

    assert "not carried: tools.web_search)" in found.message


def test_what_cannot_be_carried_is_named_once_and_not_without_end() -> None:
    decision = not_carried("anthropic_messages", "openai_responses")
    many = tuple(f"parameter_{number}" for number in range(100))
    losses = (Uncarried("anthropic_messages", ("seed",), ("tools.custom",)), Uncarried("openai_responses", ("seed",)))

    found = error_of(decision, Demands(uncarried=losses))
    long = error_of(decision, Demands(uncarried=(Uncarried("anthropic_messages", many),)))

    assert "not carried: seed, tools.custom)" in found.message
    assert "leave out what the targets cannot do" in found.message
    assert len(long.message) < 700


def test_missing_credential_is_the_gateways_own_fault() -> None:
    found = error(Exclusion.CONTEXT_TOO_SMALL, Exclusion.NO_CREDENTIAL)

    assert (found.status, found.code) == (502, "upstream_misconfigured")
