"""The demo's callers: a repeatable pace, and an honest judgement of what they got."""

import asyncio
from collections.abc import Callable
from itertools import islice

import pytest

from pointsman.demo.traffic import RATE_PER_S, STREAM_RATIO, Traffic, arrivals, is_answered
from pointsman.testing import Answer, Chat, FakeProvider, Status, refused_port, stream_of


def asked(answer: Answer, *, is_stream: bool) -> bool:
    async def scene() -> bool:
        async with FakeProvider(default=answer) as provider:
            return await is_answered(provider.base_url, is_stream=is_stream)

    return asyncio.run(scene())


def flowed(answer: Answer, *, is_over: Callable[[], bool]) -> Traffic:
    """Traffic after its first three answers."""

    async def scene() -> Traffic:
        async with FakeProvider(default=answer) as provider:
            traffic = Traffic(provider.base_url, is_over=is_over)
            flow = asyncio.create_task(traffic.flow())
            await provider.until(lambda: sum(request.answered for request in provider.log) >= 3, patience_s=10)
            await provider.until(lambda: provider.open_connections == 0, patience_s=10)
            flow.cancel()
            await asyncio.wait([flow])
            return traffic

    return asyncio.run(scene())


def test_same_seed_gives_the_same_traffic() -> None:
    assert list(islice(arrivals(3), 100)) == list(islice(arrivals(3), 100))
    assert list(islice(arrivals(3), 100)) != list(islice(arrivals(4), 100))


def test_traffic_keeps_its_rate_and_its_mixture_over_time() -> None:
    found = list(islice(arrivals(), 4_000))

    assert len(found) / sum(arrival.gap_s for arrival in found) == pytest.approx(RATE_PER_S, rel=0.05)
    assert sum(arrival.is_stream for arrival in found) / len(found) == pytest.approx(STREAM_RATIO, abs=0.03)


@pytest.mark.parametrize("is_stream", [False, True])
def test_complete_answer_is_a_success(*, is_stream: bool) -> None:
    assert asked(Chat("hello there"), is_stream=is_stream)


@pytest.mark.parametrize("is_stream", [False, True])
def test_error_status_is_a_failure(*, is_stream: bool) -> None:
    assert not asked(Status(503), is_stream=is_stream)


def test_stream_without_its_terminator_is_a_failure() -> None:
    assert not asked(stream_of("hello", then="end"), is_stream=True)


def test_gateway_that_is_not_there_is_a_failure() -> None:
    with refused_port() as base_url:
        assert not asyncio.run(is_answered(base_url, is_stream=True))


def test_ended_requests_are_counted() -> None:
    traffic = flowed(Chat(), is_over=lambda: False)

    assert traffic.requests >= 3
    assert traffic.failed == 0


def test_failures_are_counted() -> None:
    traffic = flowed(Status(503), is_over=lambda: False)

    assert traffic.failed == traffic.requests >= 3


def test_refusals_of_a_gateway_that_is_stopping_are_not_held_against_it() -> None:
    traffic = flowed(Status(503), is_over=lambda: True)

    assert (traffic.requests, traffic.failed) == (0, 0)
