"""What is fixed when the process starts."""

import pytest

from pointsman.config import settings, values
from pointsman.config.settings import Address


@pytest.mark.parametrize("text", ["127.0.0.1:4000", "localhost:0", "[::1]:4001"])
def test_an_address_is_written_as_it_is_read(text: str) -> None:
    assert str(values.address(text)) == text


@pytest.mark.parametrize("address", [settings.DEFAULT_LISTEN, settings.DEFAULT_ADMIN_LISTEN])
def test_by_default_only_this_machine_is_served(address: Address) -> None:
    assert values.is_loopback(address.host)


def test_self_hosted_connections_close_before_the_servers_close_them() -> None:
    assert settings.SELF_HOSTED_IDLE_CONNECTION_S < 5 < settings.HOSTED_IDLE_CONNECTION_S
