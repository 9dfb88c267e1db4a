"""What a run reports: statistics, the table, its command line and the configuration it measures."""

import io
import json
from pathlib import Path

import msgspec
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from benchmarks import payloads
from benchmarks.cases import CASES, Limit
from benchmarks.guard import TOLERANCE, record, rises
from benchmarks.measure import Round
from benchmarks.report import Machine, Result, Row, plain_table, rows_of, write
from benchmarks.run import gateway_config, parse
from benchmarks.stats import Spread, percentile, ratios, spread
from pointsman.config.load import load

MACHINE = Machine(2, 0, 1, "3.11.7", "compiled", (0.5, 0, 0), (1.25, 0, 0), Spread(15.0, 14.0, 17.5))
ROW = Row(
    "1 KB, c=64", "CPU per request", [], [100.0, 200.0, 90.0], [150.0, 260.0, 140.0], Spread(1.5, 1.3, 1.6), 42, 0.5
)


def result(limit: Limit | None = None) -> Result:
    return Result([structs.replace(ROW, limit=limit)], MACHINE)


def written(found: Result) -> str:
    out = io.StringIO()
    write(found, out)
    return out.getvalue()


def a_round(cpu_us: float | None, *, units: int = 10, busy: float = 0.5) -> Round:
    return Round(units, cpu_us, sample_p50_us=7.0, sample_p99_us=9.0, load_busy_ratio=busy)


# --- statistics


@pytest.mark.parametrize(("values", "expected"), [([3, 1, 2], Spread(2, 1, 3)), ([5], Spread(5, 5, 5))])
def test_spread_is_the_middle_and_the_reach(values: list[float], expected: Spread) -> None:
    assert spread(values) == expected


@pytest.mark.parametrize(
    ("count", "fraction", "expected"),
    [
        (1, 0.5, 1),
        (2, 0.5, 1),
        (3, 0.5, 2),
        (100, 0.5, 50),
        (100, 0.99, 99),
        (100, 1.0, 100),
        (10, 0.99, 10),
        (5, 0.0, 1),
    ],
)
def test_percentile_is_by_nearest_rank(count: int, fraction: float, expected: int) -> None:
    assert percentile(range(1, count + 1), fraction) == expected


@given(samples=st.lists(st.integers(0, 1_000), min_size=1), fraction=st.floats(0, 1))
def test_percentile_is_a_sample_that_enough_others_do_not_exceed(samples: list[int], fraction: float) -> None:
    found = percentile(sorted(samples), fraction)

    assert found in samples
    assert sum(sample <= found for sample in samples) >= fraction * len(samples) - 1e-9


def test_ratios_are_of_neighbours() -> None:
    assert ratios([1, 2, 4], [2, 2, 2]) == [2, 1, 0.5]


def test_ratios_of_unequal_rounds_are_refused() -> None:
    with pytest.raises(ValueError, match="zip"):
        ratios([1, 2], [1])


# --- rows and the table


def test_rows_compare_round_by_round() -> None:
    rounds = {"relay": [a_round(100), a_round(200)], "gateway": [a_round(150), a_round(500)]}

    (row,) = rows_of(CASES["unary"], rounds)

    assert (row.relay_us, row.gateway_us, row.direct_us) == ([100, 200], [150, 500], [])
    assert row.ratio == Spread(2.0, 1.5, 2.5)
    assert row.measured == 20


def test_case_with_direct_rounds_shows_them() -> None:
    rounds = {name: [a_round(None if name == "direct" else 1.0)] for name in ("direct", "relay", "gateway")}

    rows = rows_of(CASES["latency"], rounds)

    assert [(row.figure, row.direct_us) for row in rows] == [("latency p50", [7.0]), ("latency p99", [9.0])]


def test_plain_table_has_two_text_columns_and_numbers_flush_right() -> None:
    table = plain_table([("a", "b", "n"), ("aaa", "bb", "1"), ("a", "b", "100")])

    assert table == "a    b     n\naaa  bb    1\na    b   100\n"


def test_report_shows_medians_ratio_and_machine() -> None:
    text = written(result())

    assert "100.0    150.0  1.50 (1.30-1.60)" in text
    assert "machine: 2 cores (under test on 0, mock and load on 1), Python 3.11.7, compiled core" in text
    assert "calibration 15.0 ms (14.0-17.5)" in text


@pytest.mark.parametrize(
    ("limit", "is_above", "verdict"),
    [
        (Limit(ratio=1.5), False, "ratio 1.50, within the limit of 1.50"),
        (Limit(ratio=1.4), True, "ratio 1.50, ABOVE the limit of 1.40"),
        (Limit(added_us=50), False, "0.1 ms more than the relay, within the limit of 0.1 ms"),
        (Limit(added_us=49), True, "0.1 ms more than the relay, ABOVE the limit of 0.0 ms"),
    ],
)
def test_report_ends_with_the_verdict(limit: Limit, is_above: bool, verdict: str) -> None:
    found = result(limit)

    assert written(found).splitlines()[-1] == f"1 KB, c=64: CPU per request: {verdict}"
    assert found.rows[0].is_above_limit is is_above


def test_a_figure_without_a_limit_has_no_verdict() -> None:
    assert "limit" not in written(result())
    assert not result().rows[0].is_above_limit


# --- the guard


@pytest.mark.parametrize(("recorded", "is_risen"), [(1.5, False), (1.5 / TOLERANCE, False), (1.4 / TOLERANCE, True)])
def test_a_ratio_far_above_the_recorded_one_is_told(tmp_path: Path, recorded: float, is_risen: bool) -> None:
    path = tmp_path / "recorded.json"
    path.write_bytes(msgspec.json.encode({ROW.name: recorded}))

    assert bool(rises(result(Limit(ratio=2.0)), path)) is is_risen


def test_what_was_recorded_has_not_risen(tmp_path: Path) -> None:
    path, found = tmp_path / "recorded.json", result(Limit(ratio=2.0))
    record(found, path)

    assert json.loads(path.read_bytes()) == {ROW.name: 1.5}
    assert rises(found, path) == []


def test_a_figure_that_was_never_recorded_is_not_guarded(tmp_path: Path) -> None:
    path = tmp_path / "recorded.json"
    path.write_bytes(b"{}")

    assert rises(result(Limit(ratio=2.0)), path) == []


def test_the_recorded_ratios_are_of_figures_that_are_measured() -> None:
    recorded = json.loads(Path("benchmarks/recorded.json").read_bytes())

    assert recorded.keys() == {
        f"{case.title}: {figure.title}"
        for case in CASES.values()
        for figure in case.figures
        if figure.limit is not None and figure.limit.ratio is not None
    }


def test_result_survives_json() -> None:
    assert msgspec.json.decode(msgspec.json.encode(result()), type=Result) == result()


# --- options


def test_defaults_measure_every_case() -> None:
    found = parse([])

    assert (found.only, found.gate, found.json) == (None, False, None)
    assert found.rounds >= 5


def test_cases_can_be_chosen() -> None:
    assert parse(["--only", "sse", "--only", "unary", "--json", "x.json"]).only == ["sse", "unary"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--rounds", "0"], "--rounds must be at least 1"),
        (["--seconds", "0"], "--seconds above 0"),
        (["--warmup", "-1"], "--warmup not below 0"),
        (["--only", "nothing"], "invalid choice: 'nothing'"),
    ],
)
def test_impossible_options_are_refused(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        parse(arguments)

    assert message in capsys.readouterr().err


def test_measured_gateway_has_a_valid_configuration(tmp_path: Path) -> None:
    path = tmp_path / "bench.yaml"
    path.write_text(yaml.safe_dump(gateway_config(4000, 4001, [1, 2, 3], tmp_path)), encoding="utf-8")

    loaded = load(path, environ={}, created_utc=0)

    members = loaded.snapshot.groups[payloads.MODEL].members
    assert [(member.target.id, member.weight) for member in members] == [("a/m", 50), ("b/m", 30), ("c/m", 20)]


# --- payloads


@pytest.mark.parametrize("size_bytes", [1024, 10 * 1024, 100 * 1024])
def test_request_is_about_as_large_as_asked(size_bytes: int) -> None:
    assert len(payloads.chat_body(size_bytes)) == pytest.approx(size_bytes, rel=0.25)


def test_request_head_states_the_length_of_its_body() -> None:
    body = payloads.chat_body(1024)

    head, _, sent = payloads.http_request(body).partition(b"\r\n\r\n")

    assert sent == body
    assert head.endswith(b"Content-Length: %d" % len(body))


@pytest.mark.parametrize("events", [None, 5])
def test_only_stream_requests_ask_for_a_stream_with_usage(events: int | None) -> None:
    asked = json.loads(payloads.chat_body(1024, stream_events=events))

    assert asked.get("stream", False) is (events is not None)
    assert ("stream_options" in asked) is (events is not None)


@given(sent_ns=st.integers(0, 10**payloads.TIME_DIGITS - 1))
def test_every_event_is_one_whole_chunk_of_the_same_length(sent_ns: int) -> None:
    size, payload, _ = payloads.event_chunk(sent_ns).split(b"\r\n")

    assert int(size, 16) == len(payload) == payloads.EVENT_BYTES
    assert payload.endswith(b"\n\n")
