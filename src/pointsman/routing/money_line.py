"""An adjusted price in words, as part of the line for humans: in USD per 1,000 requests, to have digits to compare."""

from collections.abc import Mapping

from pointsman.routing.market.adjusted import PARTS

ADJUSTED = PARTS[-1]  # whose presence tells that a decision was made in money
_REQUESTS = 1_000.0
_WORDS = {"faults_usd": "failures", "rejections_usd": "429"}  # the others are called by their name


def in_full(numbers: Mapping[str, object]) -> str:
    """What the price of the chosen one is made of."""
    parts = " + ".join(f"{_WORDS.get(part, part.removesuffix('_usd'))} {_shown(numbers, part)}" for part in PARTS[:-1])
    return f"{parts} = {_shown(numbers, ADJUSTED)} USD per 1k requests{_remarks(numbers)}"


def in_short(numbers: Mapping[str, object]) -> str:
    """The price of one that was not chosen."""
    return f"{_shown(numbers, ADJUSTED)}{_remarks(numbers)}"


def _shown(numbers: Mapping[str, object], part: str) -> str:
    usd = numbers[part]
    return f"{usd * _REQUESTS:.2f}" if isinstance(usd, float) else "?"


def _remarks(numbers: Mapping[str, object]) -> str:
    """What else a reader has to know: limits that apply, and what is not known."""
    gate, share = numbers.get("gate"), numbers.get("share")
    found = f" share {share:.0%}" if isinstance(share, float) else ""
    if isinstance(gate, float) and gate < 1.0:
        found += f" gate {gate:.2f}"
    return found if numbers.get("cost_usd", 0.0) is not None else f"{found} price unknown"
