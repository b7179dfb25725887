"""Rules about the tree that no linter knows."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
NOT_OURS = {".git", ".venv", "build", "dist", "third_party", "results", "__pycache__"}


def project_files(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.iterdir()):
        if path.is_dir():
            if path.name not in NOT_OURS and not path.name.endswith("_cache") and path.name != ".hypothesis":
                yield from project_files(path)
        elif not path.is_symlink():
            yield path


def test_only_tests_know_the_shared_folder() -> None:
    mention = re.compile(rb"(\.\./|/work/)shared\b")
    files = (path for path in project_files(ROOT) if ROOT / "tests" not in path.parents)
    assert not [str(path.relative_to(ROOT)) for path in files if mention.search(path.read_bytes())]


def test_only_the_bindings_know_python() -> None:
    include = re.compile(r'^\s*#\s*include\s*[<"](Python\.h|nanobind/|pybind11/|numpy/)', re.MULTILINE)
    files = (path for path in project_files(ROOT / "cpp") if path.suffix in {".h", ".cc"})
    outside = [path for path in files if ROOT / "cpp" / "bindings" not in path.parents]
    assert outside
    assert not [str(path.relative_to(ROOT)) for path in outside if include.search(path.read_text())]


def test_the_gil_is_released_by_our_own_guard() -> None:
    # nanobind's ends the program where the interpreter ends first: see cpp/bindings/python/gil.h.
    files = (path for path in project_files(ROOT / "cpp" / "bindings") if path.suffix in {".h", ".cc"})
    assert not [path.name for path in files if re.search(r"gil_scoped|call_guard", path.read_text())]


@pytest.mark.parametrize("name", ["utils", "util", "helpers", "common", "misc"])
def test_no_module_is_named_after_nothing(name: str) -> None:
    folders = (ROOT / "src", ROOT / "cpp")
    assert not [str(path) for folder in folders for path in project_files(folder) if path.stem == name]
