"""Where the process keeps its files unless the configuration says otherwise."""

from collections.abc import Mapping
from pathlib import Path

from pointsman.config.settings import STATE_FOLDER


def home_folder(environ: Mapping[str, str]) -> Path:
    """The home of the user."""
    return Path(environ["HOME"]) if environ.get("HOME") else Path.home()


def state_folder(environ: Mapping[str, str]) -> Path:
    """Ours, below `$XDG_STATE_HOME`."""
    state = environ.get("XDG_STATE_HOME", "")
    # The XDG specification: a relative path is invalid and to be ignored.
    root = Path(state) if state.startswith("/") else home_folder(environ) / ".local" / "state"
    return root / STATE_FOLDER
