"""Builds the source distribution, and from it the wheels for x86-64 and ARM, into dist/.

The wheels run with every Python from 3.11 on and every Linux with glibc 2.28. Two builds of one commit are the same.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import ziglang

ROOT = Path(__file__).resolve().parents[1]
GLIBC = "2.28"  # of manylinux_2_28: Debian 10, Ubuntu 18.10, RHEL 8
PROCESSORS = ("x86_64", "aarch64")
EXTRA = ROOT / "release" / "glibc_2_28.c"


def main() -> None:
    """Build what the command line asks for, and say how large it is."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--processor", action="append", choices=PROCESSORS, help="default: all")
    parser.add_argument("--into", type=Path, default=ROOT / "dist")
    parser.add_argument("--work", type=Path, default=ROOT / "build" / "wheels", help="for what is built on the way")
    chosen = parser.parse_args()
    shutil.rmtree(chosen.into, ignore_errors=True)
    archive = build_sdist(chosen.into)
    print(described(archive))
    for processor in chosen.processor or PROCESSORS:
        print(described(build_wheel(archive, processor, chosen.into, chosen.work.resolve())), flush=True)


def build_sdist(into: Path) -> Path:
    """Pack what a build needs, with the time of the last commit."""
    run("-m", "build", "--sdist", "--no-isolation", "--outdir", into, ROOT)
    (archive,) = into.glob("*.tar.gz")
    return archive


def build_wheel(archive: Path, processor: str, into: Path, work: Path) -> Path:
    """Compile the unpacked archive and give the wheel the name of the systems that it runs on."""
    source = work / archive.name.removesuffix(".tar.gz")
    shutil.rmtree(source, ignore_errors=True)
    with tarfile.open(archive) as packed:
        packed.extractall(work, filter="data")
    raw, build = work / processor, work / f"cmake-{processor}"
    shutil.rmtree(raw, ignore_errors=True)
    c, cpp = linked_with_old_glibc(processor, work)
    same_paths = f"-ffile-prefix-map={source}=. -ffile-prefix-map={build}=build"
    values = {
        "CMAKE_SYSTEM_NAME": "Linux",
        "CMAKE_SYSTEM_PROCESSOR": processor,
        "CMAKE_SHARED_LINKER_FLAGS": "-nodefaultlibs",
        "CMAKE_MODULE_LINKER_FLAGS": "-nodefaultlibs",
        "CMAKE_C_STANDARD_LIBRARIES": c,
        "CMAKE_CXX_STANDARD_LIBRARIES": f"{cpp} {c}",
        "CMAKE_TRY_COMPILE_TARGET_TYPE": "STATIC_LIBRARY",
        "RECORDSMITH_STABLE_ABI": "ON",
    }
    run(
        *("-m", "build", "--wheel", "--no-isolation", "--outdir", raw, source),
        *(f"-C{name}={value}" for name, value in {"build-dir": build, "wheel.py-api": "cp311"}.items()),
        *(f"-Ccmake.define.{name}={value}" for name, value in values.items()),
        CC=f"{processor}-linux-gnu-gcc",
        CXX=f"{processor}-linux-gnu-g++",
        CFLAGS=same_paths,
        CXXFLAGS=same_paths,
        _PYTHON_HOST_PLATFORM=f"linux-{processor}",  # what the wheel is for, where it is not this machine
    )
    (wheel,) = raw.glob("*.whl")
    # The oldest system that its symbols allow, which may be older than asked for.
    run("-m", "auditwheel", "repair", "--plat", "auto", "--only-plat", "--wheel-dir", into, wheel)
    (repaired,) = into.glob(f"*_{processor}.whl")
    run("-m", "auditwheel", "show", repaired)
    run("-m", "abi3audit", "--strict", repaired)
    return repaired


def linked_with_old_glibc(processor: str, work: Path) -> tuple[str, str]:
    """Return the libraries to link C with, and what C++ needs besides, such that no newer glibc is asked for.

    The compiler is Debian's, with its own libstdc++ (nanobind's split mode needs it), which is linked statically. glibc
    is what zig has for such cases: libraries with the symbols of an old version, and no code.
    """
    folder = work / f"glibc-{processor}"
    names = ("libm.so.6", "libpthread.so.0", "libc.so.6", "libld.so.2", "libc_nonshared.a")
    if not all((folder / name).is_file() for name in names):
        folder.mkdir(parents=True, exist_ok=True)
        program = folder / "nothing.c"
        program.write_text("int main(void) { return 0; }\n")
        zig = Path(ziglang.__file__).with_name("zig")
        subprocess.run(
            [zig, "cc", "-target", f"{processor}-linux-gnu.{GLIBC}", program, "-o", folder / "nothing", "-O2", "-lm"],
            env=os.environ | {"ZIG_GLOBAL_CACHE_DIR": str(folder / "cache")},
            check=True,
        )
        for library in (folder / "cache").rglob("lib*.[as]*"):
            shutil.copy(library, folder)
    extra = folder / "glibc_2_28.o"
    subprocess.run([f"{processor}-linux-gnu-gcc", "-O2", "-fPIC", "-c", EXTRA, "-o", extra], check=True)
    libraries = " ".join(str(folder / name) for name in names)
    return f"{libraries} -lgcc_s -lgcc", f"-Wl,-Bstatic -lstdc++ -Wl,-Bdynamic {extra}"


def run(*arguments: object, **environment: object) -> None:
    """Run this Python; times in archives are those of the last commit."""
    written = subprocess.check_output(["git", "log", "-1", "--format=%ct"], cwd=ROOT, text=True).strip()
    tools = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    values = {"SOURCE_DATE_EPOCH": written, "PATH": tools, **{name: str(value) for name, value in environment.items()}}
    subprocess.run([sys.executable, *map(str, arguments)], env=os.environ | values, check=True)


def described(file: Path) -> str:
    """Return name and size.

    >>> described(Path(__file__)).split()[0]
    'build_wheels.py'
    """
    return f"{file.name}  {file.stat().st_size / 1e6:.1f} MB"


if __name__ == "__main__":
    main()
