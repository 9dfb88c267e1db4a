"""Which form of the core runs: wheels can hold it compiled, a checkout has it as source."""

from enum import StrEnum

from pointsman.http1 import server


class Core(StrEnum):
    """Both do the same; one does it in less time."""

    COMPILED = "compiled"
    INTERPRETED = "interpreted"


def core() -> Core:
    """By where the edge was loaded from, which is compiled whenever anything is."""
    return Core.INTERPRETED if str(server.__file__).endswith(".py") else Core.COMPILED
