"""`recordsmith show`: shows the contents of a dataset."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

import click

from recordsmith.cli.options.shared_options import files_of_split_option, format_option, names_option

if TYPE_CHECKING:
    from rich.console import Console

    from recordsmith.query.overview import RowRange
    from recordsmith.terminal.values.thumbnails import Thumbnails

__all__ = ["show"]

_EXAMPLES = """\b
Examples:
  recordsmith show data/
  recordsmith show 'data/train-*.tfrecord.gz' -n 20
  recordsmith show pets.record --features image/encoded,image/object/class/label
  recordsmith show data/ --rows -3: --format json
  recordsmith show data/ --record 1234
  recordsmith show data/ --where "label == 'cat' and weight > 5" -n 20
  recordsmith show strange.tfrecord --raw -n 1
"""

_ROWS = re.compile(r"(-?\d+)|(-?\d+)?:(-?\d+)?(?::(-?\d+))?")


def rows_option(_ctx: click.Context | None, _param: click.Parameter | None, value: str | None) -> RowRange | None:
    """Read rows as Python writes them: 7, 10:20, -5: or ::100.

    >>> rows_option(None, None, "10:20")
    RowRange(start=10, stop=20, step=None)
    """
    from recordsmith.query.overview import RowRange

    if value is None:
        return None
    match = _ROWS.fullmatch(value.strip())
    if match is None or match[4] in ("0", "-0"):
        raise click.BadParameter(
            f"{value!r} is neither a row, such as 7 or -1, nor a range, such as 10:20, -5: or ::100."
        )
    if match[1] is not None:
        row = int(match[1])
        return RowRange(row, row + 1 or None)
    return RowRange(*(None if part is None else int(part) for part in match.groups()[1:]))


@click.command(short_help="Show the contents of TFRecord files: features, example values, rows.", epilog=_EXAMPLES)
@click.argument("paths", metavar="PATH...", nargs=-1, required=True)
@click.option(
    "-n", "count", metavar="N", type=click.IntRange(0), default=5, show_default=True, help="Show the first N rows."
)
@click.option("--rows", callback=rows_option, metavar="A:B", help="Show these rows instead, such as 10:20, -5: or 7.")
@click.option("--record", metavar="K", type=int, help="Show one record with all its values; -1 is the last.")
@click.option(
    "--where",
    metavar="CONDITION",
    help="Show the first N rows that match, such as \"label == 'cat' and len(tokens) > 10\".",
)
@names_option("--features", "Show only these features.")
@click.option(
    "--thumbnails/--no-thumbnails",
    default=None,
    help="Show small images, or not. [default: on terminals that support it (kitty, iTerm2, sixel)]",
)
@click.option("--raw", is_flag=True, help="Show the payload of each row as bytes, without decoding it.")
@files_of_split_option
@click.option(
    "--schema", "schema_path", metavar="FILE", help="Decode with this schema, written by `recordsmith schema -o`."
)
@format_option("The format of the output. The keys of the JSON are stable; docs/cli.md describes them.")
@click.pass_context
def show(  # noqa: PLR0913 - one for each option
    ctx: click.Context,
    *,
    paths: tuple[str, ...],
    count: int,
    rows: RowRange | None,
    record: int | None,
    where: str | None,
    features: tuple[str, ...],
    thumbnails: bool | None,
    raw: bool,
    split: str | None,
    schema_path: str | None,
    style: str,
) -> None:
    """Show the contents of TFRecord files.

    PATH is a file, a folder, or a quoted glob. The output lists the number of records, the features with their
    types, shapes, counts and values, and the first rows. Records that are not tf.train.Example messages are shown
    in their own format. A damaged file is shown up to the damage, with exit code 2.
    """
    from rich.console import Group

    from recordsmith.cli.consoles import echo_json, error_console, output_console, print_to
    from recordsmith.query.overview import look_at
    from recordsmith.schema import Schema
    from recordsmith.terminal.error_block import error_block
    from recordsmith.terminal.results.overview_json import overview_json
    from recordsmith.terminal.results.overview_tables import overview_renderable
    from recordsmith.terminal.results.record_details import record_renderable
    from recordsmith.workers.progress_display import file_progress

    counted = ctx.get_parameter_source("count") is not click.core.ParameterSource.DEFAULT
    wanted = _wanted_rows(rows, record, where, count if counted or (rows is None and record is None) else None)
    with file_progress("indexing", paths) as on_file:
        overview = look_at(
            paths[0] if len(paths) == 1 else paths,
            rows=wanted,
            where=where,
            features=list(features),
            split=split,
            schema=None if schema_path is None else Schema.load(schema_path),
            schema_name=schema_path,
            on_file=on_file,
        )
    if record is not None and not overview.rows and not overview.problems:
        raise click.UsageError(f"There is no record {record}: there are {overview.records:,} records, numbered from 0.")
    if style == "json":
        document = overview_json(overview, raw=raw, whole=record is not None)
        echo_json(document)
    else:
        console = output_console()
        images = _thumbnails(console, asked=thumbnails, large=record is not None)
        if record is not None and overview.rows:
            row = overview.rows[0]
            print_to(console, record_renderable(overview, row, width=console.width, raw=raw, thumbnails=images))
        else:
            print_to(console, overview_renderable(overview, width=console.width, raw=raw, thumbnails=images))
    for problem in overview.problems:
        print_to(error_console(), Group("", error_block(problem)) if style == "text" else error_block(problem))
    ctx.exit(2 if overview.problems else 0)


def _wanted_rows(rows: RowRange | None, record: int | None, where: str | None, count: int | None) -> RowRange:
    """Which rows are asked for; what contradicts itself is refused."""
    from recordsmith.query.overview import RowRange

    given = [name for name, value in (("-n", count), ("--rows", rows), ("--record", record)) if value is not None]
    if len(given) > 1:
        raise click.UsageError(f"Give either {given[0]} or {given[1]}.")
    if where is not None and count is None:
        raise click.UsageError(f"Give either {given[0]} or --where.")
    if record is not None:
        return RowRange(record, record + 1 or None)
    return rows if rows is not None else RowRange(0, count)


def _thumbnails(console: Console, *, asked: bool | None, large: bool) -> Thumbnails | None:
    """How images are shown: not at all in a pipe, and in block characters only where they are asked for."""
    from recordsmith.terminal.values.terminal_graphics import graphics_of
    from recordsmith.terminal.values.thumbnails import Thumbnails

    if asked is False or not console.is_terminal:
        return None
    way = graphics_of(os.environ)
    if way is None and not (asked and console.color_system):
        return None
    columns, rows = (min(64, console.width - 4), 24) if large else (min(28, console.width - 4), 9)
    return Thumbnails(way or "blocks", columns, rows)
