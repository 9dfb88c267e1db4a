"""The view as text: golden, and never larger than a small terminal."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from pointsman.demo import table
from pointsman.demo.picture import Callers, Kind, Line, Picture, Row
from pointsman.demo.welcome import Place, pointers
from pointsman.domain.view import Breaker, PauseCause
from pointsman.testing import builders
from tests.unit.demo.recording import TARGETS

CLOSED = builders.view()
OPEN = builders.view(breaker=Breaker.OPEN, pause_cause=PauseCause.RATE_LIMIT)
HALF_OPEN = builders.view(breaker=Breaker.HALF_OPEN, pause_cause=PauseCause.FAULTS)
PLACE = Place(
    "http://127.0.0.1:4000/v1",
    "http://127.0.0.1:4001/metrics",
    Path("/tmp/pointsman-demo-1k8hbhnm/decisions.jsonl"),  # noqa: S108  # only its name
    "weighted",
)
PICTURE = Picture(
    elapsed_s=31.4,
    rows=(
        Row(TARGETS[0], 0.09, 3, 1.0, None, HALF_OPEN, 1, "upstream_fault"),
        Row(TARGETS[1], 0.66, 23, 0.043, 0.2591, OPEN, 4, "rate_limited"),
        Row(TARGETS[2], 0.25, 9, 0.0, 0.702, CLOSED, 1, "ok"),
    ),
    callers=Callers(requests=1115, failed=1),
    failovers=8,
    decision="thrifty (weighted) of steady 75 %, thrifty 25 %; out: swift paused",
    lines=(
        Line(1, 0.0, "traffic begins: 4 requests per second", Kind.EVENT),
        Line(2, 6.0, "swift slows down: everything takes 6 times as long", Kind.EVENT),
        Line(3, 15.0, "swift is as fast as before", Kind.EVENT),
        Line(4, 20.0, "swift breaks down: it answers every request with an error", Kind.EVENT),
        Line(5, 20.6, "steady answered in place of swift, which failed (503)", Kind.REQUEST),
        Line(6, 20.9, "swift is paused for 4 s after faults", Kind.STATE),
        Line(7, 28.0, "steady is overrun: it answers nearly every request with 429", Kind.EVENT),
    ),
)
NOTHING_YET = Picture(0.0, tuple(Row(t, 0.0, 0, None, None, CLOSED, 1, None) for t in TARGETS), Callers(), 0, "", ())

GOLDEN = """\
Pointsman demo: weighted, weights 60/30/10; numbers of the last 10 s       00:31
target             share  attempts  errors  ttft p50  breaker     last outcome
swift    █           9 %         3   100 %         -  half-open   upstream_fault
steady   █████      66 %        23     4 %    259 ms  open, 4 s   rate_limited
thrifty  ██         25 %         9     0 %    702 ms  closed      ok
callers  1115 requests, 99.9 % answered, 1 failed; 8 failovers they never saw
decision thrifty (weighted) of steady 75 %, thrifty 25 %; out: swift paused

00:06  swift slows down: everything takes 6 times as long
00:15  swift is as fast as before
00:20  swift breaks down: it answers every request with an error
00:20  steady answered in place of swift, which failed (503)
00:20  swift is paused for 4 s after faults
00:28  steady is overrun: it answers nearly every request with 429

base URL   http://127.0.0.1:4000/v1  metrics http://127.0.0.1:4001/metrics
decisions  /tmp/pointsman-demo-1k8hbhnm/decisions.jsonl
curl -i http://127.0.0.1:4000/v1/chat/completions -d \\
  '{"model": "demo", "messages": [{"role": "user", "content": "hi"}]}'
from openai import OpenAI
client = OpenAI(base_url="http://127.0.0.1:4000/v1", api_key="unused")
hi = [{"role": "user", "content": "hi"}]
print(client.chat.completions.create(model="demo", messages=hi))"""

PLAIN = """\
       target   share  attempts  errors  ttft p50  breaker     last outcome
       swift      9 %         3   100 %         -  half-open   upstream_fault
       steady    66 %        23     4 %    259 ms  open, 4 s   rate_limited
       thrifty   25 %         9     0 %    702 ms  closed      ok
       callers  1115 requests, 99.9 % answered, 1 failed; 8 failovers they never saw"""


def drawn(picture: Picture, place: Place = PLACE) -> list[str]:
    return [line.plain for line in table.screen(picture, place.routing, pointers(place))]


def test_whole_view_is_the_golden_one() -> None:
    assert "\n".join(drawn(PICTURE)) == GOLDEN


def test_view_of_nothing_is_as_high_as_any_other() -> None:
    lines = drawn(NOTHING_YET)

    assert len(lines) == len(drawn(PICTURE))
    assert lines[2] == "swift                0 %         0       -         -  closed      -"
    assert lines[5] == "callers  0 requests, - answered, 0 failed; 0 failovers they never saw"


def test_view_leaves_a_line_for_the_cursor() -> None:
    assert len(drawn(PICTURE)) < table.ROWS


def test_long_path_is_shown_whole_and_still_fits() -> None:
    path = Path("/var/folders/zz/zyxvpxvq6csfxvn_n0000000000000/T/pointsman-demo-1k8hbhnm/decisions.jsonl")
    lines = drawn(PICTURE, Place(PLACE.base_url, PLACE.metrics_url, path, "round_robin"))

    assert str(path) in "".join(lines)
    assert len(lines) <= table.ROWS
    assert max(map(len, lines)) <= table.COLUMNS


@given(
    text=st.text(st.characters(codec="ascii", exclude_categories=("Cc",)), max_size=300),
    share=st.floats(0, 1),
    attempts=st.integers(0, 9_999),
    breaker=st.sampled_from(Breaker),
    pause_left_s=st.integers(1, 300),
    outcome=st.sampled_from(["ok", "credential_fault", "upstream_fault"]),
    callers=st.builds(Callers, st.integers(1, 99_999), st.just(0)),
)
def test_no_picture_is_larger_than_the_terminal(
    text: str, share: float, attempts: int, breaker: Breaker, pause_left_s: int, outcome: str, callers: Callers
) -> None:
    view = builders.view(breaker=breaker)
    rows = tuple(Row(t, share, attempts, share, 12.345, view, pause_left_s, outcome) for t in TARGETS)
    lines = tuple(Line(number, 5_999.0, text, Kind.STATE) for number in range(50))

    found = drawn(Picture(5_999.0, rows, callers, 9_999, text, lines))

    assert len(found) < table.ROWS
    assert max(map(len, found)) <= table.COLUMNS


def test_plain_table_has_no_bars() -> None:
    assert table.plain(PICTURE) == PLAIN


def test_what_went_wrong_is_coloured() -> None:
    swift, steady, thrifty = table.screen(PICTURE, "", [])[2:5]
    styles = [{str(span.style) for span in line.spans} for line in (swift, steady, thrifty)]

    assert "red" in styles[0]
    assert "yellow" in styles[0]
    assert "bold red" in styles[1]
    assert "green" in styles[2]
    assert "red" not in styles[2]


def test_summary_has_requests_failures_and_failovers() -> None:
    text = "31 s: 1114 requests served, 1 failure seen by callers, 8 failovers."

    assert table.summary(PICTURE) == text


def test_time_goes_on_after_an_hour() -> None:
    assert [table.clock(at_s) for at_s in (0, 59.9, 61, 3_725)] == ["00:00", "00:59", "01:01", "62:05"]
