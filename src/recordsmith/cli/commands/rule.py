"""`recordsmith rule`: explains rules."""

from __future__ import annotations

import click
from click.shell_completion import CompletionItem

from recordsmith.cli.options.shared_options import format_option

__all__ = ["rule"]

_EXAMPLES = """\b
Examples:
  recordsmith rule
  recordsmith rule V001
  recordsmith rule constant-feature
  recordsmith rule --format json
"""


def _rules_that_begin(_ctx: click.Context, _param: click.Parameter, begun: str) -> list[CompletionItem]:
    from recordsmith.terminal.reports.rule_text import every_rule

    words = [(word, one.name) for one in every_rule() for word in (one.code, one.name)]
    return [CompletionItem(word, help=name) for word, name in words if word.startswith(begun)]


@click.command(short_help="Explain a rule of check and doctor, or list all rules.", epilog=_EXAMPLES)
@click.argument("code", metavar="[CODE|NAME]", required=False, shell_complete=_rules_that_begin)
@format_option("The format of the output.")
def rule(*, code: str | None, style: str) -> None:
    """Explain one rule: what it finds, why that matters, an example, and a fix. Without a rule, list all rules."""
    from recordsmith.cli.consoles import echo_json, output_console, print_to
    from recordsmith.terminal.reports.rule_text import every_rule, rule_json, rule_page, rule_table

    rules = every_rule()
    if style == "json":
        document = rule_json(rules.get(code)) if code is not None else [rule_json(one) for one in rules]
        echo_json(document)
        return
    console = output_console()
    print_to(console, rule_table(rules) if code is None else rule_page(rules.get(code), console.width))
