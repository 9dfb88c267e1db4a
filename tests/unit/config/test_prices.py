"""Which price a target gets, and what the operator is told about it."""

from pathlib import Path

import pytest

from pointsman.config.load import Loaded
from pointsman.domain.price import Price, Rates, Tier
from tests.unit.config.samples import HEAD, load_text, problem

OPENAI = "openai: {kind: openai, api_key: k}"
LOCAL = "local: {kind: vllm, base_url: 'http://127.0.0.1:8000/v1'%s}"
HOW_TO_PRICE = "Write its `price` below `providers.local.models`, or into `prices.overrides`."
PRICE_TEXT = (
    "input 1, output 2.5, cache read 0.1 USD per million tokens; 0.01 USD per request; "
    "above 200,000 input tokens: input 2, output 2.5, cache read 0.1"
)
MODELS = ", models: {small: {model: qwen, price: %s}}"


def file(price: str | None = None, *, target: str = "local/qwen", strategy: str = "failover", more: str = "") -> str:
    """A file with one group; `price` is that of the model that the provider calls qwen."""
    local = LOCAL % ("" if price is None else MODELS % price)
    targets = f"[{{model: {target}}}, {{model: local/other}}]"
    groups = f"models: {{chat: {{strategy: {strategy}, targets: {targets}}}}}\n"
    return f"{HEAD}providers: {{{OPENAI}, {local}}}\n{groups}{more}"


def price_of(loaded: Loaded) -> Price | None:
    return loaded.snapshot.groups["chat"].members[0].target.price


@pytest.mark.bug("C-10")
def test_price_that_nobody_gives_is_not_known(tmp_path: Path) -> None:
    assert price_of(load_text(tmp_path, file())) is None


@pytest.mark.bug("C-10")
def test_price_0_is_a_price(tmp_path: Path) -> None:
    price = price_of(load_text(tmp_path, file("{input: 0, output: 0}")))

    assert price == Price(Rates(0, 0, 0, 0), source="providers.local.models.small")


@pytest.mark.parametrize("target", ["local/small", "local/qwen"])
def test_price_belongs_to_the_providers_own_name_of_the_model(tmp_path: Path, target: str) -> None:
    price = price_of(load_text(tmp_path, file("{input: 1, output: 2}", target=target)))

    assert price is not None
    assert price.rates == Rates(1, 2, 1, 1)


def test_caches_have_the_rate_of_other_input_unless_they_have_one(tmp_path: Path) -> None:
    price = price_of(load_text(tmp_path, file("{input: 4, output: 8, cache_read: 0.4, cache_write: 5, request: 0.1}")))

    assert price is not None
    assert (price.rates, price.request_usd) == (Rates(4, 8, 0.4, 5), 0.1)


def test_tier_changes_only_what_it_says_and_caches_follow_input(tmp_path: Path) -> None:
    written = "{input: 1, output: 2, cache_write: 3, above: [{tokens: 10, input: 5}, {tokens: 20, output: 7}]}"

    price = price_of(load_text(tmp_path, file(written)))

    assert price is not None
    assert price.tiers == (Tier(20, Rates(5, 7, 5, 3)), Tier(10, Rates(5, 2, 5, 3)))


def test_hosted_model_has_the_listed_price(tmp_path: Path) -> None:
    price = price_of(load_text(tmp_path, file(target="openai/gpt-5.4-nano")))

    assert price is not None
    assert price.source == "catalogue: openai/gpt-5.4-nano"


def test_catalogue_can_be_switched_off(tmp_path: Path) -> None:
    text = file(target="openai/gpt-5.4-nano", more="prices: {catalogue: off}\n")

    assert price_of(load_text(tmp_path, text)) is None


def test_price_of_the_file_wins_over_the_catalogue(tmp_path: Path) -> None:
    priced = "{kind: openai, api_key: k, models: {gpt-5.4-nano: {price: {input: 9, output: 9}}}}"
    text = file(target="openai/gpt-5.4-nano").replace(OPENAI, f"openai: {priced}")

    price = price_of(load_text(tmp_path, text))

    assert price is not None
    assert price.source == "providers.openai.models.gpt-5.4-nano"


def test_override_wins_over_all_others(tmp_path: Path) -> None:
    more = "prices: {overrides: {local/qwen: {input: 7, output: 7}}}\n"

    price = price_of(load_text(tmp_path, file("{input: 1, output: 2}", more=more)))

    assert price is not None
    assert (price.rates.input, price.source) == (7, "prices.overrides")


# --- what the operator is told


def test_note_says_each_price_and_where_it_was_found(tmp_path: Path) -> None:
    written = "{input: 1, output: 2.5, cache_read: 0.1, request: 0.01, above: [{tokens: 200000, input: 2}]}"

    loaded = load_text(tmp_path, file(written))

    assert loaded.price_notes == (
        f"price of local/qwen: {PRICE_TEXT} (providers.local.models.small)",
        f"price of local/other: not known. {HOW_TO_PRICE}",
    )


@pytest.mark.bug("C-10")
def test_strategy_that_compares_prices_warns_of_each_that_is_not_known(tmp_path: Path) -> None:
    loaded = load_text(tmp_path, file("{input: 1, output: 2}", strategy="cost"))

    (warning,) = loaded.warnings
    assert warning.path == "models.chat.targets[1]"
    assert warning.message == "the price of local/other is not known, so it is picked last"
    assert warning.fix == HOW_TO_PRICE


def test_other_strategies_need_no_price(tmp_path: Path) -> None:
    assert load_text(tmp_path, file(strategy="round_robin")).warnings == ()


def test_target_of_weight_0_needs_no_price(tmp_path: Path) -> None:
    text = file("{input: 1, output: 2}", strategy="cost").replace("local/other", "local/other, weight: 0")

    assert load_text(tmp_path, text).warnings == ()


@pytest.mark.parametrize(("strategy", "expected"), [("cost", True), ("weighted", False)])
def test_policy_knows_whether_its_strategy_compares_prices(tmp_path: Path, strategy: str, expected: bool) -> None:
    policy = load_text(tmp_path, file(strategy=strategy)).snapshot.groups["chat"].policy

    assert policy.compares_prices is expected


def test_override_of_a_target_that_no_group_has_is_a_warning(tmp_path: Path) -> None:
    (warning,) = load_text(tmp_path, file(more="prices: {overrides: {local/qwem: {input: 1, output: 1}}}\n")).warnings

    assert warning.path == "prices.overrides.local/qwem"
    assert (warning.message, warning.fix) == ("no group has the target 'local/qwem'", "Did you mean 'local/qwen'?")


@pytest.mark.parametrize("name", ["qwen", "/qwen", "local/", "lo cal/qwen"])
def test_override_names_provider_and_model(tmp_path: Path, name: str) -> None:
    found = problem(tmp_path, file(more=f"prices: {{overrides: {{'{name}': {{input: 1, output: 1}}}}}}\n"))

    assert found.message == "must name a target as provider/model"


@pytest.mark.parametrize("tokens", [(10, 10), (20, 10)])
def test_tiers_are_listed_in_ascending_order(tmp_path: Path, tokens: tuple[int, int]) -> None:
    tiers = ", ".join(f"{{tokens: {start}, input: 3}}" for start in tokens)

    found = problem(tmp_path, file(f"{{input: 1, output: 2, above: [{tiers}]}}"))

    assert found.path == "providers.local.models.small.price.above[1].tokens"
    assert found.message == f"must be above {tokens[0]}, the tier before"


def test_one_model_has_one_price(tmp_path: Path) -> None:
    two = "{input: 1, output: 2}}, large: {model: qwen, price: {input: 3, output: 4}"

    found = problem(tmp_path, file(two))

    assert found.path == "providers.local.models.large.price"
    assert found.message == "the same model has another price above"


@pytest.mark.parametrize("missing", ["{input: 1}", "{output: 1}"])
def test_half_a_price_is_refused(tmp_path: Path, missing: str) -> None:
    assert problem(tmp_path, file(missing)).message == "is missing"


@pytest.mark.case("T50")
@pytest.mark.parametrize("value", ["-1", ".nan", ".inf", "1e7", "'1'"])
def test_price_that_is_no_sound_number_is_refused(tmp_path: Path, value: str) -> None:
    assert problem(tmp_path, file(f"{{input: {value}, output: 1}}")).path == "providers.local.models.small.price.input"
