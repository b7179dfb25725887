"""`recordsmith index`: builds indexes of TFRecord files."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Literal, cast

import click

from recordsmith.cli.options.shared_options import engine_options, files_of_split_option, format_option

if TYPE_CHECKING:
    from recordsmith.run.engines.execution import EngineName

__all__ = ["index"]

_EXAMPLES = """\b
Examples:
  recordsmith index data/
  recordsmith index 'data/train-*' --rebuild
  recordsmith index data/ --format dali -o indexes/
  recordsmith index train.tfrecord --format vahidk
  recordsmith index s3://bucket/data --upload
"""


@click.command(
    short_help="Build indexes of TFRecord files, for recordsmith, DALI or the tfrecord package.", epilog=_EXAMPLES
)
@click.argument("paths", metavar="PATH...", nargs=-1, required=True)
@format_option(
    "text, json: recordsmith's own index, and the format of the summary. dali: a text file data.tfrecord.idx. "
    "vahidk: a text file data.tfindex, for the Python package tfrecord.",
    more=("dali", "vahidk"),
)
@click.option(
    "-o", "--output", metavar="PLACE", help="The folder for the text indexes, or a file if there is only one."
)
@click.option("--rebuild", is_flag=True, help="Rebuild cached indexes, even if they match their files.")
@click.option(
    "--upload", is_flag=True, help="Also upload the indexes of remote files next to the files, for all readers."
)
@files_of_split_option
@engine_options
def index(
    *,
    paths: tuple[str, ...],
    style: str,
    output: str | None,
    rebuild: bool,
    upload: bool,
    split: str | None,
    engine: EngineName,
    address: str | None,
) -> None:
    """Build indexes of TFRecord files, which say where each record starts.

    recordsmith builds its own indexes when they are needed. This command builds them in advance, so that the first
    reader does not have to wait. They are stored in a hidden folder .recordsmith next to the data or, if that is not
    writable, in the user's cache folder. They are rebuilt when a file has changed.

    To index a file in an object store, all of it is read once. The index is kept in the user's cache folder. With
    --upload it is also stored next to the file, in .recordsmith, where every reader finds it.

    DALI and the tfrecord package need indexes in their own formats, and neither build nor check them: write them
    again whenever the data changes. Both support only uncompressed files.
    """
    from recordsmith.cli.consoles import echo, echo_json, output_console, print_to
    from recordsmith.dataset.index_report import export_indexes, index_files, is_uploadable, keep_index_of
    from recordsmith.run.engines.execution import Execution
    from recordsmith.terminal.results.index_table import index_json, index_line, index_summary, index_table
    from recordsmith.workers.progress_display import file_progress

    cached = style in ("text", "json")
    if cached and output is not None:
        raise click.UsageError("-o is only for text indexes: recordsmith's own indexes have a fixed location.")
    if upload and not cached:
        raise click.UsageError("--upload is only for recordsmith's own indexes.")
    if rebuild and not cached:
        raise click.UsageError(
            "--rebuild is only for recordsmith's own indexes: text indexes are always written again."
        )
    if engine != "local" and not cached:
        raise click.UsageError("--engine is only for recordsmith's own indexes.")
    files = index_files(paths, split)
    if upload and not any(map(is_uploadable, files)):
        raise click.UsageError(
            "--upload is only for files in an object store. The index of a local file is always stored next to it."
        )
    execution = Execution.checked("", engine=engine, address=address, workers=1 if engine == "local" else None)
    console = output_console()
    done = []
    with execution.open() as machines, file_progress("indexing", files) as on_file:
        work = (
            (file for _, file in machines.each(partial(keep_index_of, rebuild=rebuild, upload=upload), files))
            if cached
            else export_indexes(files, output, format=cast("Literal['dali', 'vahidk']", style))
        )
        for file in work:
            done.append(file)
            on_file(file.bytes)
            if style != "json" and not console.is_terminal:
                echo(index_line(file))
    done.sort(key=lambda file: files.index(file.path))
    if style == "json":
        echo_json(index_json(done))
        return
    if console.is_terminal:
        print_to(console, index_table(done, console.width))
    echo(index_summary(done))
