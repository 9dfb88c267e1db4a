"""Which target keeps what later requests build on."""

import pytest

from pointsman.domain.holder import Holder
from pointsman.signals.holders import Holders

A, B = Holder("a/m", "a", "chat"), Holder("b/m", "b", "chat")


def test_holder_is_found_by_the_first_key_that_is_known() -> None:
    holders = Holders()
    holders.keep("alice", ("resp_1", "conv_1"), A)
    holders.keep("alice", ("resp_2",), B)

    assert holders.find("alice", ("unknown", "resp_2", "conv_1")) == B
    assert holders.find("alice", ("unknown",)) is None


@pytest.mark.bug("N-05")
def test_nobody_finds_what_another_caller_has_stored() -> None:
    holders = Holders()
    holders.keep("alice", ("resp_1",), A)

    assert holders.find("bob", ("resp_1",)) is None


def test_latest_holder_of_a_key_counts() -> None:
    holders = Holders()
    holders.keep("alice", ("conv_1",), A)
    holders.keep("alice", ("conv_1",), B)

    assert (holders.find("alice", ("conv_1",)), len(holders)) == (B, 1)


def test_what_is_used_least_recently_makes_room() -> None:
    holders = Holders(max_kept=2)
    holders.keep("alice", ("one",), A)
    holders.keep("alice", ("two",), A)
    holders.find("alice", ("one",))

    holders.keep("alice", ("three",), A)

    assert [holders.find("alice", (key,)) for key in ("one", "two", "three")] == [A, None, A]
    assert len(holders) == 2


def test_what_is_forgotten_is_gone_and_may_be_forgotten_again() -> None:
    holders = Holders()
    holders.keep("alice", ("one",), A)

    holders.forget("alice", "one")
    holders.forget("alice", "one")

    assert holders.find("alice", ("one",)) is None
