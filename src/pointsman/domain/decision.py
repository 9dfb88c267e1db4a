"""What was decided and why: the part of a request that can be explained and replayed."""

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType

from pointsman.domain.opinion import FallbackReason
from pointsman.domain.score_policy import ScoreSignal
from pointsman.domain.target import ModelGroup, Target
from pointsman.domain.value import Leaf, Value
from pointsman.domain.view import Measured


class Exclusion(StrEnum):
    """The rule that took a target out of the running."""

    WEIGHT_ZERO = "weight_zero"
    DIALECT_UNSUPPORTED = "dialect_unsupported"
    NOT_CARRIED = "not_carried"
    EMBEDDING_SPACE = "embedding_space"
    NO_CREDENTIAL = "no_credential"
    CONTRACT = "contract"
    KEY_POLICY = "key_policy"
    NO_TOOLS = "no_tools"
    NO_FORCED_TOOLS = "no_forced_tools"
    NO_PARALLEL_TOOLS = "no_parallel_tools"
    NO_STRUCTURED_OUTPUT = "no_structured_output"
    NO_IMAGES = "no_images"
    NO_AUDIO = "no_audio"
    NO_FILES = "no_files"
    NO_REASONING = "no_reasoning"
    IGNORES_MAX_TOKENS = "ignores_max_tokens"
    NOT_PROVEN = "not_proven"
    OUTPUT_TOO_SHORT = "output_too_short"
    NOT_NAMED = "not_named"
    IGNORED = "ignored"
    TRAINING = "training"
    RETENTION = "retention"
    QUANTIZATION = "quantization"
    PARAMETERS = "parameters"
    TOO_EXPENSIVE = "too_expensive"
    CONTEXT_TOO_SMALL = "context_too_small"
    STATE_ELSEWHERE = "state_elsewhere"
    TRIED = "tried"
    PAUSED = "paused"
    PROBING = "probing"
    MAX_CONCURRENT = "max_concurrent"
    MAX_RPS = "max_rps"
    MAX_TPM = "max_tpm"
    PROVIDER_LIMIT = "provider_limit"
    HELD_BACK = "held_back"
    THRESHOLD = "threshold"
    TERM_TAGS = "term_tags"


EXCLUSION_TEXT: dict[Exclusion, str] = {
    Exclusion.WEIGHT_ZERO: "its weight is 0",
    Exclusion.DIALECT_UNSUPPORTED: "its provider speaks neither the request's dialect nor one that can carry it",
    Exclusion.NOT_CARRIED: "its provider speaks another dialect, which cannot carry all of the request",
    Exclusion.EMBEDDING_SPACE: "its embeddings cannot be compared with those of the group's first target",
    Exclusion.NO_CREDENTIAL: "its provider has no credential configured",
    Exclusion.CONTRACT: "it does not meet the contract of the group",
    Exclusion.KEY_POLICY: "the policy of the caller's key does not allow it",
    Exclusion.NO_TOOLS: "it does not take tools",
    Exclusion.NO_FORCED_TOOLS: "it cannot be forced to call a tool",
    Exclusion.NO_PARALLEL_TOOLS: "it does not call several tools at once",
    Exclusion.NO_STRUCTURED_OUTPUT: "it does not keep to a structure",
    Exclusion.NO_IMAGES: "it does not take images",
    Exclusion.NO_AUDIO: "it does not take audio",
    Exclusion.NO_FILES: "it does not take files",
    Exclusion.NO_REASONING: "it does not reason on demand",
    Exclusion.IGNORES_MAX_TOKENS: "it does not keep to the request's cap on output",
    Exclusion.NOT_PROVEN: "the group wants proof that it can do what the request needs, and nothing is known",
    Exclusion.OUTPUT_TOO_SHORT: "it cannot write as much as the request asks for",
    Exclusion.NOT_NAMED: "the request names other providers",
    Exclusion.IGNORED: "the request rules its provider out",
    Exclusion.TRAINING: "it may train on data, or that is not known, and the request denies it",
    Exclusion.RETENTION: "it keeps data, or that is not known, and the request wants none kept",
    Exclusion.QUANTIZATION: "its quantization is none that the request accepts",
    Exclusion.PARAMETERS: "it does not declare every parameter of the request, as the request demands",
    Exclusion.TOO_EXPENSIVE: "it charges more than the request allows, or its price is not known",
    Exclusion.CONTEXT_TOO_SMALL: "the request does not fit into its context window",
    Exclusion.STATE_ELSEWHERE: "another target keeps what the request builds on",
    Exclusion.TRIED: "it was already tried for this request",
    Exclusion.PAUSED: "it is paused",
    Exclusion.PROBING: "it is recovering and its one probe is on its way",
    Exclusion.MAX_CONCURRENT: "it has as many requests in flight as `max_concurrent` allows",
    Exclusion.MAX_RPS: "it was sent as many requests as `max_rps` allows",
    Exclusion.MAX_TPM: "it was sent as many tokens as `max_tpm` allows",
    Exclusion.PROVIDER_LIMIT: "its provider has said that nothing is left of its limit",
    Exclusion.HELD_BACK: "its gate did not admit it to this decision",
    Exclusion.THRESHOLD: "it does not keep to the thresholds of the group's policy",
    Exclusion.TERM_TAGS: "it lacks tags that a score term requires for such requests",
}


class DecisionMode(StrEnum):
    """Which rule made the pick."""

    WEIGHTED = "weighted"
    ROUND_ROBIN = "round_robin"
    FAILOVER = "failover"
    COST = "cost"
    INVERSE_SQUARE = "inverse_square"
    LEAST_BUSY = "least_busy"
    P2C = "p2c"
    BLEND = "blend"
    MARKET = "market"
    LATENCY = "latency"
    THROUGHPUT = "throughput"
    PLUGIN = "plugin"
    EXTERNAL = "external"
    SCORE = "score"
    EXPLORATION = "exploration"  # not the best one, so that the others stay measured
    FALLBACK = "fallback"  # the strategy's scores are switched off, or not known well enough
    PINNED = "pinned"  # the session stays where it is
    PROBE = "probe"  # a recovering target takes this request as its one trial
    SINGLE = "single"  # nothing to choose: no strategy ran, no state advanced (G-081)
    PANIC = "panic"  # everything was unavailable; the least bad target is tried


class AffinityOutcome(StrEnum):
    """What a decision did with the pin of the request's session."""

    HONORED = "honored"  # the pinned target was picked
    RELEASED = "released"  # its target cannot be used, or is not worth it: the session is free
    SKIPPED = "skipped"  # another target takes this one request, and the pin stays
    CREATED = "created"  # there was none: the picked target gets the session
    NONE = "none"  # there is none, and there will be none


class FinishReason(StrEnum):
    """Why a request ended."""

    OK = "ok"
    RESPONSE_STARTED = "response_started"  # an attempt failed after its first content
    CALLER_FAULT = "caller_fault"
    CALLER_GONE = "caller_gone"
    ATTEMPTS_EXHAUSTED = "attempts_exhausted"
    TARGETS_EXHAUSTED = "targets_exhausted"
    RETRY_BUDGET_SPENT = "retry_budget_spent"
    DEADLINE = "deadline"
    SHUTDOWN = "shutdown"
    INTERNAL_ERROR = "internal_error"
    NO_ELIGIBLE_TARGET = "no_eligible_target"
    CONTEXT_LENGTH_EXCEEDED = "context_length_exceeded"
    ALL_TARGETS_UNAVAILABLE = "all_targets_unavailable"
    POLICY_UNAVAILABLE = "policy_unavailable"
    UPSTREAM_RATE_LIMITED = "upstream_rate_limited"
    UPSTREAM_MISCONFIGURED = "upstream_misconfigured"
    INVALID_REQUEST = "invalid_request"
    UNSUPPORTED_ENCODING = "unsupported_encoding"
    REQUEST_TOO_LARGE = "request_too_large"
    MODEL_NOT_FOUND = "model_not_found"
    PERMISSION_DENIED = "permission_denied"


class Excluded(Value):
    """One target and the rule that excluded it."""

    target_id: str
    rule: Exclusion


class Spent(Leaf):
    """What a first attempt is expected to cost in adjusted price, for the budget of probes."""

    best_usd: float  # at the best target
    extra_usd: float = 0.0  # beyond that, at a probed one
    probed: int | None = None  # index of the member that was picked because nobody had asked it for long; None: none


class Effects(Value):
    """State changes that a decision asks for; `exchange` applies them before any await, explain drops them."""

    claim_probe: bool = False  # the picked target is half-open: this attempt is its probe
    turn_credits: tuple[float, ...] | None = None  # round robin moved on, in the order of the group's members
    spent: Spent | None = None  # of a strategy with a budget for probes


NO_EFFECTS = Effects()


class Picked(Leaf):
    """The target that was chosen, and how."""

    target: Target
    mode: DecisionMode
    propensity: float  # probability of this very pick, given the candidates
    effects: Effects = NO_EFFECTS


class Estimate(Leaf):
    """What one candidate was expected to charge for the request."""

    input_tokens: int
    output_tokens: int
    cost_usd: float | None  # None: its price is not known, never "free"
    cached_tokens: int = 0  # part of the input that is expected to be read from a cache

    @property
    def cached_ratio(self) -> float:
        return self.cached_tokens / self.input_tokens


NO_ESTIMATES: tuple[Estimate, ...] = ()
NO_GATES: Mapping[str, float] = MappingProxyType({})


class ScoreNote(Leaf):
    """What the strategy `dynamic_score` went by."""

    signals: tuple[ScoreSignal, ...]  # that are on
    observations: int  # of all targets of the group, within the window
    complexity: str | None  # of the request; None: that signal is off
    input_bucket: str
    output_bucket: str
    tools_bucket: str
    applied: tuple[str, ...]  # names of terms
    dropped: tuple[Exclusion, ...]  # rules that would have left nobody


class Scores(Leaf, omit_defaults=True):
    """What a strategy compared, in the order of the candidates."""

    measured: tuple[Measured, ...]
    terms: Mapping[str, tuple[float | None, ...]]  # by name; None: there is no value
    fallback: FallbackReason | None = None  # why the terms did not decide
    note: ScoreNote | None = None  # None: another strategy


class PinUse(Leaf):
    """The pin of a session in one decision."""

    outcome: AffinityOutcome
    reason: str | None  # of a release: the rule against the target, or `dearer`
    binds: bool  # the session belongs to the picked target from now on; if served ones are recorded, once it has served


class Decision(Leaf):
    """A pick, or the reasons why there is none."""

    group: ModelGroup
    pick: Picked | None
    candidates: tuple[str, ...] = ()  # ids of the targets that were in the running
    shares: tuple[float, ...] = ()  # long-run fraction of traffic of each candidate; sums to 1
    excluded: tuple[Excluded, ...] = ()
    estimates: tuple[Estimate, ...] = NO_ESTIMATES  # of each candidate; empty: the strategy does not compare prices
    scores: Scores | None = None  # None: the strategy compares nothing, or did not run
    pin: PinUse | None = None  # None: the request has no session that the policy cares for
    gates: Mapping[str, float] = NO_GATES  # by target id; of those that may be held back


class AttemptRecord(Leaf):
    """One upstream call as the decision record shows it."""

    target_id: str
    mode: DecisionMode
    propensity: float
    outcome_class: str
    detail: str
    status: int | None
    committed: bool
    started_s: float  # after the request began
    ttfb_s: float | None
    ttft_s: float | None
    duration_s: float
    cost_usd: float | None = None  # None: not known
    visible_s: float | None = None  # of a stream: to its first text or tool, after whatever reasoning
