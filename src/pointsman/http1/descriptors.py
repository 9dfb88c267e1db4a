"""Files and sockets that the system lets this process open."""

import resource
import sys

_SHARE = 0.45  # of callers: each may need a connection to a provider, and a tenth is left for everything else
_RESERVED = 32  # for probes, logs and the admin API
_FEWEST = 8  # or else nobody is served


def raise_limit() -> None:
    """Allow as many as the system permits at all."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def connections_within_limit() -> int:
    """How many callers can be connected before descriptors run out."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY:
        return sys.maxsize
    return max(_FEWEST, int(soft * _SHARE) - _RESERVED)
