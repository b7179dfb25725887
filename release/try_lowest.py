"""Builds and tests with the lowest version of every package that pyproject.toml allows, in two fresh environments."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

from release.try_wheels import tests

ROOT = Path(__file__).resolve().parents[1]
WORK = ROOT / "build" / "lowest"
MORE_TESTS = ("columns", "records", "images", "audio", "text", "formats", "exporting")


def main() -> None:
    """Build a wheel with the lowest build requirements, and test it with the lowest of what it needs to run."""
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())
    builder = new_environment(
        "build", *declared["build-system"]["requires"], "--group", f"{ROOT}/pyproject.toml:build", "build>=1.3"
    )
    for old in WORK.glob("*.whl"):
        old.unlink()
    build = ["-m", "build", "--wheel", "--no-isolation", f"--outdir={WORK}", f"-Cbuild-dir={WORK}/cmake", str(ROOT)]
    subprocess.run(
        [str(builder), *build],
        check=True,
        env=os.environ | {"PATH": f"{builder.parent}{os.pathsep}{os.environ['PATH']}"},
    )
    (wheel,) = WORK.glob("*.whl")
    # Named one by one: the lowest version is taken of what is asked for directly, not of what the wheel asks for.
    extras = declared["project"]["optional-dependencies"]
    named = [*extras["all"][0].partition("[")[2].rstrip("]").split(","), "opencv"]
    needed = [*declared["project"]["dependencies"], *(package for extra in named for package in extras[extra])]
    group = ("--group", f"{ROOT}/pyproject.toml:test-core")
    python = new_environment("run", str(wheel), *dict.fromkeys(needed), *group, "pillow>=11")
    chosen = [*tests(), *without_tensorflow()]
    test = [str(python), "-m", "pytest", "-q", "-n", "2", "-p", "no:cacheprovider"]
    subprocess.run([*test, *chosen], check=True, cwd=ROOT)


def new_environment(name: str, *packages: str) -> Path:
    """Make an environment with the lowest versions of these packages, and show them."""
    uv = [sys.executable, "-m", "uv", "--quiet"]
    python = WORK / name / "bin" / "python"
    subprocess.run([*uv, "venv", "--clear", "--python", sys.executable, WORK / name], check=True)
    lowest = ["pip", "install", "--python", str(python), "--resolution", "lowest-direct", "--only-binary", ":all:"]
    subprocess.run([*uv, *lowest, *packages], check=True)
    subprocess.run([sys.executable, "-m", "uv", "pip", "list", "--python", python], check=True)
    return python


def without_tensorflow() -> list[str]:
    """Return more tests, of those folders whose subject is another library, as far as they need no framework."""
    frameworks = ("tensorflow", "import torch", "import jax", "import keras", "import datasets", "from sybil")
    files = [path for folder in MORE_TESTS for path in sorted((ROOT / "tests" / folder).rglob("test_*.py"))]
    return [str(path.relative_to(ROOT)) for path in files if not any(name in path.read_text() for name in frameworks)]


if __name__ == "__main__":
    main()
