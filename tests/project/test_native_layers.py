"""Includes of the native core go down the layers of layers.toml only."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

import pytest

ROOT = Path(__file__).resolve().parents[2]
CORE = ROOT / "cpp"
LAYERS: list[list[str]] = tomllib.loads((ROOT / "layers.toml").read_text())["cpp"]["layers"]
LEVELS = {folder: level for level, folders in enumerate(LAYERS) for folder in folders}


def sources_of(core: Path) -> list[Path]:
    return sorted(path for path in core.rglob("*") if path.suffix in {".h", ".cc"})


def folder_of(file: PurePosixPath) -> str:
    """The folder of layers.toml that a file belongs to: the nearest one above it."""
    return next((str(parent) for parent in file.parents if str(parent) in LEVELS), "")


def wrong_includes(core: Path) -> Iterator[str]:
    for path in sources_of(core):
        file = PurePosixPath(path.relative_to(core).as_posix())
        own = folder_of(file)
        for name in re.findall(r'^\s*#\s*include\s*"([^"]+)"', path.read_text(), re.MULTILINE):
            other = folder_of(PurePosixPath(name))
            if not other or not (core / name).is_file():
                yield f"{file} includes {name}, which is not the path of a file from cpp/"
            elif other != own and LEVELS[other] >= LEVELS[own]:
                yield f"{file} includes {name}, which is not below it"


def test_every_file_has_its_layer() -> None:
    homeless = [str(path) for path in sources_of(CORE) if not folder_of(PurePosixPath(path.relative_to(CORE)))]
    assert not homeless, f"{homeless}: say in layers.toml where they belong"
    assert not [folder for folder in LEVELS if not (CORE / folder).is_dir()]


def test_includes_go_down() -> None:
    assert not list(wrong_includes(CORE))


@pytest.mark.parametrize(
    ("file", "include", "is_allowed"),
    [
        ("records/framing.cc", "base/status.h", True),
        ("records/framing.cc", "records/index.h", True),
        ("tests/records/framing_test.cc", "tests/check.h", True),
        ("survey/features/numbers.cc", "survey/facts/places.h", True),
        ("base/status.h", "records/index.h", False),
        ("files/byte_source.h", "examples/wire.h", False),  # beside it
        ("survey/facts/places.h", "survey/survey.h", False),
        ("tests/check.h", "bindings/parts.h", False),
        ("records/framing.cc", "index.h", False),  # not from cpp/
        ("records/framing.cc", "../base/status.h", False),
        ("records/framing.cc", "records/absent.h", False),
    ],
)
def test_the_test_sees_an_include_upward(file: str, include: str, tmp_path: Path, *, is_allowed: bool) -> None:
    headers = "base/status.h records/index.h examples/wire.h survey/facts/places.h survey/survey.h bindings/parts.h"
    for name in (file, "tests/check.h", *headers.split()):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / file).write_text(f'#include <vector>\n#include "{include}"\n')
    assert (not list(wrong_includes(tmp_path))) == is_allowed
