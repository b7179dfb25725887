"""Tests the wheels of dist/ in fresh environments: with Debian's Pythons on x86-64, and on ARM under qemu.

    python -m release.try_wheels                                 # Python 3.11 and 3.13, both processors
    python -m release.try_wheels sid:python3.14 sid:python3.15   # those of Debian's development release

For each: the conformance tests that need no TensorFlow, the tests of the native module, and the demo.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

from release import debian_python

ROOT = Path(__file__).resolve().parents[1]
SUITES = ["bookworm:python3", "trixie:python3"]
# The demo needs these two, with wheels for every processor; a Python that is too new for them goes without the demo.
FOR_THE_DEMO = ["opencv-python-headless>=4.11", "scikit-learn>=1.4"]


def main() -> None:
    """Run all, and stop at the first that fails."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("suite", nargs="*", default=SUITES, help="suite:package")
    parser.add_argument("--processor", action="append", choices=tuple(debian_python.DEBIAN), help="default: both")
    parser.add_argument("--dist", type=Path, default=ROOT / "dist")
    parser.add_argument("--work", type=Path, default=ROOT / "build" / "wheels")
    chosen = parser.parse_args()
    for processor in chosen.processor or debian_python.DEBIAN:
        (wheel,) = chosen.dist.glob(f"*_{processor}.whl")
        for named in chosen.suite:
            suite, _, package = named.partition(":")
            root = debian_python.unpacked(suite, processor, chosen.work.resolve() / "debian" / package, package=package)
            folder = chosen.work.resolve() / "environments" / f"{suite}-{package}-{processor}"
            try_wheel(wheel, debian_python.new_environment(root, processor, folder))


def try_wheel(wheel: Path, python: Path) -> None:
    """Install a wheel and what its tests need, and run them."""
    print(f"\n{wheel.name} in {python.parents[1].name}", flush=True)
    uv = [sys.executable, "-m", "uv", "pip", "install", "--quiet", "--only-binary", ":all:"]
    install = [*uv, "--python", str(python)]
    subprocess.run([*install, str(wheel), "--group", f"{ROOT}/pyproject.toml:test-core"], check=True)
    with_demo = subprocess.run([*install, *FOR_THE_DEMO], check=False).returncode == 0
    show = "import recordsmith, sys; print(sys.version.split()[0], recordsmith.__file__)"
    subprocess.run([python, "-c", show], check=True, cwd=python.parent)
    patient = ("-o", "faulthandler_timeout=7200")  # emulated, a test may take 50 times as long
    test = [str(python), "-m", "pytest", "-q", "-n", "2", "-p", "no:cacheprovider", *patient]
    subprocess.run([*test, *tests()], check=True, cwd=ROOT)
    if with_demo:
        subprocess.run([python, "-m", "recordsmith", "demo", python.parents[1] / "demo"], check=True, cwd=python.parent)
    else:
        print("There is no OpenCV or scikit-learn for this Python: no demo.", flush=True)


def tests() -> list[str]:
    """Return the files of the tests that need nothing but the package, pytest and hypothesis."""
    return [
        str(path.relative_to(ROOT))
        for folder in ("conformance", "native")
        for path in sorted((ROOT / "tests" / folder).glob("test_*.py"))
        if "tensorflow as tf" not in path.read_text()
    ]


if __name__ == "__main__":
    main()
