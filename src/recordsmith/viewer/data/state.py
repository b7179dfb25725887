"""What a page shows, as its URL says it: filters, search, order. Everything a user chooses is in the URL.

where=CONDITION      as in `--where`
q=TEXT               records that contain this text, capitals or not
c.FEATURE=VALUE      one of these values (several: any of them)
r.FEATURE=LOW..HIGH  a number in this range, both ends included
finding=CODE.N       records that a finding of `check` is about
like=NUMBER          records that look like one, and that one
sort=FEATURE         ascending; -FEATURE descending; len(FEATURE) by length
sample=SEED          in a random order
layout=cards|table   instead of what suits the records
size=s|l             small or large cards
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Self
from urllib.parse import urlencode

from recordsmith.schema import Feature, Label, Scalar, Steps, Text
from recordsmith.schema.features.encoded import EncodedFeature

__all__ = ["ViewState", "clause_of_range", "quoted_name"]

_RANGE = re.compile(r"(-?[\d.]+(?:e[+-]?\d+)?)\.\.(-?[\d.]+(?:e[+-]?\d+)?)", re.IGNORECASE)
_LONGEST = 4_000
_MOST_CHOICES = 50


@dataclass(frozen=True, slots=True)
class ViewState:
    """The choices of a user."""

    where: str = ""
    text: str = ""
    classes: tuple[tuple[str, tuple[str, ...]], ...] = ()
    ranges: tuple[tuple[str, float, float], ...] = ()
    finding: str = ""
    like: int | None = None
    sort: str = ""
    sample: int | None = None
    layout: str = ""
    size: str = ""

    @classmethod
    def read(cls, query: Iterable[tuple[str, str]]) -> Self:
        """Read the parameters of a URL; what makes no sense is left out.

        >>> ViewState.read([("c.label", "cat"), ("c.label", "dog"), ("r.age", "1..2"), ("q", "x")]).classes
        (('label', ('cat', 'dog')),)
        """
        plain: dict[str, str] = {}
        classes: dict[str, list[str]] = {}
        ranges: dict[str, tuple[float, float]] = {}
        for key, value in query:
            if len(value) > _LONGEST:
                continue
            if key.startswith("c."):
                classes.setdefault(key[2:], []).append(value)
            elif key.startswith("r."):
                found = _RANGE.fullmatch(value)
                if found is not None and found[1].count(".") < 2 and found[2].count(".") < 2:
                    ranges[key[2:]] = float(found[1]), float(found[2])
            else:
                plain[key] = value
        return cls(
            where=plain.get("where", "").strip(),
            text=plain.get("q", "").strip(),
            classes=tuple((name, tuple(dict.fromkeys(values))[:_MOST_CHOICES]) for name, values in classes.items()),
            ranges=tuple((name, low, high) for name, (low, high) in ranges.items()),
            finding=plain.get("finding", ""),
            like=_count(plain.get("like", "")),
            sort=plain.get("sort", ""),
            sample=_count(plain.get("sample", ""), 10),
            layout=plain.get("layout", "") if plain.get("layout") in ("cards", "table") else "",
            size=plain.get("size", "") if plain.get("size") in ("s", "l") else "",
        )

    def url(self, **changes: Any) -> str:
        """Return the query of a URL with some choices changed, with its question mark.

        >>> ViewState(text="a b").url(sort="-age")
        '?q=a+b&sort=-age'
        """
        state = replace(self, **changes)
        pairs: list[tuple[str, str]] = []
        for key, value in (("where", state.where), ("q", state.text), ("finding", state.finding)):
            pairs += [(key, value)] if value else []
        pairs += [("like", str(state.like))] if state.like is not None else []
        pairs += [(f"c.{name}", value) for name, values in state.classes for value in values]
        pairs += [(f"r.{name}", f"{low!r}..{high!r}") for name, low, high in state.ranges]
        pairs += [("sort", state.sort)] if state.sort else []
        pairs += [("sample", str(state.sample))] if state.sample is not None else []
        pairs += [(key, value) for key, value in (("layout", state.layout), ("size", state.size)) if value]
        return f"?{urlencode(pairs, errors='replace')}" if pairs else "?"

    @property
    def is_filtered(self) -> bool:
        """Whether some records may be left out."""
        chosen = self.where or self.text or self.classes or self.ranges or self.finding
        return bool(chosen) or self.like is not None

    @property
    def chosen(self) -> ViewState:
        """The part that a search is about; not how records look, nor a random order of them."""
        return replace(self, layout="", size="", sample=None)

    def toggled(self, name: str, value: str) -> str:
        """Return the URL that adds a value to the wanted ones of a feature, or takes it away."""
        classes = dict(self.classes)
        values = classes.get(name, ())
        classes[name] = tuple(one for one in values if one != value) if value in values else (*values, value)
        return self.url(classes=tuple((key, kept) for key, kept in classes.items() if kept))

    def with_range(self, name: str, limits: tuple[float, float] | None) -> str:
        """Return the URL with another range of a feature, or with none."""
        kept = [one for one in self.ranges if one[0] != name]
        return self.url(ranges=(*kept, (name, *limits)) if limits is not None else tuple(kept))

    def condition(self, types: Mapping[str, Feature | None]) -> str:
        """Return the filters as one condition of `--where`, without those that it cannot express.

        >>> state = ViewState("x > 1", classes=(("label", ("cat",)),), ranges=(("age", 1.0, 2.0),))
        >>> state.condition({"label": Label(["cat", "dog"]), "age": Scalar("int64")})
        "(x > 1) and `label` == 'cat' and 1 <= `age` <= 2"
        """
        parts = [f"({self.where})" if self.classes or self.ranges else self.where] if self.where else []
        parts += [_clause_of_classes(name, values, types.get(name)) for name, values in self.classes]
        parts += [clause_of_range(name, low, high, types.get(name)) for name, low, high in self.ranges]
        return " and ".join(parts)


def _count(text: str, digits: int = 15) -> int | None:
    return int(text) if text.isdecimal() and len(text) < digits else None


def quoted_name(name: str) -> str:
    """Return a name as conditions write it."""
    return f"`{name}`"


def clause_of_range(name: str, low: float, high: float, feature: Feature | None) -> str:
    """Return the condition that a number is in a range, or one of a list of numbers."""
    low_text, high_text = (str(int(one)) if one.is_integer() and abs(one) < 2**53 else repr(one) for one in (low, high))
    if isinstance(feature, (Scalar, Label)):
        return f"{low_text} <= {quoted_name(name)} <= {high_text}"
    middle, half = (low + high) / 2, (high - low) / 2
    return f"any(abs({quoted_name(name)} - {middle!r}) <= {half!r})"


def _clause_of_classes(name: str, values: tuple[str, ...], feature: Feature | None) -> str:
    literals = [_literal(value, feature) for value in values]
    if isinstance(feature, (Scalar, Label)) or (isinstance(feature, Text) and feature.shape == ()):
        if len(literals) == 1:
            return f"{quoted_name(name)} == {literals[0]}"
        return f"{quoted_name(name)} in [{', '.join(literals)}]"
    either = [f"any({quoted_name(name)} == {literal})" for literal in literals]
    return either[0] if len(either) == 1 else f"({' or '.join(either)})"


def _literal(value: str, feature: Feature | None) -> str:
    inner = feature.feature if isinstance(feature, Steps) else feature
    if isinstance(inner, Label):
        return repr(value) if value in inner.names else repr(_number(value, value))
    if inner is None or isinstance(inner, (Text, EncodedFeature)) or inner.type_name == "bytes":
        return repr(value)
    return repr(_number(value, value))


def _number(text: str, otherwise: str) -> float | str:
    try:
        return int(text)
    except ValueError:
        try:
            return float(text)
        except ValueError:
            return otherwise
