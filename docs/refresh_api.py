"""Write docs/api.md from the package's public names: `python docs/refresh_api.py`. mkdocs fills in the rest."""
# ruff: noqa: INP001 - a script

from __future__ import annotations

from pathlib import Path

import recordsmith

PAGE = Path(__file__).with_name("api.md")
HEAD = """# Python API

This page lists every public name of `import recordsmith as rs`. The tests run all examples.
"""
# The first name of each group, in the order of recordsmith.__all__.
GROUPS = {
    "Schema": "Schema",
    "make": "Make datasets",
    "copy": "Copying and exporting",
    "open": "Read and load",
    "check": "Check and diagnose",
    "RecordReader": "Single files",
    "RecordsmithError": "Errors",
}
MODULES = {
    "augment": "recordsmith.augment",
    "sources": "recordsmith.making.sources",
    "preprocessing": "recordsmith.making.preprocessing",
}


def page() -> str:
    """Return the page's text."""
    parts = [HEAD]
    for name in recordsmith.__all__:
        if name in GROUPS:
            parts.append(f"## {GROUPS[name]}\n")
        parts.append(f"::: {MODULES.get(name, f'recordsmith.{name}')}\n")
    return "\n".join(parts)


if __name__ == "__main__":
    PAGE.write_text(page())
