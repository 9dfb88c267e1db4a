"""Readiness."""

from pointsman.proxy.live import Live
from pointsman.testing import builders

CONFIG = builders.snapshot([builders.group("chat", "a/m")])


def test_gateway_with_a_group_is_ready() -> None:
    assert Live(CONFIG).is_ready


def test_gateway_without_any_group_is_not_ready() -> None:
    assert not Live(builders.snapshot([])).is_ready


def test_draining_gateway_is_not_ready() -> None:
    live = Live(CONFIG)

    live.is_draining = True

    assert not live.is_ready
