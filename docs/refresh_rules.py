"""Write docs/rules/ from the rules' own texts: `python docs/refresh_rules.py`. A test fails when they are old."""
# ruff: noqa: INP001 - a script

from __future__ import annotations

from pathlib import Path
from typing import Any

from recordsmith.rules import Rule
from recordsmith.terminal.reports.rule_text import FAMILIES, every_rule

FOLDER = Path(__file__).resolve().parent / "rules"
HEAD = """# Rules

This page lists what `recordsmith check` (data), `recordsmith compare` (two datasets), `recordsmith doctor` (code) and
`rs.diagnose` (batches) look for. Each rule has a code and a name. `--select` and `--ignore` take codes, names and
prefixes of codes. `recordsmith rule CODE` prints the text of a rule. A code is never reused for another rule.

| severity | meaning |
|---|---|
| error | training fails or gives wrong results |
| warning | probably a mistake |
| info | worth knowing |

In cases that its text names, a rule reports a lower severity than listed here.
"""
NOTE = "<!-- written by docs/refresh_rules.py from the rules' docstrings -->"


def pages() -> dict[str, str]:
    """Return the text of each page, by its name."""
    rules = list(every_rule())
    found = {}
    index = [NOTE, "", HEAD]
    for letter, title in FAMILIES.items():
        family = [rule for rule in rules if rule.code.startswith(letter)]
        if not family:
            continue
        name, _, about = title.partition(": ")
        page = f"{name.replace(' ', '-')}.md"
        heading = f"{letter}: {name}" + (f", {about}" if about else "")
        index += [f"## [{heading}]({page})", "", "| code | name | severity | what it finds |", "|---|---|---|---|"]
        index += [
            f"| [{rule.code}]({page}#{rule.code.lower()}-{rule.name}) | {rule.name} | {rule.severity.value} "
            f"| {rule.text.summary} |"
            for rule in family
        ]
        index.append("")
        found[page] = "\n".join([NOTE, "", f"# {heading}", "", *(section(rule) for rule in family)])
    found["index.md"] = "\n".join(index)
    return found


def section(rule: Rule[Any]) -> str:
    """Return a rule as a part of a Markdown page."""
    text = rule.text
    parts = [
        f"## {rule.code} {rule.name}",
        f"*{rule.severity.value}.* {text.summary}",
        *([text.details] if text.details else []),
        f"**Why it matters.** {text.why}",
        f"**Example.** {text.example}",
        f"**Fix.** {text.fix}",
    ]
    return "\n\n".join(parts) + "\n"


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    wanted = pages()
    for old in FOLDER.glob("*.md"):
        if old.name not in wanted:
            old.unlink()
    for name, text in wanted.items():
        (FOLDER / name).write_text(text)
