"""A request limit as providers have it: a token bucket, told in the headers of every answer. Pure but for its state."""

import math

from msgspec import Struct, structs

from pointsman.testing.answers import Answer, Status


class Admission(Struct, frozen=True):
    """Whether a request is within the limit, and what the provider says about the limit."""

    is_granted: bool
    headers: tuple[tuple[str, str], ...]
    retry_after_s: float

    def told_in(self, answer: Answer) -> Answer:
        """The answer with the limit's headers."""
        return structs.replace(answer, headers=answer.headers + self.headers)

    def refusal(self) -> Status:
        """The answer to a request above the limit."""
        error = {"message": "request limit reached", "code": "rate_limit_exceeded"}
        return Status(429, error, retry_after=self.retry_after_s, headers=self.headers)


class Capacity:
    """`burst` requests at once, refilled at `per_second`.

    `retry_after_s` is what refusals say; None: the truth in whole seconds, rounded up.
    """

    def __init__(self, per_second: float, burst: int, retry_after_s: float | None = None) -> None:
        if per_second <= 0 or burst < 1:
            raise ValueError(f"per_second must be above 0 and burst at least 1, got {per_second} and {burst}")
        self.per_second = per_second
        self.burst = burst
        self._retry_after_s = retry_after_s
        self._tokens = float(burst)
        self._at = -math.inf

    def admit(self, now: float) -> Admission:
        """Takes one token if there is one; `now` never goes back."""
        if self._at != -math.inf:
            self._tokens = min(self.burst, self._tokens + (now - self._at) * self.per_second)
        self._at = now
        is_granted = self._tokens >= 1
        if is_granted:
            self._tokens -= 1
        return Admission(is_granted=is_granted, headers=self._headers(), retry_after_s=self._stated_retry_after_s())

    def _headers(self) -> tuple[tuple[str, str], ...]:
        return (
            ("x-ratelimit-limit-requests", str(self.burst)),
            ("x-ratelimit-remaining-requests", str(math.floor(self._tokens))),
            ("x-ratelimit-reset-requests", duration((self.burst - self._tokens) / self.per_second)),
        )

    def _stated_retry_after_s(self) -> float:
        if self._retry_after_s is not None:
            return self._retry_after_s
        return max(1, math.ceil((1 - self._tokens) / self.per_second))


def duration(seconds: float) -> str:
    """A time as OpenAI's headers write it: `20ms`, `1.5s`, `6m0s`; rounded up to whole milliseconds."""
    total_ms = math.ceil(round(seconds * 1000, 6))  # the inner rounding drops noise of the floating point
    if total_ms < 1000:
        return f"{total_ms}ms"
    minutes, rest_ms = divmod(total_ms, 60_000)
    return f"{minutes}m{rest_ms / 1000:g}s" if minutes else f"{rest_ms / 1000:g}s"
