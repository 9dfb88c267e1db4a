"""Plots."""

import math
from xml.etree import ElementTree as ET

from pointsman.simulator.compare import Row, Summary
from pointsman.simulator.metrics import Metrics
from pointsman.simulator.plot import Chapter, page


def summary(policy: str, regret: float, usd: float | None = 1.0, ttft_p95_s: float = 1.0) -> Summary:
    measured = Metrics(9.9, usd, 1.0, 0.0, 0.5, ttft_p95_s, 2.0, 0.0, 0.0, 0.0, None, math.inf)
    return Summary(policy, (Row("mine", policy, (regret, regret + 0.1), (measured, measured)),))


def drawn(*found: Summary) -> ET.Element:
    text = page([Chapter("mine: <Mine>.\n2 requests", "a table", found)], "a legend")
    return ET.fromstring(text.partition("<body>")[2].partition("</body>")[0].join(("<body>", "</body>")))  # noqa: S314


def test_page_needs_nothing_from_elsewhere_and_escapes_what_people_wrote() -> None:
    text = page([Chapter("mine: <Mine>.\n2 requests", "a <table>", (summary("market", 0.1),))], "a legend")

    assert "://" not in text
    assert "<script" not in text
    assert "&lt;Mine&gt;" in text
    assert "a &lt;table&gt;" in text


def test_bar_is_as_long_as_the_regret_and_ours_have_their_colour() -> None:
    bars = drawn(summary("random", 0.35), summary("market", 0.15)).findall(".//rect")

    assert float(bars[0].get("width", "")) / float(bars[1].get("width", "")) == round(0.4 / 0.2, 3)
    assert bars[0].get("fill") != bars[1].get("fill")


def test_cheaper_is_further_left_and_sooner_further_down() -> None:
    dear, cheap = drawn(summary("a", 0.1, 1.0, 0.5), summary("b", 0.1, 2.0, 4.0)).findall(".//circle")

    assert float(cheap.get("cx", "")) < float(dear.get("cx", ""))
    assert float(cheap.get("cy", "")) > float(dear.get("cy", ""))


def test_policies_that_are_alike_or_had_no_good_answer_can_be_drawn() -> None:
    assert len(drawn(summary("a", 0.0), summary("b", -0.1)).findall(".//circle")) == 2
    assert not drawn(summary("a", 0.0, usd=None)).findall(".//circle")
