"""`recordsmith copy`: TFRecords into other TFRecords."""

from __future__ import annotations

from typing import Any

import click

from recordsmith.cli.commands.make_values import NearChoice, split_option, stratify_option

__all__ = ["copy"]

_EXAMPLES = """\b
Examples:
  recordsmith copy data/ -o resharded --shards 16
  recordsmith copy a.tfrecord b.tfrecord.gz -o merged.tfrecord
  recordsmith copy data/ -o divided --merge-splits --split train=0.8,test=0.2 --stratify --shuffle --seed 7
  recordsmith copy data/ -o cats --where 'label == "cat"' --dedupe
  recordsmith copy data/ -o small --sample 0.01 --features image,label --rename label=class
  recordsmith copy data/ -o smaller --schema schema.json --cast --compression gzip
"""


def names_option(_ctx: click.Context | None, _param: click.Parameter | None, values: tuple[str, ...]) -> Any:
    """Read names of features, given one by one or with commas between them.

    >>> names_option(None, None, ("image,label", "path"))
    ('image', 'label', 'path')
    """
    return tuple(name.strip() for value in values for name in value.split(",") if name.strip())


def rename_option(_ctx: click.Context | None, _param: click.Parameter | None, values: tuple[str, ...]) -> Any:
    """Read new names by old ones.

    >>> rename_option(None, None, ("label=class,img=image",))
    {'label': 'class', 'img': 'image'}
    """
    found: dict[str, str] = {}
    for pair in names_option(None, None, values):
        old, equals, new = pair.partition("=")
        if not equals or not old.strip() or not new.strip():
            raise click.BadParameter(f"{pair!r} is not an old and a new name, as label=class is.")
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
        raise click.BadParameter(f"{value!r} is neither a share, as 0.1 is, nor a number of records.") from None


@click.command(
    short_help="Copy TFRecords: reshard, merge, divide, choose, shuffle, change, compress.", epilog=_EXAMPLES
)
@click.argument("sources", metavar="SOURCE...", nargs=-1, required=True)
@click.option(
    "-o",
    "--output",
    metavar="PATH",
    required=True,
    help="A folder, or one file if it ends in .tfrecord or .tfrecord.gz.",
)
@click.option("--from", "from_split", metavar="SPLIT", help="Copy this split of the sources only.")
@click.option("--where", metavar="CONDITION", help="The records to copy, as in: label == 'cat' and len(tokens) > 10.")
@click.option("--dedupe", is_flag=True, help="Leave out records whose bytes were there before.")
@click.option(
    "--sample",
    metavar="AMOUNT",
    callback=sample_option,
    help="Copy some at random: a share of each split, as 0.1, or a number of records, as 500.",
)
@click.option("--take", metavar="N", type=click.IntRange(1), help="Copy the first N records of each split.")
@click.option(
    "--features", metavar="NAMES", multiple=True, callback=names_option, help="Keep these features only, in this order."
)
@click.option("--drop", metavar="NAMES", multiple=True, callback=names_option, help="Leave these features out.")
@click.option("--rename", metavar="OLD=NEW", multiple=True, callback=rename_option, help="Give features other names.")
@click.option(
    "--schema",
    metavar="PATH",
    help="What the records are to hold: values are cast and images encoded anew to fit it. A file that `recordsmith "
    "schema -o` wrote, a features.json, a schema.pbtxt, or another dataset.",
)
@click.option("--cast", is_flag=True, help="Allow what loses information: such casts, and images encoded anew.")
@click.option(
    "--infer-schema", is_flag=True, help="Describe the copy by its records, if the source has no description."
)
@click.option(
    "--split",
    callback=split_option,
    metavar="SHARES",
    help="Divide: fractions, as in train=0.8,test=0.2, or numbers of records, one of which may be `rest`. Without it, "
    "the splits stay as they are.",
)
@click.option(
    "--merge-splits",
    is_flag=True,
    help="Take the records of all splits together: to divide them anew with --split, or to write them as one.",
)
@click.option(
    "--stratify",
    callback=stratify_option,
    metavar="[FEATURE]",
    is_flag=False,
    flag_value="",
    help="Give every split the same shares of each class: of the label, or of this feature.",
)
@click.option("--group", metavar="FEATURE", help="Records with the same value here stay in one split.")
@click.option("--shuffle", is_flag=True, help="Put the records of each split into a random order, over all files.")
@click.option("--seed", metavar="N", type=int, default=0, show_default=True, help="For splits, samples and order.")
@click.option(
    "--shards", metavar="N", type=click.IntRange(1, 99_999), help="Files a split; else it goes by their size."
)
@click.option("--shard-size", metavar="SIZE", default="128MB", show_default=True, help="How large a file should be.")
@click.option(
    "--compression",
    type=NearChoice(["keep", "none", "gzip", "zlib"]),
    default="keep",
    show_default=True,
    help="Of the files that are written.",
)
@click.option("--name", metavar="NAME", help="How the files begin; without it, as the folder is called.")
@click.option(
    "--on-error",
    type=NearChoice(["stop", "skip", "quarantine"]),
    default="stop",
    show_default=True,
    help="What to do with a record that is damaged or does not fit: stop; leave it out; or leave it out and write the "
    "reason to rejected.jsonl.",
)
@click.option("--overwrite", is_flag=True, help="Replace what is there, or a run that did not end.")
@click.option("--resume", is_flag=True, help="Go on with a run that did not end, to the same files as without a break.")
@click.option(
    "--workers",
    metavar="N",
    type=click.IntRange(1),
    help="How many work at a time; the files do not depend on it.  [default: one a processor]",
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
def copy(ctx: click.Context, /, *, sources: tuple[str, ...], output: str, style: str, **options: Any) -> None:
    """Copy TFRecords to OUTPUT, and on the way reshard, merge, divide, choose, shuffle, change or compress them.

    SOURCE is a TFRecord file, a folder of them, or a quoted glob; several are put one behind the other. As long as no
    option changes what is in a record, its bytes are copied as they are. The sources are never touched, files get
    their names only when all are whole and were read back, and everything that is left out is counted.

    Exit codes: 0 all records that were asked for are there, 1 some could not be copied, 2 nothing was written.
    """
    from recordsmith.cli.consoles import echo_json, output_console, print_to
    from recordsmith.cli.resuming import resumable
    from recordsmith.copying.copy import copy as copy_dataset
    from recordsmith.dataset.schema_source import find_schema
    from recordsmith.terminal.results.copied_tables import copied_json, copied_renderable
    from recordsmith.workers.progress_display import making_progress

    if options["schema"] is not None:
        options["schema"] = find_schema(options["schema"]).schema
    options["features"] = options["features"] or None
    with resumable(output), making_progress(lines=True) as on_progress:
        copied = copy_dataset(list(sources), output, on_progress=on_progress, **options)
    if style == "json":
        echo_json(copied_json(copied))
    else:
        print_to(output_console(), copied_renderable(copied, path=output))
    ctx.exit(0 if copied.ok else 1)
