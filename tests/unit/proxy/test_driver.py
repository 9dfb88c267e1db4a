"""The asyncio driver: what the exchange says is done, and every attempt is recorded once."""

import asyncio
from collections.abc import Callable

import pytest

from pointsman.domain.outcome import Outcome
from pointsman.domain.target import ModelGroup, Target
from pointsman.domain.view import Breaker
from pointsman.http1.client import WireFailure
from pointsman.proxy.driver import drive
from pointsman.routing.exchange import Exchange, Finish
from pointsman.signals.board import SignalBoard
from pointsman.signals.target_state import Lease
from pointsman.testing import FakeClock, builders
from tests.unit.signals.pausing import Draws

Answer = Outcome | Exception | Callable[[], object]


class Provider:
    """Answers with the listed outcomes; an exception is raised, and after a call nothing ever comes back."""

    def __init__(self, *answers: Answer) -> None:
        self._answers = list(answers)
        self._outcome: Outcome | None = None
        self.calls: list[str] = []

    async def send(self, target: Target, lease: Lease) -> WireFailure | None:
        self.calls.append(target.id)
        match self._answers.pop(0):
            case Outcome() as outcome:
                self._outcome = outcome
            case Exception() as error:
                raise error
            case leave:
                leave()
                await asyncio.get_running_loop().create_future()
        return None

    def conclude(self, failure: WireFailure | None) -> Outcome:
        assert self._outcome is not None
        return self._outcome

    def abandoned(self, detail: str) -> Outcome:
        return builders.outcome("caller_gone", detail=detail)


class Gateway:
    """A board, a clock and one group."""

    def __init__(self, group: ModelGroup) -> None:
        self.group, self.board, self.clock = group, SignalBoard(Draws()), FakeClock()
        self.exchange = self.new_exchange()

    def new_exchange(self) -> Exchange:
        now = self.clock.now()
        return Exchange(builders.ask(), self.group, self.board, Draws(), began_at=now, deadline=now + 600)

    async def serve(self, provider: Provider) -> Finish:
        return await drive(self.exchange, provider, self.board, self.clock)

    @property
    def in_flight(self) -> int:
        return sum(self.board.in_flight(member.target) for member in self.group.members)


def gateway(*targets: str) -> Gateway:
    return Gateway(builders.group("chat", *targets, strategy="failover"))


def test_answer_ends_the_request() -> None:
    gw, provider = gateway("a/m", "b/m"), Provider(builders.outcome())

    finish = asyncio.run(gw.serve(provider))

    assert (finish.reason, finish.error, provider.calls) == ("ok", None, ["a/m"])


def test_failure_is_followed_by_the_next_attempt() -> None:
    gw, provider = gateway("a/m", "b/m"), Provider(builders.outcome("rate_limited", status=429), builders.outcome())

    finish = asyncio.run(gw.serve(provider))

    assert (finish.reason, provider.calls) == ("ok", ["a/m", "b/m"])


def test_wait_is_followed_by_the_next_attempt() -> None:
    gw = gateway("a/m")
    provider = Provider(builders.outcome("upstream_fault", status=503), builders.outcome())

    finish = asyncio.run(gw.serve(provider))

    assert (finish.reason, provider.calls) == ("ok", ["a/m", "a/m"])


@pytest.mark.bug("A-02")
def test_failed_attempt_is_known_to_the_signals_before_the_next_decision() -> None:
    gw = gateway("a/m", "b/m")

    asyncio.run(gw.serve(Provider(builders.outcome("rate_limited"), builders.outcome())))

    assert gw.board.target_view(gw.group.members[0].target, gw.clock.now()).breaker is Breaker.OPEN


@pytest.mark.case("I3")
def test_nothing_is_in_flight_after_the_end() -> None:
    gw = gateway("a/m", "b/m")

    asyncio.run(gw.serve(Provider(builders.outcome("bad_payload"), builders.outcome("bad_payload"))))

    assert gw.in_flight == 0


@pytest.mark.case("I3")
@pytest.mark.bug("C-13", "F-02")
def test_cancelled_attempt_is_recorded_as_the_caller_being_gone() -> None:
    gw = gateway("a/m", "b/m")

    async def leave_while_waiting() -> None:
        task = asyncio.current_task()
        assert task is not None
        await gw.serve(Provider(task.cancel))

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(leave_while_waiting())

    ends = [(outcome.outcome_class, outcome.detail) for outcome in gw.exchange.outcomes]
    assert ends == [("caller_gone", "caller_gone")]
    assert gw.in_flight == 0
    assert gw.board.view(gw.group, gw.clock.now()).is_calm


@pytest.mark.case("T27")
def test_fault_of_the_gateway_itself_releases_the_attempt_and_is_raised() -> None:
    gw = gateway("a/m")

    with pytest.raises(ZeroDivisionError):
        asyncio.run(gw.serve(Provider(ZeroDivisionError())))

    assert [outcome.detail for outcome in gw.exchange.outcomes] == ["internal_error"]
    assert gw.in_flight == 0


def test_probe_that_is_cut_off_gives_its_permit_back() -> None:
    gw = gateway("a/m")
    asyncio.run(gw.serve(Provider(builders.outcome("rate_limited", status=429))))
    gw.clock.advance(30)
    gw.exchange = gw.new_exchange()

    with pytest.raises(ZeroDivisionError):
        asyncio.run(gw.serve(Provider(ZeroDivisionError())))

    view = gw.board.target_view(gw.group.members[0].target, gw.clock.now())
    assert (view.breaker, view.is_probing) == (Breaker.HALF_OPEN, False)
