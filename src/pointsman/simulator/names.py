"""Names of policies, as `compare` and the command line know them."""

from collections.abc import Iterable

from pointsman.simulator.baselines.registry import BASELINES, CLAIRVOYANT
from pointsman.simulator.schema import PolicySection

# strategies of ours that decide by themselves; `weighted` and others that learn nothing are among the baselines
_TERM = {  # what the sample of the reference begins with
    "name": "cheapest_fast_enough",
    "expression": "0.45 * cost_score + 0.25 * latency_score + 0.20 * throughput_score + 0.10 * reliability_score",
}
STRATEGIES = {
    "market": PolicySection(strategy="market"),
    "p2c": PolicySection(strategy="p2c"),
    "blend": PolicySection(strategy="blend"),
    "dynamic_score": PolicySection.model_validate(
        {"strategy": "dynamic_score", "routing_policy": {"dynamic_score": {"score_terms": [_TERM]}}}
    ),
}
ALL = "all"


def known_policies(own: Iterable[str]) -> tuple[str, ...]:
    """Ours, those of a scenario, and the baselines."""
    return (*STRATEGIES, *own, *BASELINES)


def chosen(wanted: Iterable[str], own: Iterable[str]) -> tuple[str, ...]:
    """In the order of the table; `all` are all of them. Raises ValueError with the first name that is not known."""
    known, names = known_policies(own), set(wanted) - {CLAIRVOYANT}
    unknown = names - {ALL} - set(known)
    if unknown:
        raise ValueError(min(unknown))
    return known if ALL in names else tuple([name for name in known if name in names])


def is_literal(name: str) -> bool:
    """A rebuild of what others do, and not a strategy of ours."""
    return name in BASELINES or name == CLAIRVOYANT


def is_taken(name: str) -> bool:
    """No scenario may call a policy of its own so."""
    return name in {ALL, CLAIRVOYANT, *known_policies(())}
