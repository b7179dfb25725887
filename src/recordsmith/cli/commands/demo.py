"""`recordsmith demo`: shows everything on a small dataset, in a minute."""

from __future__ import annotations

import click

from recordsmith.cli.options.shared_options import NearChoice

__all__ = ["demo"]

_EXAMPLES = """\b
Examples:
  recordsmith demo
  recordsmith demo somewhere/ --framework pytorch
"""


@click.command(short_help="Walk through make, check, repair, training and doctor on a small dataset.", epilog=_EXAMPLES)
@click.argument("folder", default="recordsmith-demo")
@click.option(
    "--framework",
    type=NearChoice(["keras", "pytorch", "scikit-learn", "numpy"]),
    help="The framework to train with. [default: the first of these that is installed]",
)
def demo(*, folder: str, framework: str | None) -> None:
    """Try everything on a small dataset, in a minute or two.

    The demo draws images with deliberate mistakes into FOLDER, makes a dataset of them and checks it. It repairs a
    damaged file, trains a model, and explains why a program does not learn.

    Every step shows the equivalent command. The dataset and the reports stay in FOLDER.
    """
    from recordsmith.cli.consoles import output_console, print_to
    from recordsmith.demonstration import demonstrate
    from recordsmith.terminal.results.demo_lines import demo_line

    console = output_console()
    demonstrate(folder, lambda kind, text: print_to(console, demo_line(kind, text)), framework=framework)
