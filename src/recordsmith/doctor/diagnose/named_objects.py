"""Objects of a user's program, named FILE:NAME on a command line. Loading one imports the file."""

from __future__ import annotations

import errno
import importlib.util
import inspect
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, Self

from recordsmith.errors import RecordsmithError, did_you_mean, list_names

__all__ = ["NamedObject"]


@dataclass(frozen=True, slots=True)
class NamedObject:
    """A variable, function or class at the top level of a Python file.

    >>> NamedObject("src/train.py", "dataset").folder == os.path.realpath("src")
    True
    """

    file: str
    name: str

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read FILE:NAME.

        >>> NamedObject.parse("train.py")
        Traceback (most recent call last):
        recordsmith.errors.RecordsmithError: The argument must name an object in a file.
          found:    train.py
          expected: FILE:NAME, such as train.py:dataset
        """
        file, _, name = text.rpartition(":")
        if not file or not name.isidentifier():
            raise RecordsmithError(
                "The argument must name an object in a file.",
                found=text,
                expected="FILE:NAME, such as train.py:dataset",
            )
        if not os.path.isfile(file):
            raise FileNotFoundError(errno.ENOENT, "There is no such file", file)
        if not file.endswith(".py"):
            advice = "Call rs.diagnose in the notebook itself." if file.endswith(".ipynb") else None
            raise RecordsmithError("Only a Python file can be imported.", path=file, advice=advice)
        return cls(file, name)

    @property
    def folder(self) -> str:
        """The folder of the file, which `python FILE` puts first on `sys.path`."""
        return os.path.dirname(os.path.realpath(self.file))

    def load(self) -> Any:
        """Import the file, once, and return the object."""
        module = _imported(os.path.realpath(self.file))
        try:
            return getattr(module, self.name)
        except AttributeError:
            names = _names_of(module)
            raise RecordsmithError(
                f"The file defines no {self.name!r}.{did_you_mean(self.name, names)}",
                path=self.file,
                expected=list_names(names) if names else "a name at the top level of the file",
            ) from None

    def load_result(self) -> Any:
        """Return the object; if it is a function or a class, what calling it returns.

        A function that yields is called again for each epoch.
        """
        given = self.load()
        if not (inspect.isroutine(given) or inspect.isclass(given)):
            return given
        needed = [
            parameter.name
            for parameter in inspect.signature(given).parameters.values()
            if parameter.default is parameter.empty
            and parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
        ]
        if needed:
            raise RecordsmithError(
                f"{self.name!r} cannot be called without arguments.",
                path=self.file,
                found=f"{self.name}({', '.join(needed)})",
                expected="an object, or a function without required arguments that returns it",
                advice=f"Add a function to the file that calls {self.name} with its arguments, and name that one.",
            )
        return _Yielded(given) if inspect.isgeneratorfunction(given) else given()


class _Yielded:
    """The batches that a generator function yields, from the beginning for each epoch."""

    def __init__(self, function: Callable[[], Iterator[Any]]) -> None:
        self._function = function

    def __iter__(self) -> Iterator[Any]:
        return self._function()


def _imported(path: str) -> ModuleType:
    for module in list(sys.modules.values()):
        if getattr(module, "__file__", None) == path:
            return module
    # Not as __main__: what a script does when it is run, such as training, is not wanted here.
    name = Path(path).stem
    if name in sys.modules:  # a file that is called as some library is
        name = f"{name}_of_user"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None  # noqa: S101 - a file that ends with .py has one
    assert spec.loader is not None  # noqa: S101 - likewise
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _names_of(module: ModuleType) -> list[str]:
    """Return the names that the file itself defines."""
    return [
        name
        for name, value in vars(module).items()
        if not name.startswith("_")
        and not inspect.ismodule(value)
        and not (callable(value) and getattr(value, "__module__", module.__name__) != module.__name__)
    ]
