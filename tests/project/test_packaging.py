"""Compares pyproject.toml with the code. Compiling is tested by hand, because it takes minutes."""

from __future__ import annotations

import ast
import contextlib
import itertools
import json
import re
import shlex
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from collections.abc import Iterator
from datetime import datetime
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement

import recordsmith

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "recordsmith"
TEXT = (ROOT / "pyproject.toml").read_text()
PYPROJECT: dict[str, Any] = tomllib.loads(TEXT)
PROJECT = PYPROJECT["project"]
EXTRAS = PROJECT["optional-dependencies"]
# Packages whose modules are not called as they are, and those that another one brings along.
PACKAGES = {
    "cv2": "opencv-python-headless",
    "sklearn": "scikit-learn",
    "imblearn": "imbalanced-learn",
    "yaml": "pyyaml",
    "google": "protobuf",
}
BROUGHT_ALONG = {"scipy": "scikit-learn"}
ANY_BUILD = {"tensorflow"}  # has several builds under other names, of which no extra can ask for one or the other


def optional_imports() -> Iterator[tuple[str, str, str]]:
    """Each call of import_extra: where it is, the module, the extra."""
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "import_extra":
                named = {keyword.arg: keyword.value for keyword in node.keywords}
                module, extra = node.args[0], named.get("extra") or node.args[1]
                if isinstance(module, ast.Constant) and isinstance(extra, ast.Constant):
                    yield f"{path.relative_to(SOURCE)}:{node.lineno}", str(module.value), str(extra.value)


def package_of(requirement: str) -> str:
    return re.split(r"[\s\[<>=!~;]", requirement)[0].lower()


def test_every_optional_import_names_an_extra_that_installs_it():
    seen = set()
    for where, module, extra in optional_imports():
        top = module.partition(".")[0]
        if top in ANY_BUILD:
            continue
        assert extra in EXTRAS, f"{where} asks for the extra {extra!r}, and there is none"
        packages = {BROUGHT_ALONG.get(top, top), PACKAGES.get(top, top)}
        assert packages & set(map(package_of, EXTRAS[extra])), f"{where}: the extra {extra!r} does not install {top}"
        seen.add(extra)
    assert seen == set(EXTRAS) - {"all"}


def test_all_is_everything_but_the_frameworks():
    named = re.fullmatch(r"recordsmith\[(.+)\]", EXTRAS["all"][0])
    assert named is not None
    assert set(named[1].split(",")) == set(EXTRAS) - {"all", "opencv", "torch", "jax", "keras", "lightning", "ray"}


def test_no_extra_adds_a_second_build_of_opencv():
    assert [extra for extra, packages in EXTRAS.items() if "opencv" in "".join(packages)] == ["opencv"]


def test_the_advice_for_a_missing_library_is_a_command_that_names_it():
    for where, module, extra in optional_imports():
        words = shlex.split(recordsmith.MissingExtraError(module, extra).advice)
        assert words[:2] == ["pip", "install"], where
        top = module.partition(".")[0]
        packages = {Requirement(word).name for word in words[2:]}
        assert packages & {top, PACKAGES.get(top, top), BROUGHT_ALONG.get(top, top)}, f"{where}: {packages}"
        assert "recordsmith" not in packages, where  # it need not be on PyPI for this


PAGES = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]


def test_documents_name_only_extras_that_exist_and_commands_that_work_today():
    for page in PAGES:
        text = page.read_text()
        for names in re.findall(r"(?:recordsmith|\.)\[([a-z0-9,]+)\]\"", text):
            assert set(names.split(",")) <= set(EXTRAS), f"{page.name}: {names}"
        for line in text.splitlines():
            says_pypi = re.search(r"pip install [\"']?recordsmith", line) and "release" not in line
            assert not says_pypi, f"{page.name}: it is not on PyPI yet: {line}"


def test_nothing_but_what_is_declared_is_imported_at_the_top_of_a_module():
    declared = {package_of(requirement) for requirement in PROJECT["dependencies"]}
    assert declared == {"numpy", "click", "rich", "nanobind-backend"}
    known = declared | {"recordsmith"} | sys.stdlib_module_names
    found = set()
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.parse(path.read_text()).body:
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            if {name.partition(".")[0] for name in names} - known:
                found.add(path.relative_to(SOURCE).as_posix())
    # These are imported only after the framework has been asked for through import_extra.
    assert found == {"schema/export/tensorflow_functions.py", "ray/blocks.py", "ray/reading.py", "ray/sink.py"}


@pytest.mark.parametrize("table", ["dependencies", "optional-dependencies", "requires", "dependency-groups"])
def test_every_dependency_has_its_reason_beside_it(table):
    lines = TEXT.splitlines()
    start = next(
        i for i, line in enumerate(lines) if line.startswith((f"{table} =", f"[{table}]", f"[project.{table}]"))
    )
    stop = next((i for i in range(start + 1, len(lines)) if lines[i].startswith(("[", "]"))), len(lines))
    for line in lines[start + 1 : stop]:
        requirement = re.search(r'"[A-Za-z][\w.-]*(\[\w+\])?[<>=]', line)
        assert requirement is None or "#" in line, f"why? {line.strip()}"


def test_versions_of_python_agree():
    oldest = re.fullmatch(r">=3\.(\d+)", PROJECT["requires-python"])
    assert oldest is not None
    stated = [line for line in PROJECT["classifiers"] if re.search(r":: 3\.\d+$", line)]
    assert stated
    assert all(int(line.rpartition(".")[2]) >= int(oldest[1]) for line in stated)
    assert PYPROJECT["tool"]["ruff"]["target-version"] == f"py3{oldest[1]}"
    assert PYPROJECT["tool"]["mypy"]["python_version"] == f"3.{oldest[1]}"


def test_a_release_tests_its_wheels_with_every_version_of_python_that_has_the_gil():
    (chosen,) = PYPROJECT["tool"]["cibuildwheel"]["build"]
    stated = [line.rpartition("3.")[2] for line in PROJECT["classifiers"] if re.search(r":: 3\.\d+$", line)]
    assert all(fnmatch(f"cp3{minor}-manylinux_x86_64", chosen) for minor in stated)
    assert not any(fnmatch(f"cp3{minor}t-manylinux_x86_64", chosen) for minor in stated)
    assert not fnmatch("cp310-manylinux_x86_64", chosen)


def test_the_package_says_its_version_and_its_types():
    declared = PYPROJECT["tool"]["scikit-build"]["metadata"]["version"]
    assert PROJECT["dynamic"] == ["version"]
    assert Path(ROOT, declared["input"]) == Path(recordsmith.__file__)
    assert (SOURCE / "py.typed").is_file()
    assert (SOURCE / "_core.pyi").is_file()


def test_licences_of_what_is_bundled_go_along():
    for name in PROJECT["license-files"]:
        assert (ROOT / name).is_file(), name
    bundled = {path.name for path in (ROOT / "third_party").iterdir() if path.is_dir()}
    assert bundled == {Path(name).parts[1] for name in PROJECT["license-files"] if name.startswith("third_party/")}


def test_the_bill_of_materials_is_complete():
    pytest.importorskip("cyclonedx", reason="cyclonedx-python-lib is not installed")
    program = ROOT / "release" / "bill_of_materials.py"
    printed = subprocess.run([sys.executable, str(program)], check=True, capture_output=True, text=True).stdout
    bill = json.loads(printed)
    assert (bill["bomFormat"], bill["metadata"]["component"]["version"]) == ("CycloneDX", recordsmith.__version__)
    committed = subprocess.check_output(["git", "log", "-1", "--format=%ct"], cwd=ROOT, text=True)
    assert datetime.fromisoformat(bill["metadata"]["timestamp"]).timestamp() == int(committed)
    components = {part["name"]: part for part in bill["components"]}
    compiled_in = {path.name for path in (ROOT / "third_party").iterdir() if path.is_dir()}
    lines = itertools.chain(PROJECT["dependencies"], *EXTRAS.values())
    assert set(components) == compiled_in | {package_of(line) for line in lines} - {"recordsmith"}
    for name in compiled_in:
        assert components[name]["version"], name
        assert components[name]["licenses"][0]["license"]["id"], name


def test_the_conda_recipe_agrees_with_pyproject():
    recipe = (ROOT / "release" / "conda" / "recipe.yaml").read_text()
    declared = [*PYPROJECT["build-system"]["requires"], *PROJECT["dependencies"]]
    for line in declared:
        named = Requirement(line)
        if named.name != "nanobind-backend":  # only the module of the wheels loads it
            bounds = ",".join(sorted(map(str, named.specifier), reverse=True))
            assert f"- {named.name} {bounds}\n" in recipe, line
    for name in PROJECT["license-files"]:
        assert f"- {name}\n" in recipe, name


def test_a_source_distribution_has_what_a_build_needs_and_nothing_else(tmp_path):
    backend = pytest.importorskip("scikit_build_core.build", reason="the build backend is not installed")
    with contextlib.chdir(ROOT):
        archive = backend.build_sdist(str(tmp_path))
    with tarfile.open(tmp_path / archive) as packed:
        names = {name.partition("/")[2] for name in packed.getnames()}
    assert {name.partition("/")[0] for name in names} == {
        *("CHANGELOG.md", "CITATION.cff", "CMakeLists.txt", "LICENSE", "NOTICE", "PKG-INFO", "README.md"),
        *("pyproject.toml", "cpp", "src", "third_party"),
    }
    assert not [name for name in names if name.endswith((".so", ".pyc", ".o")) or name.startswith("cpp/fuzz")]
    sources = {path.relative_to(ROOT).as_posix() for path in (ROOT / "cpp").rglob("*.cc")}
    assert {name for name in sources if not name.startswith("cpp/fuzz")} <= names


def test_a_wheel_has_every_file_of_the_package(tmp_path):
    """Styles, scripts and types too, which Python itself would not miss. Nothing is compiled for this."""
    pytest.importorskip("scikit_build_core", reason="the build backend is not installed")
    options = ["wheel.cmake=false", f"build-dir={tmp_path}/build"]
    subprocess.run(
        [sys.executable, "-m", "pip", "wheel", "-q", str(ROOT), "--no-build-isolation", "--no-deps", "--no-index"]
        + [part for option in options for part in ("-C", option)]
        + ["-w", str(tmp_path)],
        check=True,
        capture_output=True,
    )
    (wheel,) = tmp_path.glob("*.whl")
    packed = {name for name in zipfile.ZipFile(wheel).namelist() if name.startswith("recordsmith/")}
    source = {
        path.relative_to(SOURCE.parent).as_posix()
        for path in SOURCE.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts and path.suffix not in (".so", ".pyc")
    }
    assert packed == source
    assert {
        "recordsmith/viewer/viewer.css",
        "recordsmith/viewer/viewer.js",
        "recordsmith/report/html/theme.css",
    } <= packed
