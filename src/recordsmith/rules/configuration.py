"""The settings of a project: `[tool.recordsmith]` in pyproject.toml, or recordsmith.toml.

    [tool.recordsmith]
    select = ["F", "W", "S", "V", "D"]   # rules to run; without it all
    ignore = ["D004"]                    # rules to leave out
    fail-on = "error"                    # "error", "warning" (the default), "info" or "never"
    baseline = "known-findings.json"     # findings that are known, and not reported again

recordsmith.toml has the same keys at its top level. The nearest of these files counts, from the current folder upwards,
and the command line takes precedence over it. `check`, `lint` and `diagnose` all obey it; one of them of whose rules
`select` names none applies all of its own.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from recordsmith.errors import RecordsmithError, did_you_mean, list_names
from recordsmith.rules.finding import Severity
from recordsmith.rules.rule import RuleSet
from recordsmith.rules.selection import Selection, severity_from
from recordsmith.storage.json_descriptions import read_bounded

__all__ = ["Configuration", "load_configuration"]

_KEYS = ("select", "ignore", "fail-on", "baseline")
_OWN_FILE = "recordsmith.toml"
_SHARED_FILE = "pyproject.toml"


@dataclass(frozen=True, slots=True)
class Configuration:
    """The settings of a project for `check`, `lint` and `diagnose`, from `rs.load_configuration`.

    Attributes:
        select: the rules to apply: codes, prefixes of codes, or names; empty: all.
        ignore: rules to leave out.
        fail_on: the lowest severity that counts as a failure; None: no severity does.
        baseline: the file of known findings, as an absolute path; None without one.
        path: the file that was read; None if there is none.
    """

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    fail_on: Severity | None = Severity.WARNING
    baseline: str | None = None
    path: str | None = None

    def selection(
        self,
        rules: RuleSet[Any],
        *,
        select: Iterable[str] = (),
        ignore: Iterable[str] = (),
        fail_on: str | None = None,
    ) -> Selection:
        """Return which of some rules are wanted; what is given here takes precedence over the file.

        Args:
            rules: the rules of one family. What the file says about rules of other families does not count.
            select: rules to run instead of the file's; an entry that names none of `rules` is an error.
            ignore: rules to leave out besides the file's, likewise.
            fail_on: a severity or "never"; None: as the file says.
        """
        for option, entries in (("select", select), ("ignore", ignore)):
            if isinstance(entries, str):
                raise RecordsmithError(
                    f"{option} must be a list of codes or names of rules.",
                    found=repr(entries),
                    advice=f"Write {option}={entries.split(',')!r}.",
                )
        asked = Selection(tuple(select), tuple(ignore)).resolved(rules)
        configured = Selection(self.select, self.ignore).within(rules)
        return Selection(
            asked.select or configured.select,
            (*configured.ignore, *asked.ignore),
            self.fail_on if fail_on is None else severity_from(fail_on),
        )


def load_configuration(path: str | os.PathLike[str] = ".") -> Configuration:
    """Read the settings of a project for `check`, `lint` and `diagnose`. The commands do this automatically.

    Args:
        path: the configuration file; or a folder, to read the nearest recordsmith.toml, or pyproject.toml with
            `[tool.recordsmith]`, of that folder and those above it.

    Returns:
        The settings; the defaults if the folders have no such file.

    >>> import recordsmith as rs
    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> with open(f"{folder}/recordsmith.toml", "w") as file:
    ...     _ = file.write('ignore = ["V003"]')
    >>> rs.load_configuration(folder).ignore
    ('V003',)
    """
    here = os.path.abspath(path)
    if not os.path.isdir(here):
        return _settings_in(here) or Configuration(path=here)
    while True:
        for name in (_OWN_FILE, _SHARED_FILE):
            file = os.path.join(here, name)
            found = _settings_in(file) if os.path.isfile(file) else None
            if found is not None:
                return found
        above = os.path.dirname(here)
        if above == here:
            return Configuration()
        here = above


def _settings_in(path: str) -> Configuration | None:
    """Read one file; None for a pyproject.toml that says nothing about recordsmith."""
    table: Any = _parsed(path)
    if os.path.basename(path) == _SHARED_FILE:
        tools = table.get("tool", {})
        table = tools.get("recordsmith") if isinstance(tools, dict) else None
    return None if table is None else _configuration(path, table)


def _parsed(path: str) -> dict[str, Any]:
    try:
        return tomllib.loads(read_bounded(path, "configuration").decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise RecordsmithError("This is not TOML.", path=path, found=str(error), advice="Correct the file.") from None


def _configuration(path: str, table: Any) -> Configuration:
    if not isinstance(table, dict):
        raise RecordsmithError("'tool.recordsmith' is not a table.", path=path, found=table)
    for key in table:
        if key not in _KEYS:
            raise RecordsmithError(
                f"There is no setting {key!r}.{did_you_mean(key, _KEYS)}",
                path=path,
                expected=list_names(_KEYS),
                advice="Remove it, or correct its name.",
            )
    try:
        fail_on = severity_from(_text(table, "fail-on", path, default=Severity.WARNING.value))
    except RecordsmithError as error:
        raise error.at(path=path) from None
    baseline = _text(table, "baseline", path, default="")
    return Configuration(
        _texts(table, "select", path),
        _texts(table, "ignore", path),
        fail_on,
        os.path.join(os.path.dirname(path), baseline) if baseline else None,
        path,
    )


def _texts(table: dict[str, Any], key: str, path: str) -> tuple[str, ...]:
    value = table.get(key, [])
    if not isinstance(value, list) or not all(isinstance(entry, str) for entry in value):
        raise RecordsmithError(
            f"{key!r} is not a list of rules.", path=path, found=value, expected='a list such as ["V", "D004"]'
        )
    return tuple(value)


def _text(table: dict[str, Any], key: str, path: str, *, default: str) -> str:
    value = table.get(key, default)
    if not isinstance(value, str) or "\0" in value:
        raise RecordsmithError(f"{key!r} is not a string.", path=path, found=value, expected="a string in quotes")
    return value
