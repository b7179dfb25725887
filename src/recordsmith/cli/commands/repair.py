"""`recordsmith repair`: saves the undamaged records of damaged files."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from recordsmith.cli.options.shared_options import NearChoice, engine_options, format_option, remote_options

if TYPE_CHECKING:
    from recordsmith.run.engines.execution import EngineName

__all__ = ["repair"]

_LOST = 1

_EXAMPLES = """\b
Examples:
  recordsmith repair bad.tfrecord --dry-run
  recordsmith repair bad.tfrecord -o good.tfrecord
  recordsmith repair data/ -o repaired/ --link
  recordsmith repair 'data/train-*' -o repaired/ --keep-suspect suspect/
  recordsmith repair /shared/data -o /shared/repaired --engine ray --address auto
"""


@click.command(short_help="Save the undamaged records of damaged TFRecord files.", epilog=_EXAMPLES)
@click.argument("paths", metavar="PATH...", nargs=-1, required=True)
@click.option(
    "-o",
    "--output",
    metavar="PLACE",
    help="The file to write, or a folder if there are several files. Or the URL of one.",
)
@click.option("--dry-run", is_flag=True, help="Only report what is damaged and what would be kept.")
@click.option(
    "--keep-suspect",
    metavar="PLACE",
    help="A file (or a folder if there are several) for records with data that does not match its checksum, and for "
    "records that seem to be inside others.",
)
@click.option(
    "--compression",
    type=NearChoice(["auto", "none", "gzip", "zlib"]),
    default="auto",
    show_default=True,
    help="The compression of the damaged and the new files. [default: detected]",
)
@click.option(
    "--link", is_flag=True, help="Link undamaged files instead of copying them, if the file system allows it."
)
@remote_options
@engine_options
@click.option("--overwrite", is_flag=True, help="Replace existing files.")
@format_option("The format of the summary. The keys of the JSON are stable; docs/repairing.md describes them.")
def repair(  # noqa: PLR0913 - each is a setting of its own, and most have a default
    *,
    paths: tuple[str, ...],
    output: str | None,
    dry_run: bool,
    keep_suspect: str | None,
    compression: str,
    link: bool,
    overwrite: bool,
    staging: str | None,
    allow_race: bool,
    engine: EngineName,
    address: str | None,
    style: str,
) -> None:
    """Save the undamaged records of damaged TFRecord files, and list what is lost.

    Every undamaged record is kept byte for byte, before, between and after damage of any kind: flipped bits,
    inserted or missing bytes, blocks of zeros, truncated files, garbage, and damaged gzip or zlib data. A record
    with only a damaged header gets a new header.

    The damaged files are never changed. The new files appear only when they are complete and verified. For a
    folder, the description (recordsmith.json, dataset_info.json) is updated, and other files are copied.

    Exit codes: 0 nothing is lost, 1 something is lost, 2 wrong use or unreadable input.
    """
    from recordsmith.cli.consoles import echo_json, output_console, print_to
    from recordsmith.repairing import repair as repair_files
    from recordsmith.terminal.results.repair_tables import repair_renderable

    if output is None and not dry_run:
        raise click.UsageError("Give the output with -o PATH, or use --dry-run to only report the damage.")
    if dry_run and output is not None:
        output = None  # asked for by habit; nothing is written
    result = repair_files(
        paths[0] if len(paths) == 1 else paths,
        output,
        dry_run=dry_run,
        keep_suspect=keep_suspect,
        compression=compression,
        overwrite=overwrite,
        link=link,
        staging=staging,
        allow_race=allow_race,
        engine=engine,
        address=address,
        progress=True,
    )
    if style == "json":
        echo_json(result.to_json())
    else:
        console = output_console()
        print_to(console, repair_renderable(result, width=console.width))
    if not result.ok:
        raise click.exceptions.Exit(_LOST)
