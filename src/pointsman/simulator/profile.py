"""How an endpoint behaves."""

import math

from pointsman.domain.usual import PREFILL_TOKENS_PER_S
from pointsman.domain.value import Value


class Profile(Value):
    """All that a timeline may change. Factors and ratios are plain numbers."""

    ttft_s: float  # until the first token of an empty prompt, while nobody else is served
    tps: float  # tokens per second of one answer, while nobody else is served
    knee: float  # requests in flight at which the first token takes twice as long
    prefill_tps: float = PREFILL_TOKENS_PER_S  # tokens of a prompt that are read in a second
    slow: float = 1.0  # times as slow, in reading and writing
    price_factor: float = 1.0  # times as dear
    error_ratio: float = 0.0  # of the attempts that are not refused
    error_s: float = 0.3  # until an error comes
    error_statuses: tuple[tuple[int, float], ...] = ((500, 0.5), (503, 0.5))  # and how likely each is
    break_ratio: float = 0.0  # of the streams, somewhere on the way
    black_hole: bool = False  # takes requests, and never answers
    stalls: bool = False  # goes silent after the first token
    max_rps: float | None = None  # above: 429
    max_tps: float | None = None  # tokens of input per second, above: 429
    retry_after_s: float | None = None  # what a 429 says; None: nothing
    tells_limits: bool = False  # in headers of every answer
    cache_ttl_s: float = 0.0  # how long a prompt is kept after its last use; 0: no cache
    absent: bool = False  # not part of the configuration


# of a target that is in no trouble; above is worse
_FINE = {"slow": 1.0, "price_factor": 1.0, "error_ratio": 0.0, "break_ratio": 0.0, "black_hole": 0.0, "stalls": 0.0}


class Change(Value):
    """From one moment on, until another one, an endpoint is different."""

    begin_s: float
    end_s: float  # inf: for good
    target: str
    fields: tuple[tuple[str, object], ...]  # of its profile

    @property
    def is_trouble(self) -> bool:
        """Whether anything gets worse by it."""
        return any(isinstance(value, float | int) and value > _FINE.get(name, math.inf) for name, value in self.fields)
