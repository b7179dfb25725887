"""`recordsmith index`: where every record begins."""

from __future__ import annotations

from typing import Literal, cast

import click

from recordsmith.cli.commands.make_values import NearChoice

__all__ = ["index"]

_EXAMPLES = """\b
Examples:
  recordsmith index data/
  recordsmith index 'data/train-*' --rebuild
  recordsmith index data/ --format dali -o indexes/
  recordsmith index train.tfrecord --format vahidk
"""


@click.command(short_help="Index TFRecord files, for us, DALI or the tfrecord package.", epilog=_EXAMPLES)
@click.argument("paths", metavar="PATH...", nargs=-1, required=True)
@click.option(
    "--format",
    "style",
    type=NearChoice(["text", "json", "dali", "vahidk"]),
    default="text",
    show_default=True,
    help="text, json: recordsmith's own index, kept where it looks for it; printed is what was done. dali: a text file "
    "data.tfrecord.idx. vahidk: a text file data.tfindex, for the Python package tfrecord.",
)
@click.option("-o", "--output", metavar="PLACE", help="Folder for the text indexes; or a file, if there is only one.")
@click.option("--rebuild", is_flag=True, help="Build cached indexes anew, even if they still fit their files.")
@click.option("--split", metavar="NAME", help="Only the files of this split, such as train.")
def index(*, paths: tuple[str, ...], style: str, output: str | None, rebuild: bool, split: str | None) -> None:
    """Index TFRecord files: where every record begins.

    recordsmith builds its indexes by itself when they are needed; making them beforehand saves the first reader the
    wait. They lie in a hidden folder .recordsmith beside the data or, where that cannot be written, in the user's
    cache folder, and are built anew when a file has changed.

    DALI and the tfrecord package need an index of their own, which they neither build nor check: write it again
    whenever the data changes. Both are for files that are not compressed.
    """
    from recordsmith.cli.consoles import echo, echo_json, output_console, print_to
    from recordsmith.dataset.index_report import export_indexes, index_files, keep_indexes
    from recordsmith.terminal.results.index_table import index_json, index_line, index_summary, index_table
    from recordsmith.workers.progress_display import file_progress

    cached = style in ("text", "json")
    if cached and output is not None:
        raise click.UsageError("-o is for the text indexes: the cached ones lie where recordsmith looks for them.")
    if rebuild and not cached:
        raise click.UsageError("--rebuild is for the cached indexes: text indexes are written anew in any case.")
    files = index_files(paths, split)
    work = (
        keep_indexes(files, rebuild=rebuild)
        if cached
        else export_indexes(files, output, format=cast("Literal['dali', 'vahidk']", style))
    )
    console = output_console()
    done = []
    with file_progress("indexing", files) as on_file:
        for file in work:
            done.append(file)
            on_file(file.bytes)
            if style != "json" and not console.is_terminal:
                echo(index_line(file))
    if style == "json":
        echo_json(index_json(done))
        return
    if console.is_terminal:
        print_to(console, index_table(done, console.width))
    echo(index_summary(done))
