"""`recordsmith schema`: what a record holds."""

from __future__ import annotations

import json
import os

import click

__all__ = ["schema"]

_EXAMPLES = """\b
Examples:
  recordsmith schema data/
  recordsmith schema 'data/train-*' --records 1000
  recordsmith schema data/ -o schema.json
  recordsmith schema data/ --format json | jq .features
"""


@click.command(short_help="Print the schema of TFRecord files, declared or inferred.", epilog=_EXAMPLES)
@click.argument("paths", metavar="PATH...", nargs=-1, required=True)
@click.option(
    "--format",
    "style",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="text: the Python that declares it. json: what Schema.load reads.",
)
@click.option("-o", "--output", metavar="FILE", help="Write the schema to this file, as JSON.")
@click.option("--force", is_flag=True, help="Let -o replace a file that is there.")
@click.option(
    "--records",
    metavar="N",
    type=click.IntRange(1),
    help="Infer from the first N records of each file; without it, from all.",
)
@click.option("--infer", is_flag=True, help="Infer the schema even if one is declared beside the files.")
@click.option("--split", metavar="NAME", help="Only the files of this split, such as train.")
def schema(
    *,
    paths: tuple[str, ...],
    style: str,
    output: str | None,
    force: bool,
    records: int | None,
    infer: bool,
    split: str | None,
) -> None:
    """Print the schema of TFRecord files.

    That is the one which recordsmith.json or a TensorFlow Datasets description beside the files declares; without
    one, it is inferred from the records, and says from how many. What was an image, a label or a matrix is not in the
    file: write the schema with -o, and edit what you know better.
    """
    from recordsmith.cli.consoles import error_console, output_console, print_to
    from recordsmith.errors import RecordsmithError
    from recordsmith.facts import find_schema
    from recordsmith.view.amounts import count_text
    from recordsmith.view.schema_listing import schema_renderable, schema_source

    if output is not None and os.path.exists(output) and not force:
        raise RecordsmithError("There is a file of this name.", path=output, advice="Add --force to replace it.")
    found = find_schema(paths[0] if len(paths) == 1 else paths, split=split, records=records, infer=infer)
    if output is not None:
        found.schema.save(output)
        features = count_text(len(found.schema), "feature")
        print_to(error_console(), f"Wrote {output}: {features}, {schema_source(found)}.")
    elif style == "json":
        click.echo(json.dumps(found.schema.to_json(), ensure_ascii=False, allow_nan=False, indent=2))
        print_to(error_console(), f"# {schema_source(found)}")
    else:
        print_to(output_console(), schema_renderable(found))
