"""A group of simulated targets in virtual time: real decisions and real signals, seeded, without sockets."""

import heapq
import itertools
import random
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping

from msgspec import Struct, structs

from pointsman.domain.outcome import Outcome, Usage
from pointsman.domain.price import cost_usd
from pointsman.domain.target import ModelGroup, Target
from pointsman.routing.exchange import Command, Exchange, Send, Wait
from pointsman.signals.board import SignalBoard
from pointsman.signals.target_state import Lease
from pointsman.testing import builders
from pointsman.testing.capacity import Capacity

BEGIN_S = 1_000.0
TIMEOUT_S = 20.0  # without content: the attempt fails
STREAM_S = 1.0  # from the first content to the end
NOISE_SIGMA = 0.2


class Behaviour(Struct, frozen=True):
    """How a target answers at some time."""

    ttft_s: float | None = 0.3  # None: it accepts requests and never answers
    error_ratio: float = 0.0
    error_s: float = 0.003  # errors are quick
    limited_ratio: float = 0.0  # of what is left: refused with 429
    stream_s: float = STREAM_S  # of 50 tokens
    charge_ratio: float | None = None  # of its list price; None: it does not say what it charges
    knee: float | None = None  # in flight, where the time to the first content has doubled; None: no load slows it


Script = Callable[[float], Behaviour]  # by seconds since the beginning


def always(ttft_s: float | None = 0.3, **fields: float) -> Script:
    return lambda _: Behaviour(ttft_s, **fields)


def between(begin_s: float, end_s: float, then: Behaviour, usual: Behaviour | None = None) -> Script:
    """As usual, but for some time."""
    return lambda at_s: then if begin_s <= at_s < end_s else usual or Behaviour()


def _usage(target: Target, input_tokens: int, charge_ratio: float | None) -> Usage:
    counted = Usage(input_tokens=input_tokens, output_tokens=50)
    listed_usd = cost_usd(target.price, counted)
    if charge_ratio is None or listed_usd is None:
        return counted
    return structs.replace(counted, charged_usd=charge_ratio * listed_usd)


class _Caller:
    """One request, and its attempt in flight."""

    def __init__(self, exchange: Exchange) -> None:
        self.exchange = exchange
        self.lease: Lease | None = None


class Pool:
    """`run` sends requests at a steady rate; `picks` says where attempts went, by second."""

    def __init__(
        self,
        group: ModelGroup,
        scripts: Mapping[str, Script],
        *,
        rate_per_s: float = 10.0,
        limits: Mapping[str, Capacity] | None = None,
        seed: int = 1,
    ) -> None:
        self._limits = limits or {}
        self.ends: Counter[tuple[str, str]] = Counter()  # target, outcome class
        self.group, self._scripts, self._gap_s = group, scripts, 1.0 / rate_per_s
        self._rng = random.Random(seed)
        self.board = SignalBoard(random.Random(seed + 1))
        self.now = BEGIN_S
        self.picks: list[tuple[float, str]] = []
        self.ttfts_s: defaultdict[str, list[tuple[float, float]]] = defaultdict(list)  # by target: began at, took
        self.prompt_bytes: Callable[[], int] = lambda: 400
        self._events: list[tuple[float, int, Callable[[], None]]] = []
        self._numbers, self._requests = itertools.count(), itertools.count()

    def run(self, duration_s: float) -> None:
        """Requests arrive for so long; what is still on its way stays so."""
        end = self.now + duration_s
        arrival = self.now
        while arrival < end:
            self._at(arrival, self._arrive)
            arrival += self._gap_s
        while self._events and self._events[0][0] < end:
            self.now, _, event = heapq.heappop(self._events)
            event()
        self.now = end

    def run_out(self) -> None:
        """No further request, until the last one has ended."""
        while self._events:
            self.now, _, event = heapq.heappop(self._events)
            event()

    def share(self, target_id: str, begin_s: float, end_s: float) -> float:
        """Fraction of the attempts between two times."""
        counts = Counter(name for at_s, name in self.picks if begin_s <= at_s < end_s)
        return counts[target_id] / max(counts.total(), 1)

    def shares(self, begin_s: float, end_s: float) -> dict[str, float]:
        return {member.target.id: self.share(member.target.id, begin_s, end_s) for member in self.group.members}

    def _at(self, at: float, event: Callable[[], None]) -> None:
        heapq.heappush(self._events, (at, next(self._numbers), event))

    def _arrive(self) -> None:
        request_id = f"req-{next(self._requests)}"
        ask = builders.ask(request_id=request_id, stream=True, body_bytes=self.prompt_bytes())
        exchange = Exchange(ask, self.group, self.board, self._rng, began_at=self.now, deadline=self.now + 60.0)
        self._obey(_Caller(exchange), exchange.start(self.now))

    def _obey(self, caller: _Caller, command: Command) -> None:
        if isinstance(command, Wait):
            self._at(command.until, lambda: self._obey(caller, caller.exchange.resume(self.now)))
        elif isinstance(command, Send):
            self._send(caller, command)

    def _send(self, caller: _Caller, command: Send) -> None:
        target_id, facts = command.target.id, caller.exchange.ask.facts
        self.picks.append((self.now - BEGIN_S, target_id))
        caller.lease = self.board.started(command.target, "alice", self.now, is_probe=command.is_probe, facts=facts)
        behaviour = self._scripts[target_id](self.now - BEGIN_S)
        limit = self._limits.get(target_id)
        if limit is not None and not limit.admit(self.now).is_granted:
            self._ends(caller, builders.outcome("rate_limited", status=429), behaviour.error_s)
        elif self._rng.random() < behaviour.error_ratio:
            failed = builders.outcome("upstream_fault", status=500, ttfb_s=behaviour.error_s)
            self._ends(caller, failed, behaviour.error_s)
        elif behaviour.limited_ratio and self._rng.random() < behaviour.limited_ratio:
            self._ends(
                caller, builders.outcome("rate_limited", status=429, ttfb_s=behaviour.error_s), behaviour.error_s
            )
        elif behaviour.ttft_s is None or (slowed_s := behaviour.ttft_s * self._slowed(behaviour, command)) > TIMEOUT_S:
            self.ttfts_s[target_id].append((self.now - BEGIN_S, TIMEOUT_S))
            self._ends(caller, builders.outcome("upstream_fault", detail="timeout_first_content"), TIMEOUT_S)
        else:
            prompt_s = facts.body_bytes / 4 / 8_000.0
            ttft_s = (slowed_s + prompt_s) * self._rng.lognormvariate(0, NOISE_SIGMA)
            self.ttfts_s[target_id].append((self.now - BEGIN_S, ttft_s))
            lease = caller.lease
            self._at(self.now + ttft_s, lease.answered)
            usage = _usage(command.target, facts.body_bytes // 4, behaviour.charge_ratio)
            served = builders.outcome("ok", status=200, ttfb_s=ttft_s, ttft_s=ttft_s, committed=True, usage=usage)
            self._ends(caller, served, ttft_s + behaviour.stream_s)

    def _slowed(self, behaviour: Behaviour, command: Send) -> float:
        """Times as long as with nothing else in flight."""
        others = self.board.in_flight(command.target) - 1
        return 1.0 if behaviour.knee is None else 1.0 + (others / behaviour.knee) ** 3

    def _ends(self, caller: _Caller, outcome: Outcome, duration_s: float) -> None:
        ended = structs.replace(outcome, duration_s=duration_s)
        self._at(self.now + duration_s, lambda: self._end(caller, ended))

    def _end(self, caller: _Caller, outcome: Outcome) -> None:
        assert caller.lease is not None
        self.ends[caller.exchange.picks[-1].target.id, outcome.outcome_class] += 1
        self.board.record(caller.lease, outcome, self.now, self.group)
        self._obey(caller, caller.exchange.finished(outcome, self.now))
