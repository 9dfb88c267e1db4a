"""Pins: time, room, and fairness."""

import pytest

from pointsman.domain.conversation import Session
from pointsman.signals.pins import Pins
from pointsman.testing import builders

NOW = 1_000.0


def put(pins: Pins, *keys: str, caller: str = "alice", now: float = NOW, auto: bool = False, room: int = 10) -> None:
    for key in keys:
        session = builders.session(key, auto=auto)
        pins.put(caller, session, f"target-of-{key}", expires_at=now + 60, room=room)


def kept(pins: Pins, *keys: str, caller: str = "alice", now: float = NOW, auto: bool = False) -> list[str]:
    return [key for key in keys if pins.find(caller, builders.session(key, auto=auto), now) is not None]


def test_session_is_found_until_its_time_is_over() -> None:
    pins = Pins()
    put(pins, "s1")

    assert pins.find("alice", builders.session("s1"), NOW + 59.9) == "target-of-s1"
    assert pins.find("alice", builders.session("s1"), NOW + 60) is None


def test_put_again_it_lasts_longer() -> None:
    pins = Pins()
    put(pins, "s1")
    put(pins, "s1", now=NOW + 50)

    assert kept(pins, "s1", now=NOW + 100) == ["s1"]
    assert len(pins) == 1


@pytest.mark.bug("D-02")
def test_pin_can_be_replaced_at_any_time() -> None:
    pins = Pins()
    put(pins, "s1")

    pins.put("alice", builders.session("s1"), "other", expires_at=NOW + 60, room=10)

    assert pins.find("alice", builders.session("s1"), NOW) == "other"


@pytest.mark.case("I20")
def test_callers_do_not_see_each_others_pins() -> None:
    pins = Pins()
    put(pins, "s1")

    assert pins.find("bob", builders.session("s1"), NOW) is None


@pytest.mark.case("I26", "T76")
@pytest.mark.bug("L-05")
@pytest.mark.req("G-089")
def test_room_is_bounded_and_the_first_to_expire_goes() -> None:
    pins = Pins()
    put(pins, "s1", "s2", "s3", "s1", "s4", room=3)

    assert len(pins) == 3
    assert kept(pins, "s1", "s2", "s3", "s4") == ["s1", "s3", "s4"]


@pytest.mark.case("I19")
def test_flood_of_one_caller_costs_the_others_nothing() -> None:
    pins = Pins()
    put(pins, "s1", "s2", caller="bob", room=10)

    put(pins, *map(str, range(1_000)), caller="alice", room=10)

    assert kept(pins, "s1", "s2", caller="bob") == ["s1", "s2"]
    assert len(pins) == 10


def test_sessions_that_nobody_named_never_drive_out_those_that_were() -> None:
    pins = Pins()
    put(pins, "s1", "s2", room=3)

    put(pins, *map(str, range(100)), auto=True, room=3)
    put(pins, *map(str, range(100)), caller="bob", auto=True, room=3)

    assert kept(pins, "s1", "s2") == ["s1", "s2"]
    assert len(pins) == 3


def test_session_that_nobody_named_is_not_kept_without_room() -> None:
    pins = Pins()
    put(pins, "s1", room=1)

    put(pins, "a", auto=True, room=1)

    assert kept(pins, "a", auto=True) == []
    assert kept(pins, "s1") == ["s1"]


def test_named_sessions_take_the_room_of_those_that_were_not() -> None:
    pins = Pins()
    put(pins, "a", "b", auto=True, room=2)

    put(pins, "s1", room=2)

    assert kept(pins, "a", "b", auto=True) == ["b"]
    assert kept(pins, "s1") == ["s1"]


def test_smaller_room_is_kept_from_the_next_pin_on() -> None:
    pins = Pins()
    put(pins, *map(str, range(10)))

    put(pins, "s1", room=2)

    assert len(pins) == 2


def test_same_key_of_both_kinds_is_two_sessions() -> None:
    pins = Pins()
    named, unnamed = Session("k", "x-session-id", has_begun=True), Session("k", "auto", has_begun=True)

    pins.put("alice", named, "a", expires_at=NOW + 60, room=10)
    pins.put("alice", unnamed, "b", expires_at=NOW + 60, room=10)

    assert (pins.find("alice", named, NOW), pins.find("alice", unnamed, NOW)) == ("a", "b")
