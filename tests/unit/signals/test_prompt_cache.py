"""What a target is expected to have in its cache."""

import pytest
from msgspec import structs

from pointsman.domain.conversation import Prefix
from pointsman.domain.outcome import Usage
from pointsman.domain.policy import Detail
from pointsman.domain.price import Price, Rates
from pointsman.signals.board import SignalBoard
from pointsman.signals.cache_life import KEPT_FOR_S
from pointsman.signals.prompt_cache import MAX_ENDS, MIN_CACHED_TOKENS, PromptCache
from pointsman.testing import builders
from tests.unit.signals.pausing import Draws

NOW = 10_000.0
TOKENS = 10_000


def prefix(*parts: str) -> Prefix:
    """A prompt of equal parts, of which later ones say nothing about earlier ones."""
    ends = tuple("/".join(parts[: count + 1]).encode() for count in range(len(parts)))
    return Prefix(ends, tuple(100 * (count + 1) for count in range(len(parts))))


def read(*prompts: Prefix | None, usage: Usage | None = None, now: float = NOW) -> PromptCache:
    cache = PromptCache()
    for prompt in prompts:
        cache.learn(prompt, usage or Usage(input_tokens=TOKENS), now)
    return cache


def test_nothing_is_expected_of_a_target_that_has_read_nothing() -> None:
    assert PromptCache().expected_tokens(prefix("tools", "hi"), TOKENS, NOW) == 0


def test_next_turn_is_expected_to_find_all_of_the_turn_before() -> None:
    cache = read(prefix("tools", "hi"))

    assert cache.expected_tokens(prefix("tools", "hi", "answer", "more"), TOKENS, NOW) == TOKENS / 2


def test_other_conversation_of_the_same_client_finds_tools_and_system_prompt() -> None:
    cache = read(prefix("tools", "hi"))

    assert cache.expected_tokens(prefix("tools", "other"), TOKENS, NOW) == TOKENS / 2
    assert cache.expected_tokens(prefix("others", "hi"), TOKENS, NOW) == 0


def test_beginning_that_no_provider_keeps_is_not_expected() -> None:
    cache, prompt = read(prefix("tools", "hi")), prefix("tools", "other")

    assert cache.expected_tokens(prompt, 2 * MIN_CACHED_TOKENS, NOW) == MIN_CACHED_TOKENS
    assert cache.expected_tokens(prompt, 2 * MIN_CACHED_TOKENS - 2, NOW) == 0


def test_prompt_fades_after_the_known_time_and_is_fresh_when_read_again() -> None:
    cache, prompt = read(prefix("tools")), prefix("tools")

    assert cache.expected_tokens(prompt, TOKENS, NOW + KEPT_FOR_S) == TOKENS
    assert cache.expected_tokens(prompt, TOKENS, NOW + KEPT_FOR_S + 120) == pytest.approx(TOKENS * 0.368, abs=1)

    cache.learn(prompt, Usage(input_tokens=TOKENS), NOW + 1_000)

    assert cache.expected_tokens(prompt, TOKENS, NOW + 1_000 + KEPT_FOR_S) == TOKENS


def test_prompts_that_come_back_late_and_warm_are_expected_for_longer() -> None:
    prompt, warm = prefix("tools"), Usage(input_tokens=TOKENS, cached_tokens=9_000)
    cache = PromptCache()
    for turn in range(20):
        cache.learn(prompt, warm, NOW + 900 * turn)

    assert cache.expected_tokens(prompt, TOKENS, NOW + 900 * 20) > 0.8 * TOKENS


def test_unknown_prompt_is_expected_to_be_cached_as_usual() -> None:
    cache = PromptCache()
    for _ in range(200):
        cache.learn(None, Usage(input_tokens=TOKENS, cached_tokens=8_000), NOW)

    assert cache.expected_tokens(None, 1_000, NOW) == pytest.approx(800, rel=0.05)
    assert cache.expected_tokens(prefix("new"), 1_000, NOW) == pytest.approx(800, rel=0.05)
    assert cache.expected_tokens(None, 1_000, NOW + 86_400) < 10


def test_few_answers_prove_little() -> None:
    cache = read(None, usage=Usage(input_tokens=1_000, cached_tokens=1_000))

    assert cache.expected_tokens(None, TOKENS, NOW) < TOKENS * 0.02


@pytest.mark.parametrize("usage", [Usage(input_tokens=TOKENS), Usage(cached_tokens=5), Usage()])
def test_usage_that_does_not_tell_of_caches_teaches_no_ratio(usage: Usage) -> None:
    assert read(*[None] * 50, usage=usage).expected_tokens(None, TOKENS, NOW) == 0


def test_more_cached_than_read_is_all_of_it() -> None:
    cache = read(*[None] * 5_000, usage=Usage(input_tokens=100, cached_tokens=10**9))

    assert cache.expected_tokens(None, TOKENS, NOW) <= TOKENS


@pytest.mark.case("I26")
@pytest.mark.bug("L-05")
def test_prompts_are_bounded_and_the_oldest_go() -> None:
    cache = read(*[prefix("tools", str(number)) for number in range(MAX_ENDS + 100)])

    assert len(cache) == MAX_ENDS
    assert cache.expected_tokens(prefix("tools", "0"), TOKENS, NOW) == TOKENS / 2
    assert cache.expected_tokens(prefix("tools", str(MAX_ENDS)), TOKENS, NOW) == TOKENS


# --- through the board

RATES = Rates(input=2, output=10, cache_read=0.2, cache_write=2)
PRICE = Price(RATES, source="a test")
GROUP = builders.group("chat", "a/m", "b/m", strategy="cost", prices={"a/m": PRICE})


def test_each_member_has_a_cache_of_its_own_that_outlives_reloads() -> None:
    board, ask = SignalBoard(Draws()), builders.ask(text_chars=40_000)
    ask = structs.replace(ask, prefix=prefix("tools", "hi"))
    board.learn(GROUP, GROUP.members[0].target, ask, Usage(input_tokens=TOKENS, output_tokens=1), NOW)

    board.keep([builders.group("chat", "b/m", "a/m", strategy="cost", prices={"a/m": PRICE})])
    found = board.expected(GROUP, ask, NOW)

    assert found.cached_tokens[0] == pytest.approx(TOKENS, rel=0.01)
    assert found.cached_tokens[1] == 0

    board.keep([])

    assert board.expected(GROUP, ask, NOW).cached_tokens == (0, 0)


def test_nothing_is_kept_for_groups_that_do_not_ask() -> None:
    board, group = SignalBoard(Draws()), builders.group("chat", "a/m", "b/m", strategy="cost")
    ask = structs.replace(builders.ask(), prefix=prefix("tools"))
    board.learn(group, group.members[0].target, ask, Usage(input_tokens=TOKENS, output_tokens=1), NOW)

    assert Detail.PREFIX not in group.policy.details
    assert board.expected(group, ask, NOW).cached_tokens == ()
    assert board.expected(GROUP, ask, NOW).cached_tokens == (0, 0)


def test_prompt_that_was_gone_a_minute_late_is_expected_to_be_gone_then() -> None:
    cache, prompt = read(prefix("tools")), prefix("tools")
    gone, late_s = Usage(input_tokens=TOKENS, cached_tokens=0), KEPT_FOR_S + 60.0

    for count in range(1, 50):
        cache.learn(prompt, gone, NOW + count * late_s)

    assert cache.expected_tokens(prompt, TOKENS, NOW + 50 * late_s) < TOKENS / 4
