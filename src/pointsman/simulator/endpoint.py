"""One modelled endpoint: what it answers, when, and what that does to it."""

import math
from collections.abc import Sequence

from pointsman.domain.outcome import LimitedUnit, Outcome, OutcomeClass, ProviderError, ToldLimit, Usage
from pointsman.domain.policy import Timeouts
from pointsman.domain.value import Leaf
from pointsman.routing.outcomes import verdict
from pointsman.simulator.buckets import Bucket
from pointsman.simulator.luck import Luck, Purpose
from pointsman.simulator.profile import Profile
from pointsman.simulator.request import BLOCK_TOKENS, Request

TTFT_SPREAD = 0.30  # of ln(time to the first token), from request to request
DECODE_SPREAD = 0.15  # of ln(tokens per second)
REFUSAL_S = 0.08  # until a 429
_PLENTY = 0.2  # of a limit: more is left than a provider need tell
_MAX_LOAD = 1e3  # times the knee: beyond, nothing is answered in any case

# what a provider says beside the status, where it is the account that is at fault
_ERRORS = {401: ProviderError("invalid key", code="invalid_api_key")}


class Answer(Leaf):
    """How an attempt is going to end. The outcome's `duration_s` says when."""

    outcome: Outcome
    is_read: bool = False  # the prompt was read: it is in the cache from now on

    @property
    def first_s(self) -> float | None:
        """Seconds until the first content; None: there is none."""
        return self.outcome.ttft_s


class Endpoint:
    """State: requests in flight, what is left of its limits, prompts in its cache."""

    def __init__(self, name: str, profile: Profile, timeouts: Timeouts, seed: int) -> None:
        self.name, self.profile = name, profile
        self.in_flight = 0
        self._timeouts, self._seed = timeouts, seed
        self._cache: dict[int, float] = {}  # block -> when it was used last
        self._requests = None if profile.max_rps is None else Bucket(profile.max_rps)
        self._tokens = None if profile.max_tps is None else Bucket(profile.max_tps)

    def become(self, profile: Profile, now: float) -> None:
        """Behave like this from now on; what is on its way is not affected."""
        self._requests = _bucket(self._requests, profile.max_rps, now)
        self._tokens = _bucket(self._tokens, profile.max_tps, now)
        self.profile = profile

    def foresee(self, request: Request, attempt: int, now: float) -> Answer:
        """What an attempt would meet now. Changes nothing."""
        if not self._admits(request, now):
            return Answer(self._refusal(now))
        luck, profile = Luck(self._seed, request.id, self.name, attempt), self.profile
        if luck.uniform(Purpose.FAILS) < profile.error_ratio:
            return Answer(self._error(luck.uniform(Purpose.STATUS)))
        cached_tokens = self.warm_tokens(request, now)
        ttft_s = self._ttft_s(request.input_tokens - cached_tokens, luck)
        if profile.black_hole or ttft_s > self._timeouts.first_content_s:
            limit_s = self._timeouts.first_content_s
            return Answer(Outcome(OutcomeClass.UPSTREAM_FAULT, "timeout_first_content", duration_s=limit_s))
        return Answer(self._answer(request, luck, ttft_s, cached_tokens, now), is_read=True)

    def take(self, request: Request, attempt: int, now: float) -> Answer:
        """An attempt begins."""
        answer = self.foresee(request, attempt, now)
        if answer.outcome.outcome_class is not OutcomeClass.RATE_LIMITED:
            for bucket, amount in self._limits(request):
                bucket.take(amount, now)
        if answer.is_read and self.profile.cache_ttl_s:
            self._cache.update(dict.fromkeys(request.blocks, now))
        self.in_flight += 1
        return answer

    def leave(self) -> None:
        """An attempt has ended."""
        self.in_flight -= 1

    def warm_tokens(self, request: Request, now: float) -> int:
        """Of the prompt, those that it need not read again."""
        since, warm = now - self.profile.cache_ttl_s, 0
        for block in request.blocks:
            if self._cache.get(block, -math.inf) < since:
                break
            warm += BLOCK_TOKENS
        return min(warm, request.input_tokens)

    def _limits(self, request: Request) -> list[tuple[Bucket, float]]:
        pairs = ((self._requests, 1.0), (self._tokens, float(request.input_tokens)))
        return [(bucket, amount) for bucket, amount in pairs if bucket is not None]

    def _admits(self, request: Request, now: float) -> bool:
        return all(bucket.admits(amount, now) for bucket, amount in self._limits(request))

    def _refusal(self, now: float) -> Outcome:
        return Outcome(
            OutcomeClass.RATE_LIMITED,
            "status_429",
            429,
            retry_after_s=self.profile.retry_after_s,
            ttfb_s=REFUSAL_S,
            duration_s=REFUSAL_S,
            told_limits=self._told(now),
        )

    def _error(self, drawn: float) -> Outcome:
        status, after_s = _status(self.profile.error_statuses, drawn), self.profile.error_s
        error = _ERRORS.get(status)
        found = verdict(status, error)
        return Outcome(
            found.outcome_class,
            f"status_{status}",
            status,
            error,
            found.confirmed,
            ttfb_s=after_s,
            duration_s=after_s,
            retry_after_s=self.profile.retry_after_s,
        )

    def _ttft_s(self, uncached_tokens: int, luck: Luck) -> float:
        profile = self.profile
        load = min(self.in_flight / profile.knee, _MAX_LOAD)
        idle_s = profile.ttft_s + uncached_tokens / profile.prefill_tps
        return idle_s * (1.0 + load**3) * profile.slow * math.exp(TTFT_SPREAD * luck.normal(Purpose.TTFT))

    def _answer(self, request: Request, luck: Luck, ttft_s: float, cached_tokens: int, now: float) -> Outcome:
        profile = self.profile
        if profile.stalls:
            return self._broken(request, "timeout_idle", ttft_s, ttft_s + self._timeouts.idle_s, 1, cached_tokens)
        load = min(self.in_flight / profile.knee, _MAX_LOAD)
        tps = profile.tps / (1.0 + load**2) / profile.slow * math.exp(DECODE_SPREAD * luck.normal(Purpose.DECODE))
        decode_s = request.output_tokens / tps
        if luck.uniform(Purpose.BREAKS) < profile.break_ratio:
            part = luck.uniform(Purpose.BREAKS_AT)
            written = math.ceil(part * request.output_tokens)
            return self._broken(request, "truncated", ttft_s, ttft_s + part * decode_s, written, cached_tokens)
        usage = Usage(request.input_tokens, request.output_tokens, cached_tokens)
        return Outcome(
            OutcomeClass.OK, "", 200, None, False, None, True, ttft_s, ttft_s, ttft_s + decode_s, usage, self._told(now)
        )  # fmt: skip

    @staticmethod
    def _broken(
        request: Request, detail: str, ttft_s: float, duration_s: float, written: int, cached_tokens: int
    ) -> Outcome:
        """The caller has seen the beginning, and it is charged."""
        usage = Usage(request.input_tokens, written, cached_tokens)
        return Outcome(
            OutcomeClass.BROKEN_STREAM, detail, 200, None, False, None, True, ttft_s, ttft_s, duration_s, usage
        )  # fmt: skip

    def _told(self, now: float) -> tuple[ToldLimit, ...]:
        """As in the headers of real providers: what little is left."""
        if not self.profile.tells_limits:
            return ()
        pairs = ((LimitedUnit.REQUESTS, self._requests), (LimitedUnit.TOKENS, self._tokens))
        return tuple([
            ToldLimit(unit, max(bucket.left(now), 0.0), bucket.reset_s(now))
            for unit, bucket in pairs
            if bucket is not None and bucket.left(now) <= _PLENTY * bucket.room
        ])  # fmt: skip


def _bucket(before: Bucket | None, per_s: float | None, now: float) -> Bucket | None:
    if per_s is None:
        return None
    if before is None:
        return Bucket(per_s)
    before.change(per_s, now)
    return before


def _status(mix: Sequence[tuple[int, float]], drawn: float) -> int:
    point = drawn * sum(share for _, share in mix)
    for status, share in mix:
        point -= share
        if point < 0.0:
            return status
    return mix[-1][0]  # rounding left a remainder
