"""Faults of the wire as outcome classes."""

from collections.abc import Mapping
from types import MappingProxyType

from pointsman.domain.outcome import OutcomeClass
from pointsman.http1.client import WireFault

CLASS_BY_FAULT: Mapping[WireFault, OutcomeClass] = MappingProxyType(
    {
        WireFault.CONNECT_REFUSED: OutcomeClass.UPSTREAM_FAULT,
        WireFault.CONNECT_TIMEOUT: OutcomeClass.UPSTREAM_FAULT,
        WireFault.DNS: OutcomeClass.UPSTREAM_FAULT,
        WireFault.DENIED: OutcomeClass.UPSTREAM_FAULT,
        WireFault.TLS: OutcomeClass.UPSTREAM_FAULT,
        WireFault.UNREACHABLE: OutcomeClass.UPSTREAM_FAULT,
        WireFault.CLOSED: OutcomeClass.UPSTREAM_FAULT,
        WireFault.PROTOCOL: OutcomeClass.UPSTREAM_FAULT,
        WireFault.TIMEOUT_FIRST_CONTENT: OutcomeClass.UPSTREAM_FAULT,
        WireFault.TIMEOUT_TOTAL: OutcomeClass.UPSTREAM_FAULT,
        WireFault.TRUNCATED: OutcomeClass.BROKEN_STREAM,
        WireFault.TIMEOUT_IDLE: OutcomeClass.BROKEN_STREAM,
        WireFault.TOO_LARGE: OutcomeClass.BAD_PAYLOAD,
    }
)
