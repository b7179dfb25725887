"""The command `recordsmith`: one file for each subcommand, which parses, makes one call, prints, and exits.

0   done, and nothing is wrong
1   findings, or rejected rows
2   wrong use, input that cannot be read, or a refusal
"""

from recordsmith.cli.program import main

__all__ = ["main"]
