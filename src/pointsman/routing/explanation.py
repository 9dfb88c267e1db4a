"""A decision in words: one line for humans, one row per target. New numbers of decisions and views show up by name.

A name ends in its unit (`cost_usd`, `latency_s`), so that a number needs no row in any table here to be readable.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct, structs

from pointsman.domain.decision import EXCLUSION_TEXT, Decision, Exclusion
from pointsman.domain.view import Breaker, GroupView, TargetView
from pointsman.routing import money_line
from pointsman.routing.availability import RULE_OF_LIMIT

MAX_LINE_CHARS = 1_000  # fits into a header of any server and proxy, with room for the others

Number = float | str | bool | None

_TOLD_APART = frozenset(("group", "pick", "candidates", "excluded"))  # fields of a decision that are no numbers
_PASSES = frozenset((Exclusion.PAUSED, *RULE_OF_LIMIT.values()))
_OF_ONE = {"shares": "share", "turn_credits": "turn_credit"}  # many numbers -> what one of them is called
_UNITS: tuple[tuple[str, str, str], ...] = (  # how a name ends, how its number is written, what is left of the name
    ("share", "{:.0%}", "share"),
    ("_ratio", "{:.1%}", ""),
    ("_usd", "{:.4g} USD", ""),
    ("_usd_per_mtok", "{:.4g} USD/Mtok", ""),
    ("_tps", "{:.4g} tokens/s", ""),
    ("_tokens", "{:.6g} tokens", ""),
    ("_s", "{:.3g} s", ""),
)


class TargetRow(Struct, frozen=True):
    """One target of the group, as a decision saw it."""

    target: str
    weight: float
    is_picked: bool
    excluded_by: Exclusion | None  # None: a candidate
    because: str | None  # the same in words
    numbers: Mapping[str, Number]  # what the decision compared; empty: not a candidate
    state: Mapping[str, Number]  # what the signals say; `paused_for_s` counts from now


def rows(decision: Decision, view: GroupView, in_flight: tuple[int, ...], now: float) -> tuple[TargetRow, ...]:
    """All targets in the order of the group."""
    numbers, rules = _numbers(decision), {excluded.target_id: excluded.rule for excluded in decision.excluded}
    picked = None if decision.pick is None else decision.pick.target.id
    found = []
    for member, seen, flying in zip(decision.group.members, _by_item(view, len(in_flight)), in_flight, strict=True):
        name = member.target.id
        rule = None if name in numbers else rules.get(name)
        because = None if rule is None else EXCLUSION_TEXT[rule]
        state = _state(seen, flying, now)
        found.append(TargetRow(name, member.weight, name == picked, rule, because, numbers.get(name, {}), state))
    return tuple(found)


def state_of(view: TargetView, in_flight: int, now: float) -> dict[str, Number]:
    """All that is known of a target, whatever group it serves."""
    return _state(structs.asdict(view), in_flight, now)


def _state(seen: Mapping[str, Any], in_flight: int, now: float) -> dict[str, Number]:
    """Instants of the monotonic clock mean nothing elsewhere: they become seconds from now, `_for_s`."""
    state: dict[str, Number] = {}
    for name, value in seen.items():
        if name.endswith("_until"):
            state[name.removesuffix("_until") + "_for_s"] = round(max(value - now, 0.0), 3)
        else:
            state[name] = round(value, 3) if isinstance(value, float) else value
    return {**state, "in_flight": in_flight}


def line(decision: Decision, view: GroupView | None = None, now: float = 0.0) -> str:
    """Who was chosen, how, and what spoke for and against each target; with `view` also how long pauses last.

    At most MAX_LINE_CHARS of visible ASCII and spaces, however many targets there are.
    """
    parts = list(_parts(decision, {} if view is None else _pauses(decision, view, now)))
    text = parts[0]
    for index, part in enumerate(parts[1:], 1):
        rest = f" | {len(parts) - index} more"
        if len(text) + len(part) + len(" | ") + len(rest) > MAX_LINE_CHARS:
            return text + rest
        text = f"{text} | {part}"
    return text


def shown(name: str, value: Number) -> str:
    """A number with its unit, by its name."""
    if value is None:
        return "unknown"
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    return next((form for end, form, _ in _UNITS if name.endswith(end)), "{:g}").format(value)


def title(name: str) -> str:
    """A name without its unit, as words."""
    end, kept = next(((end, kept) for end, _, kept in _UNITS if name.endswith(end)), ("", ""))
    return (name.removesuffix(end) + kept).replace("_", " ")


def _parts(decision: Decision, pauses: Mapping[str, str]) -> Iterator[str]:
    """The chosen one first, then those who lost, then those who were out of the running."""
    pick, numbers = decision.pick, _numbers(decision)
    if pick is None:
        yield f"{decision.group.name}: nobody can be chosen"
    else:
        yield f"{pick.target.id} chosen by {pick.mode}: {_listed(numbers.pop(pick.target.id), is_chosen=True)}"
    for name, found in numbers.items():
        yield f"{name} {_listed(found)}"
    for excluded in decision.excluded:
        if pick is None or excluded.target_id != pick.target.id:  # in a panic the chosen one is excluded, too
            detail = pauses.get(excluded.target_id, "") if excluded.rule in _PASSES else ""
            if excluded.rule is Exclusion.HELD_BACK:
                detail = f", {decision.gates[excluded.target_id]:.0%} get through"
            yield f"{excluded.target_id} out: {EXCLUSION_TEXT[excluded.rule]}{detail}"


def _listed(numbers: Mapping[str, Number], *, is_chosen: bool = False) -> str:
    if money_line.ADJUSTED in numbers:
        return money_line.in_full(numbers) if is_chosen else money_line.in_short(numbers)
    return ", ".join(f"{title(name)} {shown(name, value)}" for name, value in numbers.items())


def _numbers(decision: Decision) -> dict[str, dict[str, Number]]:
    """What was compared, by candidate."""
    numbers = dict(zip(decision.candidates, _by_item(decision, len(decision.candidates)), strict=True))
    for name in numbers.keys() & decision.gates:
        numbers[name]["gate"] = decision.gates[name]
    return numbers


def _by_item(of: Struct, count: int) -> list[dict[str, Number]]:
    """What `of` has one of for each of `count` items."""
    found: list[dict[str, Number]] = [{} for _ in range(count)]
    for name, values in _columns(of, count):
        for row, value in zip(found, values, strict=True):
            row[name] = value
    return found


def _columns(of: Struct, count: int) -> Iterator[tuple[str, Sequence[Number]]]:
    """Names and values, from tuples as long as the items: plain ones, ones of structures, ones in a mapping."""
    for field in of.__struct_fields__:
        value = None if field in _TOLD_APART else getattr(of, field)
        if isinstance(value, Struct):
            yield from _columns(value, count)
            continue
        for name, values in value.items() if isinstance(value, Mapping) else ((field, value),):
            if not (isinstance(values, tuple) and 0 < count == len(values)):
                continue
            if isinstance(values[0], Struct):
                for inner in values[0].__struct_fields__:
                    yield inner, [getattr(each, inner) for each in values]
            else:
                yield _OF_ONE.get(name, name), values


def _pauses(decision: Decision, view: GroupView, now: float) -> dict[str, str]:
    """How long the pauses of a group's targets last, and why; or their limits."""
    found = {}
    for member, seen in zip(decision.group.members, view.targets, strict=True):
        if seen.breaker is Breaker.OPEN:
            found[member.target.id] = f", {seen.paused_until - now:.0f} s left (cause: {seen.pause_cause})"
        elif seen.limit is not None:
            found[member.target.id] = f", {max(seen.limited_until - now, 0.0):.3g} s left"
    return found
