"""`recordsmith export`: TFRecords as Parquet, CSV, JSON lines or WebDataset."""

from __future__ import annotations

from typing import Any

import click

from recordsmith.cli.commands.copy import names_option
from recordsmith.cli.commands.make_values import NearChoice

__all__ = ["export"]

_EXAMPLES = """\b
Examples:
  recordsmith export data/ -o data.parquet --split train
  recordsmith export data/ -o tables --to parquet
  recordsmith export records.tfrecord.gz -o records.jsonl
  recordsmith export data/ -o cats.csv --split test --where 'label == "cat"' --features name,label
  recordsmith export data/ -o shards --to webdataset --shard-size 500MB
"""


@click.command(short_help="Write TFRecords as Parquet, CSV, JSON lines or WebDataset.", epilog=_EXAMPLES)
@click.argument("paths", metavar="PATH...", nargs=-1, required=True)
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    required=True,
    help="What to write: a name that ends in .parquet, .csv, .jsonl or .tar; or a folder, with --to.",
)
@click.option(
    "--to",
    "kind",
    type=NearChoice(["parquet", "csv", "jsonl", "webdataset"]),
    help="What kind of files a folder gets, one for each split.",
)
@click.option("--split", metavar="NAME", help="Only the records of this split, such as train.")
@click.option("--merge-splits", is_flag=True, help="Write the records of all splits into one file.")
@click.option("--where", metavar="CONDITION", help="The records to export, as in: label == 'cat' and len(tokens) > 10.")
@click.option(
    "--features",
    metavar="NAMES",
    multiple=True,
    callback=names_option,
    help="Export these features only, in this order.",
)
@click.option("--drop", metavar="NAMES", multiple=True, callback=names_option, help="Leave these features out.")
@click.option(
    "--schema",
    metavar="PATH",
    help="What is in a record, where no description lies beside the files; without it, that is inferred.",
)
@click.option(
    "--shard-size",
    metavar="SIZE",
    help="Begin another file when one has this size, as 500MB: data-00000.tar, data-00001.tar.",
)
@click.option(
    "--on-error",
    type=NearChoice(["stop", "skip"]),
    default="stop",
    show_default=True,
    help="What to do with a record that is damaged or does not fit: stop, or leave it out.",
)
@click.option("--overwrite", is_flag=True, help="Replace files that are there.")
@click.option(
    "--workers", metavar="N", type=click.IntRange(1), help="How many threads read.  [default: one a processor]"
)
@click.option(
    "--format",
    "style",
    type=NearChoice(["text", "json"]),
    default="text",
    show_default=True,
    help="How to print what came of it.",
)
@click.pass_context
def export(ctx: click.Context, /, *, paths: tuple[str, ...], output: str, style: str, **options: Any) -> None:
    """Write TFRecords as Parquet, CSV, JSON lines or tar files of WebDataset.

    The schema goes along: in the metadata of Parquet, as FILE.schema.json beside CSV and JSON lines, as a member of a
    tar file. `recordsmith make FILE -o DATA` reads it, and brings every record back as it was.

    Exit codes: 0 all records that were asked for are there, 1 some could not be exported, 2 nothing was written.
    """
    from recordsmith.cli.consoles import echo_json, output_console, print_to
    from recordsmith.dataset.schema_source import find_schema
    from recordsmith.exporting.export import export as export_dataset
    from recordsmith.terminal.results.copied_tables import exported_json, exported_renderable
    from recordsmith.workers.progress_display import making_progress

    if options["schema"] is not None:
        options["schema"] = find_schema(options["schema"]).schema
    options["features"] = options["features"] or None
    given = paths[0] if len(paths) == 1 else list(paths)
    with making_progress(lines=True) as on_progress:
        exported = export_dataset(given, output, on_progress=on_progress, **options)
    if style == "json":
        echo_json(exported_json(exported))
    else:
        print_to(output_console(), exported_renderable(exported))
    ctx.exit(0 if exported.ok else 1)
