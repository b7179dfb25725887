"""`recordsmith card`: describes a dataset for people and for other programs."""

from __future__ import annotations

import click

from recordsmith.cli.options.shared_options import NearChoice

__all__ = ["card"]

_EXAMPLES = """\b
Examples:
  recordsmith card data/ > README.md
  recordsmith card data/ -o card.html
  recordsmith card data/ -o croissant.json
"""
_ENDINGS = {".md": "markdown", ".markdown": "markdown", ".html": "html", ".htm": "html", ".json": "croissant"}


@click.command(short_help="Describe a dataset: a data card, or a Croissant file.", epilog=_EXAMPLES)
@click.argument("paths", metavar="PATH...", nargs=-1, required=True)
@click.option(
    "--to",
    type=NearChoice(["markdown", "html", "croissant"]),
    help="The format.  [default: from the suffix of the output file, or markdown]",
)
@click.option("-o", "--output", metavar="FILE", help="The file to write.  [default: print]")
@click.option("--overwrite", is_flag=True, help="Replace an existing file.")
def card(*, paths: tuple[str, ...], to: str | None, output: str | None, overwrite: bool) -> None:
    """Describe a dataset: what is in it, how much, how it was made, and under which licence.

    Markdown and HTML are for people. All records are read, as by `recordsmith check`. Croissant is JSON-LD for search
    engines and other programs, and is made from the description next to the files. Licence, citation, homepage and
    version are those that `make` and `copy` were given with --metadata.
    """
    import os

    from recordsmith.cli.consoles import echo
    from recordsmith.describing.card import card as describe
    from recordsmith.run.publishing.publishing import refuse_file
    from recordsmith.storage.atomic_file import write_text_atomically

    if output is not None and not overwrite:
        refuse_file(output)
    ending = os.path.splitext(output or "")[1].lower()
    kind = to or _ENDINGS.get(ending, "markdown")
    text = describe(list(paths) if len(paths) > 1 else paths[0], to=kind, progress=True)  # type: ignore[arg-type] # of NearChoice
    if output is None:
        echo(text.rstrip("\n"))
    else:
        write_text_atomically(output, text)
