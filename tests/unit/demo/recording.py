"""Short constructors of what a gateway leaves behind, so that a test names only what it is about."""

from typing import Any

from msgspec import structs

from pointsman.domain.decision import AttemptRecord, DecisionMode
from pointsman.observability.decision_log import DecisionNote, DecisionRecord
from pointsman.testing import builders

TARGETS = ("swift/simulated", "steady/simulated", "thrifty/simulated")


def attempt(name: str = "swift", outcome: str = "ok", **changes: Any) -> AttemptRecord:
    """An attempt at a provider by its name; one that failed did so with status 503."""
    is_ok = outcome == "ok"
    detail, status, ttft_s = ("", 200, 0.1) if is_ok else ("status_503", 503, None)
    usual = AttemptRecord(
        f"{name}/simulated", DecisionMode.WEIGHTED, 0.6, outcome, detail, status, is_ok, 0.0, 0.1, ttft_s, 0.2
    )
    return structs.replace(usual, **changes)


def note(picked: str | None = "swift", **changes: Any) -> DecisionNote:
    """A decision by weight among all three."""
    target_id = None if picked is None else f"{picked}/simulated"
    return structs.replace(DecisionNote("weighted", target_id, 0.6, TARGETS, (0.6, 0.3, 0.1), {}), **changes)


def record(*attempts: AttemptRecord, stream: bool = True, **changes: Any) -> DecisionRecord:
    """A request that was answered in the end."""
    facts = builders.facts(stream=stream)
    usual = DecisionRecord(
        "2026-11-30T12:00:00.000Z", "req-1", 1, "alice", "demo", "weighted", facts, (note(),), attempts, 200, "ok", 0.2,
        None, None,
    )  # fmt: skip
    return structs.replace(usual, **changes)
