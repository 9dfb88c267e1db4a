"""Requests of a run, all known before it begins: arrivals do not wait for answers."""

import math
import random
from collections.abc import Iterator
from hashlib import blake2b

from msgspec import structs

from pointsman.domain.conversation import Session
from pointsman.domain.value import Value
from pointsman.simulator.lengths import LENGTHS, tokens_at
from pointsman.simulator.luck import stream
from pointsman.simulator.request import BLOCK_TOKENS, Request

_CALLERS = ("alice", "bob", "carol", "dave")
_QUIET_RATIO = 0.08  # of the mean rate, between bursts
_SESSION_BITS = 24  # of a block's name; the rest says which one it is of its session


class Bursts(Value):
    """A Poisson process with two rates."""

    fano: float  # variance over mean of the requests of one second
    burst_s: float  # a burst lasts on average


class Sessions(Value):
    """Conversations: each turn's prompt is the one before and some more."""

    turns: float  # on average
    think_s: float  # from one turn to the next, on average
    grows_tokens: int  # by which a prompt is longer than the one before


class Workload(Value):
    """What arrives."""

    rate_per_s: float  # requests, turns of sessions included
    duration_s: float
    lengths: str  # a row of LENGTHS
    bursts: Bursts | None = None  # None: Poisson
    sessions: Sessions | None = None  # None: nobody comes back


def requests_of(workload: Workload, seed: int) -> list[Request]:
    """In the order of their arrival; equal for equal seeds, whatever is done with them."""
    chance = stream("workload", seed)
    sessions = workload.sessions
    per_beginning = 1.0 if sessions is None else sessions.turns
    times = _arrivals(workload, workload.rate_per_s / per_beginning, chance)
    found = [
        request
        for number, at_s in enumerate(times)
        for request in _conversation(workload, number, at_s, stream("session", seed, number))
        if request.at_s < workload.duration_s
    ]
    return sorted(found, key=lambda request: request.at_s)


def _arrivals(workload: Workload, rate_per_s: float, chance: random.Random) -> Iterator[float]:
    at_s, is_burst, until_s = 0.0, False, math.inf
    rates, means_s = (rate_per_s, rate_per_s), (math.inf, math.inf)
    if workload.bursts is not None:
        rates, means_s = _two_rates(workload.bursts, rate_per_s)
        until_s = chance.expovariate(1.0 / means_s[is_burst])
    while at_s < workload.duration_s:
        next_s = at_s + chance.expovariate(rates[is_burst])
        if next_s >= until_s:  # the rate changes before: what is left of a memoryless wait is drawn anew
            at_s, is_burst = until_s, not is_burst
            until_s = at_s + chance.expovariate(1.0 / means_s[is_burst])
            continue
        at_s = next_s
        yield at_s


def _two_rates(bursts: Bursts, rate_per_s: float) -> tuple[tuple[float, float], tuple[float, float]]:
    """Rates and mean lengths of quiet times and bursts that give the wanted mean, and variance of a second."""
    above = rate_per_s * (1.0 - _QUIET_RATIO)
    step = above + (bursts.fano - 1.0) * rate_per_s / above
    share = above / step  # of the time that is burst
    quiet = rate_per_s * _QUIET_RATIO
    return (quiet, quiet + step), (bursts.burst_s * (1.0 - share) / share, bursts.burst_s)


def _conversation(workload: Workload, number: int, at_s: float, chance: random.Random) -> Iterator[Request]:
    table, sessions = LENGTHS[workload.lengths], workload.sessions
    input_tokens, caller = tokens_at(table.input_tokens, chance.random()), _CALLERS[number % len(_CALLERS)]
    for turn in range(_turns(sessions, chance)):
        output_tokens = tokens_at(table.output_tokens, chance.random())
        request = Request(f"{number}.{turn}", at_s, input_tokens, output_tokens, caller)
        yield request if sessions is None else _of_session(request, number, turn)
        if sessions is not None:
            at_s += chance.expovariate(1.0 / sessions.think_s)
            input_tokens += sessions.grows_tokens


def _turns(sessions: Sessions | None, chance: random.Random) -> int:
    """At least one; geometric."""
    if sessions is None or sessions.turns <= 1.0:
        return 1
    return 1 + math.floor(math.log(1.0 - chance.random()) / math.log(1.0 - 1.0 / sessions.turns))


def _of_session(request: Request, number: int, turn: int) -> Request:
    key = blake2b(str(number).encode(), digest_size=16).hexdigest()
    blocks = tuple([(number << _SESSION_BITS) + block for block in range(request.input_tokens // BLOCK_TOKENS)])
    return structs.replace(request, session=Session(key, "x-session-id", has_begun=turn > 0), blocks=blocks)
