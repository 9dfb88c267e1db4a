"""Caches of what follows from the configuration alone: emptied with every other configuration.

Else they would hold groups, targets and credentials that are long gone, thousands of them after many reloads.
"""

from collections.abc import Callable
from functools import _lru_cache_wrapper, lru_cache
from typing import Any, TypeVar

_Result = TypeVar("_Result")

_caches: "list[_lru_cache_wrapper[Any]]" = []


def derived(maxsize: int) -> "Callable[[Callable[..., _Result]], _lru_cache_wrapper[_Result]]":
    """An `lru_cache` for functions of configured values."""

    def cached(function: Callable[..., _Result]) -> "_lru_cache_wrapper[_Result]":
        cache = lru_cache(maxsize)(function)
        _caches.append(cache)
        return cache

    return cached


def forget_derived() -> None:
    """The configuration is another one: derive everything anew."""
    for cache in _caches:
        cache.cache_clear()
