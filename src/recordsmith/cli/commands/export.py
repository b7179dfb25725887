"""`recordsmith export`: writes TFRecords as Parquet, CSV, JSON lines or WebDataset."""

from __future__ import annotations

from typing import Any

import click

from recordsmith.cli.options.shared_options import (
    NearChoice,
    drop_option,
    engine_options,
    format_option,
    names_option,
    on_error_option,
    remote_options,
)

__all__ = ["export"]

_EXAMPLES = """\b
Examples:
  recordsmith export data/ -o data.parquet --split train
  recordsmith export data/ -o tables --to parquet
  recordsmith export records.tfrecord.gz -o records.jsonl
  recordsmith export data/ -o cats.csv --split test --where 'label == "cat"' --features name,label
  recordsmith export data/ -o shards --to webdataset --shard-size 500MB
  recordsmith export /shared/data -o /shared/tables --to parquet --engine ray --address auto
"""


@click.command(short_help="Write TFRecords as Parquet, CSV, JSON lines or WebDataset.", epilog=_EXAMPLES)
@click.argument("paths", metavar="PATH...", nargs=-1, required=True)
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    required=True,
    help="The output file, with a name that ends in .parquet, .csv, .jsonl or .tar; or a folder, with --to. Or a URL.",
)
@click.option(
    "--to",
    type=NearChoice(["parquet", "csv", "jsonl", "webdataset", "lerobot"]),
    help="The format of the files in an output folder, one file for each split; or lerobot, for episodes of robots.",
)
@click.option("--split", metavar="NAME", help="Use only the records of this split, such as train.")
@click.option("--merge-splits", is_flag=True, help="Write the records of all splits to one file.")
@click.option(
    "--where",
    metavar="CONDITION",
    help="Export only the records that match, such as: label == 'cat' and len(tokens) > 10.",
)
@names_option("--features", "Export only these features, in this order.")
@drop_option
@click.option(
    "--schema",
    metavar="PATH",
    help="The schema of the records, if the dataset declares none.  [default: inferred]",
)
@click.option(
    "--shard-size",
    metavar="SIZE",
    help="Start a new file when a file has this size, such as 500MB: data-00000.tar, data-00001.tar.",
)
@click.option(
    "--extension-types",
    is_flag=True,
    help="In Parquet, write tensors of one shape as Arrow's fixed_shape_tensor. Hugging Face's datasets cannot read "
    "these files.",
)
@on_error_option("What to do with a damaged or invalid record: stop, or skip it.", "stop", "skip", default="stop")
@remote_options
@engine_options
@click.option("--overwrite", is_flag=True, help="Replace existing files.")
@click.option(
    "--workers", metavar="N", type=click.IntRange(1), help="The number of threads.  [default: one per processor]"
)
@format_option("The format of the summary.")
@click.pass_context
def export(ctx: click.Context, /, *, paths: tuple[str, ...], output: str, style: str, **options: Any) -> None:
    """Write TFRecords as Parquet, CSV, JSON lines or tar files of WebDataset.

    The schema is exported too: in the metadata of Parquet, as FILE.schema.json next to CSV and JSON lines, or as a
    member of a tar file. `recordsmith make FILE -o DATA` uses it to restore every record exactly.

    Exit codes: 0 all requested records were exported, 1 some could not be exported, 2 nothing was written.
    """
    from recordsmith.cli.consoles import echo_json, output_console, print_to
    from recordsmith.dataset.descriptions.schema_source import find_schema
    from recordsmith.exporting.export import export as export_dataset
    from recordsmith.terminal.results.copied_tables import exported_json, exported_renderable
    from recordsmith.workers.progress_display import making_progress

    if options["schema"] is not None:
        options["schema"] = find_schema(options["schema"]).schema
    options["features"] = options["features"] or None
    given = paths[0] if len(paths) == 1 else list(paths)
    with making_progress(at_once=True) as on_progress:
        exported = export_dataset(given, output, on_progress=on_progress, **options)
    if style == "json":
        echo_json(exported_json(exported))
    else:
        print_to(output_console(), exported_renderable(exported))
    ctx.exit(0 if exported.ok else 1)
