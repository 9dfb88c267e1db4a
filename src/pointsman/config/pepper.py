"""The pepper: the secret under which caller keys are hashed. Read, or made once, and never shown."""

import os
import secrets
import stat
from collections.abc import Mapping
from pathlib import Path

from pointsman.config.document import Document
from pointsman.config.places import state_folder
from pointsman.config.problems import ConfigError, KeyPath, Problem, dotted
from pointsman.config.schema import AuthSection
from pointsman.config.settings import PEPPER_FILE
from pointsman.config.values import BadValueError
from pointsman.config.values import pepper as valid_pepper
from pointsman.domain.secret import Secret

_PATH: KeyPath = ("auth", "pepper")
_PEPPER_BYTES = 32  # as much as the hash function takes in
_MAX_FILE_BYTES = 4096  # more is another file
_OTHERS = stat.S_IRWXG | stat.S_IRWXO
_LOST_FIX = (
    "Put the pepper of the machine where the keys were made there, or set `auth.pepper`; or remove the keys and make "
    "new ones with `pointsman keys create`."
)


def pepper_path(environ: Mapping[str, str]) -> Path:
    """Where the pepper is while `auth.pepper` is null."""
    return state_folder(environ) / PEPPER_FILE


def find_pepper(document: Document, auth: AuthSection, path: Path, *, is_needed: bool) -> Secret | None:
    """The pepper of the configuration, else of the file at `path`; None: none is used, there is none, or it is faulty.

    `is_needed`: keys have been hashed with it, so that another one would shut them all out.
    """
    if auth.mode == "none" and auth.admin_token is None:
        return None
    return _read(document, path, is_needed=is_needed) if auth.pepper is None else Secret(auth.pepper)


def new_pepper() -> Secret:
    """A pepper nothing has been hashed with."""
    return Secret(secrets.token_hex(_PEPPER_BYTES))


def kept_pepper(path: Path) -> Secret:
    """A new pepper, written to `path`. Raises ConfigError when that cannot be done."""
    try:
        return _kept(new_pepper(), path)
    except OSError as error:
        fix = "Make its folder writable for this process, or set `auth.pepper`."
        message = f"cannot write {str(path)!r}: {error.strerror}"
        raise ConfigError([Problem(dotted(_PATH), 0, 0, message, fix, source=str(path))]) from None


def _kept(fresh: Secret, path: Path) -> Secret:
    """The file appears whole or not at all; if another process was faster, its pepper is the one."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    draft = path.with_name(f"{path.name}.{secrets.token_hex(8)}")
    try:
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(f"{fresh.reveal()}\n")
            file.flush()
            os.fsync(file.fileno())
        os.link(draft, path)
    except FileExistsError:
        return Secret(path.read_text(encoding="utf-8").rstrip("\r\n"))
    finally:
        draft.unlink(missing_ok=True)
    return fresh


def _read(document: Document, path: Path, *, is_needed: bool) -> Secret | None:
    try:
        with path.open("rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            text = file.read(_MAX_FILE_BYTES).decode().rstrip("\r\n")
    except FileNotFoundError:
        if is_needed:
            document.add(_PATH, f"keys are declared, but there is no pepper at {str(path)!r}", _LOST_FIX)
        return None
    except (OSError, ValueError) as error:  # ValueError: not UTF-8
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8 text"
        document.add(_PATH, f"cannot read {str(path)!r}: {reason}", "Make it readable for this process only.")
        return None
    if mode & _OTHERS:
        fix = f"Run: chmod 600 {path}"
        document.add(_PATH, f"the pepper at {str(path)!r} can be read or changed by others", fix)
    try:
        return Secret(valid_pepper(text))
    except BadValueError as error:
        document.add(_PATH, f"{str(path)!r}: {error.message}", error.fix)
        return None
