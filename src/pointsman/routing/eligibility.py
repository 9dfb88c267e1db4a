"""Step 3: which targets can serve this request at all?"""

from collections.abc import Callable

from msgspec import Struct

from pointsman.domain.ask import Ask
from pointsman.domain.decision import Excluded, Exclusion
from pointsman.domain.derived import derived
from pointsman.domain.request import Dialect
from pointsman.domain.target import Member, ModelGroup

HardFilter = Callable[[Dialect, Member], Exclusion | None]


def weight(_: Dialect, member: Member) -> Exclusion | None:
    """Weight 0 excludes in every strategy."""
    return Exclusion.WEIGHT_ZERO if member.weight == 0 else None


def dialect(asked: Dialect, member: Member) -> Exclusion | None:
    return None if asked in member.target.dialects else Exclusion.DIALECT_UNSUPPORTED


def credential(_: Dialect, member: Member) -> Exclusion | None:
    return None if member.target.has_credential else Exclusion.NO_CREDENTIAL


HARD_FILTERS: tuple[HardFilter, ...] = (weight, dialect, credential)


class Eligible(Struct, frozen=True):
    """Indexes of the group's members that stay in, and the first rule that excluded each other one."""

    members: tuple[int, ...]
    excluded: tuple[Excluded, ...]


def split(ask: Ask, group: ModelGroup) -> Eligible:
    """Tell a group's members apart."""
    return _split(group, ask.facts.dialect)


@derived(maxsize=4096)  # by all that the filters read of a request
def _split(group: ModelGroup, asked: Dialect) -> Eligible:
    rules = [_first_rule(asked, member) for member in group.members]
    return Eligible(
        tuple(index for index, rule in enumerate(rules) if rule is None),
        tuple(
            Excluded(member.target.id, rule)
            for member, rule in zip(group.members, rules, strict=True)
            if rule is not None
        ),
    )


def _first_rule(asked: Dialect, member: Member) -> Exclusion | None:
    return next((rule for check in HARD_FILTERS if (rule := check(asked, member)) is not None), None)
