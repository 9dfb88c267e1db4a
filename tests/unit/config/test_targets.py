"""What a target of a group refers to."""

import pytest

from pointsman.config.schema import ModelEntry, ProviderEntry, TargetEntry
from pointsman.config.targets import place_of, same_as, upstream_model

_PROVIDER = ProviderEntry(
    kind="vllm",
    models={
        "plain": ModelEntry(),
        "renamed": ModelEntry(model="org/large"),
        "same": ModelEntry(model="org/small", same_as="small"),
    },
)


def test_provider_and_reference_are_a_place() -> None:
    assert place_of(TargetEntry(provider="local", model_ref="a/b")) == ("local", "a/b")


@pytest.mark.parametrize(("shorthand", "place"), [("p/a", ("p", "a")), ("p/a/b/c", ("p", "a/b/c"))])
def test_the_first_slash_of_the_shorthand_splits(shorthand: str, place: tuple[str, str]) -> None:
    assert place_of(TargetEntry(model=shorthand)) == place


@pytest.mark.parametrize(
    "entry",
    [
        TargetEntry(),
        TargetEntry(provider="p"),
        TargetEntry(model_ref="a"),
        TargetEntry(model="a"),
        TargetEntry(model="/a"),
        TargetEntry(model="p/"),
        TargetEntry(provider="p", model="p/a"),
        TargetEntry(model_ref="a", model="p/a"),
        TargetEntry(provider="p", model_ref="a", model="p/a"),
    ],
)
def test_incomplete_and_mixed_targets_are_no_place(entry: TargetEntry) -> None:
    assert place_of(entry) is None


@pytest.mark.parametrize(
    ("reference", "model"),
    [("unlisted", "unlisted"), ("plain", "plain"), ("renamed", "org/large"), ("same", "org/small")],
)
def test_the_upstream_name_is_the_reference_unless_another_is_given(reference: str, model: str) -> None:
    assert upstream_model(_PROVIDER, reference) == model


@pytest.mark.parametrize(
    ("reference", "identity"),
    [("unlisted", "unlisted"), ("plain", "plain"), ("renamed", "org/large"), ("same", "small")],
)
def test_the_identity_is_the_upstream_name_unless_another_is_declared(reference: str, identity: str) -> None:
    assert same_as(_PROVIDER, reference) == identity
