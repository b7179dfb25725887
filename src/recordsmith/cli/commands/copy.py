"""`recordsmith copy`: copies and converts TFRecords."""

from __future__ import annotations

from typing import Any

import click

from recordsmith.cli.options.shared_options import (
    compression_option,
    drop_option,
    engine_options,
    format_option,
    metadata_option,
    name_option,
    names_option,
    on_error_option,
    part_options,
    read_names,
    remote_options,
    resume_option,
    seed_option,
    shard_size_option,
    shards_option,
    split_option,
    stratify_option,
    workers_option,
)

__all__ = ["copy"]

_EXAMPLES = """\b
Examples:
  recordsmith copy data/ -o resharded --shards 16
  recordsmith copy a.tfrecord b.tfrecord.gz -o merged.tfrecord
  recordsmith copy data/ -o divided --merge-splits --split train=0.8,test=0.2 --stratify --shuffle --seed 7
  recordsmith copy data/ -o cats --where 'label == "cat"' --dedupe
  recordsmith copy data/ -o chosen --records records.txt
  recordsmith copy data/ -o small --sample 0.01 --features image,label --rename label=class
  recordsmith copy data/ -o s3://bucket/data
  recordsmith copy data/ -o smaller --schema schema.json --cast --compression gzip
"""


def rename_option(_ctx: click.Context | None, _param: click.Parameter | None, values: tuple[str, ...]) -> Any:
    """Read new names by old ones.

    >>> rename_option(None, None, ("label=class,img=image",))
    {'label': 'class', 'img': 'image'}
    """
    found: dict[str, str] = {}
    for pair in read_names(None, None, values):
        old, equals, new = pair.partition("=")
        if not equals or not old.strip() or not new.strip():
            raise click.BadParameter(f"{pair!r} is not an old and a new name, such as label=class.")
        found[old.strip()] = new.strip()
    return found


def sample_option(_ctx: click.Context | None, _param: click.Parameter | None, value: str | None) -> Any:
    """Read a share or a number of records.

    >>> sample_option(None, None, "0.1"), sample_option(None, None, "5%"), sample_option(None, None, "500")
    (0.1, 0.05, 500)
    """
    if value is None:
        return None
    text = value.strip()
    try:
        if text.endswith("%"):
            return float(text[:-1]) / 100
        return int(text) if text.isdecimal() else float(text)
    except ValueError:
        raise click.BadParameter(f"{value!r} is neither a share, such as 0.1, nor a number of records.") from None


@click.command(
    short_help="Copy TFRecords: reshard, merge, split, filter, shuffle, convert, compress.", epilog=_EXAMPLES
)
@click.argument("sources", metavar="SOURCE...", nargs=-1, required=True)
@click.option(
    "-o",
    "--output",
    metavar="PATH",
    required=True,
    help="The output folder, or a single file if the name ends in .tfrecord or .tfrecord.gz. Or the URL of one.",
)
@click.option("--from", "from_split", metavar="SPLIT", help="Copy only this split of the sources.")
@click.option(
    "--where",
    metavar="CONDITION",
    help="Copy only the records that match, such as: label == 'cat' and len(tokens) > 10.",
)
@click.option(
    "--records",
    metavar="FILE",
    help="Copy only the records with the numbers in this file, one per line, counted from 0 over all sources. "
    "`recordsmith view` writes these files. The records stay in the order of the sources.",
)
@click.option("--dedupe", is_flag=True, help="Leave out records that repeat an earlier record byte for byte.")
@click.option(
    "--sample",
    metavar="AMOUNT",
    callback=sample_option,
    help="Copy a random sample: a share of each split, such as 0.1, or a number of records, such as 500.",
)
@click.option("--take", metavar="N", type=click.IntRange(1), help="Copy only the first N records of each split.")
@names_option("--features", "Keep only these features, in this order.")
@drop_option
@click.option("--rename", metavar="OLD=NEW", multiple=True, callback=rename_option, help="Rename features.")
@click.option(
    "--schema",
    metavar="PATH",
    help="The schema of the copy: values and images are converted to match it. A file written by `recordsmith schema "
    "-o`, a features.json, a schema.pbtxt, or another dataset.",
)
@click.option("--cast", is_flag=True, help="Allow conversions that lose information, and encoding images again.")
@click.option(
    "--infer-schema", is_flag=True, help="Infer the schema of the copy from its records, if the source declares none."
)
@split_option(
    "Divide the records: fractions such as train=0.8,test=0.2, or numbers of records, one of which may be `rest`. "
    " [default: keep the splits]"
)
@click.option(
    "--merge-splits",
    is_flag=True,
    help="Combine all splits, to divide the records again with --split or to write them as one.",
)
@stratify_option
@click.option("--group", metavar="FEATURE", help="Keep records with the same value of this feature in one split.")
@click.option("--shuffle", is_flag=True, help="Shuffle the records of each split across all its files.")
@seed_option("splits, samples and order")
@shards_option
@shard_size_option
@compression_option("keep", "none", "gzip", "zlib")
@name_option
@metadata_option
@on_error_option(
    "What to do with a damaged or invalid record: stop; skip it; or skip it and write the reason to rejected.jsonl "
    "(quarantine).",
    *("stop", "skip", "quarantine"),
    default="stop",
)
@remote_options
@click.option("--overwrite", is_flag=True, help="Replace existing files or an unfinished run.")
@resume_option
@workers_option
@engine_options
@part_options
@format_option("The format of the summary.")
@click.pass_context
def copy(ctx: click.Context, /, *, sources: tuple[str, ...], output: str, style: str, **options: Any) -> None:
    """Copy TFRecords to OUTPUT, and reshard, merge, split, filter, shuffle, convert or compress them.

    SOURCE is a TFRecord file, a folder of them, or a quoted glob. Several sources are joined in the given order.
    Unless an option changes the contents of the records, their bytes are copied unchanged. The sources are never
    modified. The output files appear only when all of them are complete and verified. Everything that is left out
    is counted.

    Exit codes: 0 all requested records were copied, 1 some could not be copied, 2 nothing was written.
    """
    from recordsmith.cli.consoles import echo_json, echo_part, output_console, print_to
    from recordsmith.cli.resuming import resumable
    from recordsmith.copying.copy import copy as copy_dataset
    from recordsmith.dataset.descriptions.schema_source import find_schema
    from recordsmith.terminal.results.copied_tables import copied_json, copied_renderable
    from recordsmith.workers.progress_display import making_progress

    if options["schema"] is not None:
        options["schema"] = find_schema(options["schema"]).schema
    options["features"] = options["features"] or None
    with resumable(output, options), making_progress(at_once=True) as on_progress:
        copied = copy_dataset(list(sources), output, on_progress=on_progress, **options)
    if copied.part is not None:
        echo_part(copied.part, style=style)
        return
    if style == "json":
        echo_json(copied_json(copied))
    else:
        print_to(output_console(), copied_renderable(copied, path=output))
    ctx.exit(0 if copied.ok else 1)
