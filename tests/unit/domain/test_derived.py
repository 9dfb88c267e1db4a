"""Caches of what follows from the configuration."""

import importlib
import pkgutil
from functools import _lru_cache_wrapper
from typing import Any

import pytest

import pointsman
from pointsman.domain import derived as module
from pointsman.domain.derived import derived, forget_derived

# Caches that hold nothing of a configuration.
OTHERS = {"pointsman.http1.pool.tls_context", "pointsman.observability.times._to_seconds"}


@pytest.fixture
def worked_out() -> list[int]:
    return []


@pytest.fixture
def square(worked_out: list[int], monkeypatch: pytest.MonkeyPatch) -> "_lru_cache_wrapper[int]":
    monkeypatch.setattr(module, "_caches", [])

    @derived(maxsize=2)
    def square(number: int) -> int:
        worked_out.append(number)
        return number * number

    return square


def test_value_is_derived_once(square: "_lru_cache_wrapper[int]", worked_out: list[int]) -> None:
    assert (square(3), square(3)) == (9, 9)
    assert worked_out == [3]


def test_value_is_derived_anew_for_another_configuration(
    square: "_lru_cache_wrapper[int]", worked_out: list[int]
) -> None:
    square(3)

    forget_derived()

    assert square(3) == 9
    assert worked_out == [3, 3]


def test_cache_is_bounded(square: "_lru_cache_wrapper[int]") -> None:
    for number in range(5):
        square(number)

    assert square.cache_info().currsize == 2


@pytest.mark.bug("L-03")
def test_every_cache_of_the_package_is_emptied_with_its_configuration() -> None:
    found = all_caches()

    kept = {name for name, cache in found.items() if cache not in module._caches}

    assert kept == OTHERS, "use `derived` for what is worked out from the configuration, else a reload never frees it"
    assert len(found) > len(OTHERS)


def all_caches() -> dict[str, Any]:
    names = [found.name for found in pkgutil.walk_packages(pointsman.__path__, "pointsman.")]
    modules = [importlib.import_module(name) for name in names if not name.endswith("__main__")]
    return {
        f"{value.__module__}.{value.__name__}": value
        for loaded in modules
        for value in vars(loaded).values()
        if isinstance(value, _lru_cache_wrapper) and value.__module__.startswith("pointsman.")
    }
