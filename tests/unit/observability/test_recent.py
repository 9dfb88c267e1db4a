"""The last decisions in memory: bounded in every way, newest first, in pages."""

import pytest
from msgspec import structs

from pointsman.observability import recent
from pointsman.observability.decision_log import DecisionRecord
from pointsman.observability.recent import RecentDecisions

USUAL = DecisionRecord(
    "2026-11-30T12:00:00.000Z", "r", 1, "alice", "chat", None, None, (), (), 200, "ok", 0.1, None, None
)


def record(request_id: str, **changes: object) -> DecisionRecord:
    return structs.replace(USUAL, request_id=request_id, **changes)


def kept(*batches: int, max_rows: int = 1_000, max_bytes: int = 1 << 20, size_bytes: int = 10) -> RecentDecisions:
    """Batches of so many records each; they are numbered from 1 on."""
    found, number = RecentDecisions(max_rows, max_bytes), 0
    for count in batches:
        found.keep([record(str(number + index)) for index in range(1, count + 1)], size_bytes * count)
        number += count
    return found


def anything(_: DecisionRecord) -> bool:
    return True


def ids(page: recent.Page) -> list[str]:
    return [found.request_id for found in page.records]


def test_records_are_listed_newest_first() -> None:
    page = kept(2, 1, 3).page(anything, limit=100)

    assert ids(page) == ["6", "5", "4", "3", "2", "1"]
    assert page.before is None


@pytest.mark.parametrize("limit", [1, 2, 3, 4, 5, 6, 7])
def test_pages_follow_each_other_without_a_gap_or_a_double(limit: int) -> None:
    found, before, seen = kept(2, 1, 3), None, []

    while True:
        page = found.page(anything, limit=limit, before=before)
        assert len(page.records) <= limit
        seen += ids(page)
        if (before := page.before) is None:
            break

    assert seen == ["6", "5", "4", "3", "2", "1"]


def test_page_goes_on_where_it_was_although_new_records_came() -> None:
    found = kept(3)
    first = found.page(anything, limit=2)
    found.keep([record("4")], 10)

    second = found.page(anything, limit=2, before=first.before)

    assert (ids(first), ids(second)) == (["3", "2"], ["1"])


def test_page_that_looks_for_something_finds_it_and_nothing_else() -> None:
    page = kept(2, 2).page(lambda found: found.request_id in "14", limit=5)

    assert ids(page) == ["4", "1"]


def test_number_of_records_is_bounded() -> None:
    found = kept(2, 2, 2, max_rows=5)

    assert ids(found.page(anything, limit=10)) == ["6", "5", "4", "3"]
    assert len(found) == 4


def test_bytes_of_records_are_bounded() -> None:
    found = kept(2, 2, 2, size_bytes=10, max_bytes=45)

    assert ids(found.page(anything, limit=10)) == ["6", "5", "4", "3"]


def test_what_was_forgotten_makes_room_in_bytes() -> None:
    found = kept(*[2] * 50, size_bytes=10, max_bytes=45)

    assert len(found) == 4


def test_newest_of_a_batch_with_too_many_are_kept() -> None:
    assert ids(kept(2, 6, max_rows=5).page(anything, limit=10)) == ["8", "7", "6", "5", "4"]


def test_batch_with_too_many_bytes_is_not_kept() -> None:
    assert len(kept(1, 1, size_bytes=100, max_bytes=50)) == 0


def test_lower_bound_takes_effect_with_the_next_batch() -> None:
    found = kept(2, 2)

    found.max_rows = 2
    found.keep([record("5")], 10)

    assert ids(found.page(anything, limit=10)) == ["5"]


def test_none_are_kept_where_none_are_wanted() -> None:
    found = kept(1, 1, max_rows=0)

    assert (len(found), ids(found.page(anything, limit=10))) == (0, [])


def test_tick_without_requests_costs_no_batch() -> None:
    found = kept(1)

    for _ in range(10):
        found.keep([], 0)

    assert len(found._batches) == 1


def test_request_is_found_by_its_id_and_the_newest_of_those_with_one() -> None:
    found = kept(2)
    found.keep([record("1", status=502)], 10)

    assert found.find("1") == record("1", status=502)
    assert found.find("2") == record("2")
    assert found.find("3") is None


def test_page_stops_looking_in_time_and_says_where_to_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recent, "MAX_LOOKED_AT", 4)
    found = kept(3, 3)

    first = found.page(lambda each: each.request_id == "1", limit=1)
    second = found.page(lambda each: each.request_id == "1", limit=1, before=first.before)

    assert (ids(first), first.before) == ([], 3)
    assert (ids(second), second.before) == (["1"], None)


def test_number_that_was_forgotten_or_never_given_is_no_fault() -> None:
    found = kept(2, 2, max_rows=2)

    assert found.page(anything, limit=5, before=2) == recent.Page([], None)
    assert ids(found.page(anything, limit=5, before=10**18)) == ["4", "3"]
