"""_core.pyi declares what the native module has: mypy checks every use of it by that file."""

from __future__ import annotations

import ast
from pathlib import Path

from recordsmith import _core

STUB = Path(__file__).resolve().parents[2] / "src" / "recordsmith" / "_core.pyi"


def declared() -> dict[str, set[str]]:
    """The names of the stub, each with its public attributes if it is a class."""
    names: dict[str, set[str]] = {}
    for node in ast.parse(STUB.read_text()).body:
        if isinstance(node, ast.FunctionDef):
            names[node.name] = set()
        elif isinstance(node, ast.ClassDef):
            methods = {item.name for item in node.body if isinstance(item, ast.FunctionDef)}
            targets = {item.target for item in node.body if isinstance(item, ast.AnnAssign)}
            attributes = {target.id for target in targets if isinstance(target, ast.Name)}
            names[node.name] = {name for name in methods | attributes if not name.startswith("_")}
    return names


def test_the_stub_declares_what_the_module_has() -> None:
    found = {
        name: {own for own in vars(value) if not own.startswith("_")} if isinstance(value, type) else set()
        for name, value in vars(_core).items()
        if not name.startswith("_")
    }
    assert declared() == found
