"""Groups whose targets make embeddings that cannot be compared."""

from pathlib import Path

import pytest

from pointsman.config.embeddings import is_embedding_model
from tests.unit.config.samples import HEAD, load_text, problem, refused

FAR = "http://127.0.0.1:8001/v1"


def text(*targets: str, models: str = "{}", group: str = "") -> str:
    """Two providers, and a group of these targets."""
    providers = "".join(
        f"  {name}: {{kind: vllm, base_url: '{FAR}', models: {known}}}\n"
        for name, known in {"a": "{}", "b": models}.items()
    )
    rows = ", ".join(targets)
    return f"{HEAD}providers:\n{providers}models: {{vectors: {{{group}targets: [{rows}]}}}}\n"


def shares_space(folder: Path, written: str) -> list[bool]:
    return [member.shares_space for member in load_text(folder, written).snapshot.groups["vectors"].members]


@pytest.mark.parametrize(
    ("name", "embeds"),
    [
        ("text-embedding-3-small", True),
        ("nomic-embed-text", True),
        ("Qwen/Qwen3-Embedding-8B", True),
        ("BAAI/bge-m3", True),
        ("voyage-3.5", True),
        ("intfloat/e5-large", True),
        ("thenlper/gte-large", True),
        ("gpt-5.4-nano", False),
        ("llama-3.3-70b", False),
        ("sage5-large", False),
    ],
)
def test_name_tells_whether_a_model_makes_embeddings(name: str, embeds: bool) -> None:
    assert is_embedding_model(name) is embeds


@pytest.mark.parametrize(
    ("targets", "models"),
    [
        (("{model: a/text-embedding-3-small}", "{model: b/nomic-embed-text}"), "{}"),
        (("{model: a/small}", "{model: b/nomic-embed-text}"), "{}"),
        (("{model: a/small}", "{model: b/large}"), "{large: {embedding_space: x}}"),
        (("{model: a/bge-m3}", "{model: b/bge-m3}"), "{bge-m3: {embedding_space: x}}"),
    ],
)
def test_unlike_models_for_embeddings_are_refused(tmp_path: Path, targets: tuple[str, ...], models: str) -> None:
    found = problem(tmp_path, text(*targets, models=models))

    assert found.path == "models.vectors.targets[1]"
    assert found.message == "its embeddings cannot be compared with those of the first target"
    assert "give both the same `embedding_space`" in found.fix


@pytest.mark.parametrize(
    ("targets", "models", "group"),
    [
        (("{model: a/bge-m3}", "{model: b/bge-m3}"), "{}", ""),
        (("{model: a/bge-m3}", "{model: b/BAAI/bge-m3}"), "{BAAI/bge-m3: {same_as: bge-m3}}", ""),
        (("{model: a/bge-m3}", "{model: b/vectors-v2}"), "{vectors-v2: {embedding_space: bge-m3}}", ""),
        (("{model: a/bge-m3}", "{model: b/vectors-v2}"), "{}", "same_model: true, "),
    ],
    ids=["one name", "one identity", "one space", "the group says so"],
)
def test_models_of_one_space_stand_in_for_each_other(
    tmp_path: Path, targets: tuple[str, ...], models: str, group: str
) -> None:
    assert shares_space(tmp_path, text(*targets, models=models, group=group)) == [True, True]


def test_target_that_takes_no_requests_is_not_compared(tmp_path: Path) -> None:
    written = text("{model: a/old-embed, weight: 0}", "{model: b/bge-m3}", "{model: a/bge-m3}")

    assert shares_space(tmp_path, written) == [False, True, True]


def test_unlike_models_that_are_not_known_to_embed_are_told_apart_all_the_same(tmp_path: Path) -> None:
    assert shares_space(tmp_path, text("{model: a/small}", "{model: b/large}")) == [True, False]


def test_group_has_the_space_of_its_first_target_that_takes_requests(tmp_path: Path) -> None:
    written = text(
        "{model: a/old-embed, weight: 0}", "{model: b/vectors-v2}", models="{vectors-v2: {embedding_space: x}}"
    )

    assert load_text(tmp_path, written).snapshot.groups["vectors"].embedding_space == "x"


def test_faulty_target_is_the_only_problem_of_its_group(tmp_path: Path) -> None:
    found = refused(tmp_path, text("{model: a/bge-m3}", "{model: nowhere/e5-large}")).problems

    assert [each.path for each in found] == ["models.vectors.targets[1].model"]
