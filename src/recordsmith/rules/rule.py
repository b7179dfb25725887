"""A rule: one documented problem that may be found. Its text is next to the code that finds it.

The decorator `rule` makes a Rule of a function whose docstring has these parts, in this order:

    @rule("V001", "not-a-number", Severity.ERROR)
    def not_a_number(facts: DatasetFacts) -> Iterator[Finding]:
        '''A feature contains NaN or infinity.            <- what it finds, in one sentence

        More about what it finds, if one sentence is not enough.

        Why it matters:
            One NaN makes the loss NaN, and every weight after it.

Example:
            `tf.math.log(x)` of a zero, written as it came.

        Fix:
            Find the rows with `recordsmith show data --where ...`, or declare `finite=True`.
        '''
        yield not_a_number.finding("...", location=..., advice=...)

`recordsmith rule V001`, docs/rules/ and the JSON all come from that one text. A code is never used again for another
thing.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from recordsmith.errors import RecordsmithError, did_you_mean
from recordsmith.rules.finding import Finding, Location, Severity

__all__ = ["Rule", "RuleSet", "RuleText", "rule"]

Subject = TypeVar("Subject")

_CODE = re.compile(r"[A-Z]\d{3}")
_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_PARTS = ("Why it matters", "Example", "Fix")


@dataclass(frozen=True, slots=True)
class RuleText:
    """What a rule says about itself.

    Attributes:
        summary: what it finds, in one sentence.
        details: more about that; may be empty.
        why: why it matters.
        example: how it comes about.
        fix: what to do.
    """

    summary: str
    details: str
    why: str
    example: str
    fix: str


@dataclass(frozen=True, slots=True)
class Rule(Generic[Subject]):
    """A rule: its code, name, severity, text, and the function that finds it.

    >>> @rule("X001", "too-long", Severity.INFO)
    ... def too_long(words: list[str]) -> Iterator[Finding]:
    ...     '''A word is too long.
    ...
    ...     Why it matters:
    ...         It does not fit.
    ...
    ...     Example:
    ...         `incomprehensibilities`
    ...
    ...     Fix:
    ...         Say it shorter.
    ...     '''
    ...     yield from (too_long.finding(f"{word!r} is too long.") for word in words if len(word) > 9)
    >>> [found.message for found in too_long(["short", "incomprehensible"])]
    ["'incomprehensible' is too long."]
    >>> too_long.text.why
    'It does not fit.'
    """

    code: str
    name: str
    severity: Severity
    text: RuleText
    find: Callable[[Subject], Iterable[Finding]]

    def __call__(self, subject: Subject) -> Iterator[Finding]:
        """Look for it."""
        yield from self.find(subject)

    def finding(  # noqa: PLR0913 - a finding has that many parts, each with its name
        self,
        message: str,
        *,
        location: Location | None = None,
        advice: str = "",
        count: int = 1,
        places: Iterable[Location] = (),
        evidence: dict[str, Any] | None = None,
        quoted: str | None = None,
        corrected: str | None = None,
        severity: Severity | None = None,
    ) -> Finding:
        """Return a finding of this rule; without advice of its own it gives the rule's fix."""
        return Finding(
            self.code,
            self.name,
            severity or self.severity,
            message,
            location or Location(),
            advice or self.text.fix,
            count,
            tuple(places),
            evidence or {},
            quoted,
            corrected,
        )


def rule(code: str, name: str, severity: Severity) -> Callable[[Callable[[Subject], Iterable[Finding]]], Rule[Subject]]:
    """Make a rule of a function; its docstring is the rule's text, in the parts that this module's head shows.

    >>> rule("V1", "short", Severity.INFO)
    Traceback (most recent call last):
    ValueError: 'V1' is not a code, which is a letter and three digits.
    """
    if not _CODE.fullmatch(code):
        raise ValueError(f"{code!r} is not a code, which is a letter and three digits.")
    if not _NAME.fullmatch(name):
        raise ValueError(f"{name!r} is not a name in kebab case.")

    def make(find: Callable[[Subject], Iterable[Finding]]) -> Rule[Subject]:
        return Rule(code, name, severity, _read_text(code, inspect.getdoc(find) or ""), find)

    return make


class RuleSet(Generic[Subject]):
    """The rules of one family or several, by code.

    >>> RuleSet([]).get("V001")
    Traceback (most recent call last):
    recordsmith.errors.RecordsmithError: There is no rule 'V001'.
    """

    def __init__(self, rules: Iterable[Rule[Subject]]) -> None:
        self._rules: dict[str, Rule[Subject]] = {}
        for one in rules:
            if one.code in self._rules or one.name in {other.name for other in self._rules.values()}:
                raise ValueError(f"Two rules are called {one.code} or {one.name}.")
            self._rules[one.code] = one

    def __iter__(self) -> Iterator[Rule[Subject]]:
        return iter(sorted(self._rules.values(), key=lambda one: one.code))

    def __len__(self) -> int:
        return len(self._rules)

    def get(self, code_or_name: str) -> Rule[Subject]:
        """Return a rule by its code, in any case, or by its name."""
        wanted = code_or_name.strip()
        for one in self._rules.values():
            if wanted.upper() == one.code or wanted.lower() == one.name:
                return one
        known = [*self._rules, *(one.name for one in self._rules.values())]
        raise RecordsmithError(
            f"There is no rule {wanted!r}.{did_you_mean(wanted, known)}",
            advice="`recordsmith rule` lists them all." if known else None,
        )


def _read_text(code: str, docstring: str) -> RuleText:
    head, *rest = re.split(rf"^({'|'.join(_PARTS)}):\s*$", docstring, flags=re.MULTILINE)
    parts = dict(zip(rest[::2], (inspect.cleandoc(part) for part in rest[1::2]), strict=True))
    summary, _, details = head.strip().partition("\n\n")
    missing = [part for part in _PARTS if not parts.get(part)]
    if not summary or missing:
        raise ValueError(f"The docstring of rule {code} lacks: {', '.join(missing) or 'its first sentence'}.")
    return RuleText(" ".join(summary.split()), details.strip(), *(parts[part] for part in _PARTS))
