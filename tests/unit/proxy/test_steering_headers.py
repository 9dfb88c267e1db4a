"""Headers that narrow who serves a request."""

import pytest

from pointsman.domain.errors import GatewayError
from pointsman.domain.preferences import MaxPrice, Preferences
from pointsman.domain.request import Scope
from pointsman.http1.header_block import HeaderBlock
from pointsman.proxy.steering_headers import MAX_NAMES, read
from pointsman.testing import builders

STEERS, CHATS = builders.caller("s", Scope.CHAT, Scope.STEER), builders.caller()


def block(**headers: str) -> HeaderBlock:
    lines = [f"x-pointsman-{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return HeaderBlock(("\r\n" + "".join(f"{line}\r\n" for line in lines)).encode())


def test_request_without_them_wants_nothing() -> None:
    assert read(block(explain="full"), CHATS) is None


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({"target": "a"}, Preferences(only=(("a",),))),
        ({"target": "a/m, b"}, Preferences(only=(("a/m", "b"),))),
        ({"exclude": "a,b"}, Preferences(ignore=("a", "b"))),
        ({"max_price": "1,2.5"}, Preferences(max_prices=(MaxPrice(1.0, 2.5),))),
    ],
)
def test_each_header_is_a_preference(headers: dict[str, str], expected: Preferences) -> None:
    assert read(block(**headers), STEERS) == expected


@pytest.mark.parametrize("name", ["target", "exclude"])
def test_naming_targets_needs_the_scope(name: str) -> None:
    with pytest.raises(GatewayError) as raised:
        read(block(**{name: "a"}), CHATS)

    assert (raised.value.status, raised.value.code) == (403, "permission_denied")
    assert "'steer'" in raised.value.message
    assert f"'x-pointsman-{name}'" in raised.value.message


def test_a_price_limit_is_free_for_every_key() -> None:
    assert read(block(max_price="0, 0"), CHATS) == Preferences(max_prices=(MaxPrice(0.0, 0.0),))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("max_price", "1"),
        ("max_price", "1,2,3"),
        ("max_price", "a,b"),
        ("max_price", "-1,2"),
        ("max_price", "nan,2"),
        ("max_price", "1,inf"),
        ("target", "a,,b"),
        ("exclude", ""),
        ("exclude", ",".join("a" * (MAX_NAMES + 1))),
    ],
)
def test_value_that_is_not_understood_is_refused(name: str, value: str) -> None:
    with pytest.raises(GatewayError) as raised:
        read(block(**{name: value}), STEERS)

    assert raised.value.status == 400
    assert f"'x-pointsman-{name.replace('_', '-')}'" in raised.value.message
