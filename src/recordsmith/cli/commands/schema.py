"""`recordsmith schema`: prints and compares schemas."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from recordsmith.cli.options.shared_options import NearChoice, files_of_split_option

if TYPE_CHECKING:
    from recordsmith.dataset.descriptions.schema_source import FoundSchema

__all__ = ["schema"]

_EXAMPLES = """\b
Examples:
  recordsmith schema data/
  recordsmith schema 'data/train-*' --records 1000
  recordsmith schema data/ -o schema.json
  recordsmith schema data/ --format tfmd -o schema.pbtxt
  recordsmith schema data/ --format json | jq .features
  recordsmith schema data/ --diff schema.json
  recordsmith schema yesterday.json today.json
"""


@click.command(short_help="Print the schema of TFRecord files, or compare two schemas.", epilog=_EXAMPLES)
@click.argument("paths", metavar="PATH...", nargs=-1, required=True)
@click.option(
    "--format",
    "style",
    type=NearChoice(["text", "table", "python", "json", "tf", "tfds", "tfmd"]),
    help="text (default): the declaration and its origin. table: one line per feature. python: code that declares it. "
    "json (default with -o): the input of Schema.load. tf: code that parses the records with only TensorFlow. tfds: "
    "features.json. tfmd: schema.pbtxt.",
)
@click.option(
    "--diff", "other", metavar="OTHER", help="Compare with the schema of OTHER. The exit code is 1 if they differ."
)
@click.option("-o", "--output", metavar="FILE", help="Write the schema to this file.")
@click.option("--overwrite", is_flag=True, help="Replace an existing file.")
@click.option(
    "--records",
    metavar="N",
    type=click.IntRange(1),
    help="Infer from the first N records of each file.  [default: all]",
)
@click.option("--infer", is_flag=True, help="Infer the schema even if the dataset declares one.")
@files_of_split_option
@click.pass_context
def schema(  # noqa: PLR0913 - one for each option
    context: click.Context,
    *,
    paths: tuple[str, ...],
    style: str | None,
    other: str | None,
    output: str | None,
    overwrite: bool,
    records: int | None,
    infer: bool,
    split: str | None,
) -> None:
    """Print the schema of TFRecord files, or compare it with another.

    The schema comes from recordsmith.json or a TensorFlow Datasets description next to the files. If there is none,
    it is inferred from the records, and the output says from how many. The records do not say which numbers are
    labels or matrices: write the schema with -o, and edit it.

    PATH and OTHER may also be schema files: the output of -o, a recordsmith.json, a features.json or a
    schema.pbtxt. Two paths are compared.
    """
    from recordsmith.cli.consoles import echo_json, output_console, print_to
    from recordsmith.dataset.descriptions.schema_source import find_schema, is_schema_file
    from recordsmith.errors import RecordsmithError
    from recordsmith.terminal.schemas.schema_difference import difference_renderable

    given = list(paths)
    if other is None and len(given) == 2 and all(map(is_schema_file, given)):
        other = given.pop()
    if other is not None and (output is not None or style not in (None, "text", "json")):
        raise click.UsageError("A comparison is printed, with --format text or json.")
    if output is not None and style in ("text", "table"):
        raise click.UsageError("-o needs --format json, python, tf, tfds or tfmd.")
    if output is not None and os.path.exists(output) and not overwrite:
        raise RecordsmithError("The file already exists.", path=output, advice="Add --overwrite to replace it.")
    found = find_schema(given[0] if len(given) == 1 else given, split=split, records=records, infer=infer)
    if other is None:
        _print_schema(found, style, output)
        return
    compared = find_schema(other, split=split, records=records, infer=infer and not is_schema_file(other))
    difference = found.schema.diff(compared.schema)
    if style == "json":
        echo_json(difference.to_json())
    else:
        print_to(output_console(), difference_renderable(difference))
    context.exit(1 if difference else 0)


def _print_schema(found: FoundSchema, style: str | None, output: str | None) -> None:
    from recordsmith.cli.consoles import echo, error_console, output_console, print_to
    from recordsmith.storage.atomic_file import rewrite_text
    from recordsmith.terminal.schemas.schema_listing import schema_renderable, schema_source
    from recordsmith.terminal.schemas.schema_table import schema_table
    from recordsmith.terminal.schemas.schema_text import FORMS, schema_text
    from recordsmith.wording.numbers import count_text

    if output is not None:
        form = style or "json"
        rewrite_text(output, schema_text(found.schema, form))
        features = count_text(len(found.schema), "feature")
        print_to(error_console(), f"Wrote {output}: {features}, {schema_source(found)}.")
    elif style in FORMS:
        echo(schema_text(found.schema, style), newline=False)
        print_to(error_console(), f"# {schema_source(found)}")
    else:
        print_to(output_console(), schema_table(found) if style == "table" else schema_renderable(found))
