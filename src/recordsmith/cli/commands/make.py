"""`recordsmith make`: makes a dataset."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from recordsmith.cli.options.make_values import (
    balance_option,
    map_function,
    numbers_option,
    preprocessors,
    size_option,
)
from recordsmith.cli.options.shared_options import (
    NearChoice,
    compression_option,
    engine_options,
    format_option,
    metadata_option,
    name_option,
    on_error_option,
    part_options,
    remote_options,
    resume_option,
    seed_option,
    shard_size_option,
    shards_option,
    split_option,
    stratify_option,
    workers_option,
)
from recordsmith.formats.kinds import KINDS

if TYPE_CHECKING:
    from recordsmith.formats.source import Source

__all__ = ["make"]

_EXAMPLES = """\b
Examples:
  recordsmith make photos/ -o data --split train=0.8,val=0.1,test=0.1 --stratify --resize 224x224
  recordsmith make photos/ --labels labels.csv -o data --encoding jpeg --quality 90
  recordsmith make visits.csv -o data --label outcome --group patient --split train=0.8,test=0.2
  recordsmith make reviews.jsonl -o data --label stars --vocabulary text=20000
  recordsmith make 'logs/*.parquet' -o data --balance undersample --map mine:clean --workers 4
  recordsmith make photos/ -o data --resize 224x224 --resume
  recordsmith make frames.tfrecord -o data --descriptor types.pb --message pkg.Frame
  recordsmith make photos/ -o s3://bucket/data --staging /scratch
  recordsmith make /shared/photos -o /shared/data --engine ray --address auto
  recordsmith make /shared/photos -o /shared/data --part 3/8
"""

# What goes to the source, if it was given, by the names that sources have for it.
_OF_THE_SOURCE = {
    "label": "label",
    "text": "text",
    "images": "images",
    "labels": "labels",
    "layout": "layout",
    "query": "query",
    "table": "table",
    "sheet": "sheet",
    "strip": "strip",
    "resize": "size",
    "channels": "channels",
    "encoding": "image_encoding",
    "quality": "quality",
    "feature_names": "names",
    "clip": "clip",
    "schema": "schema",
    "descriptor": "descriptor",
    "message": "message",
    "raw": "raw",
    "rows": "rows",
    "rate": "rate",
}
# What goes to the run as it is.
_OF_THE_RUN = (
    *("schema", "name", "metadata", "split", "stratify", "group", "merge_splits", "drop_unlabelled", "seed", "balance"),
    *("shards", "shard_size", "cast", "on_error", "max_rejects", "workers", "overwrite", "resume"),
    *("staging", "allow_race", "engine", "address", "part", "finish"),
)
# The kinds that take their types from a schema; the rows of other sources are compared with it later.
_WITH_SCHEMA = ("csv", "jsonl", "parquet", "arrays", "arrow", "excel", "hdf5", "idx", "mat", "sql", "tfrecords")

# The headings of the help, each before the option that it begins with.
_HEADINGS = {
    "output": "Options",
    "kind": "The source",
    "resize": "Images",
    "vocabulary": "Texts",
    "split": "Splits, order and balance",
    "cast": "Invalid rows",
    "shards": "Files and workers",
    "engine": "Many machines",
}


class _UnderHeadings(click.Command):
    """A command whose options are listed under several headings."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        sections: dict[str, list[tuple[str, str]]] = {}
        heading = ""
        for param in self.get_params(ctx):
            heading = "Options" if "--help" in param.opts else _HEADINGS.get(param.name or "", heading)
            record = param.get_help_record(ctx)
            if record is not None and isinstance(param, click.Option):
                sections.setdefault(heading, []).append(record)
        for title, records in sections.items():
            with formatter.section(title):
                formatter.write_dl(records)


@click.command(
    cls=_UnderHeadings,
    short_help="Make a TFRecord dataset from images, tables, arrays or records.",
    epilog=_EXAMPLES,
)
@click.argument("sources", metavar="SOURCE...", nargs=-1)
@click.option(
    "-o",
    "--output",
    metavar="FOLDER",
    required=True,
    help="The folder to write the dataset to, or a URL: s3://bucket/data.",
)
@name_option
@metadata_option
@click.option("--overwrite", is_flag=True, help="Replace an existing dataset or an unfinished run.")
@resume_option
@remote_options
@format_option("The format of the summary. The keys of the JSON are stable; docs/cli.md describes them.")
@click.option(
    "--kind",
    metavar="KIND",
    help=f"The kind of source: {', '.join(KINDS)}.  [default: detected]",
)
@click.option(
    "--schema",
    metavar="PATH",
    help="The schema of the records: a file written by `recordsmith schema -o`, a features.json, a schema.pbtxt, or "
    "another dataset.",
)
@click.option(
    "--descriptor",
    metavar="FILE",
    help="For TFRecords of other protobuf messages: the file that `protoc --descriptor_set_out` wrote.",
)
@click.option("--message", metavar="TYPE", help="The message type of these records, such as waymo.open_dataset.Frame.")
@click.option("--raw", is_flag=True, help="Read TFRecords as bytes, in a column `payload`, for the --map function.")
@click.option("--rate", metavar="HZ", type=click.IntRange(min=1), help="Resample sounds to this rate, such as 16000.")
@click.option(
    "--rows", type=NearChoice(["episodes", "steps"]), help="For --kind rlds: what a row is.  [default: episodes]"
)
@click.option("--label", metavar="COLUMN", help="The column with the class or the target.")
@click.option(
    "--text", metavar="COLUMN", multiple=True, help="A column to store as text, even if its values look like numbers."
)
@click.option("--images", metavar="COLUMN", multiple=True, help="A column with the paths of images.")
@click.option(
    "--labels", metavar="FILE", help="A CSV file with the columns filename and label, to use instead of class folders."
)
@click.option(
    "--layout",
    type=NearChoice(["auto", "classes", "splits", "flat"]),
    help="The meaning of the image folders: classes; splits that contain classes; or none (flat).  [default: auto, "
    "detected from names and contents]",
)
@click.option("--query", metavar="SQL", help="The rows of a database: a SELECT, with ORDER BY for a fixed order.")
@click.option(
    "--table", metavar="NAME", help="The table of a database, or the one that lists the files of a folder, if several."
)
@click.option("--sheet", metavar="NAME", help="The sheet of a workbook, if it has several.")
@click.option("--strip", is_flag=True, help="Remove white space around class names.")
@click.option("--drop-unlabelled", is_flag=True, help="Leave out rows without a label. The summary says how many.")
@click.option(
    "--map",
    "function",
    metavar="MODULE:FUNCTION",
    help="Your function, which takes a row and returns a row, several rows, or None to leave the row out. The module "
    "may be in the current folder. The function runs in worker processes.",
)
@click.option(
    "--resize", callback=size_option, metavar="HxW", help="Resize images to this height and width, such as 224x320."
)
@click.option(
    "--channels", type=NearChoice(["1", "3", "4"]), help="Convert images to greyscale (1), RGB (3) or RGBA (4)."
)
@click.option("--encoding", type=NearChoice(["jpeg", "png", "webp", "bmp"]), help="Convert images to this format.")
@click.option(
    "--quality",
    metavar="N",
    type=click.IntRange(1, 100),
    help="The quality of converted JPEG and WebP images.  [default: 95]",
)
@click.option(
    "--feature-names",
    type=NearChoice(["tf", "tfds"]),
    help="The names of the features of images with boxes or masks: those of the TensorFlow Object Detection API (tf), "
    "such as image/object/bbox/xmin, or those of TensorFlow Datasets (tfds), such as objects/bbox.  [default: tf]",
)
@click.option(
    "--clip", is_flag=True, help="Cut boxes off at the edge of their image. Otherwise, boxes outside are rejected."
)
@click.option(
    "--vocabulary",
    metavar="FEATURE[=SIZE]",
    multiple=True,
    callback=numbers_option,
    help="Replace a text by the ids of its words, as Keras' TextVectorization does. FEATURE=FILE uses an existing "
    "vocabulary.",
)
@click.option(
    "--tokenize",
    metavar="FEATURE[=SIZE]",
    multiple=True,
    callback=numbers_option,
    help="Replace a text by the ids of its sub-words (BPE). FEATURE=tokenizer.json uses an existing tokenizer.",
)
@click.option(
    "--tfidf",
    metavar="FEATURE[=SIZE]",
    multiple=True,
    callback=numbers_option,
    help="Replace a text by the sparse TF-IDF weights of its terms.",
)
@split_option(
    "The splits, with fractions such as train=0.8,val=0.1,test=0.1 or numbers of rows, one of which may be "
    "`rest`. Rows with the same content are never in two splits.  [default: the splits of the source]"
)
@stratify_option
@click.option(
    "--group", metavar="COLUMN", help="Keep rows with the same value in this column, such as a patient, in one split."
)
@click.option(
    "--merge-splits",
    is_flag=True,
    help="Combine the splits of the source, for example to divide the rows again with --split.",
)
@seed_option("splits, order and balance")
@click.option("--no-shuffle", is_flag=True, help="Keep the order of the source in the training split.")
@click.option(
    "--balance",
    callback=balance_option,
    metavar="HOW",
    help="How to balance the classes of the training split: oversample, undersample, numbers of rows such as "
    "cat=500,dog=500, or a sampler of imbalanced-learn such as SMOTE.",
)
@click.option("--cast", is_flag=True, help="Allow conversions that lose information, such as 1.5 to an integer.")
@on_error_option(
    "What to do with an invalid row: stop; skip it; or skip it and write it with the reason to rejected.jsonl "
    "(quarantine).",
    *("stop", "skip", "quarantine"),
    default="quarantine",
)
@click.option(
    "--max-rejects",
    metavar="SHARE",
    type=click.FloatRange(0, 1),
    default=0.2,
    show_default=True,
    help="The maximum share of rejected rows. The run stops if there are more.",
)
@shards_option
@shard_size_option
@compression_option("none", "gzip", "zlib")
@workers_option
@engine_options
@part_options
@click.pass_context
def make(ctx: click.Context, /, *, sources: tuple[str, ...], output: str, style: str, **options: Any) -> None:
    """Make a dataset of TFRecord files, split and shuffled, with a description next to them.

    SOURCE is a folder of images or texts (its folders are classes, or splits that contain classes), images with boxes
    or masks (COCO, Pascal VOC, YOLO, masks next to images), sounds, images or sounds that a table lists (metadata.csv),
    scans, robot episodes (RLDS, LeRobot), a table (CSV, JSON, Parquet, Arrow, Excel), a database (SQLite, DuckDB),
    arrays (.npy, .npz, HDF5, .mat, idx), a saved dataset of Hugging Face, tar files of WebDataset, TFRecords, or
    videos. Several files of one kind, or a quoted glob, are one source.

    The files are read back and verified before the run ends. After Ctrl-C, a crash or a full disk, --resume
    continues where the run stopped, and the files are the same. Exit codes: 0 all rows were written, 1 some rows
    were rejected, 2 nothing was made.
    """
    from recordsmith.cli.consoles import echo_json, echo_part, output_console, print_to
    from recordsmith.cli.resuming import resumable
    from recordsmith.dataset.descriptions.schema_source import find_schema
    from recordsmith.making.maker import make as make_dataset
    from recordsmith.terminal.results.made_tables import made_json, made_renderable
    from recordsmith.workers.progress_display import making_progress

    if not sources:
        took = options["stratify"]
        hint = (
            f" --stratify used {took!r} as its value: write --stratify= to use the label."
            if isinstance(took, str)
            else ""
        )
        raise click.UsageError(f"Missing argument 'SOURCE...'.{hint}")
    if options["schema"] is not None:
        options["schema"] = find_schema(options["schema"]).schema
    if options["channels"] is not None:
        options["channels"] = int(options["channels"])
    with resumable(output, options), making_progress(at_once=True) as on_progress:
        made = make_dataset(
            _source(sources, options),
            output,
            shuffle=not options["no_shuffle"],
            map=None if options["function"] is None else map_function(options["function"]),
            preprocess=preprocessors(options["vocabulary"], options["tokenize"], options["tfidf"]),
            compression=None if options["compression"] == "none" else options["compression"],
            **{name: options[name] for name in _OF_THE_RUN},
            on_progress=on_progress,
        )
    if made.part is not None:
        echo_part(made.part, style=style)
        return
    if style == "json":
        echo_json(made_json(made))
    else:
        console = output_console()
        print_to(console, made_renderable(made, folder=output, width=console.width))
    ctx.exit(0 if made.ok else 1)


def _source(paths: tuple[str, ...], options: dict[str, Any]) -> Source:
    """Return the source, with those of the options that are about it."""
    from recordsmith.errors import RecordsmithError
    from recordsmith.making.sources.detect import UnknownOptionError, kind_of, source_for

    asked = {its: options[ours] for ours, its in _OF_THE_SOURCE.items() if options[ours] not in (None, (), False)}
    given = paths[0] if len(paths) == 1 else list(paths)
    kind = options["kind"] or kind_of(given, annotated=not {"layout", "labels"} & asked.keys())
    if options["function"] is not None or kind not in _WITH_SCHEMA:
        asked.pop("schema", None)  # it is that of the records, and the function makes them
    try:
        return source_for(given, kind, **asked)
    except UnknownOptionError as error:
        ours = next((ours for ours, its in _OF_THE_SOURCE.items() if its == error.option), error.option)
        # The user knows it by another name.
        raise RecordsmithError(f"A source of kind {error.kind!r} has no option --{ours}.{error.elsewhere}") from None
