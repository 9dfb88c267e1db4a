"""The pages of the admin API that have no file of their own."""

import pytest

from pointsman.domain.outcome import OutcomeClass
from pointsman.testing import builders
from tests.unit.control.admin import GROUPS, Admin

CHAT = b'{"model":"chat","messages":[]}'


def test_probes_and_metrics_are_what_they_were() -> None:
    admin = Admin()

    assert [admin.get(path).body for path in ("/livez", "/readyz", "/metrics")] == [b"ok\n", b"ready\n", b"metrics"]


def test_readiness_is_503_when_it_is_not() -> None:
    admin = Admin()
    admin.is_ready = False

    assert admin.get("/readyz").status == 503


@pytest.mark.parametrize("path", ["/api/v1/status", "/api/v1/targets", "/api/v1/decisions/x"])
def test_page_without_parameters_takes_none(path: str) -> None:
    assert Admin().get(f"{path}?x=1").status == 400


# --- targets


def test_every_target_is_listed_once_with_all_its_groups() -> None:
    found = Admin().get("/api/v1/targets").json()["targets"]

    assert [target["target"] for target in found] == ["a/m", "b/m", "c/m"]
    assert found[1]["groups"] == [
        {"group": "chat", "weight": 30.0, "strategy": "weighted"},
        {"group": "code", "weight": 1.0, "strategy": "failover"},
    ]
    assert (found[0]["provider"], found[0]["has_credential"], found[0]["attempts"]) == ("a", True, {})


def test_state_of_a_target_is_the_one_of_the_board() -> None:
    admin, target = Admin(), GROUPS[0].members[0].target
    admin.attempts = {"a/m": {"rate_limited": 1}}
    lease = admin.board.started(target, "alice", admin.clock.now(), is_probe=False)
    admin.board.started(target, "alice", admin.clock.now(), is_probe=False)
    outcome = builders.outcome(OutcomeClass.RATE_LIMITED, retry_after_s=60)
    admin.board.record(lease, outcome, admin.clock.now(), GROUPS[0])
    admin.clock.advance(10)

    (found, *_) = admin.get("/api/v1/targets").json()["targets"]

    assert found["state"] == {
        "breaker": "open",
        "pause_cause": "rate_limit",
        "paused_for_s": 50.0,
        "is_probing": False,
        "is_probe_overdue": False,
        "is_readmitted": False,
        "gate": 0.926,
        "limit": None,
        "limited_for_s": 0.0,
        "flagged": False,
        "in_flight": 1,
    }
    assert found["attempts"] == {"rate_limited": 1}
    assert found["learned"] == dict.fromkeys(("load_slope", "in_flight_limit", "price_factor", "is_price_off"))


def test_what_load_does_to_a_target_is_told_once_a_strategy_asks() -> None:
    admin, measured = Admin(), builders.group("chat", "a/m", "b/m", strategy="p2c")
    admin.board.keep([measured])

    (found, *_) = admin.get("/api/v1/targets").json()["targets"]

    assert (found["learned"]["load_slope"], found["learned"]["in_flight_limit"]) == (0.1, None)


# --- explain


def test_request_is_explained_as_the_gateway_is_now() -> None:
    admin, target = Admin(), GROUPS[0].members[0].target
    admin.board.started(target, "alice", admin.clock.now(), is_probe=False)

    found = admin.ask("POST", "/api/v1/explain?seed=5", body=CHAT).json()

    assert (found["config_version"], found["state"], found["seed"]) == (3, "live", 5)
    assert (found["explained"]["action"], found["explained"]["picked"]) == ("send", "a/m")
    assert found["explained"]["targets"][0]["state"]["in_flight"] == 1


def test_request_is_read_in_its_own_dialect() -> None:
    body = b'{"model":"chat","max_tokens":9,"messages":[{"role":"user","content":"hi"}]}'

    found = Admin().ask("POST", "/api/v1/explain?dialect=anthropic_messages", body=body).json()["explained"]

    assert found["facts"]["dialect"] == "anthropic_messages"
    assert {row["excluded_by"] for row in found["targets"]} == {"dialect_unsupported"}


def test_fresh_state_knows_nothing() -> None:
    admin, target = Admin(), GROUPS[0].members[0].target
    admin.board.started(target, "alice", admin.clock.now(), is_probe=False)

    found = admin.ask("POST", "/api/v1/explain?state=fresh", body=CHAT).json()

    assert found["state"] == "fresh"
    assert found["explained"]["targets"][0]["state"]["in_flight"] == 0


def test_draw_can_be_repeated_and_is_another_one_each_time_otherwise() -> None:
    admin = Admin()

    first, *others = [admin.ask("POST", "/api/v1/explain", body=CHAT).json() for _ in range(8)]
    again = admin.ask("POST", f"/api/v1/explain?seed={first['seed']}", body=CHAT).json()

    assert again == first
    assert len({each["seed"] for each in (first, *others)}) == 8


def test_draws_follow_the_shares() -> None:
    admin = Admin()

    picks = [admin.ask("POST", f"/api/v1/explain?seed={seed}", body=CHAT).json() for seed in range(300)]

    assert 180 < sum(found["explained"]["picked"] == "a/m" for found in picks) < 240


@pytest.mark.parametrize(
    ("body", "code"),
    [(b"[]", "invalid_request"), (b"", "invalid_request"), (CHAT.replace(b"chat", b"chta"), "model_not_found")],
)
def test_request_that_would_be_refused_is_explained_as_such(body: bytes, code: str) -> None:
    answer = Admin().ask("POST", "/api/v1/explain", body=body)

    explained = answer.json()["explained"]
    assert (answer.status, explained["action"], explained["refusal"]["code"]) == (200, "refuse", code)


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("?state=old", "'state' must be one of: live, fresh."),
        ("?dialect=latin", "'dialect' must be one of: openai_chat"),
        ("?seed=-1", "whole number from 0 to 4294967295"),
        ("?model=chat", "There is no parameter 'model'."),
    ],
)
def test_question_with_a_mistake_is_refused(query: str, text: str) -> None:
    answer = Admin().ask("POST", f"/api/v1/explain{query}", body=CHAT)

    assert answer.status == 400
    assert text in answer.json()["detail"]


def test_body_has_the_limit_of_the_data_plane() -> None:
    admin = Admin()
    fits = CHAT[:-1] + b',"pad":"' + b"x" * (1_000 - len(CHAT) - 10) + b'"}'
    assert len(fits) <= 1_000

    assert admin.ask("POST", "/api/v1/explain", body=fits).json()["explained"]["action"] == "send"
    assert admin.ask("POST", "/api/v1/explain", body=fits + b" " * 20).status == 413
