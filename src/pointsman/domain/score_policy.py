"""What the strategy `dynamic_score` goes by. Every default has its reason."""

from enum import IntEnum, StrEnum

from pointsman.domain.value import Value


class Complexity(IntEnum):
    """How much a request asks for, by its shape; in ascending order."""

    SIMPLE = 0
    STANDARD = 1
    COMPLEX = 2

    @property
    def word(self) -> str:
        return self.name.lower()


class PromptFeature(StrEnum):
    """What the messages of a request are about, by marks in their text."""

    CODE = "code"
    DIFF = "diff"
    STACK_TRACE = "stack_trace"
    SUMMARIZE = "summarize"
    EXTRACT = "extract"
    TRANSLATE = "translate"
    SECURITY_REVIEW = "security_review"
    TOOL_AGENT = "tool_agent"


class ScoreSignal(StrEnum):
    """What scores are made of; one that is off has no influence."""

    REQUEST_SHAPE = "request_shape"
    PROMPT_FEATURES = "prompt_features"
    COMPLEXITY = "complexity"
    OBSERVED_PERFORMANCE = "observed_performance"
    COST = "cost"
    EVALUATION_METADATA = "evaluation_metadata"


class OnEmpty(StrEnum):
    """What to do when thresholds or tags leave nobody."""

    IGNORE = "ignore"  # that rule is dropped
    FAIL = "fail"


class Condition(Value):
    """When a term applies: all that is given must hold."""

    at_most: Complexity | None = None
    at_least: Complexity | None = None
    feature: PromptFeature | None = None


ALWAYS = Condition()


class ScoreTerm(Value):
    """One expression, and the requests it is for."""

    name: str
    expression: str
    when: Condition = ALWAYS
    require_tags: frozenset[str] = frozenset()  # who lacks one of them is out, for requests of this term
    prefer_tags: frozenset[str] = frozenset()  # who has one of them is a little better


class Thresholds(Value):
    """What a target must keep to; None: anything. Only who was observed `min_samples` times is judged."""

    max_error_ratio: float | None = None
    max_timeout_ratio: float | None = None
    max_p95_s: float | None = None  # of whole answers
    max_ttfb_s: float | None = None  # the 95th percentile, too
    min_output_tps: float | None = None
    min_samples: int = 20  # of three in a hundred one is seen by then, more often than not

    @property
    def is_set(self) -> bool:
        limits = (self.max_error_ratio, self.max_timeout_ratio, self.max_p95_s, self.max_ttfb_s, self.min_output_tps)
        return any(limit is not None for limit in limits)


class DynamicScore(Value):
    """How the strategy scores."""

    terms: tuple[ScoreTerm, ...] = ()
    min_observations: int = 20  # of the group; before, p95 is chance
    window_s: float = 600.0  # long enough for thin traffic, short enough to forget an outage
    max_adjustment_ratio: float = 0.7  # what weights leave to the scores: a third of the say stays declared
    exploration_ratio: float = 0.05  # as of `blend`: without it nobody but the best is ever measured
    on_empty: OnEmpty = OnEmpty.IGNORE  # an answer of a slow target is better than none
    thresholds: Thresholds = Thresholds()
    signals: frozenset[ScoreSignal] = frozenset(ScoreSignal)
    max_scan_bytes: int = 16_384  # of the messages, half from each end: what is asked stands there
    features: frozenset[PromptFeature] = frozenset(PromptFeature)

    @property
    def looked_for(self) -> frozenset[PromptFeature]:
        """The features that the messages are searched for."""
        return self.features if ScoreSignal.PROMPT_FEATURES in self.signals else frozenset()
