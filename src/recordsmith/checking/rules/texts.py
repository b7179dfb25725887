"""V006, V007 and V015: texts that name categories, and texts in a wrong encoding."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from recordsmith.checking.feature_reading import is_category
from recordsmith.checking.wording import listed, share
from recordsmith.facts.dataset_facts import DatasetFacts
from recordsmith.facts.value_facts import FeatureFacts
from recordsmith.rules import Finding, Location, Severity, rule
from recordsmith.schema import Bytes
from recordsmith.wording.numbers import count_text

__all__ = ["broken_text", "category_variants", "white_space_around_text"]

_TEXT_SHARE = 0.9  # of values that are readable, from which on the others are damaged texts


@rule("V006", "category-variants", Severity.WARNING)
def category_variants(facts: DatasetFacts) -> Iterator[Finding]:
    r"""Labels or categories differ only in upper and lower case or in white space.

    Checked for labels, and for texts with at most 1000 different values, each twice or more on average.

    Why it matters:
        Each spelling is a separate class or id, so one thing is learned as two.

    Example:
        `"Car"` and `"car"`; `"car"` and `"car\n"` from lines that were not stripped.

    Fix:
        Strip and case-fold the texts before they are written, or map the spellings to one name.
    """
    for name, counts in _categories(facts).items():
        spellings: dict[str, list[str]] = defaultdict(list)
        for value in counts:
            spellings[" ".join(value.casefold().split())].append(value)
        variants = [same for same in spellings.values() if len(same) > 1]
        if variants:
            shown = "; ".join(
                ", ".join(f"{value!r} ({counts[value]:,})" if counts[value] else repr(value) for value in same[:4])
                for same in variants[:3]
            )
            yield category_variants.finding(
                f"{count_text(len(variants), 'category', 'categories')} of {name!r} "
                f"{'is' if len(variants) == 1 else 'are'} spelled in several ways: {shown}.",
                location=Location(feature=name),
                count=len(variants),
                evidence={"variants": variants[:50]},
            )


@rule("V007", "white-space-around-text", Severity.WARNING)
def white_space_around_text(facts: DatasetFacts) -> Iterator[Finding]:
    r"""Labels or categories begin or end with white space.

    Checked for labels, and for texts with at most 1000 different values, each twice or more on average; not for free
    text.

    Why it matters:
        `"car\n"` is not equal to `"car"`: it is not found in a vocabulary, and becomes "unknown".

    Example:
        Lines of a label file that were read without `strip()`; cells of a table after `, `.

    Fix:
        Strip the texts before they are written.
    """
    strings_of = {feature.name: feature.strings for feature in facts.features if not feature.in_steps}
    for name, counts in _categories(facts).items():
        around = [value for value in counts if value != value.strip()]
        if around:
            total = sum(counts[value] for value in around)
            yield white_space_around_text.finding(
                f"{count_text(len(around), 'category', 'categories')} of the {len(counts)} of {name!r} "
                f"{'begins or ends' if len(around) == 1 else 'begin or end'} with white space: {listed(around)}"
                f"{f', in {total:,} values' if total else ''}.",
                location=Location(feature=name),
                count=max(total, len(around)),
                evidence={"values": around[:50]},
            )
            continue
        strings = strings_of.get(name)
        rare = 0 if strings is None else max(strings.leading_space, strings.trailing_space)
        if rare:  # among values that are too rare to be listed
            yield white_space_around_text.finding(
                f"{count_text(rare, 'value')} of {name!r} {'begins or ends' if rare == 1 else 'begin or end'} "
                "with white space.",
                location=Location(feature=name),
                count=rare,
            )


@rule("V015", "broken-text", Severity.WARNING)
def broken_text(facts: DatasetFacts) -> Iterator[Finding]:
    """Most values of a feature are UTF-8 text, but some are not.

    Most means 90 % or more. Features that the schema declares as Bytes are not checked.

    Why it matters:
        `decode()` fails on them, and tokenizers replace or drop the letters.

    Example:
        Rows from a file in Latin-1 among others in UTF-8; texts truncated inside a character.

    Fix:
        Decode the source with its own encoding, and declare the feature as Text, which allows only UTF-8.
    """
    for feature in facts.features:
        strings = feature.strings
        if strings is None or feature.images is not None or strings.utf8 == strings.count:
            continue
        if facts.schema is not None and isinstance(facts.schema.get(feature.name), Bytes):
            continue
        bad = strings.count - strings.utf8
        if strings.utf8 - strings.empty >= _TEXT_SHARE * strings.count:
            yield broken_text.finding(
                f"{count_text(bad, 'value')} of {feature.name!r} ({share(bad, strings.count)}) "
                f"{'is' if bad == 1 else 'are'} not UTF-8, while all others are text.",
                location=Location(feature=feature.name),
                count=bad,
            )


def _categories(facts: DatasetFacts) -> dict[str, dict[str, int]]:
    """For each feature of labels or categories, how often each text occurs."""
    found: dict[str, dict[str, int]] = {}
    for label in facts.labels:
        counts: dict[str, int] = dict.fromkeys(label.names, 0)
        for split in label.counts.values():
            for name, count in split.items():
                counts[name] = counts.get(name, 0) + count
        if not all(_is_number(name) for name in counts):
            found[label.feature] = counts
    for feature in facts.features:
        readable = feature.strings is not None and feature.strings.encoding in ("ascii", "utf-8")
        if feature.name not in found and readable and is_category(facts, feature):
            texts = _frequent_texts(feature)
            if all("".join(text.split()).isprintable() for text in texts):  # others are bytes that happen to be UTF-8
                found[feature.name] = texts
    return found


def _frequent_texts(feature: FeatureFacts) -> dict[str, int]:
    texts: dict[str, int] = {}
    for frequent in feature.categories or feature.frequent:
        if isinstance(frequent.value, bytes):
            text = frequent.value.decode("utf-8", "replace")
            texts[text] = texts.get(text, 0) + frequent.count
    return texts


def _is_number(text: str) -> bool:
    return text.removeprefix("-").isdigit()
