"""What draws are made of."""

import pytest
from msgspec import structs

from pointsman.domain.ask import Ask, epoch_at
from pointsman.domain.conversation import AUTO, Session
from pointsman.testing import builders


def ask(session: Session | None, *, request_id: str = "req-1", epoch: int = 7) -> Ask:
    return structs.replace(builders.ask(request_id=request_id, session=session), epoch=epoch)


@pytest.mark.parametrize("session", [Session("ab" * 16, "x-session-id", False), Session("ab" * 16, AUTO, True)])
def test_requests_of_a_session_draw_alike_within_an_epoch(session: Session) -> None:
    assert ask(session, request_id="req-1").draw_key == ask(session, request_id="req-2").draw_key
    assert ask(session, epoch=7).draw_key != ask(session, epoch=8).draw_key


@pytest.mark.parametrize("session", [None, Session("ab" * 16, AUTO, False)])
def test_requests_that_merely_begin_alike_draw_apart(session: Session | None) -> None:
    assert ask(session, request_id="req-1").draw_key != ask(session, request_id="req-2").draw_key


def test_epoch_lasts_300_s_and_begins_at_another_moment_for_each_session() -> None:
    sessions = [Session(f"{number:08x}" + "0" * 24, "x-session-id", False) for number in range(300)]

    ends = [next(s for s in range(1, 301) if epoch_at(s, each) != epoch_at(s - 1, each)) for each in sessions]

    assert sorted(ends) == list(range(1, 301))
