"""The program around the commands: what is common to all of them, and how it ends."""

from __future__ import annotations

import contextlib
import os
import sys
import traceback
import warnings
from typing import Any

import click

from recordsmith.cli.check import check
from recordsmith.cli.completion import complete_paths, completion
from recordsmith.cli.copy import copy
from recordsmith.cli.demo import demo
from recordsmith.cli.doctor import doctor
from recordsmith.cli.export import export
from recordsmith.cli.index import index
from recordsmith.cli.make import make
from recordsmith.cli.repair import repair
from recordsmith.cli.rule import rule
from recordsmith.cli.schema import schema
from recordsmith.cli.show import show
from recordsmith.cli.termination import TerminatedError, ends_cleanly
from recordsmith.errors import RecordsmithError, did_you_mean

__all__ = ["main"]

_WRONG = 2
_KNOWN = (RecordsmithError, OSError, MemoryError)
_INTERRUPTED = 130  # as shells say it: 128 and the signal's number

# What other programs call it.
_OTHER_WORDS = {
    "cat": "show",
    "convert": "make",
    "create": "make",
    "diagnose": "doctor",
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
    "view": "show",
    "write": "make",
}


class Program(click.Group):
    """A group of commands whose errors are explained instead of traced.

    >>> sorted(main.commands)
    ['check', 'completion', 'copy', 'demo', 'doctor', 'export', 'index', 'make', 'repair', 'rule', 'schema', 'show']
    """

    def make_context(self, *args: Any, **options: Any) -> click.Context:
        """Read the command line; where that already prints, as --help does, a reader may have gone."""
        try:
            return super().make_context(*args, **options)
        except BrokenPipeError:
            _let_go_of_stdout()
            raise click.exceptions.Exit(0) from None

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
            try:
                result = super().invoke(ctx)
                sys.stdout.flush()
            except BrokenPipeError:
                _let_go_of_stdout()  # whoever read the output has seen enough
                ctx.exit(0)
            except TerminatedError as error:
                ctx.exit(error.exit_code)
            except KeyboardInterrupt:
                ctx.exit(_INTERRUPTED)
            except (click.ClickException, click.exceptions.Exit, click.Abort):
                raise  # click has words and codes for these
            except Exception as error:  # noqa: BLE001 - also what is our own mistake has words and a code
                if ctx.params["debug"]:
                    traceback.print_exception(error)
                else:
                    _explain(error if isinstance(error, _KNOWN) else _our_own_fault(error))
                ctx.exit(_WRONG)
            else:
                return result


@click.group(
    cls=Program,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Every command explains itself: recordsmith show --help",
)
@click.version_option(package_name="recordsmith", message="%(package)s %(version)s")
@click.option(
    "--debug",
    is_flag=True,
    envvar="RECORDSMITH_DEBUG",
    help="On an error, show where in the program it arose. The variable RECORDSMITH_DEBUG=1 does the same.",
)
def main(*, debug: bool) -> None:  # Program.invoke reads the option
    """Make, check and feed TFRecord datasets.

    A PATH is a TFRecord file, a folder of them, or a quoted glob; compression is told from the content.

    Exit codes: 0 done and nothing is wrong, 1 findings or rejected rows, 2 wrong use, unreadable input, or a refusal.
    """


main.add_command(demo)
main.add_command(make)
main.add_command(show)
main.add_command(schema)
main.add_command(index)
main.add_command(check)
main.add_command(repair)
main.add_command(doctor)
main.add_command(rule)
main.add_command(copy)
main.add_command(export)
main.add_command(completion)
complete_paths(main)


def _our_own_fault(error: Exception) -> RecordsmithError:
    return RecordsmithError(
        "This is a fault of recordsmith itself.",
        found=f"{type(error).__name__}: {error}",
        advice="RECORDSMITH_DEBUG=1 before the same command shows where it arose: please report that.",
    )


def _explain(error: Exception) -> None:
    from recordsmith.cli.consoles import error_console, print_to
    from recordsmith.view.error_block import error_block

    print_to(error_console(), error_block(error))


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    from recordsmith.cli.consoles import error_console, print_to
    from recordsmith.view.error_block import warning_block

    print_to(error_console(), warning_block(str(message)))


def _print_anything() -> None:
    """Let a character that the terminal's encoding lacks be a question mark, not a crash."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="replace")


def _let_go_of_stdout() -> None:
    """Send what is still buffered nowhere, so that Python's own flush at the end has nothing to complain about."""
    with contextlib.suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
