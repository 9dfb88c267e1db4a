import os
from pathlib import Path

import pytest

from pointsman.http1.memory import Memory, give_back, limit_bytes

MIB = 1 << 20
UNLIMITED = "9223372036854771712"

pytestmark = pytest.mark.case("T72")


def system(folder: Path, groups: str, **files: str) -> tuple[Path, Path]:
    """A list of groups, and their files by path, `__` for a slash and `_` for the dot."""
    table, root = folder / "cgroup", folder / "fs"
    table.write_text(groups)
    for name, text in files.items():
        *folders, file = name.split("__")
        root.joinpath(*folders).mkdir(parents=True, exist_ok=True)
        root.joinpath(*folders, file.replace("memory_", "memory.")).write_text(text)
    return table, root


@pytest.mark.parametrize(
    ("groups", "files", "limit"),
    [
        ("0::/\n", {"memory_max": "268435456\n"}, 256 * MIB),
        ("0::/\n", {"memory_max": "max\n"}, None),
        ("0::/a/b\n", {"a__b__memory_max": "max\n", "a__memory_max": str(64 * MIB)}, 64 * MIB),
        ("0::/a/b\n", {"a__b__memory_max": str(32 * MIB), "a__memory_max": str(64 * MIB)}, 32 * MIB),
        ("4:memory:/a\n0::/\n", {"memory__a__memory_limit_in_bytes": str(MIB)}, MIB),
        ("4:memory:/a\n", {"memory__a__memory_limit_in_bytes": UNLIMITED}, None),
        ("4:memory:/seen/from/outside\n", {"memory__memory_limit_in_bytes": str(MIB)}, MIB),
        ("3:cpu,cpuacct:/a\n", {"memory__a__memory_limit_in_bytes": str(MIB)}, None),
        ("0::/nowhere\n", {}, None),
    ],
)
def test_least_limit_of_all_groups_counts(tmp_path: Path, groups: str, files: dict[str, str], limit: int) -> None:
    assert limit_bytes(*system(tmp_path, groups, **files)) == limit


def test_system_without_control_groups_has_no_limit(tmp_path: Path) -> None:
    assert limit_bytes(tmp_path / "none", tmp_path / "none") is None


def test_memory_in_use_is_that_of_the_process() -> None:
    memory = Memory()
    before = memory.used_bytes()

    held = os.urandom(64 * MIB)

    assert memory.used_bytes() - before > len(held) // 2
    memory.close()
    memory.close()


def test_system_that_does_not_tell_uses_nothing(tmp_path: Path) -> None:
    memory = Memory(str(tmp_path / "none"))

    assert memory.used_bytes() == 0
    memory.close()


def test_free_memory_goes_back_to_the_system() -> None:
    memory = Memory()
    pieces = [bytes(100_000) for _ in range(500)]  # too small for a mapping of their own each
    last = bytes(100_000)
    held = memory.used_bytes()
    del pieces

    give_back()

    assert memory.used_bytes() < held - 20 * MIB
    assert len(last) == 100_000
    memory.close()
