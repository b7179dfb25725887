"""Imports go down the layers only.

Every import counts, wherever it stands: at the top of a module, inside a function, under TYPE_CHECKING, or as a
constant name given to importlib. A layer that is known upward only "for the types", or only "lazily", is known upward.
"""

from __future__ import annotations

import ast
import re
import tomllib
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from docs import refresh_layers

PACKAGE = "recordsmith"
ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / PACKAGE
PUBLIC_FACE = "__init__"

DECLARED = tomllib.loads((ROOT / "layers.toml").read_text())["python"]
LAYERS: tuple[frozenset[str], ...] = tuple(map(frozenset, DECLARED["layers"]))

# (module, what it imports from above): the reason. The only way past the rule.
EXCEPTIONS: dict[tuple[str, str], str] = {}


@dataclass(frozen=True)
class Import:
    """One import of ours, with full module names and the line that it stands in."""

    importer: str
    imported: str
    line: int

    @property
    def parts(self) -> tuple[str, str]:
        """The importer and the imported as entries of LAYERS."""
        return part_of(self.importer), part_of(self.imported)


def part_of(module: str) -> str:
    """The entry of LAYERS that a module belongs to: schema for recordsmith.schema.plan."""
    _, *names = module.split(".")
    return names[0] if names else PUBLIC_FACE


def inner_part_of(module: str) -> str:
    """The part of its package that a module belongs to: verbs for recordsmith.loader.verbs.order.shuffle."""
    _, _, *names = module.split(".")
    return names[0] if names else PUBLIC_FACE


def module_name(path: Path, source: Path) -> str:
    names = [*path.relative_to(source).with_suffix("").parts]
    return ".".join([PACKAGE, *(names[:-1] if names[-1] == "__init__" else names)])


def modules_of(source: Path) -> dict[str, Path]:
    """Every module below `source` and its file; the native module counts by its stub."""
    return {module_name(path, source): path for path in sorted(source.rglob("*.py*")) if path.suffix in {".py", ".pyi"}}


def imported_names(node: ast.AST, package: str) -> list[str]:
    """The dotted names that a statement or an importlib call asks for; `package` is what a leading dot means."""
    match node:
        case ast.Import(names=names):
            return [name.name for name in names]
        case ast.ImportFrom(module=module, names=names, level=level):
            above = package.split(".")[: len(package.split(".")) - (level - 1)] if level else []
            base = ".".join([*above, *([module] if module else [])])
            return [f"{base}.{name.name}" for name in names]
        case ast.Call(
            func=ast.Attribute(attr="import_module") | ast.Name(id="import_module"),
            args=[ast.Constant(value=str(name)), *_],
        ):
            above = package.split(".")[: len(package.split(".")) - (len(name) - len(name.lstrip(".")) - 1)]
            return [".".join([*above, name.lstrip(".")]) if name.startswith(".") else name]
    return []


def nearest_module(name: str, modules: dict[str, Path]) -> str:
    """The module that a dotted name lies in: what is not a module is a name inside its parent."""
    while name not in modules and "." in name:
        name = name.rpartition(".")[0]
    return name


def imports_of(source: Path) -> list[Import]:
    modules = modules_of(source)
    found = set()
    for importer, path in modules.items():
        package = importer if path.stem == "__init__" else importer.rpartition(".")[0]
        for node in ast.walk(ast.parse(path.read_text())):
            for name in imported_names(node, package):
                if name.split(".")[0] == PACKAGE:
                    found.add(Import(importer, nearest_module(name, modules), node.lineno))  # type: ignore[attr-defined]
    return sorted((i for i in found if i.importer != i.imported), key=lambda i: (i.importer, i.line, i.imported))


def level_of(part: str) -> int:
    levels = [level for level, names in enumerate(LAYERS) if part in names]
    assert levels, f"{part}: say in LAYERS where it belongs"
    return levels[0]


def is_allowed(one: Import) -> bool:
    importer, imported = one.parts
    return importer == imported or level_of(imported) < level_of(importer) or (importer, imported) in EXCEPTIONS


def test_every_module_has_its_layer() -> None:
    known = frozenset().union(*LAYERS)
    homeless = {part_of(module) for module in modules_of(SOURCE)} - known
    assert not homeless, f"{sorted(homeless)}: say in LAYERS where they belong"


def test_imports_go_down() -> None:
    wrong = [f"{i.importer} (line {i.line}) imports {i.imported}" for i in imports_of(SOURCE) if not is_allowed(i)]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("package", DECLARED["inside"])
def test_imports_inside_a_package_go_down(package: str) -> None:
    levels = {name: level for level, names in enumerate(DECLARED["inside"][package]) for name in names}
    wrong = []
    for one in imports_of(SOURCE):
        if one.parts == (package, package):
            importer, imported = (inner_part_of(module) for module in (one.importer, one.imported))
            assert {importer, imported} <= set(levels), f"{one}: say in layers.toml where it belongs"
            if importer != imported and levels[imported] >= levels[importer]:
                wrong.append(f"{one.importer} (line {one.line}) imports {one.imported}")
    assert not wrong, "\n".join(wrong)


def test_modules_form_no_cycle() -> None:
    graph: dict[str, set[str]] = {}
    for one in imports_of(SOURCE):
        # A package's __init__ gathers its modules, which find each other by their own names; the exceptions are named.
        gathers = one.importer.startswith(one.imported + ".") or one.imported.startswith(one.importer + ".")
        if not gathers and one.parts not in EXCEPTIONS:
            graph.setdefault(one.importer, set()).add(one.imported)
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(f"modules import each other in a circle: {' -> '.join(error.args[1])}")


def test_exceptions_are_still_needed() -> None:
    used = {one.parts for one in imports_of(SOURCE)}
    unused = set(EXCEPTIONS) - used
    assert not unused, f"{sorted(unused)} may leave EXCEPTIONS"


@pytest.mark.parametrize(
    ("module", "text"),
    [
        ("schema/plan.py", "from recordsmith.loader import batch"),
        ("schema/plan.py", "import recordsmith.loader.batch"),
        ("schema/plan.py", "from recordsmith import open"),
        ("schema/plan.py", "from .. import loader"),
        ("schema/plan.py", "def later():\n    from ..loader.batch import Loader"),
        (
            "schema/plan.py",
            "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from recordsmith.loader import Loader",
        ),
        ("schema/plan.py", "import importlib\nimportlib.import_module('recordsmith.loader')"),
        ("schema/plan.py", "import importlib\nimportlib.import_module('..loader', __package__)"),
        ("errors.py", "from recordsmith import _core"),
        ("errors.py", "from .schema import plan"),
        ("schema/__init__.py", "from ..loader import batch"),
    ],
)
def test_the_test_sees_an_import_upward(module: str, text: str, tmp_path: Path) -> None:
    for name in ("__init__.py", "_core.pyi", "errors.py", "schema/__init__.py", "schema/plan.py", "loader/__init__.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / "loader" / "batch.py").touch()
    (tmp_path / module).write_text(text)
    assert [one for one in imports_of(tmp_path) if not is_allowed(one)]


def test_the_tables_of_the_architecture_are_as_declared() -> None:
    page = refresh_layers.PAGE.read_text()
    assert page == refresh_layers.refreshed(page), "run: python docs/refresh_layers.py"
    assert re.findall(r"<!-- layers: (\w+) -->", page) == list(refresh_layers.LAYERS)
