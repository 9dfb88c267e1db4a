"""docs/metrics.md: every metric with its type and labels, as a running gateway exposes them."""

import re
from operator import itemgetter
from pathlib import Path

import pytest
from prometheus_client.metrics_core import Metric
from prometheus_client.parser import text_string_to_metric_families

from pointsman.control.api import PAGES
from pointsman.domain.view import PauseCause
from pointsman.observability.metrics import BREAKER_VALUE
from tests.docs import gateway, pages

PAGE = "docs/metrics.md"
ROWS = {pages.code(row["metric"]): row for row in pages.table(PAGE, "Metrics")}
TYPE_SUFFIXES = {"counter": "_total"}


def exposed() -> dict[str, Metric]:
    """Our own metrics, by the name under which they are queried."""
    families = text_string_to_metric_families(gateway.run().exposition)
    return {
        family.name + TYPE_SUFFIXES.get(family.type, ""): family
        for family in families
        if family.name.startswith("pointsman_")
    }


def labels_of(family: Metric) -> set[str]:
    return {name for sample in family.samples for name in sample.labels} - {"le"}


def test_every_metric_is_documented_and_no_other() -> None:
    assert sorted(ROWS) == sorted(exposed())


@pytest.mark.parametrize("name", ROWS)
def test_documented_type_is_the_one_exposed(name: str) -> None:
    assert ROWS[name]["type"] == exposed()[name].type


@pytest.mark.parametrize("name", ROWS)
def test_documented_labels_are_those_exposed(name: str) -> None:
    family = exposed()[name]

    assert family.samples
    assert set(pages.codes(ROWS[name]["labels"])) == labels_of(family)


@pytest.mark.req("C-16")
def test_names_of_another_product_are_mapped_to_metrics_that_exist() -> None:
    mapped = {name for row in pages.table(PAGE, "Coming from GoModel") for name in pages.codes(row["here"])}

    assert {name.partition("{")[0] for name in mapped} <= ROWS.keys()
    assert len(mapped) >= 6


def test_other_metrics_are_those_of_the_client_library() -> None:
    families = text_string_to_metric_families(gateway.run().exposition)
    others = {family.name.partition("_")[0] for family in families} - {"pointsman"}

    assert others == {"process", "python"}


def test_documented_kinds_of_tokens_are_those_exposed() -> None:
    samples = exposed()["pointsman_tokens_total"].samples
    documented = pages.codes(ROWS["pointsman_tokens_total"]["meaning"])

    assert set(documented) - {"kind"} == {sample.labels["kind"] for sample in samples}


def test_documented_causes_of_pauses_are_those_of_the_code() -> None:
    documented = pages.codes(ROWS["pointsman_routing_pauses_total"]["meaning"])

    assert set(documented) - {"cause"} == set(PauseCause)


def test_documented_values_of_the_breaker_are_those_of_the_code() -> None:
    meaning = ROWS["pointsman_breaker_state"]["meaning"]

    assert re.findall(r"([\d.]+) ([a-z-]+)", meaning) == [
        (f"{value:g}", state.value.replace("_", "-"))
        for state, value in sorted(BREAKER_VALUE.items(), key=itemgetter(1))
    ]


def test_request_without_a_known_model_has_an_empty_group() -> None:
    samples = exposed()["pointsman_requests_total"].samples

    groups = {sample.labels["group"] for sample in samples if sample.labels["outcome"] == "model_not_found"}

    assert groups == {""}
    assert "`group` is empty" in ROWS["pointsman_requests_total"]["meaning"]


def test_every_outcome_of_a_request_is_a_documented_finish_reason() -> None:
    reasons = {pages.code(row["reason"]) for row in pages.table("docs/decision-records.md", "Finish reasons")}
    samples = exposed()["pointsman_requests_total"].samples

    assert {sample.labels["outcome"] for sample in samples} <= reasons


def test_every_outcome_of_an_attempt_is_a_documented_class() -> None:
    classes = {pages.code(row["class"]) for row in pages.table("docs/decision-records.md", "Outcome classes")}
    samples = exposed()["pointsman_attempts_total"].samples

    assert {sample.labels["outcome"] for sample in samples} <= classes


@pytest.mark.parametrize("page", pages.PAGES, ids=lambda page: page.name)
def test_every_metric_that_a_document_names_exists(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    named = set(re.findall(r"`[^`]*?\b(pointsman_[a-z_]+)", text)) | set(re.findall(r"\((pointsman_[a-z_]+)", text))

    assert named - set(ROWS) == set()


@pytest.mark.parametrize("row", pages.table(PAGE, "Questions and their queries"), ids=lambda row: row["question"])
def test_query_filters_and_groups_by_labels_that_exist(row: pages.Row) -> None:
    query = pages.code(row["query"])
    families = exposed()

    for name, filters in re.findall(r"(pointsman_\w+)(?:\{([^}]*)\})?", query):
        wanted = {*re.findall(r"(\w+)=", filters), *re.findall(r"by \((\w+)\)", query)}
        assert wanted <= labels_of(families[name])


def test_documented_paths_of_the_admin_listener_are_served() -> None:
    text = pages.section(PAGE, "Metrics")

    documented = set(re.findall(r"`(?:GET )?(/[a-z0-9/]+)`", text))

    assert documented
    assert documented <= {page.path for page in PAGES}
