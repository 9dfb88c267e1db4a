"""Chance as a hash: equal for the same request or session, so that replicas agree without telling each other."""

from collections.abc import Sequence
from hashlib import blake2b
from statistics import NormalDist
from struct import Struct

_halves = Struct("<QQ").unpack
_deviate = NormalDist().inv_cdf
_DROPPED_BITS = 12  # what is left, plus a half, is a float that is neither 0 nor 1
_STEP = 2.0**-52


def draws(key: str, target_ids: Sequence[bytes]) -> list[tuple[float, float]]:
    """For each target a draw from (0, 1) and, independent of it, one from the standard normal distribution."""
    prefix, found = key.encode() + b"\0", []
    for target_id in target_ids:
        first, second = _halves(blake2b(prefix + target_id, digest_size=16).digest())
        uniform = ((first >> _DROPPED_BITS) + 0.5) * _STEP
        found.append((uniform, _deviate(((second >> _DROPPED_BITS) + 0.5) * _STEP)))
    return found
