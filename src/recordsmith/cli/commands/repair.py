"""`recordsmith repair`: what is sound of damaged files."""

from __future__ import annotations

from functools import partial

import click

from recordsmith.cli.commands.make_values import NearChoice

__all__ = ["repair"]

_LOST = 1

_EXAMPLES = """\b
Examples:
  recordsmith repair bad.tfrecord --dry-run
  recordsmith repair bad.tfrecord -o good.tfrecord
  recordsmith repair data/ -o mended/ --link
  recordsmith repair 'data/train-*' -o mended/ --keep-suspect suspect/
"""


@click.command(short_help="Save what is sound of damaged TFRecord files.", epilog=_EXAMPLES)
@click.argument("paths", metavar="PATH...", nargs=-1, required=True)
@click.option("-o", "--output", metavar="PLACE", help="The file to write; a folder for several files or a folder.")
@click.option("--dry-run", is_flag=True, help="Only say what is damaged, and what would be kept.")
@click.option(
    "--keep-suspect",
    metavar="PLACE",
    help="A file, or a folder for several, for records whose data fails its checksum and for those that seem to lie "
    "inside of others.",
)
@click.option(
    "--compression",
    type=NearChoice(["auto", "none", "gzip", "zlib"]),
    default="auto",
    show_default=True,
    help="Of the damaged files; told from content and name unless given. The new ones have the same.",
)
@click.option("--link", is_flag=True, help="Make links to sound files, where the disk allows it, instead of copies.")
@click.option("--overwrite", is_flag=True, help="Replace files that are there.")
@click.option(
    "--format",
    "style",
    type=NearChoice(["text", "json"]),
    default="text",
    show_default=True,
    help="How to print what came of it. The keys of the JSON are described in docs/repairing.md, and stay.",
)
def repair(
    *,
    paths: tuple[str, ...],
    output: str | None,
    dry_run: bool,
    keep_suspect: str | None,
    compression: str,
    link: bool,
    overwrite: bool,
    style: str,
) -> None:
    """Save what is sound of damaged TFRecord files, and list what is lost.

    Every undamaged record is kept byte for byte, before, between and behind damages of any kind: flipped bits, bytes
    put in or removed, blocks of zeros, a file cut off, garbage, and damaged gzip or zlib data. A record of which only
    the header is damaged gets a new one.

    The damaged files are never changed. New ones get their names only when they are whole and were read back. Of a
    folder, the description (recordsmith.json, dataset_info.json) is brought up to date, and other files are copied.

    Exit codes: 0 nothing is lost, 1 something is, 2 wrong use, input that cannot be read, or a refusal.
    """
    from recordsmith.cli.consoles import echo_json, output_console, print_to
    from recordsmith.repairing import repair as repair_files
    from recordsmith.terminal.results.repair_tables import repair_renderable
    from recordsmith.workers.progress_display import phase_progress

    if output is None and not dry_run:
        raise click.UsageError("Say where the repaired data goes: -o PLACE. Or only look: --dry-run.")
    if dry_run and output is not None:
        output = None  # asked for by habit; nothing is written
    with phase_progress(lines=True) as on_phase:
        result = repair_files(
            paths[0] if len(paths) == 1 else paths,
            output,
            dry_run=dry_run,
            keep_suspect=keep_suspect,
            compression=compression,
            overwrite=overwrite,
            link=link,
            progress=partial(on_phase, "looking" if dry_run else "repairing"),
        )
    if style == "json":
        echo_json(result.to_json())
    else:
        console = output_console()
        print_to(console, repair_renderable(result, width=console.width))
    if not result.ok:
        raise click.exceptions.Exit(_LOST)
