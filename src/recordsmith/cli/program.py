"""The main program: common options, error handling and exit codes of all commands."""

from __future__ import annotations

import sys
import traceback
import warnings
from typing import Any

import click

from recordsmith.cli.closed_pipes import survive_closed_pipes
from recordsmith.cli.commands.cache import cache
from recordsmith.cli.commands.card import card
from recordsmith.cli.commands.check import check
from recordsmith.cli.commands.compare import compare
from recordsmith.cli.commands.completion import complete_paths, completion
from recordsmith.cli.commands.copy import copy
from recordsmith.cli.commands.demo import demo
from recordsmith.cli.commands.diagnose import diagnose
from recordsmith.cli.commands.doctor import doctor
from recordsmith.cli.commands.export import export
from recordsmith.cli.commands.index import index
from recordsmith.cli.commands.make import make
from recordsmith.cli.commands.repair import repair
from recordsmith.cli.commands.rule import rule
from recordsmith.cli.commands.schema import schema
from recordsmith.cli.commands.show import show
from recordsmith.cli.commands.view import view
from recordsmith.cli.interrupts import Interrupts
from recordsmith.cli.termination import TerminatedError, ends_cleanly
from recordsmith.errors import RecordsmithError, did_you_mean
from recordsmith.wording.visible_text import printable

__all__ = ["main"]

_WRONG = 2
_KNOWN = (RecordsmithError, OSError, MemoryError)
_INTERRUPTED = 130  # as shells say it: 128 and the signal's number

# What other programs call it.
_OTHER_WORDS = {
    "cat": "show",
    "browse": "view",
    "convert": "make",
    "diff": "compare",
    "create": "make",
    "fix": "repair",
    "head": "show",
    "help": "--help",
    "inspect": "show",
    "lint": "doctor",
    "merge": "copy",
    "reshard": "copy",
    "rules": "rule",
    "split": "copy",
    "validate": "check",
    "verify": "check",
    "version": "--version",
    "write": "make",
}


class Program(click.Group):
    """A group of commands whose errors are explained instead of traced."""

    def main(self, *args: Any, **options: Any) -> Any:
        """Run the program, to the end also where whoever reads its output has seen enough."""
        survive_closed_pipes()
        return super().main(*args, **options)

    def make_context(self, *args: Any, **options: Any) -> click.Context:
        """Read the command line, and say in our own words what is wrong with it."""
        try:
            return super().make_context(*args, **options)
        except click.ClickException as error:
            _explain_use(error)
            raise click.exceptions.Exit(error.exit_code) from None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command, or say which one may have been meant."""
        word = args[0]
        if word not in self.commands and word[:1] != "-" and not ctx.resilient_parsing:
            meant = _OTHER_WORDS.get(word.casefold())
            hint = f" Did you mean {meant!r}?" if meant else did_you_mean(word, self.commands)
            ctx.fail(f"No such command {word!r}.{hint}")
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command, and turn what it raises into words and an exit code."""
        _print_anything()
        with warnings.catch_warnings(), ends_cleanly():
            # Python's own default hides some warnings and shows the others with lines of our source.
            if not sys.warnoptions:
                warnings.simplefilter("always", UserWarning)
            warnings.showwarning = _show_warning
            interrupts = Interrupts()
            try:
                with interrupts:
                    result = super().invoke(ctx)
                sys.stdout.flush()
            except TerminatedError as error:
                ctx.exit(error.exit_code)
            except KeyboardInterrupt:
                ctx.exit(_INTERRUPTED)
            except click.ClickException as error:
                _explain_use(error)
                ctx.exit(error.exit_code)
            except (click.exceptions.Exit, click.Abort):
                raise  # click has codes for these
            except Exception as error:  # noqa: BLE001 - also what is our own mistake has words and a code
                if interrupts.seen:  # what an interrupt broke, as an import that became an ImportError
                    ctx.exit(_INTERRUPTED)
                if ctx.params["debug"]:
                    _trace(error)
                else:
                    _explain(error if isinstance(error, _KNOWN) else _unknown(error))
                ctx.exit(_WRONG)
            else:
                return result


@click.group(
    cls=Program,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Help on a command: recordsmith show --help",
)
@click.version_option(package_name="recordsmith", message="%(package)s %(version)s")
@click.option(
    "--debug",
    is_flag=True,
    envvar="RECORDSMITH_DEBUG",
    help="Show the traceback of an error. The environment variable RECORDSMITH_DEBUG=1 does the same.",
)
def main(*, debug: bool) -> None:  # Program.invoke reads the option
    """Make, check and load TFRecord datasets.

    A PATH is a TFRecord file, a folder of them, or a quoted glob. Compression is detected from the content.

    Exit codes: 0 success, 1 findings or rejected rows, 2 wrong use or unreadable input.
    """


main.add_command(demo)
main.add_command(make)
main.add_command(show)
main.add_command(view)
main.add_command(schema)
main.add_command(index)
main.add_command(check)
main.add_command(compare)
main.add_command(repair)
main.add_command(doctor)
main.add_command(diagnose)
main.add_command(rule)
main.add_command(cache)
main.add_command(copy)
main.add_command(export)
main.add_command(card)
main.add_command(completion)
complete_paths(main)


def _unknown(error: Exception) -> RecordsmithError:
    what = f"{type(error).__name__}: {error}"
    if getattr(error, "is_of_users_function", False):
        explained = RecordsmithError(
            f"The map function raised {what}",
            advice="Set RECORDSMITH_DEBUG=1 and run the command again to see the traceback.",
        )
        for note in getattr(error, "__notes__", []):
            explained.add_note(note)
        return explained
    return RecordsmithError(
        "This is a bug in recordsmith.",
        found=what,
        advice="Set RECORDSMITH_DEBUG=1 and run the command again to see the traceback, and please report it.",
    )


def _explain_use(error: click.ClickException) -> None:
    """Say what is wrong with a command line, in the words that all errors begin with."""
    from recordsmith.cli.consoles import echo

    context = getattr(error, "ctx", None)
    if context is not None:
        echo(f"{context.get_usage()}\nTry '{context.command_path} --help' for help.\n", err=True)
    echo(f"error: {printable(error.format_message())}", err=True)


def _trace(error: Exception) -> None:
    from recordsmith.cli.consoles import echo

    echo("".join(traceback.format_exception(error)), err=True, newline=False)


def _explain(error: Exception) -> None:
    from recordsmith.cli.consoles import error_console, print_to
    from recordsmith.terminal.error_block import error_block

    print_to(error_console(), error_block(error))


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    from recordsmith.cli.consoles import error_console, print_to
    from recordsmith.terminal.error_block import warning_block

    print_to(error_console(), warning_block(str(message)))


def _print_anything() -> None:
    """Let a character that the terminal's encoding lacks be a question mark, not a crash."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="replace")
