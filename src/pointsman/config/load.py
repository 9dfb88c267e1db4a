"""Reads a configuration file: all of its problems at once, or Settings and a Snapshot."""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from msgspec import Struct

from pointsman.config import overrides as override
from pointsman.config import references, rules
from pointsman.config.compile import PROCESS_KEY, notes_of, settings_of, snapshot_of
from pointsman.config.document import Document
from pointsman.config.problems import ConfigError, Problem
from pointsman.config.schema_errors import validate
from pointsman.config.settings import MIB, Settings
from pointsman.config.yaml_tree import parse
from pointsman.domain.snapshot import Snapshot

MAX_FILE_BYTES = MIB  # a thousand targets are 100 KiB
_NOTHING: Mapping[str, object] = MappingProxyType({})


class Loaded(Struct, frozen=True):
    """A valid configuration. `notes` say what was decided for each group, and why."""

    settings: Settings
    snapshot: Snapshot
    warnings: tuple[Problem, ...]
    notes: tuple[str, ...]


def load(
    path: Path,
    *,
    environ: Mapping[str, str],
    overrides: Mapping[str, object] = _NOTHING,
    config_version: int = 1,
    created_utc: int = 0,
    credential_key: bytes = PROCESS_KEY,
) -> Loaded:
    """Read, check and compile. `overrides` are command-line options by dotted path; they win over everything.

    Raises ConfigError with all problems. Equal credentials give equal state keys while `credential_key` is the same.
    """
    document = Document.of(str(path), parse(_text(path)))
    override.apply_environment(document, environ)
    override.apply_command_line(document, overrides)
    references.resolve(document, environ)
    config = validate(document)
    rules.check(document, config)
    document.raise_problems()
    snapshot = snapshot_of(config, config_version, created_utc, credential_key)
    return Loaded(
        settings=settings_of(config, path.parent, environ),
        snapshot=snapshot,
        warnings=tuple(document.warnings),
        notes=notes_of(snapshot, config),
    )


def _text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            raw = file.read(MAX_FILE_BYTES + 1)
        if len(raw) <= MAX_FILE_BYTES:
            return raw.decode("utf-8-sig")
        message, fix = "the file is larger than 1 MiB", "Name a configuration file."
    except UnicodeDecodeError as error:
        message, fix = f"the file is not UTF-8 text (byte {error.start})", "Save it as UTF-8."
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        reason = error.strerror if isinstance(error, OSError) else "not a valid path"
        message, fix = f"cannot read the file: {reason}", "Check its path and permissions."
    raise ConfigError([Problem("", 0, 0, message, fix, source=str(path))])
