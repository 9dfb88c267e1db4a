"""Chance as a hash of what it is for: all policies meet the same luck, and one more draw moves none of the others."""

import random
from enum import IntEnum
from hashlib import blake2b
from statistics import NormalDist
from struct import Struct

_DROPPED_BITS = 12  # what is left, plus a half, is a float that is neither 0 nor 1
_STEP = 2.0**-52
_numbers = Struct("<8Q").unpack
_deviate = NormalDist().inv_cdf


class Purpose(IntEnum):
    """What a draw of an attempt decides; a new purpose goes to the end."""

    TTFT = 0
    DECODE = 1
    FAILS = 2
    STATUS = 3
    BREAKS = 4
    BREAKS_AT = 5


class Luck:
    """The draws of one attempt: of the nth try of a request at an endpoint, whoever was tried before."""

    __slots__ = ("_drawn",)

    def __init__(self, seed: int, request_id: str, endpoint: str, attempt: int) -> None:
        key = f"{seed}\0{request_id}\0{endpoint}\0{attempt}"
        self._drawn = _numbers(blake2b(key.encode(), digest_size=64).digest())

    def uniform(self, purpose: Purpose) -> float:
        """From (0, 1)."""
        return float(((self._drawn[purpose] >> _DROPPED_BITS) + 0.5) * _STEP)

    def normal(self, purpose: Purpose) -> float:
        """From the standard normal distribution."""
        return _deviate(self.uniform(purpose))


def stream(*parts: object) -> random.Random:
    """A source of its own for one purpose, the same in every process."""
    return random.Random("\0".join(map(str, parts)))  # noqa: S311  # repeatable, and no secret
