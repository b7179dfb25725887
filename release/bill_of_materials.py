"""Writes the software bill of materials (CycloneDX, JSON): what is compiled into a wheel, and what it needs to run.

It is made from pyproject.toml and from the table of third_party/README.md, so that it cannot say anything else.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
import uuid
from datetime import UTC, datetime
from pathlib import Path

from cyclonedx.contrib.license.factories import LicenseFactory
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentScope, ComponentType
from cyclonedx.model.dependency import Dependency
from cyclonedx.output import make_outputter
from cyclonedx.schema import OutputFormat, SchemaVersion
from packageurl import PackageURL

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def bundled() -> list[Component]:
    """Return what is compiled in: one component for each line of the table, with its version and licence."""
    rows = re.findall(r"^\| `([\w-]+)` *\|(.+)\|$", (ROOT / "third_party" / "README.md").read_text(), re.MULTILINE)
    found = []
    for name, cells in rows:
        what, version, _, licence = (cell.strip() for cell in cells.split("|"))
        found.append(_component(name, f"pkg:generic/{name}@{version}", version, licence, what))
    return found


def required() -> list[Component]:
    """Return what is needed to run, and what each extra adds: any version that pyproject.toml allows."""
    extras = [line for lines in PROJECT["optional-dependencies"].values() for line in lines]
    found: dict[str, Component] = {}
    for line in [*PROJECT["dependencies"], *extras]:
        name, versions = re.fullmatch(r"([\w-]+)(?:\[[\w,]+\])?([^;]*)(?:;.*)?", line).groups()  # type: ignore[union-attr]
        if name != PROJECT["name"]:
            component = _component(name, f"pkg:pypi/{name}", None, None, f"versions {versions}")
            component.scope = ComponentScope.REQUIRED if line in PROJECT["dependencies"] else ComponentScope.OPTIONAL
            found.setdefault(name, component)
    return list(found.values())


def _component(name: str, url: str, version: str | None, licence: str | None, what: str) -> Component:
    return Component(
        name=name,
        version=version,
        type=ComponentType.LIBRARY,
        bom_ref=url,
        purl=PackageURL.from_string(url),
        licenses=[LicenseFactory().make_from_string(licence)] if licence else [],
        description=what,
    )


def bill() -> str:
    """Return the whole bill of materials."""
    version = re.search(r'^__version__ = "(.+)"$', (ROOT / "src/recordsmith/__init__.py").read_text(), re.MULTILINE)
    assert version is not None  # noqa: S101 - the build reads it by the same pattern
    name, licence = PROJECT["name"], PROJECT["license"]
    ours = _component(name, f"pkg:pypi/{name}@{version[1]}", version[1], licence, PROJECT["description"])
    parts = [*bundled(), *required()]
    bom = Bom(components=parts, dependencies=[Dependency(ours.bom_ref, [Dependency(part.bom_ref) for part in parts])])
    bom.metadata.component = ours
    # The same commit has the same bill.
    bom.serial_number = uuid.uuid5(uuid.NAMESPACE_URL, f"{name} {version[1]}")
    committed = subprocess.check_output(["git", "log", "-1", "--format=%ct"], cwd=ROOT, text=True)
    bom.metadata.timestamp = datetime.fromtimestamp(int(committed), UTC)
    return str(make_outputter(bom, OutputFormat.JSON, SchemaVersion.V1_6).output_as_string(indent=2))


if __name__ == "__main__":
    sys.stdout.write(bill() + "\n")
