"""Draw docs/images/demo.svg, the picture in the README, from what `make demo` left: `python docs/draw_demo.py`."""
# ruff: noqa: INP001 - a script

from __future__ import annotations

import io
import os
import sys
from pathlib import Path

from rich.console import Console
from rich.text import Text

import recordsmith as rs
from recordsmith.view.report_view import report_blocks

PICTURE = Path(__file__).resolve().parent / "images" / "demo.svg"
WIDTH = 104


def main(folder: str) -> None:
    """Print on a console that keeps what it prints."""
    os.chdir(folder)
    console = Console(record=True, width=WIDTH, force_terminal=True, color_system="truecolor", file=io.StringIO())
    for command, report in (
        ("recordsmith check data", rs.check("data")),
        ("recordsmith doctor train_broken.py --data data", rs.lint("train_broken.py", data="data")),
    ):
        console.print(Text.assemble(("$ ", "dim"), (command, "bold"), "\n"))
        console.print(report_blocks(report, width=WIDTH))
        console.print()
    PICTURE.parent.mkdir(exist_ok=True)
    console.save_svg(str(PICTURE), title="recordsmith")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "build/demo")
