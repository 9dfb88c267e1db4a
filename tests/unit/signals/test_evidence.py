"""Who stands behind something."""

from pointsman.signals.evidence import CallerEvidence


def test_nobody_is_not_two() -> None:
    assert not CallerEvidence().has_two_within(60, 0.0)


def test_one_caller_seen_often_is_not_two() -> None:
    evidence = CallerEvidence()

    for now in range(10):
        evidence.add("alice", now)

    assert not evidence.has_two_within(60, 10)


def test_two_callers_are_two() -> None:
    evidence = CallerEvidence()

    evidence.add("alice", 0)
    evidence.add("bob", 1)

    assert evidence.has_two_within(60, 1)


def test_second_caller_counts_until_the_window_ends() -> None:
    evidence = CallerEvidence()
    evidence.add("alice", 0)
    evidence.add("bob", 1)

    within, past = evidence.has_two_within(60, 60), evidence.has_two_within(60, 60.1)

    assert (within, past) == (True, False)


def test_last_callers_repeats_do_not_renew_the_other_one() -> None:
    evidence = CallerEvidence()
    evidence.add("alice", 0)
    for now in range(1, 100):
        evidence.add("bob", now)

    assert not evidence.has_two_within(60, 100)


def test_third_caller_takes_the_place_of_the_oldest() -> None:
    evidence = CallerEvidence()
    for now, name in enumerate(("alice", "bob", "carol")):
        evidence.add(name, now * 50)

    assert evidence.has_two_within(60, 100)
