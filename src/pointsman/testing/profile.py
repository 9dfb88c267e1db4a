"""A simulated provider with a character of its own: speed, error ratio and request limit, which may change as it runs.

Use it as `FakeProvider(answer_for=profile.answer)`.
"""

import random
from collections.abc import Sequence

from pointsman.domain.ports import Clock
from pointsman.http1.clock import SystemClock
from pointsman.testing.answers import Answer, Chat, Status
from pointsman.testing.capacity import Admission, Capacity
from pointsman.testing.received import Received

NOISE_SIGMA = 0.25  # log-normal: two answers in three lie within a factor 1.3 of the median
LENGTH_SIGMA = 0.5  # answers differ more in length than in speed
MEDIAN_WORDS = 24
ERROR_STATUSES = (500, 503)
WORDS = (
    *("signal", "track", "points", "switch", "line", "train", "yard", "platform", "junction", "depot"),
    *("route", "local", "express", "freight", "siding", "tower", "lamp", "lever", "schedule", "crossing"),
)


class SimulatedProfile:
    """Makes one answer per request; the same seed and requests give the same answers.

    `ttft_s` and `tokens_per_s` are medians. The public attributes may be set at any time; `slow_down`, `break_down` and
    `recover` are the usual events.
    """

    def __init__(
        self,
        name: str,
        ttft_s: float,
        tokens_per_s: float,
        error_ratio: float,
        rate_limit_per_s: float | None = None,
        *,
        words: Sequence[str] = WORDS,
        seed: int = 0,
        clock: Clock | None = None,
    ) -> None:
        self.name = name
        self.ttft_s = ttft_s
        self.tokens_per_s = tokens_per_s
        self.error_ratio = error_ratio
        self.rate_limit_per_s = rate_limit_per_s  # None: no limit
        self._usual = (ttft_s, tokens_per_s, error_ratio, rate_limit_per_s)
        self._words = tuple(words)
        self._rng = random.Random(f"{name}/{seed}")  # noqa: S311 - not for secrets
        self._clock = clock or SystemClock()
        self._capacity: Capacity | None = None

    def slow_down(self, factor: float) -> None:
        """Everything takes `factor` times as long as now."""
        self.ttft_s *= factor
        self.tokens_per_s /= factor

    def break_down(self, error_ratio: float = 1.0) -> None:
        """Answer with errors, by default only."""
        self.error_ratio = error_ratio

    def recover(self) -> None:
        """Be as at the start."""
        self.ttft_s, self.tokens_per_s, self.error_ratio, self.rate_limit_per_s = self._usual

    def answer(self, received: Received) -> Answer:
        """The answer to a request; what it asks for makes no difference."""
        del received
        admission = self._admission()
        if admission is not None and not admission.is_granted:
            return admission.refusal()
        answer = self._error() if self._rng.random() < self.error_ratio else self._chat()
        return answer if admission is None else admission.told_in(answer)

    def _admission(self) -> Admission | None:
        limit_per_s = self.rate_limit_per_s
        if limit_per_s is None:
            self._capacity = None
            return None
        if self._capacity is None or self._capacity.per_second != limit_per_s:
            self._capacity = Capacity(limit_per_s, burst=max(1, round(limit_per_s)))
        return self._capacity.admit(self._clock.now())

    def _error(self) -> Status:
        return Status(
            self._rng.choice(ERROR_STATUSES), f"{self.name} is out of order", delay_s=self._noisy(self.ttft_s)
        )

    def _chat(self) -> Chat:
        count = max(1, round(self._rng.lognormvariate(0, LENGTH_SIGMA) * MEDIAN_WORDS))
        text = " ".join(self._rng.choices(self._words, k=count))
        return Chat(text, delay_s=self._noisy(self.ttft_s), gap_s=self._noisy(1 / self.tokens_per_s))

    def _noisy(self, median: float) -> float:
        return median * self._rng.lognormvariate(0, NOISE_SIGMA)
