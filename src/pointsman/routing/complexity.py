"""How complex a request is, by its shape: points that add up, and the bucket they are in."""

from pointsman.domain.request import RequestFacts
from pointsman.domain.score_policy import Complexity, DynamicScore, PromptFeature, ScoreSignal
from pointsman.domain.value import Leaf

_MAX_POINTS = 8
_SIZES = (2_000, 16_000, 64_000)  # characters; a point for each that is passed
_OUTPUTS = (4_096,)  # tokens that the caller has room for
_TOOLS = (0, 8)
_POINTS_OF_FEATURE = {
    PromptFeature.CODE: 1,
    PromptFeature.DIFF: 1,
    PromptFeature.STACK_TRACE: 2,
    PromptFeature.SECURITY_REVIEW: 2,
    PromptFeature.TOOL_AGENT: 1,
}
_STANDARD_FROM, _COMPLEX_FROM = 2, 4  # points


class Shape(Leaf):
    """What a request is like, in buckets."""

    points: int
    complexity: Complexity | None  # None: that signal is off
    input_bucket: str
    output_bucket: str
    tools_bucket: str

    @property
    def score(self) -> float | None:
        return None if self.complexity is None else self.points / _MAX_POINTS


def shape_of(facts: RequestFacts, policy: DynamicScore) -> Shape:
    """By the signals that are on."""
    size = facts.body_bytes if facts.text_chars is None else facts.text_chars
    size_points, output_points = _passed(size, _SIZES), _passed(facts.max_output_tokens or 0, _OUTPUTS)
    tool_points, points = _passed(facts.tool_count, _TOOLS), 0
    if ScoreSignal.REQUEST_SHAPE in policy.signals:
        points += size_points + output_points + tool_points + bool(facts.has_images)
    if ScoreSignal.PROMPT_FEATURES in policy.signals:
        points += sum([_POINTS_OF_FEATURE.get(feature, 0) for feature in facts.features or ()])
    points = min(points, _MAX_POINTS)
    is_on = ScoreSignal.COMPLEXITY in policy.signals
    return Shape(
        points,
        _bucket(points) if is_on else None,
        ("small", "medium", "large", "very_large")[size_points],
        "uncapped" if not facts.max_output_tokens else ("small", "large")[output_points],
        ("none", "few", "many")[tool_points],
    )


def _passed(value: int, steps: tuple[int, ...]) -> int:
    return sum([value > step for step in steps])


def _bucket(points: int) -> Complexity:
    if points >= _COMPLEX_FROM:
        return Complexity.COMPLEX
    return Complexity.STANDARD if points >= _STANDARD_FROM else Complexity.SIMPLE
