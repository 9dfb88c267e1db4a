"""The list of decisions: filters, pages, one of them."""

import pytest
from msgspec import structs

from pointsman.domain.decision import AttemptRecord, DecisionMode
from pointsman.observability.decision_log import DecisionNote, DecisionRecord
from tests.unit.control.admin import Admin


def attempt(target_id: str, outcome_class: str) -> AttemptRecord:
    return AttemptRecord(target_id, DecisionMode.FAILOVER, 1.0, outcome_class, "", 200, True, 0.0, 0.1, 0.1, 0.2)


def note(mode: str | None) -> DecisionNote:
    return DecisionNote(mode, "a/m", 1.0, ("a/m",), (1.0,), {})


USUAL = DecisionRecord(
    "2026-11-30T12:00:00.000Z", "usual", 1, "alice", "chat", "failover", None, (note("failover"),),
    (attempt("a/m", "ok"),), 200, "ok", 0.1, None, None,
)  # fmt: skip
RECORDS = [
    structs.replace(USUAL, time="2026-11-30T11:59:59.999Z", request_id="early"),
    USUAL,
    structs.replace(USUAL, time="2026-11-30T12:00:01.000Z", request_id="other-group", group="code"),
    structs.replace(USUAL, time="2026-11-30T12:00:02.000Z", request_id="other-caller", caller="bob"),
    structs.replace(
        USUAL,
        time="2026-11-30T12:00:03.000Z",
        request_id="failed-over",
        decisions=(note("failover"), note("panic")),
        attempts=(attempt("a/m", "upstream_fault"), attempt("b/m", "ok")),
    ),
    structs.replace(
        USUAL, time="2026-11-30T12:00:04.000Z", request_id="refused", reason="model_not_found", attempts=()
    ),
]
IDS = [record.request_id for record in reversed(RECORDS)]


@pytest.fixture
def admin() -> Admin:
    found = Admin()
    found.recent.keep(RECORDS, 1_000)
    return found


def listed(admin: Admin, query: str) -> list[str]:
    answer = admin.get(f"/api/v1/decisions{query}")
    assert answer.status == 200, answer.body
    return [record["request_id"] for record in answer.json()["decisions"]]


def test_all_are_listed_newest_first(admin: Admin) -> None:
    answer = admin.get("/api/v1/decisions")

    assert listed(admin, "") == IDS
    assert answer.json()["before"] is None
    assert answer.headers["content-type"] == "application/json"


def test_record_is_the_one_of_the_file(admin: Admin) -> None:
    (first, *_) = admin.get("/api/v1/decisions").json()["decisions"]

    assert list(first) == list(DecisionRecord.__struct_fields__)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("?group=code", ["other-group"]),
        ("?caller=bob", ["other-caller"]),
        ("?target=b/m", ["failed-over"]),
        ("?target=b%2Fm", ["failed-over"]),
        ("?mode=panic", ["failed-over"]),
        ("?outcome=upstream_fault", ["failed-over"]),
        ("?reason=model_not_found", ["refused"]),
        ("?group=chat&outcome=ok&caller=alice", ["failed-over", "usual", "early"]),
        ("?group=nobody", []),
        ("?since=2026-11-30T12:00:02Z", ["refused", "failed-over", "other-caller"]),
        ("?since=2026-11-30T13:00:02%2B01:00", ["refused", "failed-over", "other-caller"]),
        ("?since=2026-11-30T12:00:02.001Z", ["refused", "failed-over"]),
        ("?since=2026-11-30T12:00:00.0000Z&group=chat&limit=2", ["refused", "failed-over"]),
    ],
)
def test_filters_are_all_met(admin: Admin, query: str, expected: list[str]) -> None:
    assert listed(admin, query) == expected


def test_pages_follow_each_other(admin: Admin) -> None:
    seen, query = [], "?limit=4"
    while True:
        page = admin.get(f"/api/v1/decisions{query}").json()
        seen.append([record["request_id"] for record in page["decisions"]])
        if page["before"] is None:
            break
        query = f"?limit=4&before={page['before']}"

    assert seen == [IDS[:4], IDS[4:]]


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("?grop=chat", "Did you mean 'group'?"),
        ("?group=a&group=b", "may be given once"),
        ("?limit=0", "from 1 to 1000"),
        ("?limit=1001", "from 1 to 1000"),
        ("?limit=many", "whole number"),
        ("?limit=-1", "whole number"),
        ("?limit=%C2%B2", "whole number"),
        ("?before=0", "whole number"),
        (f"?before={'9' * 5000}", "whole number"),
        ("?since=yesterday", "2027-01-31T18:00:00Z"),
        ("?since=2026-11-30", "2027-01-31T18:00:00Z"),
        ("?since=0001-01-01T00:00:00%2B14:00", "2027-01-31T18:00:00Z"),
    ],
)
def test_query_that_could_be_a_mistake_is_refused_with_what_to_write(admin: Admin, query: str, text: str) -> None:
    answer = admin.get(f"/api/v1/decisions{query}")

    assert answer.status == 400
    assert text in answer.json()["detail"]


def test_one_is_found_by_its_request_id(admin: Admin) -> None:
    answer = admin.get("/api/v1/decisions/failed-over")

    assert (answer.status, answer.json()["request_id"]) == (200, "failed-over")


def test_one_that_is_not_there_is_a_404_that_says_where_older_ones_are(admin: Admin) -> None:
    answer = admin.get("/api/v1/decisions/nobodys")

    assert answer.status == 404
    assert "last 6 decisions" in answer.json()["detail"]
