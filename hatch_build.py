"""Wheels with a compiled core: `POINTSMAN_COMPILE=1 pip wheel .`, with a C compiler; without it they are pure Python.

mypyc turns the typed modules of the request path into C extensions. Their sources stay in the wheel: tracebacks show
their lines.
"""

import ast
import os
import shutil
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

REQUEST_PATH = ("dialects", "http1", "observability", "proxy", "routing", "signals", "upstream")


class CompiledCore(BuildHookInterface):  # type: ignore[type-arg]  # there is no type argument to give
    """Adds the extensions to a wheel that is being built."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if os.environ.get("POINTSMAN_COMPILE") != "1" or version == "editable":
            return
        sources, work = Path(self.root, "src"), Path(self.root, "build", "mypyc")
        shutil.rmtree(work, ignore_errors=True)
        for extension in _compile(sources, work):
            build_data["force_include"][str(extension)] = str(extension.relative_to(work / "lib"))
        build_data["pure_python"], build_data["infer_tag"] = False, True


def modules(sources: Path) -> list[Path]:
    """Which modules are compiled: those of the request path, but for classes that mypyc cannot do."""
    found = [path for package in REQUEST_PATH for path in sorted(Path(sources, "pointsman", package).rglob("*.py"))]
    return [path for path in found if not any(map(_needs_an_interpreter, ast.walk(ast.parse(path.read_bytes()))))]


def _needs_an_interpreter(node: ast.AST) -> bool:
    """What mypyc does not keep: keywords of a class, and the annotations by which msgspec reads and writes.

    Nor the attributes that a class of `logging` has by itself: collecting such an object as garbage is a crash.
    """
    if not isinstance(node, ast.ClassDef):
        return False
    bases = [ast.unparse(base) for base in node.bases]
    return bool(node.keywords) or any(base == "Struct" or base.startswith("logging.") for base in bases)


def _compile(sources: Path, work: Path) -> list[Path]:
    """The extensions of all modules, below `work/lib` as they lie in the wheel."""
    from mypyc.build import mypycify  # noqa: PLC0415  # needed for compiled wheels only
    from setuptools import Distribution  # noqa: PLC0415

    copy = work / "src"
    shutil.copytree(sources, copy, ignore=shutil.ignore_patterns("__pycache__"))
    here = Path.cwd()
    os.chdir(copy)  # names of modules follow from paths below the current folder
    try:
        names = [str(path.relative_to(sources)) for path in modules(sources)]
        extensions = mypycify(names, opt_level="2", debug_level="0", multi_file=True, group_name="pointsman")
        distribution = Distribution({"name": "pointsman", "ext_modules": extensions})
        command = distribution.get_command_obj("build_ext")
        command.build_lib, command.build_temp, command.parallel = str(work / "lib"), str(work / "temp"), os.cpu_count()
        command.ensure_finalized()
        command.run()
    finally:
        os.chdir(here)
    return [path for path in (work / "lib").rglob("*") if path.is_file()]
