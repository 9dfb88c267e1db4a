"""Reads a configuration file: all of its problems at once, or Settings and a Snapshot."""

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType

from msgspec import Struct

from pointsman.config import overrides as override
from pointsman.config import plugins, prices, references, rules, spellings
from pointsman.config.compile import PROCESS_KEY, notes_of, settings_of, snapshot_of
from pointsman.config.document import Document
from pointsman.config.keys import admin_token_of, ring_of
from pointsman.config.pepper import find_pepper, kept_pepper, new_pepper, pepper_path
from pointsman.config.problems import ConfigError, Problem
from pointsman.config.schema import ConfigFile
from pointsman.config.schema_errors import validate
from pointsman.config.settings import MIB, Settings
from pointsman.config.yaml_tree import parse
from pointsman.domain.access import KeyRing
from pointsman.domain.secret import Secret
from pointsman.domain.snapshot import Snapshot

MAX_FILE_BYTES = MIB  # a thousand targets are 100 KiB
_NOTHING: Mapping[str, object] = MappingProxyType({})


class Source:
    """What a configuration is made of: a reload starts from the same. Shows nothing, as the environment has secrets."""

    def __init__(
        self,
        path: Path,
        environ: Mapping[str, str],
        overrides: Mapping[str, object],
        *,
        created_utc: int,
        credential_key: bytes,
        keeps_pepper: bool,
    ) -> None:
        self.path = path
        self._environ, self._overrides = environ, overrides
        self._created_utc, self._credential_key, self._keeps_pepper = created_utc, credential_key, keeps_pepper

    def load(self, config_version: int) -> "Loaded":
        """Read, check and compile. Raises ConfigError with all problems."""
        document = read_document(self.path, self._environ, self._overrides)
        config = validate(document)
        rules.check(document, config)
        advisers = plugins.load(document, config)
        auth, pepper_file = config.auth, pepper_path(self._environ)
        is_needed = bool(auth.keys) or auth.admin_token is not None
        pepper = find_pepper(document, auth, pepper_file, is_needed=is_needed)
        document.raise_problems()
        keys, now = self._key_ring(config, pepper), datetime.now(UTC)
        snapshot = snapshot_of(config, config_version, self._created_utc, self._credential_key, keys, now, advisers)
        prices.warn_of_unpriced(document, snapshot)
        return Loaded(
            settings=settings_of(config, self.path.parent, self._environ, admin_token_of(config, pepper)),
            snapshot=snapshot,
            warnings=tuple(document.warnings),
            notes=notes_of(snapshot, config),
            price_notes=prices.notes_of(snapshot),
            source=self,
        )

    def _key_ring(self, config: ConfigFile, pepper: Secret | None) -> KeyRing | None:
        if config.auth.mode == "none":
            return None
        if pepper is None:  # nothing has been hashed yet, so any will do
            pepper = kept_pepper(pepper_path(self._environ)) if self._keeps_pepper else new_pepper()
        return ring_of(config, pepper)


class Loaded(Struct, frozen=True):
    """A valid configuration. Notes say what was decided for each group, and what each target charges; and why."""

    settings: Settings
    snapshot: Snapshot
    warnings: tuple[Problem, ...]
    notes: tuple[str, ...]
    price_notes: tuple[str, ...]
    source: Source


def load(
    path: Path,
    *,
    environ: Mapping[str, str],
    overrides: Mapping[str, object] = _NOTHING,
    config_version: int = 1,
    created_utc: int = 0,
    credential_key: bytes = PROCESS_KEY,
    keeps_pepper: bool = False,
) -> Loaded:
    """Read, check and compile. `overrides` are command-line options by dotted path; they win over everything.

    Raises ConfigError with all problems. Equal credentials give equal state keys while `credential_key` is the same.
    `keeps_pepper`: a pepper that has to be made is written to its file, else it is forgotten.
    """
    return Source(
        path, environ, overrides, created_utc=created_utc, credential_key=credential_key, keeps_pepper=keeps_pepper
    ).load(config_version)


def read_document(path: Path, environ: Mapping[str, str], overrides: Mapping[str, object] = _NOTHING) -> Document:
    """The file with everything laid over it, its references resolved; not validated yet."""
    document = Document.of(str(path), parse(_text(path)))
    override.apply_environment(document, environ)
    override.apply_command_line(document, overrides)
    references.resolve(document, environ)
    spellings.unify(document)
    return document


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
