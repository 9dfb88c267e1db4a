"""Looking into bytes."""

from hypothesis import given
from hypothesis import strategies as st

from pointsman.domain.octets import holds

FEW = st.binary(max_size=3).map(lambda raw: bytes(byte % 2 for byte in raw))


@given(FEW, FEW)
def test_part_is_found_wherever_in_finds_it(data: bytes, part: bytes) -> None:
    assert holds(data, part) is (part in data)
