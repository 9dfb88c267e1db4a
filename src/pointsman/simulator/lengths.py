"""How long prompts and answers are: quantiles of public traces, as data of our own."""

import math
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from pointsman.domain.value import Value

_CHANCES = (0.01, 0.05, 0.10, 0.25, 0.50, 0.75, 0.90, 0.95, 0.99, 0.999, 1.0)


class Lengths(Value):
    """Tokens at the chances above; the last one is the longest that was seen."""

    input_tokens: tuple[int, ...]
    output_tokens: tuple[int, ...]


LENGTHS: Mapping[str, Lengths] = MappingProxyType(
    {
        # Azure LLM inference traces 2023 (CC-BY 4.0; Patel et al., ISCA 2024)
        "azure_conv": Lengths(
            (29, 181, 207, 396, 1_020, 1_189, 2_735, 4_083, 4_142, 6_179, 14_050),
            (16, 41, 54, 85, 129, 395, 424, 451, 601, 954, 1_000),
        ),
        "azure_code": Lengths(
            (17, 75, 147, 578, 1_469, 2_745, 5_188, 7_303, 7_436, 7_437, 7_437),
            (6, 6, 7, 9, 13, 24, 55, 90, 251, 825, 1_899),
        ),
        # Mooncake, conversations (Apache-2.0; Qin et al., FAST 2025)
        "mooncake": Lengths(
            (894, 901, 964, 2_307, 6_909, 15_367, 27_367, 39_551, 85_400, 121_301, 121_301),
            (3, 10, 24, 157, 350, 472, 597, 698, 1_119, 2_000, 2_000),
        ),
    }
)


def tokens_at(table: Sequence[int], chance: float) -> int:
    """The length that `chance` of all requests do not exceed; between two quantiles a straight line of logarithms."""
    if chance <= _CHANCES[0]:
        return table[0]
    place = min(bisect_right(_CHANCES, chance), len(_CHANCES) - 1)
    low, high = math.log(table[place - 1]), math.log(table[place])
    part = (chance - _CHANCES[place - 1]) / (_CHANCES[place] - _CHANCES[place - 1])
    return max(round(math.exp(low + part * (high - low))), 1)
