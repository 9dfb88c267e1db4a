"""What `dynamic_score` decides, in buckets: counts that outlive the records of single requests."""

from collections.abc import Callable

from pointsman.domain.decision import ScoreNote, Scores
from pointsman.observability.tally import CounterTally

NewCounter = Callable[..., CounterTally]

_BUCKETS = 10  # of a number from 0 to 1; what is above counts as the last, what is below as the first
_NONE = "none"  # there is no value, or no such thing


class ScoreCounts:
    """Counters of requests by shape, of scores by tenths, and of rules that did not hold."""

    def __init__(self, counter: NewCounter) -> None:
        text = "Decisions by scores, by the shape of their requests."
        self._requests = counter("score_requests", text, "group", "complexity", "input", "output", "tools")
        text = "Scores of picked targets, by name and in tenths."
        self._values = counter("score_values", text, "group", "name", "bucket")
        text = "Decisions by what scores were made of."
        self._signals = counter("score_signals", text, "group", "signal")
        text = "Rules of score policies that would have left nobody."
        self._dropped = counter("score_rules_dropped", text, "group", "rule")

    def count(self, group: str, scores: Scores, note: ScoreNote, place: int) -> None:
        """One decision that picked the candidate at `place`."""
        shape = note.input_bucket, note.output_bucket, note.tools_bucket
        self._requests.values[group, note.complexity or _NONE, *shape] += 1
        for signal in note.signals:
            self._signals.values[group, signal] += 1
        for rule in note.dropped:
            self._dropped.values[group, rule] += 1
        for name, values in scores.terms.items():
            if ":" not in name:  # addends of a term are for people
                self._values.values[group, name, bucket(values[place])] += 1


def bucket(value: float | None) -> str:
    """The tenth that a number lies in, by its lower end."""
    if value is None:
        return _NONE
    return f"{min(max(int(value * _BUCKETS), 0), _BUCKETS - 1) / _BUCKETS:g}"
