"""The shape of `pointsman.yaml`. Only keys that have behaviour are here; every other key is an error."""

from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, PlainValidator, WithJsonSchema

from pointsman.config import settings, values
from pointsman.config.scalars import reread
from pointsman.domain.capability import Capability
from pointsman.domain.policy import (
    Affinity,
    AffinityMode,
    Blend,
    External,
    Market,
    Objective,
    On429,
    OnAllUnavailable,
    P2c,
    PinRecord,
    Preset,
    Retry,
    Timeouts,
)
from pointsman.domain.request import Dialect
from pointsman.domain.score_policy import DynamicScore, OnEmpty, PromptFeature, Thresholds

_MAX_WEIGHT = 1e9  # a sum of weights must stay finite
_MAX_CONNECTIONS = 1_000_000
_MAX_ATTEMPTS = 100
_MAX_ROWS = 100_000  # more would not fit into what memory has for them
_MAX_BUDGET = 1e6
_MAX_USD = 1e6  # far above every price, and sums of costs stay finite
_MAX_TOKENS = 1_000_000_000
_MAX_COUNT = 1_000_000_000
_MIN_RATE = 0.001  # one request in a quarter of an hour
_MAX_BLEND_WEIGHT = 100  # a typo must not make one score all that counts
_MAX_HALF = 0.5  # more would send most requests where the scores say not to
_MAX_SAMPLES = 1_000_000
_MAX_ENTRIES = 1_000_000  # 300 MB of pins
_MAX_BOOST = 1_000  # more would be a pin, and there are pins
_MIN_SECONDS_WORTH = 0.001  # without a value of time nothing would keep a cheap target from being overrun
_MIN_USD_PER_SECOND = 1e-6
_MAX_SECONDS_WORTH = 1_000  # a second worth a thousand requests: beyond, prices are noise
_MAX_WINDOW_S = 3_600  # sums of an hour still follow what happens
_MAX_SCAN_BYTES = 1 << 20  # more would hold up all other requests
_MAX_TERMS = 50
_MAX_MS = 3_600_000
_MIN_EPS = 0.001  # estimates are not that sure, and all traffic would jump at once

Duration = Annotated[float, BeforeValidator(values.duration_s), WithJsonSchema(values.DURATION_SHAPE)]
DurationOrOff = Annotated[float, BeforeValidator(values.duration_or_off_s), WithJsonSchema(values.DURATION_SHAPE)]
Size = Annotated[int, BeforeValidator(values.size_bytes), WithJsonSchema(values.SIZE_SHAPE)]
ListenAddress = Annotated[settings.Address, PlainValidator(values.address), WithJsonSchema(values.TEXT_SHAPE)]
Flag = Annotated[bool, BeforeValidator(reread)]
Version = Annotated[
    int, BeforeValidator(reread), AfterValidator(values.version), WithJsonSchema({"const": values.FORMAT_VERSION})
]
Weight = Annotated[float, Field(allow_inf_nan=False, ge=0, le=_MAX_WEIGHT), BeforeValidator(reread)]
Requests = Annotated[float, Field(allow_inf_nan=False, ge=0, le=_MAX_BUDGET), BeforeValidator(reread)]
Ratio = Annotated[float, Field(allow_inf_nan=False, ge=0, le=1), BeforeValidator(reread)]
BlendWeight = Annotated[float, Field(allow_inf_nan=False, ge=0, le=_MAX_BLEND_WEIGHT), BeforeValidator(reread)]
HalfRatio = Annotated[float, Field(allow_inf_nan=False, ge=0, le=_MAX_HALF), BeforeValidator(reread)]
Samples = Annotated[int, Field(ge=0, le=_MAX_SAMPLES), BeforeValidator(reread)]
Connections = Annotated[int, Field(ge=1, le=_MAX_CONNECTIONS), BeforeValidator(reread)]
OptionalConnections = Annotated[Annotated[int, Field(ge=1, le=_MAX_CONNECTIONS)] | None, BeforeValidator(reread)]
Rows = Annotated[int, Field(ge=0, le=_MAX_ROWS), BeforeValidator(reread)]
Attempts = Annotated[Annotated[int, Field(ge=1, le=_MAX_ATTEMPTS)] | None, BeforeValidator(reread)]
Usd = Annotated[float, Field(allow_inf_nan=False, ge=0, le=_MAX_USD), BeforeValidator(reread)]
OptionalUsd = Annotated[Annotated[float, Field(allow_inf_nan=False, ge=0, le=_MAX_USD)] | None, BeforeValidator(reread)]
OptionalCount = Annotated[Annotated[int, Field(ge=1, le=_MAX_COUNT)] | None, BeforeValidator(reread)]
OptionalRate = Annotated[
    Annotated[float, Field(allow_inf_nan=False, ge=_MIN_RATE, le=_MAX_COUNT)] | None, BeforeValidator(reread)
]
Tokens = Annotated[int, Field(ge=1, le=_MAX_TOKENS), BeforeValidator(reread)]
Url = Annotated[values.BaseUrl, PlainValidator(values.base_url), WithJsonSchema(values.TEXT_SHAPE)]
GroupName = Annotated[str, AfterValidator(values.group_name)]
ProviderName = Annotated[str, AfterValidator(values.provider_name)]
TargetName = Annotated[str, AfterValidator(values.target_name)]
UpstreamModel = Annotated[str, AfterValidator(values.upstream_model)]
FilePath = Annotated[str, AfterValidator(values.file_path)]
Credential = Annotated[str, AfterValidator(values.credential)]
Pepper = Annotated[str, AfterValidator(values.pepper)]
CallerName = Annotated[str, AfterValidator(values.caller_name)]
KeyHash = Annotated[str, AfterValidator(values.key_hash)]
ModelPattern = Annotated[str, AfterValidator(values.model_pattern)]
Instant = Annotated[float, BeforeValidator(values.instant_utc_s), WithJsonSchema(values.TEXT_SHAPE)]
HeaderName = Annotated[str, AfterValidator(values.header_name)]
HeaderValue = Annotated[str, AfterValidator(values.header_value)]
AffinityName = Annotated[AffinityMode, Field(strict=False)] | None  # from its text
RecordName = Annotated[PinRecord, Field(strict=False)] | None
Entries = Annotated[int, Field(ge=1, le=_MAX_ENTRIES), BeforeValidator(reread)]
Boost = Annotated[float, Field(allow_inf_nan=False, ge=1, le=_MAX_BOOST), BeforeValidator(reread)]
UsdPerSecond = Annotated[
    Annotated[float, Field(allow_inf_nan=False, ge=_MIN_USD_PER_SECOND, le=_MAX_USD)] | None, BeforeValidator(reread)
]
Worth = Annotated[
    Annotated[float, Field(allow_inf_nan=False, ge=_MIN_SECONDS_WORTH, le=_MAX_SECONDS_WORTH)] | None,
    BeforeValidator(reread),
]
Percent = Annotated[float, Field(allow_inf_nan=False, ge=0, le=100), BeforeValidator(reread)]
Window = Annotated[float, Field(allow_inf_nan=False, ge=1, le=_MAX_WINDOW_S), BeforeValidator(reread)]
Observations = Annotated[int, Field(ge=0, le=_MAX_SAMPLES), BeforeValidator(reread)]
Scanned = Annotated[int, Field(ge=1, le=_MAX_SCAN_BYTES), BeforeValidator(reread)]
OptionalMs = Annotated[Annotated[float, Field(allow_inf_nan=False, gt=0, le=_MAX_MS)] | None, BeforeValidator(reread)]
Feature = Annotated[PromptFeature, Field(strict=False)]  # from its text
Bucket = Literal["simple", "standard", "complex"]
Edge = Annotated[float, Field(allow_inf_nan=False, ge=_MIN_EPS, le=1), BeforeValidator(reread)]
OnUnavailable = Annotated[OnAllUnavailable, Field(strict=False)]  # from its text
Dialects = Annotated[list[Annotated[Dialect, Field(strict=False)]], AfterValidator(values.dialects)] | None
OptionalFlag = Annotated[bool | None, BeforeValidator(reread)]
OptionalTokens = Annotated[Annotated[int, Field(ge=1, le=_MAX_TOKENS)] | None, BeforeValidator(reread)]
OptionalRatio = Annotated[Annotated[float, Field(allow_inf_nan=False, ge=0, le=1)] | None, BeforeValidator(reread)]
Parameter = Annotated[str, AfterValidator(values.parameter)]
Tag = Annotated[str, AfterValidator(values.tag)]
PluginName = Annotated[str, AfterValidator(values.plugin_name)]
TermName = Annotated[str, AfterValidator(values.term_name)]
Slug = Annotated[str, AfterValidator(values.slug)]
Required = Annotated[Capability, Field(strict=False)]  # from its text
Quantization = Literal["int4", "int8", "fp4", "mxfp4", "nvfp4", "fp6", "fp8", "mxfp8", "fp16", "bf16", "fp32"]
Strategy = Literal[
    "weighted",
    "round_robin",
    "failover",
    "cost",
    "inverse_square",
    "least_busy",
    "p2c",
    "blend",
    "market",
    "dynamic_score",
    "plugin",
    "external",
    "adaptive",
]
Kind = Literal["openai", "anthropic", "openrouter", "vllm", "llamacpp", "ollama"]

_TIMEOUTS, _RETRY, _BLEND, _P2C, _MARKET, _AFFINITY = Timeouts(), Retry(), Blend(), P2c(), Market(), Affinity()
_EXTERNAL = External()
_SCORE, _THRESHOLDS = DynamicScore(), Thresholds()


class Section(BaseModel):
    """Strict: no conversion between types, no unknown key."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class LimitsSection(Section):
    """`server.limits`."""

    body: Size = settings.DEFAULT_BODY_LIMIT_BYTES
    connections: Connections = settings.DEFAULT_MAX_CONNECTIONS
    strangers_per_address: OptionalConnections = settings.DEFAULT_STRANGERS_PER_ADDRESS
    queue: Duration = settings.DEFAULT_QUEUE_S
    memory: Size | None = None  # None: what the control group allows


class ServerSection(Section):
    """`server`."""

    listen: ListenAddress = settings.DEFAULT_LISTEN
    admin_listen: ListenAddress = settings.DEFAULT_ADMIN_LISTEN
    limits: LimitsSection = LimitsSection()
    drain: Duration = settings.DEFAULT_DRAIN_S
    stream_keepalive: DurationOrOff = settings.DEFAULT_STREAM_KEEPALIVE_S
    response_headers: Literal["full", "minimal"] = "full"  # a gateway that explains itself does so by default


class MaxPriceSection(Section):
    """`auth.keys[i].max_price`."""

    prompt: OptionalUsd = None  # None, here and below: any
    completion: OptionalUsd = None
    request: OptionalUsd = None


class KeyEntry(Section):
    """`auth.keys[i]`."""

    name: CallerName
    hash: KeyHash = Field(repr=False)
    models: list[ModelPattern] = [values.ANY_CHARACTERS]
    scopes: list[Literal["chat", "steer", "explain"]] = ["chat"]
    expires: Instant | None = None
    max_price: MaxPriceSection | None = None
    providers: Annotated[list[Slug], AfterValidator(values.providers)] | None = None  # None: all
    zdr: Flag = False


class AuthSection(Section):
    """`auth`: no default mode, because an open door must be written out."""

    mode: Literal["keys", "none"]
    pepper: Pepper | None = Field(default=None, repr=False)  # None: in a file of our own
    admin_token: KeyHash | None = Field(default=None, repr=False)
    keys: list[KeyEntry] = []


class DecisionsSection(Section):
    """`records.decisions`."""

    path: FilePath | None = None
    max_bytes: Size = settings.DEFAULT_DECISIONS_MAX_BYTES
    max_rows: Rows = settings.DEFAULT_DECISIONS_MAX_ROWS


class RecordsSection(Section):
    """`records`."""

    decisions: DecisionsSection = DecisionsSection()


class LogsSection(Section):
    """`logs`."""

    level: Literal["debug", "info", "warning", "error"] = "info"
    requests: Flag = False  # the decision log has them already


class TimeoutsSection(Section):
    """`timeouts`."""

    connect: Duration = _TIMEOUTS.connect_s
    first_content: Duration = _TIMEOUTS.first_content_s
    first_content_reasoning: Duration = _TIMEOUTS.first_content_reasoning_s
    idle: Duration = _TIMEOUTS.idle_s
    idle_reasoning: Duration = _TIMEOUTS.idle_reasoning_s
    total: Duration = _TIMEOUTS.total_s
    total_stream: Duration = _TIMEOUTS.total_stream_s


class ProviderTimeouts(Section):
    """`providers.NAME.timeouts`: limits of one attempt; None: as in `timeouts`. Totals belong to the request."""

    connect: Duration | None = None
    first_content: Duration | None = None
    first_content_reasoning: Duration | None = None
    idle: Duration | None = None
    idle_reasoning: Duration | None = None


class TierEntry(Section):
    """`...price.above[i]`: rates of requests with more input than `tokens`; None: as below it."""

    tokens: Tokens
    input: OptionalUsd = None
    output: OptionalUsd = None
    cache_read: OptionalUsd = None
    cache_write: OptionalUsd = None


class PriceEntry(Section):
    """A price in USD per million tokens. There is no default of 0: free must be written out."""

    input: Usd
    output: Usd
    cache_read: OptionalUsd = None  # None: as other input
    cache_write: OptionalUsd = None
    request: Usd = 0.0  # USD per request
    above: list[TierEntry] = []


class CapabilitiesSection(Section):
    """`...capabilities`; None: not known."""

    tools: OptionalFlag = None
    forced_tools: OptionalFlag = None
    parallel_tools: OptionalFlag = None
    structured_output: OptionalFlag = None
    images: OptionalFlag = None
    audio: OptionalFlag = None
    files: OptionalFlag = None
    reasoning: OptionalFlag = None


class EvalSection(Section):
    """`...eval`: what an evaluation of the model at this provider gave; None: there was none."""

    score: OptionalRatio = None
    expected: OptionalRatio = None  # what it gives when the model is served as it should be
    pass_rate: OptionalRatio = None


class ModelEntry(Section):
    """`providers.NAME.models.REF`."""

    model: UpstreamModel | None = None  # None: the reference name itself
    same_as: str | None = None  # None: not known to equal any other model
    embedding_space: str | None = None  # None: its own, shared with models that are the same
    price: PriceEntry | None = None  # None: the catalogue's
    context: OptionalTokens = None  # None: the catalogue's, else not known
    max_output: OptionalTokens = None  # None, here and below: not known
    capabilities: CapabilitiesSection = CapabilitiesSection()
    honors_max_tokens: OptionalFlag = None
    parameters: list[Parameter] | None = None
    quantization: Quantization | None = None
    eval: EvalSection = EvalSection()


class DataSection(Section):
    """`providers.NAME.data`; None: not known, which never counts as a promise."""

    zdr: OptionalFlag = None
    training: OptionalFlag = None


class ProviderEntry(Section):
    """`providers.NAME`."""

    kind: Kind
    base_url: Url | None = None  # None: by kind
    dialects: Dialects = None  # None: by kind
    api_key: Credential | None = Field(default=None, repr=False)
    headers: dict[HeaderName, HeaderValue] = Field(default={}, repr=False)
    timeouts: ProviderTimeouts = ProviderTimeouts()
    terminator: Literal["strict", "lenient"] = "strict"
    max_concurrent: OptionalCount = None  # None: what is learned
    max_rps: OptionalRate = None
    max_tpm: OptionalCount = None
    models: dict[UpstreamModel, ModelEntry] = {}
    data: DataSection = DataSection()


class TargetEntry(Section):
    """`models.GROUP.targets[i]`: either `model: provider/model`, or `provider` and `model_ref`."""

    provider: str | None = None
    model_ref: UpstreamModel | None = None
    model: UpstreamModel | None = None
    weight: Weight | None = None
    tags: list[Tag] = []


class BlendWeights(Section):
    """`adaptive.blend`."""

    latency_weight: BlendWeight = _BLEND.latency_weight
    cost_weight: BlendWeight = _BLEND.cost_weight
    load_weight: BlendWeight = _BLEND.load_weight
    exploration_ratio: HalfRatio = _BLEND.exploration_ratio
    min_samples: Samples = _BLEND.min_samples


class BlendSection(BlendWeights):
    """`models.GROUP.routing_policy.blend`."""

    enabled: Flag = _BLEND.enabled


class P2cWeights(Section):
    """`adaptive.p2c`."""

    objective: Annotated[Objective, Field(strict=False)] = _P2C.objective
    min_weight_fraction: HalfRatio = _P2C.min_weight_fraction
    warm_cache_weight: Boost = _P2C.warm_cache_weight
    warm_cache_ttl: Duration = _P2C.warm_cache_ttl_s


class P2cSection(P2cWeights):
    """`models.GROUP.routing_policy.p2c`."""

    enabled: Flag = _P2C.enabled


class MarketExplorationSection(Section):
    """`models.GROUP.routing_policy.market.exploration`."""

    interval: Duration = _MARKET.probe_interval_s
    spend: HalfRatio = _MARKET.probe_spend_ratio


class MarketTerms(Section):
    """`adaptive.market`."""

    preset: Annotated[Preset, Field(strict=False)] = _MARKET.preset
    seconds_worth: Worth = _MARKET.seconds_worth
    usd_per_second: UsdPerSecond = _MARKET.usd_per_second
    eps: Edge = _MARKET.eps
    exploration: MarketExplorationSection = MarketExplorationSection()


class MarketSection(MarketTerms):
    """`models.GROUP.routing_policy.market`."""

    enabled: Flag = _MARKET.enabled


class HardFiltersSection(Section):
    """`models.GROUP.hard_filters`: true wants proof; false excludes only what is known to be unable."""

    require_input_modalities: Flag = False
    require_tool_support_when_tools_present: Flag = False
    require_forced_tool_choice_support: Flag = False
    require_structured_output_support: Flag = False
    require_reasoning_support_when_requested: Flag = False
    require_honors_max_tokens_when_caller_capped: Flag = False
    require_context_window: Flag = False


class SwitchSection(Section):
    """`...dynamic_score.signals.SIGNAL`."""

    enabled: Flag = True


class PromptFeaturesSection(SwitchSection):
    """`...dynamic_score.signals.prompt_features`."""

    max_scan_bytes: Scanned = _SCORE.max_scan_bytes
    features: list[Feature] = list(PromptFeature)


class ScoreSignalsSection(Section):
    """`...dynamic_score.signals`."""

    request_shape: SwitchSection = SwitchSection()
    prompt_features: PromptFeaturesSection = PromptFeaturesSection()
    complexity: SwitchSection = SwitchSection()
    observed_performance: SwitchSection = SwitchSection()
    cost: SwitchSection = SwitchSection()
    evaluation_metadata: SwitchSection = SwitchSection()


class WhenSection(Section):
    """`...dynamic_score.score_terms[i].when`; None: any."""

    complexity_lte: Bucket | None = None
    complexity_gte: Bucket | None = None
    prompt_feature: Annotated[PromptFeature | None, Field(strict=False)] = None


class ScoreTermSection(Section):
    """`...dynamic_score.score_terms[i]`."""

    name: TermName
    when: WhenSection = WhenSection()
    require_tags: list[Tag] = []
    prefer_tags: list[Tag] = []
    expression: str


class ThresholdsSection(Section):
    """`...dynamic_score.thresholds`; None: any."""

    max_error_rate: OptionalRatio = None
    max_timeout_rate: OptionalRatio = None
    max_p95_latency_ms: OptionalMs = None
    max_ttfb_ms: OptionalMs = None
    min_output_tokens_per_second: OptionalRate = None
    min_samples: Observations = _THRESHOLDS.min_samples


class ScoreAffinitySection(Section):
    """`...dynamic_score.affinity`: another spelling of `affinity` of the group."""

    enabled: Flag = True
    ttl_seconds: Duration = _AFFINITY.ttl_s
    max_entries: Entries = _AFFINITY.max_entries


class ScoreHardFiltersSection(HardFiltersSection):
    """`...dynamic_score.hard_filters`: as `hard_filters` of the group, and one more."""

    require_requested_api_skin: Flag = False


class DynamicScoreSection(Section):
    """`models.GROUP.routing_policy.dynamic_score`."""

    cold_start_policy: Literal["configured_weight"] = "configured_weight"
    min_observations: Observations = _SCORE.min_observations
    observation_window_seconds: Window = _SCORE.window_s
    max_score_adjustment_percent: Percent = _SCORE.max_adjustment_ratio * 100
    exploration_ratio: HalfRatio = _SCORE.exploration_ratio
    on_empty: Annotated[OnEmpty, Field(strict=False)] = _SCORE.on_empty
    affinity: ScoreAffinitySection = ScoreAffinitySection()
    hard_filters: ScoreHardFiltersSection = ScoreHardFiltersSection()
    signals: ScoreSignalsSection = ScoreSignalsSection()
    score_terms: Annotated[list[ScoreTermSection], Field(max_length=_MAX_TERMS)] = []
    thresholds: ThresholdsSection = ThresholdsSection()


class RoutingPolicySection(Section):
    """`models.GROUP.routing_policy`: each part is for the strategy of its name."""

    blend: BlendSection = BlendSection()
    p2c: P2cSection = P2cSection()
    market: MarketSection = MarketSection()
    dynamic_score: DynamicScoreSection = DynamicScoreSection()


class AffinitySection(Section):
    """`models.GROUP.affinity`; None: as is usual for the strategy and the mode."""

    mode: AffinityName = None
    ttl: Duration = _AFFINITY.ttl_s
    max_entries: Entries = _AFFINITY.max_entries
    record: RecordName = None


class QualityFloorSection(Section):
    """`models.GROUP.contract.quality_floor`."""

    require_tags: list[Tag] = []
    min_eval_quality_score: OptionalRatio = None
    min_eval_pass_rate: OptionalRatio = None


class ContractSection(Section):
    """`models.GROUP.contract`."""

    require: list[Required] = []
    quality_floor: QualityFloorSection = QualityFloorSection()


class PluginSection(Section):
    """`models.GROUP.plugin`: a strategy of somebody else."""

    name: PluginName
    options: dict[str, object] = {}


class ExternalSection(Section):
    """`models.GROUP.external`: a policy service."""

    url: Url
    timeout: Duration = _EXTERNAL.timeout_s
    on_error: Literal["fallback", "fail_closed"] = "fallback"
    include_request: Flag = _EXTERNAL.includes_request


class GroupEntry(Section):
    """`models.GROUP`."""

    enabled: Flag = True
    aliases: list[GroupName] = []
    strategy: Strategy | None = None
    plugin: PluginSection | None = None
    external: ExternalSection | None = None
    same_model: Annotated[bool | None, BeforeValidator(reread)] = None
    targets: list[TargetEntry]
    affinity: AffinitySection = AffinitySection()
    on_all_unavailable: OnUnavailable = OnAllUnavailable.AUTO
    contract: ContractSection = ContractSection()
    hard_filters: HardFiltersSection = HardFiltersSection()
    fallbacks: list[GroupName] = []
    context_fallbacks: list[GroupName] = []
    policy_fallbacks: list[GroupName] = []
    drop_params: Literal["refuse", "warn"] = "refuse"
    routing_policy: RoutingPolicySection = RoutingPolicySection()


class AdaptiveSection(Section):
    """`adaptive`: one policy for all groups whose strategy is `adaptive`."""

    enabled: Flag = False  # what decides by itself is switched on by somebody
    selector: Literal["blend", "p2c", "market"] = "blend"
    blend: BlendWeights = BlendWeights()
    p2c: P2cWeights = P2cWeights()
    market: MarketTerms = MarketTerms()


class CooldownSection(Section):
    """`cooldown`."""

    base: Duration | None = None  # None: by the strategy
    max: Duration | None = None
    on_429: Annotated[On429, Field(strict=False)] | None = None


class RetrySection(Section):
    """`retry`."""

    max_attempts: Attempts = _RETRY.max_attempts
    budget_base: Requests = _RETRY.budget_base
    budget_ratio: Ratio = _RETRY.budget_ratio


class PricesSection(Section):
    """`prices`."""

    catalogue: Literal["bundled", "off"] = "bundled"  # list prices are better than none, and it needs no network
    overrides: dict[TargetName, PriceEntry] = {}


class ConfigFile(Section):
    """The whole file."""

    version: Version
    server: ServerSection = ServerSection()
    auth: AuthSection
    records: RecordsSection = RecordsSection()
    logs: LogsSection = LogsSection()
    providers: dict[ProviderName, ProviderEntry] = {}
    models: dict[GroupName, GroupEntry] = {}
    adaptive: AdaptiveSection = AdaptiveSection()
    cooldown: CooldownSection = CooldownSection()
    timeouts: TimeoutsSection = TimeoutsSection()
    retry: RetrySection = RetrySection()
    prices: PricesSection = PricesSection()
