"""`dynamic_score` in the file: the sample of the reference, what is refused, and what is warned of."""

from pathlib import Path

import pytest
import yaml

from pointsman.domain.capability import Capability
from pointsman.domain.policy import Affinity, AffinityMode, Detail, PinRecord
from pointsman.domain.score_policy import (
    Complexity,
    Condition,
    DynamicScore,
    OnEmpty,
    PromptFeature,
    ScoreSignal,
    ScoreTerm,
    Thresholds,
)
from pointsman.domain.view import Signal
from tests.unit.config.samples import HEAD, LOCAL, load_text, problem

PROVIDERS = """\
providers:
  baseten: {kind: vllm, base_url: 'http://127.0.0.1:8000/v1'}
  minimax: {kind: vllm, base_url: 'http://127.0.0.1:8001/v1'}
  openai: {kind: openai, api_key: key}
"""
SAMPLE = """\
models:
  adaptive-agent:
    strategy: dynamic_score
    targets:
      - provider: baseten
        model_ref: gpt-oss-120b
        weight: 60
        tags: [validated, coding, tool_capable]
      - provider: minimax
        model_ref: m3
        weight: 25
        tags: [validated, low_cost, tool_capable]
      - provider: openai
        model_ref: gpt-5.4-nano
        weight: 5
        tags: [fallback]
    routing_policy:
      dynamic_score:
        cold_start_policy: configured_weight
        min_observations: 20
        observation_window_seconds: 600
        max_score_adjustment_percent: 70
        affinity:
          # enabled defaults to true
          ttl_seconds: 600
          max_entries: 10000
        hard_filters:
          require_requested_api_skin: true
          require_input_modalities: true
          require_tool_support_when_tools_present: true
          require_honors_max_tokens_when_caller_capped: true
        signals:
          request_shape: { enabled: true }
          prompt_features:
            enabled: true
            max_scan_bytes: 16384
            features: [code, diff, stack_trace, summarize, extract, security_review, tool_agent]
          complexity: { enabled: true }
          observed_performance: { enabled: true }
          cost: { enabled: true }
          evaluation_metadata: { enabled: true }
        score_terms:
          - name: cheapest_fast_enough
            when: { complexity_lte: standard }
            expression: "0.45 * cost_score + 0.25 * latency_score + 0.20 * throughput_score + 0.10 * reliability_score"
          - name: complex_quality_floor
            when: { complexity_gte: complex }
            require_tags: [validated]
            expression: "0.45 * eval_quality_score + 0.25 * reliability_score + 0.20 * latency_score + 0.10 * cost_score"
        thresholds:
          max_error_rate: 0.03
          max_timeout_rate: 0.02
          max_p95_latency_ms: 10000
"""  # noqa: E501  # as it was published
TARGETS = "    targets: [{model: local/a, tags: [near]}, {model: local/b, weight: 2}]\n"


def of(policy: str, *, group: str = "") -> str:
    """A file with one group; `policy` is the flow form of its `dynamic_score`."""
    return (
        f"{HEAD}{LOCAL}models:\n  chat:\n    strategy: dynamic_score\n{group}{TARGETS}"
        f"    routing_policy:\n      dynamic_score: {policy}\n"
    )


def term(rest: str = "expression: cost_score", name: str = "one") -> str:
    return f"{{score_terms: [{{name: {name}, {rest}}}]}}"


def without(signal: str, when: str) -> str:
    return f"{{signals: {{{signal}}}, score_terms: [{{name: one, {when}, expression: cost_score}}]}}"


@pytest.mark.req("D-001", "D-010", "D-011", "D-012", "D-014", "D-016", "D-017", "D-019")
def test_sample_of_the_reference_loads_as_it_is(tmp_path: Path) -> None:
    loaded = load_text(tmp_path, HEAD + PROVIDERS + SAMPLE)

    policy = loaded.snapshot.groups["adaptive-agent"].policy
    terms = yaml.safe_load(SAMPLE)["models"]["adaptive-agent"]["routing_policy"]["dynamic_score"]["score_terms"]
    assert policy.strategy == "dynamic_score"
    assert policy.dynamic_score == DynamicScore(
        terms=(
            ScoreTerm("cheapest_fast_enough", terms[0]["expression"], Condition(at_most=Complexity.STANDARD)),
            ScoreTerm(
                "complex_quality_floor",
                terms[1]["expression"],
                Condition(at_least=Complexity.COMPLEX),
                require_tags=frozenset(("validated",)),
            ),
        ),
        min_observations=20,
        window_s=600.0,
        max_adjustment_ratio=0.7,
        exploration_ratio=0.05,
        on_empty=OnEmpty.IGNORE,
        thresholds=Thresholds(max_error_ratio=0.03, max_timeout_ratio=0.02, max_p95_s=10.0, min_samples=20),
        signals=frozenset(ScoreSignal),
        max_scan_bytes=16_384,
        features=frozenset(PromptFeature) - {PromptFeature.TRANSLATE},
    )
    assert policy.affinity == Affinity(AffinityMode.PREFIX, 600.0, 10_000, PinRecord.SELECTED)
    assert Detail.PROMPT in policy.details
    assert policy.reads == {Signal.IN_FLIGHT, Signal.WINDOW}
    assert not [warning for warning in loaded.warnings if "score" in str(warning)]


@pytest.mark.req("D-013")
def test_hard_filters_of_the_policy_are_those_of_the_group(tmp_path: Path) -> None:
    text = of("{hard_filters: {require_input_modalities: true, require_context_window: true}}")
    own = "    hard_filters: {require_reasoning_support_when_requested: true}\n"

    policy = (
        load_text(tmp_path, text.replace("    routing_policy", own + "    routing_policy"))
        .snapshot.groups["chat"]
        .policy
    )

    assert policy.requires == {Capability.IMAGES, Capability.AUDIO, Capability.FILES, Capability.REASONING}
    assert policy.requires_window


@pytest.mark.req("D-013", "D-020")
@pytest.mark.parametrize("required", [True, False])
def test_requested_api_skin_drops_nothing(tmp_path: Path, required: bool) -> None:
    policy = f"{{hard_filters: {{require_requested_api_skin: {str(required).lower()}}}}}"

    loaded = load_text(tmp_path, of(policy, group="    drop_params: warn\n"))

    assert loaded.snapshot.groups["chat"].policy.drops_parameters is not required


@pytest.mark.req("D-012", "D-057")
@pytest.mark.parametrize(
    ("policy", "mode"),
    [
        ("{}", AffinityMode.PREFIX),
        ("{affinity: {ttl_seconds: 5}}", AffinityMode.PREFIX),
        ("{affinity: {enabled: false}}", AffinityMode.OFF),
    ],
)
def test_affinity_is_on_unless_it_is_switched_off(tmp_path: Path, policy: str, mode: AffinityMode) -> None:
    assert load_text(tmp_path, of(policy)).snapshot.groups["chat"].policy.affinity.mode is mode


@pytest.mark.req("D-014")
@pytest.mark.parametrize(
    ("rest", "looks"),
    [
        ("expression: cost_score", False),
        ("expression: cost_score + 0.1 * complexity_score", True),
        ("when: {complexity_gte: complex}, expression: cost_score", True),
        ("when: {prompt_feature: code}, expression: cost_score", True),
    ],
)
def test_prompts_are_read_only_if_a_term_goes_by_them(tmp_path: Path, rest: str, looks: bool) -> None:
    policy = load_text(tmp_path, of(term(rest))).snapshot.groups["chat"].policy

    assert (Detail.PROMPT in policy.details) is looks


def test_scores_that_need_more_have_it_measured(tmp_path: Path) -> None:
    policy = (
        load_text(tmp_path, of(term("expression: adjusted_price_score + cache_score"))).snapshot.groups["chat"].policy
    )

    assert {Signal.MONEY, Signal.TTFT, Signal.WINDOW} <= policy.reads
    assert Detail.PREFIX in policy.details


@pytest.mark.req("D-039")
@pytest.mark.parametrize(
    ("policy", "path", "message", "fix"),
    [
        (
            term("expression: 0.5 * cots_score"),
            "score_terms[0].expression",
            "character 7: there is no score `cots_score`",
            "Did you mean cost_score?",
        ),
        (term("expression: ''"), "score_terms[0].expression", "is empty", "Write what a target scores"),
        (term(name="cost_score"), "score_terms[0].name", "is the name of a score", "Choose another name."),
        (term(name="a b"), "score_terms[0].name", "names of terms have", "Rename it."),
        (
            "{score_terms: [{name: one, expression: cost_score}, {name: one, expression: cost_score}]}",
            "score_terms[1].name",
            "is already the name of score_terms[0]",
            "Rename one of them.",
        ),
        (
            term("when: {complexity_gte: complex, complexity_lte: simple}, expression: cost_score"),
            "score_terms[0].when",
            "no request is at least complex and at most simple",
            "Mend one of them",
        ),
    ],
)
def test_bad_term_is_refused_with_its_place(tmp_path: Path, policy: str, path: str, message: str, fix: str) -> None:
    found = problem(tmp_path, of(policy))

    assert found.path == f"models.chat.routing_policy.dynamic_score.{path}"
    assert message in found.message
    assert found.fix.startswith(fix)


def test_affinity_has_one_spelling(tmp_path: Path) -> None:
    found = problem(tmp_path, of("{affinity: {ttl_seconds: 5}}", group="    affinity: {mode: strict}\n"))

    assert found.message == "the group has an `affinity` of its own, too"


@pytest.mark.req("D-039")
@pytest.mark.parametrize(
    ("policy", "message"),
    [
        ("{}", "there is no score term: the heaviest target gets all requests"),
        (term("expression: complexity_score"), "is the same for every target, so it decides nothing"),
        (term("expression: cost_score if load_score < 2 else 0"), "`load_score < 2` is always true"),
        (
            "{signals: {cost: {enabled: false}}, score_terms: [{name: one, expression: cost_score}]}",
            "cost_score is 0.5 for every target: the signal `cost` is off",
        ),
        (
            without("complexity: {enabled: false}", "when: {complexity_gte: complex}"),
            "never holds: the signal `complexity` is off",
        ),
        (
            without("prompt_features: {features: [diff]}", "when: {prompt_feature: code}"),
            "never holds: nobody looks for code",
        ),
        (term("require_tags: [far], expression: cost_score"), "no target has all of these tags"),
        (term("prefer_tags: [near, far], expression: cost_score"), "no target has this tag"),
    ],
)
def test_what_has_no_effect_is_warned_of(tmp_path: Path, policy: str, message: str) -> None:
    warnings = load_text(tmp_path, of(policy)).warnings

    assert any(message in str(warning) for warning in warnings)


def test_what_the_strategy_does_is_told(tmp_path: Path) -> None:
    notes = load_text(tmp_path, HEAD + PROVIDERS + SAMPLE).notes

    assert any("terms cheapest_fast_enough, complex_quality_floor; they have 70% of the say" in note for note in notes)
