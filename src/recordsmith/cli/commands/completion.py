"""`recordsmith completion`: prints the script for completion with the Tab key."""

from __future__ import annotations

import os

import click
from click.shell_completion import CompletionItem, get_completion_class

from recordsmith.cli.options.shared_options import NearChoice

__all__ = ["PathWord", "complete_paths", "completion"]

_SHELLS = ["bash", "zsh", "fish"]
_EXAMPLES = """\b
Examples:
  recordsmith completion bash >> ~/.bashrc
  recordsmith completion zsh >> ~/.zshrc
  recordsmith completion fish > ~/.config/fish/completions/recordsmith.fish
"""

_PATHS = ("FILE", "FOLDER", "OTHER", "PATH", "PATH...", "PLACE", "SOURCE...")  # what the help calls them


class PathWord(click.types.StringParamType):
    """A text that the shell completes as a path. Whether it is there and may be read, the library says better."""

    def shell_complete(
        self, ctx: click.Context | None, param: click.Parameter | None, incomplete: str
    ) -> list[CompletionItem]:
        """Leave it to the shell, which knows its files."""
        del ctx, param
        return [CompletionItem(incomplete, type="file")]


@click.command(short_help="Print a shell script for completion with Tab.", epilog=_EXAMPLES)
@click.argument("shell", metavar="[bash|zsh|fish]", type=NearChoice(_SHELLS), required=False)
@click.pass_context
def completion(ctx: click.Context, /, *, shell: str | None) -> None:
    """Print a script that lets a shell complete commands, options, choices, rules and paths with Tab.

    The default is the shell of the variable SHELL. To try it in this shell only: eval "$(recordsmith completion)"
    """
    program = ctx.find_root().command
    name = shell or os.path.basename(os.environ.get("SHELL", ""))
    kind = get_completion_class(name) if name in _SHELLS else None
    if kind is None:
        raise click.UsageError(f"Name the shell: {', '.join(_SHELLS[:-1])} or {_SHELLS[-1]}.")
    click.echo(kind(program, {}, "recordsmith", "_RECORDSMITH_COMPLETE").source())


def complete_paths(group: click.Group) -> None:
    """Let every argument and option that the help calls a path be completed as one."""
    for command in group.commands.values():
        for param in command.params:
            if param.type is click.STRING and (param.metavar or str(param.name).upper()) in _PATHS:
                param.type = PathWord()
