"""Looking into bytes, which every request and every event does (pure)."""


def holds(data: bytes, part: bytes) -> bool:
    """`part in data`: which takes 1 us, since CPython first raises, and clears, that `part` is no number."""
    return data.find(part) >= 0
