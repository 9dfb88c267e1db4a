"""Two other parsers beside ours: what both refuse we refuse, and what we take is what they take."""

from collections.abc import Iterable

import pytest

from tests.unit.http1.heads import MUST_REFUSE, verdict
from tests.unit.http1.mutants import SOUND, mutants
from tests.unit.http1.others import OTHERS, Read

SEED = 20_261_130
QUICK, FULL = 50_000, 1_000_000


def disagreements(raws: Iterable[bytes]) -> tuple[list[bytes], int]:
    """Bytes of which we took a request that all others refuse, or that one of them reads differently.

    And how many requests were taken.
    """
    found, taken = [], 0
    for raw in raws:
        requests = verdict([raw]).requests
        if not requests:
            continue
        taken += 1
        head, body = requests[0]
        ours = Read(head.method.encode(), f"{head.path}?{head.query}".encode(), body)
        theirs = [read for parser in OTHERS if (read := parser(raw)) is not None]
        if not theirs or any(Read(each.method, _split(each.target), each.body) != ours for each in theirs):
            found.append(raw)
    return found, taken


def _split(target: bytes) -> bytes:
    return target if b"?" in target else target + b"?"


@pytest.mark.case("T55")
def test_what_both_other_parsers_refuse_is_refused_and_what_is_taken_is_read_alike() -> None:
    found, taken = disagreements(mutants(QUICK, SEED))

    assert found == []
    assert taken > QUICK // 20  # or else the mutants are too wild to say anything


@pytest.mark.full
@pytest.mark.case("T55")
def test_it_is_so_for_a_million_mutants() -> None:
    found, taken = disagreements(mutants(FULL, SEED + 1))

    assert found == []
    assert taken > FULL // 20


@pytest.mark.case("T55")
def test_sound_requests_are_taken_by_everybody_and_the_corpus_by_nobody_of_us() -> None:
    assert disagreements(SOUND) == ([], len(SOUND))
    assert disagreements(raw for raw, _ in MUST_REFUSE.values()) == ([], 0)
