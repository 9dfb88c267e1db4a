import pytest
from msgspec import Struct

from pointsman.http1.crowd import surplus


class Stranger(Struct, frozen=True):
    address: str
    made_at: float


def crowd(address: str, count: int) -> list[Stranger]:
    return [Stranger(address, float(age)) for age in range(count)]


@pytest.mark.case("T70")
@pytest.mark.parametrize(("count", "gone"), [(0, 0), (1, 0), (3, 0), (4, 1), (10, 7)])
def test_so_many_of_one_address_may_stay(count: int, gone: int) -> None:
    assert surplus(crowd("a", count), 3) == crowd("a", count)[:gone]


@pytest.mark.case("T70")
def test_every_address_is_counted_for_itself() -> None:
    strangers = [*crowd("a", 3), *crowd("b", 3), *crowd("c", 4)]

    assert surplus(strangers, 3) == crowd("c", 1)


@pytest.mark.case("T70")
def test_the_longest_silent_ones_go_in_whatever_order_they_come() -> None:
    assert surplus(crowd("a", 5)[::-1], 3) == crowd("a", 2)
