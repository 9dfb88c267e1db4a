import resource
import sys
from collections.abc import Iterator

import pytest

from pointsman.http1.descriptors import connections_within_limit, raise_limit


@pytest.fixture(autouse=True)
def _limit() -> Iterator[None]:
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, before)


def lower(soft: int) -> None:
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))


@pytest.mark.bug("L-09")
@pytest.mark.case("T71")
@pytest.mark.parametrize(("soft", "connections"), [(1_024, 428), (4_096, 1_811), (200, 58), (64, 8)])
def test_callers_get_less_than_half_of_what_may_be_open(soft: int, connections: int) -> None:
    lower(soft)

    assert connections_within_limit() == connections


@pytest.mark.bug("L-09")
@pytest.mark.case("T71")
def test_the_limit_is_raised_to_what_the_system_permits() -> None:
    lower(200)

    raise_limit()

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    assert soft == hard


def test_without_a_limit_there_is_none_for_callers() -> None:
    assert connections_within_limit() <= sys.maxsize
