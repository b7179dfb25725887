"""Draw docs/images/demo.svg, the image in the README: `python docs/draw_demo.py`. A test fails when it is stale.

It shows what two commands of the demo print, run as one would type them, on the demo's own dataset and program. All of
that depends on nothing but the code: no times, no paths outside of the folder.
"""
# ruff: noqa: INP001 - a script

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
import tempfile
from html import unescape
from pathlib import Path

from rich.console import Console
from rich.text import Text

from recordsmith.demonstration.drawing import draw_images
from recordsmith.demonstration.program import BROKEN_PROGRAM

IMAGE = Path(__file__).resolve().parent / "images" / "demo.svg"
WIDTH = 104
MADE_BY = "make photos -o data --split train=0.8,test=0.2 --stratify label --shards 2"  # as the demo does
SHOWN = ("check data", "doctor train_broken.py --data data")


def printed(folder: Path) -> list[tuple[str, str]]:
    """Return the commands, and what they print on a terminal, in a folder with what the demo makes."""
    draw_images(str(folder / "photos"))
    (folder / "train_broken.py").write_text(BROKEN_PROGRAM, encoding="utf-8")
    _run(MADE_BY, folder)
    return [(f"recordsmith {command}", _run(command, folder)) for command in SHOWN]


def _run(command: str, folder: Path) -> str:
    environment = {**os.environ, "COLUMNS": str(WIDTH), "FORCE_COLOR": "1", "COLORTERM": "truecolor", "TERM": "xterm"}
    words = [sys.executable, "-m", "recordsmith", *command.split()]
    done = subprocess.run(  # noqa: S603 - our own program
        words, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    return done.stdout


def drawn(shown: list[tuple[str, str]]) -> str:
    """Return the image."""
    console = Console(record=True, width=WIDTH, force_terminal=True, color_system="truecolor", file=io.StringIO())
    for command, output in shown:
        console.print(Text.assemble(("$ ", "dim"), (command, "bold"), "\n"))
        console.print(Text.from_ansi(output.rstrip()))
        console.print()
    return console.export_svg(title="recordsmith", unique_id="terminal")


def text_in(svg: str) -> str:
    """Return the letters that an image shows, without the space between them."""
    return _letters("".join(unescape(text) for text in re.findall(r"<text[^>]*>([^<]*)</text>", svg)))


def text_of(shown: list[tuple[str, str]]) -> str:
    """Return the letters that the commands print."""
    outputs = [f"$ {command}{Text.from_ansi(output).plain}" for command, output in shown]
    return _letters("recordsmith" + "".join(outputs))


def _letters(text: str) -> str:
    """Leave out space, and sizes: how small a PNG becomes is the affair of whoever encodes it."""
    return re.sub(r"[\d.,]+(bytes|KB|MB)", "SIZE", re.sub(r"\s", "", text))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        IMAGE.write_text(drawn(printed(Path(scratch))), encoding="utf-8")
