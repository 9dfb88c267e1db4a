"""`GET /api/v1/adaptive-routing-telemetry`."""

from typing import Any

import pytest
from msgspec import structs

from pointsman.domain.target import ModelGroup
from pointsman.routing.router import standing
from pointsman.routing.scorers import SCORE
from pointsman.testing import builders
from tests.unit.control.admin import Admin

PATH = "/api/v1/adaptive-routing-telemetry"
PRICES = {"a/m": builders.price(1.0, 2.0), "b/m": builders.price(2.0, 8.0)}
BLEND = builders.group("chat", "a/m", ("c/m", 0), "b/m", strategy="blend", aliases=("gpt",), prices=PRICES)
P2C = builders.group("fast", "a/m", "b/m", strategy="p2c")


def admin_of(*groups: ModelGroup) -> Admin:
    admin = Admin()
    admin.snapshot = builders.snapshot(groups)
    admin.board.keep(groups)
    return admin


def routes(admin: Admin) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = admin.get(PATH).json()["routes"]
    return found


def served(admin: Admin, group: ModelGroup, target_id: str, times: int = 1) -> None:
    """The target has answered within 0.4 s."""
    for _ in range(times):
        target, now = builders.target(target_id), admin.clock.now()
        lease = admin.board.started(target, "alice", now, is_probe=False, facts=builders.facts(stream=True))
        outcome = builders.outcome(status=200, ttfb_s=0.4, ttft_s=0.4, duration_s=1.0)
        admin.board.record(lease, outcome, now, group)
        admin.board.served(group)


@pytest.mark.req("R-052", "R-058")
def test_every_group_that_scores_is_told_of_once() -> None:
    admin = admin_of(BLEND, P2C, builders.group("plain", "a/m", "b/m"))

    page = admin.get(PATH).json()

    assert list(page) == ["generated_at", "fresh_window_secs", "routes"]
    assert page["fresh_window_secs"] == 60
    assert page["generated_at"].endswith("Z")
    assert [(route["model"], route["selector"]) for route in page["routes"]] == [("chat", "blend"), ("fast", "p2c")]


@pytest.mark.req("R-055", "R-030", "R-031")
def test_group_is_engaged_once_it_has_warmed_up() -> None:
    admin = admin_of(BLEND)
    (before,) = routes(admin)
    served(admin, BLEND, "a/m", 25)
    served(admin, BLEND, "b/m", 25)
    (after,) = routes(admin)

    assert (before["engaged"], before["nodes"][0]["fallback_reason"]) == (False, "warming")
    assert (after["engaged"], after["nodes"][0]["engaged"], after["nodes"][0]["fallback_reason"]) == (True, True, None)


@pytest.mark.req("R-053", "R-057", "R-061")
def test_node_tells_its_decisions_and_the_policy_it_runs() -> None:
    admin = admin_of(BLEND)
    admin.scored = {"chat": {"blend": 7, "exploration": 1, "fallback": 50}}

    node = routes(admin)[0]["nodes"][0]

    assert (node["node_id"], node["observed"]) == ("node-1", 58)
    assert node["decisions"] == {"blend": 7, "exploration": 1, "fallback": 50}
    assert node["policy"] == {
        "enabled": True, "latency_weight": 1.0, "cost_weight": 0.5, "load_weight": 0.25, "exploration_ratio": 0.05,
        "min_samples": 50,
    }  # fmt: skip


@pytest.mark.req("R-054", "R-059")
def test_targets_tell_their_scores_and_what_they_are_made_of() -> None:
    admin = admin_of(BLEND)
    served(admin, BLEND, "a/m", 30)
    served(admin, BLEND, "b/m", 30)
    admin.clock.advance(2)

    first, second = routes(admin)[0]["nodes"][0]["targets"]

    assert [(each["target"], each["provider"], each["upstream_model"]) for each in (first, second)] == [
        (0, "a", "m"), (2, "b", "m"),
    ]  # fmt: skip
    assert (first["samples"], first["in_flight"], first["last_sample_age_ms"]) == (30, 0, 2_000)
    assert (first["cost_per_mtok"], second["cost_per_mtok"]) == (3.0, 10.0)
    assert first["latency_ms"] == second["latency_ms"] > 0
    for each in (first, second):
        parts = each["latency_score"] + 0.5 * each["cost_score"] + 0.25 * each["load_score"]
        assert each["score"] == pytest.approx(parts)


@pytest.mark.req("R-060")
def test_score_is_the_one_of_the_metric() -> None:
    admin = admin_of(BLEND)
    served(admin, BLEND, "a/m", 30)
    served(admin, BLEND, "b/m", 30)

    found = standing(BLEND, admin.board.view(BLEND, admin.clock.now()))

    assert found is not None
    assert [each["score"] for each in routes(admin)[0]["nodes"][0]["targets"]] == list(found[1].terms[SCORE])


@pytest.mark.req("R-054")
def test_target_that_was_never_sampled_has_no_age_and_no_latency() -> None:
    target = routes(admin_of(BLEND))[0]["nodes"][0]["targets"][0]

    assert (target["last_sample_age_ms"], target["latency_ms"], target["samples"]) == (None, None, 0)
    assert (target["latency_score"], target["cost_score"]) == (None, None)
    assert target["score"] == sum(value for name, value in target["terms"].items() if name != "score")


def test_p2c_tells_what_it_draws_by() -> None:
    (target, _) = routes(admin_of(P2C))[0]["nodes"][0]["targets"]

    assert target["score"] is None
    assert set(target["terms"]) == {"time_s", "health", "appeal", "weight", "load"}


@pytest.mark.req("R-056", "R-058")
def test_group_that_is_gone_disappears_at_once() -> None:
    admin = admin_of(BLEND, P2C)
    admin.snapshot = builders.snapshot([P2C])

    assert [route["model"] for route in routes(admin)] == ["fast"]


@pytest.mark.req("R-040")
def test_switched_off_policy_is_told() -> None:
    policy = structs.replace(BLEND.policy, blend=structs.replace(BLEND.policy.blend, enabled=False))

    (route,) = routes(admin_of(structs.replace(BLEND, policy=policy)))

    assert (route["engaged"], route["nodes"][0]["fallback_reason"]) == (False, "disabled")
    assert route["nodes"][0]["policy"]["enabled"] is False
