"""The bundled catalogue: prices of known models at fixed times, checked against what vendors published then."""

import subprocess
import sys
from datetime import UTC, datetime

import pytest

from pointsman.config import catalogue
from pointsman.domain.outcome import Usage
from pointsman.domain.price import Price, Rates, Tier, cost_usd

AT = datetime(2026, 11, 15, 12, tzinfo=UTC)


def listed(provider: str, model: str, at: datetime = AT) -> Price:
    found = catalogue.find(provider, model, at)
    assert found is not None
    return found


def test_openai_model_has_its_list_price() -> None:
    price = listed("openai", "gpt-5.4-nano")

    assert price == Price(Rates(0.2, 1.25, 0.02, 0.2), source="catalogue: openai/gpt-5.4-nano")
    assert cost_usd(price, Usage(1_000, 500, 800)) == pytest.approx(0.000681)


def test_dated_name_of_a_model_has_the_price_of_the_model() -> None:
    assert listed("openai", "gpt-4o-mini-2024-07-18").source == "catalogue: openai/gpt-4o-mini"


def test_model_that_makes_embeddings_has_a_price_though_its_answers_have_no_tokens() -> None:
    price = listed("openai", "text-embedding-3-small")

    assert price.rates == Rates(input=0.02, output=0, cache_read=0.02, cache_write=0.02)
    assert cost_usd(price, Usage(1_000_000, 0)) == pytest.approx(0.02)


@pytest.mark.bug("H-01", "H-02")
def test_anthropic_model_has_rates_of_its_own_for_reading_and_writing_a_cache() -> None:
    price = listed("anthropic", "claude-opus-4-6")

    assert price.rates == Rates(input=5, output=25, cache_read=0.5, cache_write=6.25)
    # 1,000 x 5 + 20,000 x 0.5 + 4,000 x 6.25 + 800 x 25 = 5,000 + 10,000 + 25,000 + 20,000
    usage = Usage(25_000, 800, cached_tokens=20_000, cache_write_tokens=4_000)
    assert cost_usd(price, usage) == pytest.approx(0.06)


def test_long_context_has_a_tier() -> None:
    price = listed("openai", "gpt-5.4")

    assert price.rates == Rates(input=2.5, output=15, cache_read=0.25, cache_write=2.5)
    assert price.tiers == (Tier(272_000, Rates(input=5, output=22.5, cache_read=0.5, cache_write=5)),)
    # 300,000 of input, 100,000 of them cached: 200,000 x 5 + 100,000 x 0.5 + 2,000 x 22.5
    assert cost_usd(price, Usage(300_000, 2_000, 100_000)) == pytest.approx(1.095)


def test_part_without_tiers_keeps_its_rate_in_all_of_them() -> None:
    price = listed("openrouter", "google/gemini-2.5-pro")

    assert price.rates == Rates(input=1.25, output=10, cache_read=0.125, cache_write=0.375)
    assert price.tiers == (Tier(200_000, Rates(input=2.5, output=15, cache_read=0.25, cache_write=0.375)),)


@pytest.mark.parametrize(("month", "expected"), [(2, 10), (4, 5)])
def test_price_is_the_one_in_force_at_that_time(month: int, expected: float) -> None:
    price = listed("anthropic", "claude-opus-4-6", datetime(2026, month, 1, tzinfo=UTC))

    assert price.rates_for(300_000).input == expected


@pytest.mark.bug("C-10")
@pytest.mark.parametrize(
    ("provider", "model"),
    [
        ("openai", "no-such-model"),
        ("no-such-provider", "gpt-5.4"),
        ("azure", "davinci"),  # no rate of output
        ("openrouter", "deepseek/deepseek-r1-zero:free"),  # an entry without any rate
    ],
)
def test_what_the_catalogue_does_not_know_has_no_price(provider: str, model: str) -> None:
    assert catalogue.find(provider, model, AT) is None


OFFLINE = """
import sys
from datetime import UTC, datetime

def refuse(event, args):
    if event.startswith("socket.") or event in {"urllib.Request", "subprocess.Popen"}:
        raise RuntimeError(f"{event} {args}")

sys.addaudithook(refuse)
from pointsman.config import catalogue
print(catalogue.find("openai", "gpt-5.4-nano", datetime.now(UTC)).rates.input)
"""


@pytest.mark.slow
def test_catalogue_opens_no_socket() -> None:
    done = subprocess.run([sys.executable, "-c", OFFLINE], capture_output=True, text=True, check=False)  # noqa: S603

    assert (done.returncode, done.stderr) == (0, "")
    assert float(done.stdout) > 0


def test_audit_would_notice_a_socket() -> None:
    script = OFFLINE.replace("from pointsman.config import catalogue", "import socket; socket.socket()")

    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)  # noqa: S603

    assert "RuntimeError: socket.__new__" in done.stderr


def test_catalogue_is_not_loaded_before_a_price_is_looked_up() -> None:
    script = "import sys; import pointsman.config.load, pointsman.app; print('genai_prices' in sys.modules)"

    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)  # noqa: S603

    assert done.stdout.strip() == "False"
