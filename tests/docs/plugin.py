"""The package that docs/plugins.md writes, installed."""

import re
import tomllib
from pathlib import Path

from tests import packages
from tests.docs import pages

PAGE = "docs/plugins.md"


def installed(folder: Path) -> Path:
    """What has to be on the path."""
    (code,), (project,) = (pages.blocks(pages.text(PAGE), language) for language in ("python", "toml"))
    (file,) = re.findall(r"`(\w+)\.py`:", pages.text(PAGE))
    entries = tomllib.loads(project)["project"]["entry-points"][packages.GROUP]
    return packages.install(folder, entries, {file: code}, name="documented")
