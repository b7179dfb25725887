"""What the demo says between its commands."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.rule import Rule
from rich.text import Text

__all__ = ["demo_line"]


def demo_line(kind: str, text: str) -> RenderableType:
    """Return a chapter's heading, a paragraph, or a command as one would type it."""
    if kind == "chapter":
        return Group("", Rule(Text(text, "bold"), align="left", style="dim"))
    if kind == "command":
        prompt = ">>> " if text.startswith("rs.") else "$ "
        return Text.assemble((prompt, "dim"), (text, "bold cyan"))
    return Text(text)
