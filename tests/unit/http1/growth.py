"""How the cost of a piece of work grows with its input."""

import time
from collections.abc import Callable

ROUNDS = 5


def growth(work: Callable[[int], object], small: int, large: int) -> float:
    """Cost of the large input in units of the small one: the best of a few runs, in time of this thread only."""
    return _cost(work, large) / _cost(work, small)


def _cost(work: Callable[[int], object], size: int) -> float:
    best = float("inf")
    for _ in range(ROUNDS):
        began = time.thread_time()
        work(size)
        best = min(best, time.thread_time() - began)
    return max(best, 1e-6)
