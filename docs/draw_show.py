"""Draw docs/images/show.svg, the picture in the README: `make demo && python docs/draw_show.py`."""
# ruff: noqa: INP001 - a script

from __future__ import annotations

import io
import os
from pathlib import Path

from rich.console import Console
from rich.text import Text

from recordsmith.facts import RowRange, look_at
from recordsmith.schema import Schema
from recordsmith.view.overview_tables import overview_renderable

DATA = Path("build/demo")
PICTURE = Path(__file__).resolve().parent / "images" / "show.svg"
WIDTH = 88


def main() -> None:
    """Print on a console that keeps what it prints."""
    schema = Schema.load(DATA / "schema.json")
    os.chdir(DATA.parent)  # so that the picture says demo, wherever it was drawn
    console = Console(record=True, width=WIDTH, force_terminal=True, color_system="truecolor", file=io.StringIO())
    overview = look_at("demo", rows=RowRange(0, 2), schema=schema, schema_name="demo/schema.json")
    console.print(Text.assemble(("$ ", "dim"), "recordsmith show demo --schema demo/schema.json -n 2\n"))
    console.print(overview_renderable(overview, width=WIDTH))
    PICTURE.parent.mkdir(exist_ok=True)
    console.save_svg(str(PICTURE), title="recordsmith show")


if __name__ == "__main__":
    main()
