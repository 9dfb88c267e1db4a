"""What somebody outside is asked about the targets of a group, and what came of it: the contract of plugins."""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Protocol

from pointsman.domain.ports import Rng
from pointsman.domain.request import Dialect
from pointsman.domain.value import Value

API_VERSION = 1  # of all below; fields may be added to it, anything else makes another version


class Candidate(Value, kw_only=True):
    """One target that may serve the request; None: not known."""

    id: str  # "provider/upstream_model": what an answer calls it
    provider: str
    model: str
    weight: float  # above 0
    tags: frozenset[str]
    input_tokens: int | None  # of the request, as this model counts; estimated
    output_tokens: int | None  # that are to be expected
    cost_usd: float | None  # of the request
    in_flight: int
    overdue: int  # requests that should have had their first content by now
    samples: int  # times that a latency was learned
    ttft_s: float | None  # first content of a stream, for 1,000 tokens in and 200 out
    unary_s: float | None  # a whole answer, for the same
    failure_ratio: float | None  # share of attempts that fail
    rate_limited_ratio: float | None  # share of attempts that a rate limit refuses


class Question(Value, kw_only=True):
    """One request and its candidates. No text, no key, no header."""

    version: int = API_VERSION
    group: str
    caller: str  # its name
    dialect: Dialect
    stream: bool
    body_bytes: int
    tool_count: int
    structured_output: bool
    reasoning: bool
    max_output_tokens: int | None  # None: the caller set no cap
    candidates: tuple[Candidate, ...]


Answer = Mapping[str, float] | Sequence[str]  # by candidate id, higher is better; or ids, the best one first


class StrategyPlugin(Protocol):
    """What the factory of an entry point returns."""

    def scores(self, question: Question, *, now: float, rng: Rng) -> Answer:
        """`now`: monotonic seconds. Must not wait, and must not keep state that changes what it says."""
        ...


class FallbackReason(StrEnum):
    """Why scores do not decide."""

    DISABLED = "disabled"  # the kill switch
    WARMING = "warming"  # too few requests have been served
    NO_SIGNAL = "no_signal"  # the latency of too few targets is known
    RAISED = "raised"  # the plugin failed
    NO_ANSWER = "no_answer"  # the policy service did not answer in time, or with an error
    CIRCUIT_OPEN = "circuit_open"  # it has failed again and again, and is not asked for a while
    BAD_ANSWER = "bad_answer"  # what was said cannot be used
    NO_OPINION = "no_opinion"  # no candidate was given more than 0
    NO_TERM = "no_term"  # no term of the policy applies to the request
    NOT_ASKED = "not_asked"  # nobody is asked for an explanation or a count of tokens


FAULTS_OF_SERVICE = frozenset((FallbackReason.NO_ANSWER, FallbackReason.CIRCUIT_OPEN, FallbackReason.BAD_ANSWER))

Told = Mapping[str, float] | FallbackReason  # scores of targets, from 0 up; who is not named has 0


class Adviser(Protocol):
    """A plugin behind a guard: whatever it does, an answer that can be used comes back, or the reason why none does."""

    @property
    def name(self) -> str: ...
    @property
    def origin(self) -> str:
        """Where it comes from, for people."""
        ...

    def ask(self, question: Question, *, now: float, rng: Rng) -> Told: ...
