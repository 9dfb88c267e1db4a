"""Runs do not need each other: each may have a process of its own."""

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from typing import Protocol, TypeVar

A = TypeVar("A")
B = TypeVar("B")


class MapRuns(Protocol):
    """As the built-in `map`: results come in the order of what was given."""

    def __call__(self, function: Callable[[A], B], wanted: Iterable[A], /) -> Iterator[B]: ...


def usable_cores() -> int:
    """How many of them this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def workers(count: int) -> Iterator[MapRuns]:
    """`map`, by so many processes; 1: by this one."""
    if count == 1:
        yield map
        return
    with ProcessPoolExecutor(count, mp_context=get_context("spawn")) as pool:
        try:
            yield pool.map
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)  # whoever breaks off does not wait for the rest
            raise
