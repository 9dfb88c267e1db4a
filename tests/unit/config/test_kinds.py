"""What is known of each kind of provider."""

from typing import get_args

import pytest

from pointsman.config import values
from pointsman.config.kinds import KINDS
from pointsman.config.schema import Kind
from pointsman.domain.request import Dialect


def test_every_kind_that_a_file_may_name_is_known() -> None:
    assert set(KINDS) == set(get_args(Kind))


@pytest.mark.parametrize(
    ("kind", "host", "variable"),
    [
        ("openai", "api.openai.com", "OPENAI_API_KEY"),
        ("anthropic", "api.anthropic.com", "ANTHROPIC_API_KEY"),
        ("openrouter", "openrouter.ai", "OPENROUTER_API_KEY"),
    ],
)
def test_vendors_have_an_address_of_their_own_and_want_a_key(kind: str, host: str, variable: str) -> None:
    row = KINDS[kind]

    assert values.base_url(row.base_url).origin.host == host
    assert row.key_variable == variable
    assert row.idle_connection_s == 60


@pytest.mark.parametrize("kind", ["vllm", "llamacpp", "ollama"])
def test_self_hosted_kinds_have_neither_address_nor_key(kind: str) -> None:
    row = KINDS[kind]

    assert (row.base_url, row.key_variable) == (None, None)
    assert row.idle_connection_s == 4


MESSAGES = {Dialect.ANTHROPIC_MESSAGES}
EVERY = set(Dialect)


@pytest.mark.parametrize(
    ("kind", "dialects", "counts"),
    [
        ("openai", EVERY - MESSAGES, False),
        ("anthropic", MESSAGES, True),
        ("openrouter", EVERY, False),
        ("vllm", EVERY, True),
        ("llamacpp", EVERY, True),
        ("ollama", EVERY, False),
    ],
)
def test_each_kind_speaks_its_dialects_and_may_count_tokens(kind: str, dialects: set[Dialect], counts: bool) -> None:
    row = KINDS[kind]

    assert (row.dialects, row.counts_tokens) == (dialects, counts)


def test_only_who_signs_thoughts_checks_signatures() -> None:
    assert [kind for kind, row in KINDS.items() if row.checks_signatures] == ["anthropic"]
