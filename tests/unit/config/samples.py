"""Files to load, for the tests of this folder."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from pointsman.config.load import Loaded, load
from pointsman.config.problems import ConfigError, Problem

HEAD = "version: 1\nauth: {mode: none}\n"  # the least a file needs
HASH = f"hmac-sha256:{'1' * 64}"
KEYS = f"version: 1\nauth: {{mode: keys, pepper: pepper-0123456789, keys: [{{name: ci, hash: '{HASH}'}}]}}\n"
LOCAL = "providers: {local: {kind: vllm, base_url: 'http://127.0.0.1:8000/v1'}}\n"
CHAT = "models: {chat: {targets: [{model: local/small}]}}\n"
VALID = HEAD + LOCAL + CHAT
NAME = "pointsman.yaml"
HERE = "#!"  # a comment that marks the line a problem must name
CREDENTIAL_KEY = b"0123456789abcdef"
NO_ENVIRONMENT: Mapping[str, str] = {}


def load_text(
    folder: Path,
    text: str,
    environ: Mapping[str, str] = NO_ENVIRONMENT,
    overrides: Mapping[str, object] = NO_ENVIRONMENT,
    *,
    credential_key: bytes = CREDENTIAL_KEY,
) -> Loaded:
    """Write the text into a file and load it."""
    path = folder / NAME
    path.write_text(text, encoding="utf-8")
    return load(path, environ=environ, overrides=overrides, credential_key=credential_key)


def refused(
    folder: Path,
    text: str,
    environ: Mapping[str, str] = NO_ENVIRONMENT,
    overrides: Mapping[str, object] = NO_ENVIRONMENT,
) -> ConfigError:
    """The error of a file that must not load."""
    with pytest.raises(ConfigError) as raised:
        load_text(folder, text, environ, overrides)
    return raised.value


def problem(
    folder: Path,
    text: str,
    environ: Mapping[str, str] = NO_ENVIRONMENT,
    overrides: Mapping[str, object] = NO_ENVIRONMENT,
) -> Problem:
    """The only problem of a file."""
    problems = refused(folder, text, environ, overrides).problems
    assert len(problems) == 1, [str(each) for each in problems]
    return problems[0]


def marked_line(text: str) -> int:
    """The number of the line with the mark."""
    return next(number for number, line in enumerate(text.splitlines(), 1) if HERE in line)
