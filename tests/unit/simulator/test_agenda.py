"""Virtual time."""

from pointsman.simulator.agenda import Agenda, Kind


def test_events_happen_by_time_then_by_kind_then_in_the_order_of_booking() -> None:
    agenda, seen = Agenda(), list[str]()
    agenda.book(2.0, Kind.CHANGE, seen.append, "late")
    agenda.book(1.0, Kind.ARRIVAL, seen.append, "second arrival of two")
    agenda.book(1.0, Kind.END, seen.append, "end")
    agenda.book(1.0, Kind.ARRIVAL, seen.append, "third")

    agenda.run()

    assert seen == ["end", "second arrival of two", "third", "late"]
    assert agenda.now == 2.0


def test_nothing_is_booked_into_the_past() -> None:
    agenda, times = Agenda(), list[float]()
    agenda.book(5.0, Kind.END, lambda: agenda.book(1.0, Kind.END, lambda: times.append(agenda.now)))

    agenda.run()

    assert times == [5.0]
