"""Step 3: which targets can serve this request at all?

Authority: what is configured, then the caller's key, then what the request needs, then what it prefers.
"""

from pointsman.domain.ask import Ask
from pointsman.domain.decision import Excluded, Exclusion
from pointsman.domain.derived import derived
from pointsman.domain.holder import Holder
from pointsman.domain.preferences import Demands
from pointsman.domain.request import Dialect
from pointsman.domain.target import Member, ModelGroup
from pointsman.domain.value import Value
from pointsman.domain.view import LengthView
from pointsman.routing.filters import abilities, fixed, preferred
from pointsman.routing.filters.asked import Asked, HardFilter

FIXED_FILTERS: tuple[HardFilter, ...] = (
    fixed.weight,
    fixed.dialect,
    fixed.embedding_space,
    fixed.credential,
    fixed.contract,
)
HARD_FILTERS: tuple[HardFilter, ...] = (
    *FIXED_FILTERS,
    preferred.key_policy,
    abilities.capabilities,
    abilities.max_output,
    abilities.window_is_known,
    preferred.preferences,
)
_NO_DEMANDS = Demands()
# each text of a request has to fit into the window, not all together
_OF_MANY_TEXTS = frozenset((Dialect.OPENAI_EMBEDDINGS, Dialect.OPENAI_COMPLETIONS))


class Eligible(Value):
    """Indexes of the group's members that stay in, and the first rule that excluded each other one."""

    members: tuple[int, ...]
    excluded: tuple[Excluded, ...]


def split(ask: Ask, group: ModelGroup, lengths: LengthView | None = None) -> Eligible:
    """Tell a group's members apart. `lengths` None: they need not be looked at."""
    if ask.demands is None:
        found = _split(group, ask.facts.dialect)
    else:
        found = _demanded(group, ask.facts.dialect, ask.demands)
        if lengths is not None and ask.facts.dialect not in _OF_MANY_TEXTS:
            found = _fitting(found, ask, group, lengths)
    return found if ask.bound_to is None else _bound(group, found, ask.bound_to)


@derived(maxsize=4096)  # by all that the filters read of a request
def _split(group: ModelGroup, asked: Dialect) -> Eligible:
    return _told_apart(group, Asked(asked, group.policy, _NO_DEMANDS), FIXED_FILTERS)


@derived(maxsize=4096)  # callers choose what they demand: a flood of demands costs their own time only
def _demanded(group: ModelGroup, asked: Dialect, demands: Demands) -> Eligible:
    return _told_apart(group, Asked(asked, group.policy, demands), HARD_FILTERS)


def _told_apart(group: ModelGroup, asked: Asked, filters: tuple[HardFilter, ...]) -> Eligible:
    rules = [_first_rule(asked, member, filters) for member in group.members]
    return Eligible(
        tuple(index for index, rule in enumerate(rules) if rule is None),
        tuple(
            Excluded(member.target.id, rule)
            for member, rule in zip(group.members, rules, strict=True)
            if rule is not None
        ),
    )


def _first_rule(asked: Asked, member: Member, filters: tuple[HardFilter, ...]) -> Exclusion | None:
    return next((rule for check in filters if (rule := check(asked, member)) is not None), None)


def _fitting(found: Eligible, ask: Ask, group: ModelGroup, lengths: LengthView) -> Eligible:
    """Those whose context window the request fits into, as far as it is known."""
    cap, members = ask.facts.max_output_tokens, group.members
    too_small = {index for index in found.members if abilities.too_long_for(members[index], index, lengths, cap)}
    if not too_small:
        return found
    excluded = [Excluded(members[index].target.id, Exclusion.CONTEXT_TOO_SMALL) for index in sorted(too_small)]
    kept = tuple(index for index in found.members if index not in too_small)
    return Eligible(kept, (*found.excluded, *excluded))


def _bound(group: ModelGroup, found: Eligible, holder: Holder) -> Eligible:
    """Only who keeps what the request builds on; if the group has not that target, others of the same account."""
    targets = {index: group.members[index].target for index in found.members}
    members = [index for index, target in targets.items() if target.state_key == holder.state_key]
    members = members or [index for index, target in targets.items() if target.provider == holder.provider]
    others = [
        Excluded(target.id, Exclusion.STATE_ELSEWHERE) for index, target in targets.items() if index not in members
    ]
    return Eligible(tuple(members), found.excluded + tuple(others))
