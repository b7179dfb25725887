"""Fresh environments with the Python of a Debian release, for this processor and, under qemu, for ARM.

The packages of Debian are unpacked into a folder. Nothing is installed on this machine, and nothing needs to be root.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

DEBIAN = {"x86_64": "amd64", "aarch64": "arm64"}
MIRROR = "http://deb.debian.org/debian"


def unpacked(suite: str, processor: str, work: Path, *, package: str = "python3") -> Path:
    """Return the folder with Debian's Python and the libraries that wheels may count on."""
    root = work / f"{suite}-{processor}"
    archive = root.with_suffix(".tar")
    if archive.exists() or not root.is_dir():  # the archive is there until all of it is unpacked
        for tool, needed in {"mmdebstrap": "mmdebstrap", "qemu-aarch64-static": "qemu-user-static"}.items():
            if shutil.which(tool) is None:
                raise SystemExit(f"{tool} is missing. To do: apt install {needed}")
        root.parent.mkdir(parents=True, exist_ok=True)
        # Development releases are signed for a week at a time, and mirrors may be older than that.
        subprocess.run(
            [
                *("mmdebstrap", "--quiet", "--variant=extract", f"--architectures={DEBIAN[processor]}"),
                *(f"--include={package},libstdc++6", "--aptopt=Acquire::Check-Valid-Until false"),
                *(suite, archive, MIRROR),
            ],
            check=True,
        )
        # Without these: qemu looks at the folder first for every path, and /tmp must stay that of the machine.
        root.mkdir(exist_ok=True)
        others = [f"--exclude=./{name}" for name in ("dev", "etc", "tmp", "var")]
        subprocess.run(["tar", "-xf", archive, "-C", root, *others], check=True)
        for name in ("lib", "lib64"):
            if not (root / name).exists() and (root / "usr" / name).exists():
                (root / name).symlink_to(f"usr/{name}")
        archive.unlink()
    return root


def new_environment(root: Path, processor: str, folder: Path) -> Path:
    """Make an empty environment, and return its Python: a script, so that programs which it starts are emulated too."""
    (interpreter,) = [path for path in (root / "usr/bin").glob("python3.*") if path.name[7:].replace(".", "").isdigit()]
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "bin").mkdir(parents=True)
    (folder / "lib" / interpreter.name / "site-packages").mkdir(parents=True)
    version = interpreter.name.removeprefix("python")
    (folder / "pyvenv.cfg").write_text(f"home = {interpreter.parent}\nversion = {version}\n")
    python = folder / "bin" / "python"
    if processor == "aarch64":
        start = f"exec qemu-aarch64-static -L {root} -0 {python} {interpreter}"
    else:
        libraries = f"{root}/lib/x86_64-linux-gnu:{root}/usr/lib/x86_64-linux-gnu"
        start = f"exec {root}/lib64/ld-linux-x86-64.so.2 --argv0 {python} --library-path {libraries} {interpreter}"
    python.write_text(f'#!/bin/sh\n{start} "$@"\n')
    python.chmod(0o755)
    return python
