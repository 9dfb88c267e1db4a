"""Counts and distributions."""

from pointsman.observability.tally import CounterTally, HistogramTally


def test_counter_starts_without_samples() -> None:
    (family,) = CounterTally("name", "Text.", "label").collect()

    assert family.samples == []


def test_counter_has_a_sample_for_each_label_set() -> None:
    tally = CounterTally("name", "Text.", "label")
    tally.values["a",] += 1
    tally.values["b",] += 2
    tally.values["b",] += 0.5

    (family,) = tally.collect()

    assert [(sample.labels["label"], sample.value) for sample in family.samples] == [("a", 1), ("b", 2.5)]


def test_histogram_counts_each_value_in_its_bucket_and_all_above() -> None:
    tally = HistogramTally("name", "Text.", (1, 2), "label")
    for value in (0.5, 1.0, 1.5, 9.0):
        tally.observe(("a",), value)

    (family,) = tally.collect()

    assert [(sample.name, sample.labels.get("le"), sample.value) for sample in family.samples] == [
        ("name_bucket", "1.0", 2), ("name_bucket", "2.0", 3), ("name_bucket", "+Inf", 4),
        ("name_count", None, 4), ("name_sum", None, 12.0),
    ]  # fmt: skip
