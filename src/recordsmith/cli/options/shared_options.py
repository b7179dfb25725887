"""Options that several commands share."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from recordsmith.errors import did_you_mean

__all__ = [
    "NearChoice",
    "compression_option",
    "drop_option",
    "engine_options",
    "files_of_split_option",
    "format_option",
    "metadata_option",
    "name_option",
    "names_option",
    "on_error_option",
    "part_options",
    "read_names",
    "remote_options",
    "resume_option",
    "seed_option",
    "shard_size_option",
    "shards_option",
    "split_option",
    "stratify_option",
    "workers_option",
]

Command = TypeVar("Command", bound=Callable[..., Any])


class NearChoice(click.Choice):  # type: ignore[type-arg] # of strings; older versions of click cannot say so
    """A choice that says which of its words may have been meant.

    >>> NearChoice(["gzip", "zlib"]).convert("gzpi", None, None)
    Traceback (most recent call last):
    click.exceptions.BadParameter: 'gzpi' is not one of gzip, zlib. Did you mean 'gzip'?
    """

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the value, if it is one of the choices."""
        words = list(map(str, self.choices))
        if str(value) not in words:
            self.fail(f"{str(value)!r} is not one of {', '.join(words)}.{did_you_mean(str(value), words)}", param, ctx)
        return str(value)


def read_names(_ctx: click.Context | None, _param: click.Parameter | None, values: tuple[str, ...]) -> tuple[str, ...]:
    """Read names, given one by one or with commas between them.

    >>> read_names(None, None, ("image,label", "path"))
    ('image', 'label', 'path')
    """
    return tuple(name.strip() for value in values for name in value.split(",") if name.strip())


def read_shares(_ctx: click.Context | None, _param: click.Parameter | None, value: str | None) -> str | None:
    """Correct or refuse what is easily mistyped in splits; the run reads them.

    >>> read_shares(None, None, "train=80%,test=20%")
    'train=0.8,test=0.2'
    >>> read_shares(None, None, "train:0.8,test:0.2")
    Traceback (most recent call last):
    click.exceptions.BadParameter: 'train:0.8,test:0.2' has no '='. Did you mean 'train=0.8,test=0.2'?
    """
    if value is None:
        return None
    if "=" not in value and ":" in value:
        raise click.BadParameter(f"{value!r} has no '='. Did you mean {value.replace(':', '=')!r}?")
    return re.sub(r"(\d+(?:\.\d+)?)\s*%", lambda percent: f"{float(percent[1]) / 100:.12g}", value)


def format_option(explanation: str, *, more: tuple[str, ...] = ()) -> Callable[[Command], Command]:
    """Return --format: text, json, or one of `more`."""
    choices = NearChoice(["text", "json", *more])
    return click.option("--format", "style", type=choices, default="text", show_default=True, help=explanation)


def names_option(flag: str, explanation: str) -> Callable[[Command], Command]:
    """Return an option that takes names of features."""
    return click.option(flag, metavar="NAMES", multiple=True, callback=read_names, help=explanation)


def split_option(explanation: str) -> Callable[[Command], Command]:
    """Return --split, which says how records are divided."""
    return click.option("--split", callback=read_shares, metavar="SHARES", help=explanation)


def seed_option(uses: str) -> Callable[[Command], Command]:
    """Return --seed."""
    return click.option(
        "--seed", metavar="N", type=int, default=0, show_default=True, help=f"The random seed of {uses}."
    )


def compression_option(*choices: str) -> Callable[[Command], Command]:
    """Return --compression; the first choice is the default."""
    return click.option(
        "--compression",
        type=NearChoice(choices),
        default=choices[0],
        show_default=True,
        help="The compression of the files.",
    )


def on_error_option(explanation: str, *choices: str, default: str) -> Callable[[Command], Command]:
    """Return --on-error."""
    return click.option("--on-error", type=NearChoice(choices), default=default, show_default=True, help=explanation)


def engine_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add --engine and --address to a command that can work on a Ray cluster."""
    return engine_option(address_option(command))


def read_metadata(_ctx: click.Context | None, _param: click.Parameter | None, values: tuple[str, ...]) -> Any:
    """Read what is said about a dataset.

    >>> read_metadata(None, None, ("license=MIT", "version=1.0.0"))
    {'license': 'MIT', 'version': '1.0.0'}
    """
    found: dict[str, str] = {}
    for pair in values:
        key, equals, text = pair.partition("=")
        if not equals or not key.strip():
            raise click.BadParameter(f"{pair!r} is not a key and a value, such as license=CC-BY-4.0.")
        if text.startswith("@"):
            try:
                text = Path(text[1:]).read_text(encoding="utf-8").strip()
            except (OSError, UnicodeDecodeError) as error:
                raise click.BadParameter(f"{text[1:]!r} cannot be read as a text: {error}") from None
        found[key.strip()] = text
    return found


def part_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add --part and --finish to a command that can be divided among the jobs of a job array."""
    return part_option(finish_option(command))


def remote_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add --staging and --allow-race to a command that can write to a URL."""
    return staging_option(allow_race_option(command))


engine_option = click.option(
    "--engine",
    type=NearChoice(["local", "ray"]),
    default="local",
    show_default=True,
    help="Where the work is done: on this machine, or on a Ray cluster with machines that see the same folders or "
    "URLs. The result does not depend on it.",
)
address_option = click.option(
    "--address",
    metavar="ADDRESS",
    help="The address of the Ray cluster, or `auto`.  [default: RAY_ADDRESS, or Ray is started on this machine]",
)
part_option = click.option(
    "--part",
    metavar="K/N",
    help="Do only one part of the work, such as 3/8, as one job of a job array. All jobs write to the same folder "
    "or URL. Parts may run at the same time, in any order, and more than once.",
)
finish_option = click.option(
    "--finish", is_flag=True, help="Order, write, verify and publish the files after all parts are done."
)
staging_option = click.option(
    "--staging",
    metavar="PLACE",
    help="For an output at a URL: the local folder in which files are written and verified before they are uploaded. "
    "With `make` and `copy` it may be a URL too: finished work is kept there, other machines can share it, and "
    "--resume can continue it anywhere.  [default: a folder in the user's cache; with --engine ray or --part, a folder "
    "at the output]",
)
allow_race_option = click.option(
    "--allow-race",
    is_flag=True,
    help="For an output at a URL: allow storage without conditional writes, where two simultaneous runs could "
    "overwrite each other's output.",
)
metadata_option = click.option(
    "--metadata",
    metavar="KEY=VALUE",
    multiple=True,
    callback=read_metadata,
    help="Metadata of the dataset, stored in recordsmith.json and in TFDS' dataset_info.json: description, "
    "license, citation, homepage, version (such as 1.0.0), or supervised_keys=INPUT,TARGET. KEY=@FILE takes the text "
    "of a file. May be given several times.",
)
name_option = click.option(
    "--name", metavar="NAME", help="The start of the file names.  [default: the name of the folder]"
)
files_of_split_option = click.option("--split", metavar="NAME", help="Use only the files of this split, such as train.")
drop_option = names_option("--drop", "Leave out these features.")
stratify_option = click.option(
    "--stratify",
    callback=lambda _ctx, _param, value: True if value == "" else value,
    metavar="[FEATURE]",
    is_flag=False,
    flag_value="",
    help="Give all splits the same class proportions: those of the label, or of this feature.",
)
shards_option = click.option(
    "--shards",
    metavar="N",
    type=click.IntRange(1, 99_999),
    help="The number of files per split.  [default: depends on --shard-size]",
)
shard_size_option = click.option(
    "--shard-size", metavar="SIZE", default="128MB", show_default=True, help="The intended size of a file."
)
resume_option = click.option(
    "--resume", is_flag=True, help="Continue an unfinished run. The files are the same as without the interruption."
)
workers_option = click.option(
    "--workers",
    metavar="N",
    type=click.IntRange(1),
    help="The number of workers. The files do not depend on it.  [default: one per processor]",
)
