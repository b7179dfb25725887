"""The modules that belong together: a program may build its datasets in one file and train in another."""

from __future__ import annotations

import ast
import functools
import os
import sys

from recordsmith.doctor.lint.interpreter.interpreter import Interpreter
from recordsmith.doctor.lint.interpreter.scope import Scope
from recordsmith.doctor.lint.interpreter.values import Module, Symbol, Value
from recordsmith.doctor.lint.source_files import SourceFile, read_source
from recordsmith.errors import RecordsmithError

__all__ = ["ProjectInterpreter"]

_MOST_MODULES = 40
_MOST_STEPS = 20_000  # that the program and the modules that it imports may take before no more imports are followed
_MOST_FOLDERS_ABOVE = 6
_ROOT_MARKS = (".git", ".hg", "pyproject.toml", "setup.py", "setup.cfg")
# A folder of the project may be called like one of these; the import still means the library.
_LIBRARIES = {
    "tensorflow", "keras", "tf_keras", "tensorflow_datasets", "torch", "torchvision", "numpy", "pandas", "sklearn",
    "scipy", "jax", "flax", "cv2", "PIL", "transformers", "datasets", "recordsmith", "absl", "click", "hydra",
    "albumentations", "lightning", "pytorch_lightning",
}  # fmt: skip


class ProjectInterpreter(Interpreter):
    """Follows imports of modules of the same project, relative and absolute.

    An absolute import is looked up in the folder of the file, in the folders above it up to the root of the project,
    and in the folder that was given.

    >>> ProjectInterpreter(None).imported(ast.parse("from tensorflow import data").body[0], "data").path
    'tensorflow.data'
    """

    def __init__(self, folder: str | None, *, follows_imports: bool = True) -> None:
        super().__init__()
        self.folder = folder
        self.follows_imports = follows_imports
        self.modules: dict[str, Module | None] = {}
        self.sources: list[SourceFile] = []  # the files of these modules

    def imported(self, statement: ast.ImportFrom, name: str) -> Value:
        """Return what `from module import name` gives."""
        module = self._found(statement, statement.module or "", statement.level)
        if module is not None:
            value = module.scope.lookup(name)
            if value is not None:
                return value  # type: ignore[no-any-return]  # a scope is typed loosely in values, which it imports
        whole = f"{statement.module}.{name}" if statement.module else name
        return self._found(statement, whole, statement.level) or super().imported(statement, name)

    def imported_names(self, statement: ast.ImportFrom) -> dict[str, Value]:
        """Return what `from module import *` gives."""
        module = self._found(statement, statement.module or "", statement.level)
        return {} if module is None else {k: v for k, v in module.scope.names.items() if not k.startswith("_")}

    def imported_module(self, statement: ast.stmt, path: str) -> Value:
        """Return what `import path as name` gives."""
        return self._found(statement, path, 0) or Symbol(path)

    def submodule(self, module: Module, name: str) -> Module | None:
        """Return a module inside an imported package, as `import a.b` makes it known under `a`."""
        if not module.path.endswith("__init__.py"):
            return None
        path = _file_of(os.path.join(os.path.dirname(module.path), name))
        return None if path is None else self._followed(path)

    def _found(self, statement: ast.stmt, name: str, level: int) -> Module | None:
        source: SourceFile | None = getattr(statement, "source", None)
        folder = os.path.dirname(os.path.abspath(source.path)) if source and os.path.isfile(source.path) else None
        folder = folder or self.folder
        if folder is None or (not level and (name.split(".", maxsplit=1)[0] in _LIBRARIES | sys.stdlib_module_names)):
            return None
        path = _path_of(folder, name, level, self.folder)
        return None if path is None else self._followed(path)

    def _shown(self, path: str) -> str:
        """What a file is called in findings: as it would be if it had been found in the folder that was given."""
        folder = self.folder
        if folder is None or (os.path.isabs(folder) and os.path.commonpath([path, folder]) != folder):
            return path
        return os.path.normpath(os.path.join(folder, os.path.relpath(path, folder)))

    def _followed(self, path: str) -> Module | None:
        spent = len(self.modules) > _MOST_MODULES or self.steps > _MOST_STEPS or not self.follows_imports
        if path in self.modules or spent:
            return self.modules.get(path)
        self.modules[path] = None
        status = os.stat(path)
        source = _source_of(self._shown(path), status.st_mtime_ns, status.st_size)
        if source is None:
            return None
        self.sources.append(source)
        scope = Scope()
        self.modules[path] = module = Module(scope, path)
        self.execute(source.tree.body, scope)
        return module


@functools.lru_cache(maxsize=256)
def _source_of(path: str, _changed: int, _size: int) -> SourceFile | None:
    """Read a module once for all programs that import it; its tree is never changed."""
    try:
        return read_source(path)
    except (RecordsmithError, OSError):
        return None


def _path_of(folder: str, name: str, level: int, given: str | None) -> str | None:
    parts = [part for part in name.split(".") if part]
    if level:
        for _ in range(level - 1):
            folder = os.path.dirname(folder)
        return _file_of(os.path.join(folder, *parts))
    folders = [folder, *_folders_above(folder), *([given] if given else [])]
    return next((path for one in folders if parts and (path := _file_of(os.path.join(one, *parts)))), None)


def _folders_above(folder: str) -> tuple[str, ...]:
    found: list[str] = []
    while len(found) < _MOST_FOLDERS_ABOVE and not any(os.path.exists(os.path.join(folder, m)) for m in _ROOT_MARKS):
        folder = os.path.dirname(folder)
        found += [folder, os.path.join(folder, "src")]
    return tuple(found)


def _file_of(base: str) -> str | None:
    candidates = (f"{base}.py", os.path.join(base, "__init__.py"))
    return next((path for path in candidates if os.path.isfile(path)), None)
