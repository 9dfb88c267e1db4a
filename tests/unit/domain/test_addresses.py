from ipaddress import ip_address

import pytest

from pointsman.domain.addresses import is_denied

DENIED = (
    "0.0.0.0", "0.1.2.3", "::",  # noqa: S104
    "169.254.169.254", "169.254.0.1", "169.254.255.255", "fe80::1", "febf::1",
    "fd00:ec2::254", "168.63.129.16", "100.100.100.200", "192.0.0.192",
    "224.0.0.1", "239.255.255.255", "255.255.255.255", "ff02::1",
    "::ffff:169.254.169.254", "::ffff:0.0.0.0", "::ffff:168.63.129.16",
    "::169.254.169.254", "64:ff9b::a9fe:a9fe", "64:ff9b:1::a9fe:a9fe", "2002:a9fe:a9fe::", "2002:a9fe:a9fe::1",
)  # fmt: skip
ALLOWED = (
    "127.0.0.1", "::1", "::ffff:127.0.0.1", "10.0.0.1", "172.16.0.1", "192.168.1.1", "fd00::1", "100.64.0.1",
    "1.1.1.1", "2606:4700::1111", "64:ff9b::101:101", "2002:101:101::1", "169.253.255.255", "168.63.129.17",
)  # fmt: skip


@pytest.mark.bug("N-02")
@pytest.mark.case("T97")
@pytest.mark.parametrize("address", DENIED)
def test_surroundings_of_the_machine_are_denied_however_they_are_written(address: str) -> None:
    assert is_denied(ip_address(address))


@pytest.mark.bug("N-02")
@pytest.mark.parametrize("address", ALLOWED)
def test_this_machine_private_networks_and_the_world_are_allowed(address: str) -> None:
    assert not is_denied(ip_address(address))
