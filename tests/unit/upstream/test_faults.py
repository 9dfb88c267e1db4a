"""Faults of the wire as outcome classes."""

import pytest

from pointsman.domain.outcome import OutcomeClass
from pointsman.http1.client import WireFault
from pointsman.upstream.faults import CLASS_BY_FAULT


def test_every_fault_of_the_wire_has_a_class() -> None:
    assert set(CLASS_BY_FAULT) == set(WireFault)


@pytest.mark.bug("A-01", "A-22")
@pytest.mark.parametrize("fault", ["connect_refused", "connect_timeout", "dns", "tls", "unreachable", "closed"])
def test_target_that_was_not_reached_is_at_fault(fault: str) -> None:
    assert CLASS_BY_FAULT[WireFault(fault)] is OutcomeClass.UPSTREAM_FAULT


@pytest.mark.parametrize("fault", ["truncated", "timeout_idle"])
def test_answer_that_broke_off_is_a_broken_stream(fault: str) -> None:
    assert CLASS_BY_FAULT[WireFault(fault)] is OutcomeClass.BROKEN_STREAM


def test_no_fault_of_the_wire_is_blamed_on_the_caller() -> None:
    ours = {OutcomeClass.UPSTREAM_FAULT, OutcomeClass.BROKEN_STREAM, OutcomeClass.BAD_PAYLOAD}

    assert set(CLASS_BY_FAULT.values()) <= ours
