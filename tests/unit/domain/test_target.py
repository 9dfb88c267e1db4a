"""Origins, and what is equal to what."""

import pytest

from pointsman.domain.target import Origin
from pointsman.testing import builders


@pytest.mark.parametrize(
    ("origin", "authority", "is_tls"),
    [
        (Origin("https", "api.example.com", 443), "api.example.com", True),
        (Origin("https", "api.example.com", 8443), "api.example.com:8443", True),
        (Origin("http", "127.0.0.1", 80), "127.0.0.1", False),
        (Origin("http", "127.0.0.1", 443), "127.0.0.1:443", False),
        (Origin("http", "::1", 8000), "[::1]:8000", False),
        (Origin("https", "::1", 443), "[::1]", True),
    ],
)
def test_authority_leaves_the_usual_port_out(origin: Origin, authority: str, *, is_tls: bool) -> None:
    assert (origin.authority, origin.is_tls) == (authority, is_tls)


def test_provider_is_equal_only_to_itself() -> None:
    providers = {builders.provider("a"), builders.provider("a")}

    assert len(providers) == 2


def test_group_is_equal_only_to_itself() -> None:
    groups = {builders.group("chat", "a/m"), builders.group("chat", "a/m")}

    assert len(groups) == 2
