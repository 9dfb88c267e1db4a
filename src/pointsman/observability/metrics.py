"""Prometheus metrics: labels from closed sets only; live state is read when scraped."""

from collections.abc import Callable, Iterable, Iterator, Sequence

from prometheus_client import CollectorRegistry, GCCollector, PlatformCollector, ProcessCollector, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from pointsman.domain.decision import AttemptRecord, DecisionMode
from pointsman.domain.outcome import OutcomeClass, Usage
from pointsman.domain.view import Breaker
from pointsman.observability.decision_log import DecisionNote, DecisionRecord
from pointsman.observability.score_counts import ScoreCounts
from pointsman.observability.tally import CounterTally, HistogramTally

DURATION_BUCKETS_S = (0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600)
WAIT_BUCKETS_S = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5)
TTFT_BUCKETS_S = (0.025, 0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 60)
BREAKER_VALUE = {Breaker.CLOSED: 0.0, Breaker.HALF_OPEN: 0.5, Breaker.OPEN: 1.0}

SCORED_MODES = (
    DecisionMode.BLEND,
    DecisionMode.P2C,
    DecisionMode.MARKET,
    DecisionMode.SCORE,
    DecisionMode.EXPLORATION,
    DecisionMode.FALLBACK,
)

Sample = tuple[tuple[str, ...], float]


class LiveMetric(Collector):
    """A metric whose samples are read from the live state at scrape time: it can never drift from it."""

    def __init__(
        self,
        kind: type[GaugeMetricFamily | CounterMetricFamily],
        name: str,
        text: str,
        labels: tuple[str, ...],
        read: Callable[[], Iterable[Sample]],
    ) -> None:
        self._kind, self._name, self._text, self._labels, self._read = kind, name, text, labels, read

    def collect(self) -> Iterator[Metric]:
        family = self._kind(self._name, self._text, labels=self._labels)
        for labels, value in self._read():
            family.add_metric(labels, value)
        yield family


class Metrics:
    """All metrics of one process."""

    def __init__(self) -> None:
        self.before_scrape: Callable[[], None] = _nothing  # brings the counts up to date
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        PlatformCollector(registry=self.registry)
        GCCollector(registry=self.registry)
        counter, histogram = self._counter, self._histogram
        self._requests = counter("requests", "Requests of callers by how they ended.", "group", "dialect", "outcome")
        self._attempts = counter("attempts", "Upstream calls by how they ended.", "target", "outcome")
        self._failovers = counter("failovers", "Attempts after the first one of a request.", "group")
        self._decisions = counter("decisions", "Decisions by the rule that picked.", "group", "mode")
        text = "Decisions that picked a target."
        self._selections = counter("routing_selections", text, "group", "target")
        text = "Decisions that left a target out, by the rule against it."
        self._exclusions = counter("routing_exclusions", text, "group", "target", "rule")
        text = "Requests of groups that score their targets, answered by the target of that decision."
        self._adaptive = counter("adaptive_routing_decisions", text, "group", "mode")
        text = "Decisions about requests with a session, by what became of its pin."
        self._affinity = counter("routing_session_affinity", text, "group", "outcome", "reason")
        self._tokens = counter("tokens", "Tokens as providers counted them.", "target", "kind")
        self._cost = counter("cost_usd", "What attempts cost by the prices of their targets.", "target")
        text = "Questions to policy services by what came of them."
        self._consulted = counter("policy_questions", text, "group", "outcome")
        self._scores = ScoreCounts(counter)
        self._reloads = counter("reloads", "Times the configuration was read again, by what came of it.", "result")
        text = "From the first byte of a request to the end of its answer."
        self._duration = histogram("request_duration_seconds", text, DURATION_BUCKETS_S, "group")
        text = "How long what is ready waits for the event loop, measured ten times a second."
        self._waits = histogram("loop_lag_seconds", text, WAIT_BUCKETS_S)
        text = "From sending an attempt to its first content; unary: to its end."
        self._ttft = histogram("ttft_seconds", text, TTFT_BUCKETS_S, "target")

    def live_gauge(self, name: str, text: str, labels: tuple[str, ...], read: Callable[[], Iterable[Sample]]) -> None:
        """Register a gauge that is read at scrape time."""
        self.registry.register(LiveMetric(GaugeMetricFamily, f"pointsman_{name}", text, labels, read))

    def live_counter(self, name: str, text: str, labels: tuple[str, ...], read: Callable[[], Iterable[Sample]]) -> None:
        """Register a counter that the live state keeps."""
        self.registry.register(LiveMetric(CounterMetricFamily, f"pointsman_{name}", text, labels, read))

    def count(self, records: Sequence[DecisionRecord]) -> None:
        """Count what has ended."""
        for record in records:
            # the group is empty for a request that named no known model: labels stay a closed set
            group, facts, attempts, usage = record.group or "", record.facts, record.attempts, record.usage
            self._requests.values[group, facts.dialect if facts is not None else "", record.reason] += 1
            self._duration.observe((group,), record.duration_s)
            for note in record.decisions:
                self._chose(group, note)
            for attempt in attempts:
                self._tried(group, attempt)
            if len(attempts) > 1:
                self._failovers.values[group,] += len(attempts) - 1
            if usage is not None:
                self._used(attempts[-1].target_id, usage)

    def _chose(self, asked: str, note: DecisionNote) -> None:
        """A decision: who was picked, who was not, and what became of the pin."""
        picked, excluded, pin, group = note.picked, note.excluded, note.pin, note.fallback or asked
        self._decisions.values[asked, note.mode or "none"] += 1
        if picked is not None:
            self._selections.values[group, picked] += 1
            scores = note.scores
            if scores is not None and scores.note is not None:
                self._scores.count(group, scores, scores.note, note.candidates.index(picked))
        for target_id, rule in excluded.items() if excluded else ():
            self._exclusions.values[group, target_id, rule] += 1
        if pin is not None:
            self._affinity.values[asked, pin.outcome, pin.reason or ""] += 1

    def _tried(self, group: str, attempt: AttemptRecord) -> None:
        """An attempt: how it ended, after which decision, how fast it was, and what it cost."""
        target_id, outcome_class, mode = attempt.target_id, attempt.outcome_class, attempt.mode
        ttft_s, cost_usd = attempt.ttft_s, attempt.cost_usd
        self._attempts.values[target_id, outcome_class] += 1
        if mode in SCORED_MODES and outcome_class == OutcomeClass.OK:
            self._adaptive.values[group, mode] += 1
        if ttft_s is not None:
            self._ttft.observe((target_id,), ttft_s)
        if cost_usd is not None:
            self._cost.values[target_id,] += cost_usd

    def attempts(self) -> dict[str, dict[str, int]]:
        """Attempts that have ended, by target and outcome class."""
        found: dict[str, dict[str, int]] = {}
        for (target_id, outcome_class), times in self._attempts.values.items():
            found.setdefault(target_id, {})[outcome_class] = int(times)
        return found

    def scored_decisions(self, group: str) -> dict[str, int]:
        """Requests of a group that were answered by the target of a scored decision, by mode."""
        return {mode: int(self._adaptive.values.get((group, mode), 0)) for mode in SCORED_MODES}

    def _used(self, target_id: str, usage: Usage) -> None:
        """Tokens of a served request, in disjoint kinds."""
        tokens, cached, written = self._tokens.values, usage.cached_tokens or 0, usage.cache_write_tokens or 0
        if usage.input_tokens is not None:
            tokens[target_id, "input_uncached"] += max(usage.input_tokens - cached - written, 0)
        if cached:
            tokens[target_id, "input_cached"] += cached
        if written:
            tokens[target_id, "input_cache_write"] += written
        if usage.output_tokens is not None:
            tokens[target_id, "output"] += usage.output_tokens

    def reloaded(self, result: str, times: int = 1) -> None:
        """Zero times makes the series appear, so that its first increase can be seen."""
        self._reloads.values[result,] += times

    def waited(self, seconds: float) -> None:
        """What was ready had to wait so long for the loop."""
        self._waits.observe((), seconds)

    def consulted(self, group: str, outcome: str) -> None:
        """A policy service was to be asked."""
        self._consulted.values[group, outcome] += 1

    def exposition(self) -> bytes:
        """The text format of Prometheus."""
        self.before_scrape()
        return generate_latest(self.registry)

    def _counter(self, name: str, text: str, *labels: str) -> CounterTally:
        tally = CounterTally(f"pointsman_{name}", text, *labels)
        self.registry.register(tally)
        return tally

    def _histogram(self, name: str, text: str, bounds: tuple[float, ...], *labels: str) -> HistogramTally:
        tally = HistogramTally(f"pointsman_{name}", text, bounds, *labels)
        self.registry.register(tally)
        return tally


def _nothing() -> None:
    """Every count is always up to date."""
