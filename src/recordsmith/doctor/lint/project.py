"""The modules that belong together: a program may build its datasets in one file and train in another."""

from __future__ import annotations

import ast
import os

from recordsmith.doctor.lint.interpreter.interpreter import Interpreter
from recordsmith.doctor.lint.interpreter.scope import Scope
from recordsmith.doctor.lint.interpreter.values import ProgramClass, Symbol, Value
from recordsmith.doctor.lint.source_files import SourceFile, read_source
from recordsmith.errors import RecordsmithError

__all__ = ["ProjectInterpreter"]

_MOST_MODULES = 40
_MODULE = ast.ClassDef("module", [], [], [], [])


class ProjectInterpreter(Interpreter):
    """Follows imports of modules that lie beside the one at hand, or below it.

    >>> ProjectInterpreter(None).imported("tensorflow", "data").path
    'tensorflow.data'
    """

    def __init__(self, folder: str | None) -> None:
        super().__init__()
        self.folder = folder
        self.modules: dict[str, Scope | None] = {}
        self.sources: list[SourceFile] = []

    def imported(self, module: str, name: str) -> Value:
        """Return what `from module import name` gives."""
        scope = self._module(module)
        if scope is not None:
            value = scope.lookup(name)
            if value is not None:
                return value
        inner = self._module(f"{module}.{name}") if not module.endswith(".") else self._module(f"{module}{name}")
        return self._namespace(inner) if inner is not None else super().imported(module.lstrip("."), name)

    def imported_module(self, path: str) -> Value:
        """Return what `import path as name` gives."""
        scope = self._module(path)
        return Symbol(path) if scope is None else self._namespace(scope)

    def _namespace(self, scope: Scope) -> Value:
        return ProgramClass(_MODULE, scope, scope.names)

    def _module(self, name: str) -> Scope | None:
        if name in self.modules or self.folder is None or len(self.modules) > _MOST_MODULES:
            return self.modules.get(name)
        self.modules[name] = None
        path = self._path_of(name)
        if path is not None:
            try:
                source = read_source(path)
            except (RecordsmithError, OSError):
                return None
            self.sources.append(source)
            scope = Scope()
            self.modules[name] = scope
            self.execute(source.tree.body, scope)
        return self.modules[name]

    def _path_of(self, name: str) -> str | None:
        assert self.folder is not None  # noqa: S101 - the caller has looked
        parts = [part for part in name.split(".") if part]
        if not parts:
            return None
        base = os.path.join(self.folder, *parts)
        candidates = (f"{base}.py", os.path.join(base, "__init__.py"))
        return next((path for path in candidates if os.path.isfile(path)), None)
