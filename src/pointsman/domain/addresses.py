"""Addresses that nothing is ever sent to, whoever asks: those of the machine's own surroundings (pure).

Cloud machines learn their credentials from addresses like 169.254.169.254. A name in a configuration that leads there,
or comes to lead there later, would hand a credential over, or fetch one.
"""

from ipaddress import IPv4Address, IPv6Address, ip_network
from typing import TypeAlias

Address: TypeAlias = IPv4Address | IPv6Address

_DENIED = tuple(
    ip_network(net)
    for net in (
        "0.0.0.0/8", "::/128",  # unspecified: means this machine, and says so to nobody
        "169.254.0.0/16", "fe80::/10",  # link-local, with the metadata of most clouds
        "fd00:ec2::254/128",  # metadata of AWS
        "168.63.129.16/32",  # the host below a machine of Azure
        "100.100.100.200/32",  # metadata of Alibaba Cloud
        "192.0.0.192/32",  # metadata of Oracle Cloud
        "224.0.0.0/4", "ff00::/8", "255.255.255.255/32",  # multicast and broadcast
    )
)  # fmt: skip
# IPv4 within IPv6, and how many bits come after it: mapped, compatible, NAT64 of both kinds, 6to4
_CARRIERS = tuple(
    (ip_network(net), bits_after)
    for net, bits_after in (
        ("::ffff:0:0/96", 0), ("::/96", 0), ("64:ff9b::/96", 0), ("64:ff9b:1::/48", 0), ("2002::/16", 80),
    )
)  # fmt: skip


def is_denied(address: Address) -> bool:
    """Whether a connection to this address is refused, also where it is written as another one."""
    return any(form in net for form in _forms(address) for net in _DENIED if net.version == form.version)


def _forms(address: Address) -> list[Address]:
    """The address, and the IPv4 address that it leads to."""
    if isinstance(address, IPv4Address) or address.is_loopback:
        return [address]
    bits = int(address)
    inner = [IPv4Address(bits >> after & 0xFFFFFFFF) for net, after in _CARRIERS if address in net]
    return [address, *inner]
