"""The features of a dataset as HTML: a card each, with its histogram, figures and commonest values."""

from __future__ import annotations

from collections.abc import Iterable

from recordsmith.facts.dataset_facts import DatasetFacts
from recordsmith.facts.feature_order import features_in_order
from recordsmith.facts.value_facts import FeatureFacts, FrequentValue, ImageFacts, LengthFacts, NumberFacts, StringFacts
from recordsmith.report.html.drawings import bar, histogram
from recordsmith.schema import Schema
from recordsmith.wording.markup import Child, Markup, element, joined
from recordsmith.wording.numbers import bytes_text, count_text, number_text
from recordsmith.wording.visible_text import clipped, quoted

__all__ = ["features_part"]

_MOST_FEATURES = 300
_MOST_VALUES = 6  # that are shown of many
_FEW_VALUES = 10  # that are all shown

Figure = tuple[str, str, str]  # the label, the value, and "bad" where it should be looked at


def features_part(facts: DatasetFacts) -> Markup:
    """Return the part."""
    known = features_in_order(facts)
    shown = known[:_MOST_FEATURES]
    cards = element("div", [_card(one, facts) for one in shown], class_="cards")
    if len(shown) == len(known):
        return cards
    more = count_text(len(known) - len(shown), "more feature")
    return joined([cards, element("p", f"{more}: the JSON has them all.", class_="note")])


def _card(feature: FeatureFacts, facts: DatasetFacts) -> Markup:
    of = feature.records + feature.missing + feature.unset
    share = feature.records / of if of else 0.0
    words = "in all records" if share == 1 else "in no record" if not share else f"in {_percent(share)} of the records"
    names = next((label.names for label in facts.labels if label.feature == feature.name), ())
    return element(
        "article",
        element(
            "header",
            element("h3", element("bdi", clipped(feature.name, 200))),
            element("span", _kind(feature), class_="chip" if len(feature.kinds) < 2 else "chip bad"),
        ),
        element("p", _declared(feature, facts.schema), class_="declared"),
        element("div", bar(share, kind="" if share == 1 else "partly"), element("small", words), class_="presence"),
        _drawing(feature, names),
        element("dl", [_figure(*one) for one in _figures(feature, is_label=bool(names))], class_="figures"),
        class_="card",
        data_name=clipped(feature.name, 200).lower(),
    )


def _kind(feature: FeatureFacts) -> str:
    if feature.images is not None and feature.images.formats:
        return f"{feature.images.format} image"
    if feature.raw_dtype:
        return feature.raw_dtype
    if feature.kind == "bytes" and feature.strings is not None and feature.strings.utf8 == feature.strings.count:
        return "text"
    stored = {"float": "float32"}
    return " or ".join(clipped(stored.get(kind, kind), 20) for kind in feature.kinds) or "no values"


def _declared(feature: FeatureFacts, schema: Schema | None) -> Child:
    lengths = feature.lengths
    found = (
        "" if lengths is None else "one value" if (lengths.min, lengths.max) == (1, 1) else f"{_span(lengths)} values"
    )
    steps = f", {_span(feature.steps)} steps" if feature.steps is not None else ""
    each = "a step" if feature.in_steps else "a record"
    declared = None if schema is None else schema.get(feature.name)
    code = element("code", clipped(repr(declared), 160)) if declared is not None else None
    return [code, " · " if code and found else None, f"{found} {each}{steps}" if found else None]


def _drawing(feature: FeatureFacts, names: tuple[str, ...]) -> Markup | None:
    frequent, total = feature.frequent, max(1, _count(feature))
    if frequent and feature.images is None:
        if feature.numbers is None:
            return _values(frequent[: _FEW_VALUES if feature.distinct <= _FEW_VALUES else _MOST_VALUES], names, total)
        if feature.numbers.integral and feature.distinct <= _FEW_VALUES and frequent[0].count > 1:
            return _values(frequent[:_FEW_VALUES], names, total)
    if feature.numbers is not None and feature.numbers.histogram is not None:
        return histogram(feature.numbers.histogram, name=clipped(feature.name, 60)) or None
    return None


def _values(frequent: Iterable[FrequentValue], names: tuple[str, ...], total: int) -> Markup:
    shown = list(frequent)
    if shown[0].count == 1 and total > 1:  # all are different: no bars, and not many of them
        texts = [element("bdi", _value_text(one.value, names)) for one in shown[:3]]
        return element("p", [[text, element("br")] for text in texts], class_="examples")
    rows = []
    for one in shown:
        text = _value_text(one.value, names)
        share = one.count / total
        rows.append(
            element(
                "tr",
                element("th", element("bdi", text)),
                element("td", bar(share), class_="wide"),
                element("td", f"{one.count:,}", class_="number"),
            )
        )
    return element("table", rows, class_="values")


def _value_text(value: float | bytes, names: tuple[str, ...]) -> str:
    if isinstance(value, bytes):
        return quoted(value.decode(errors="backslashreplace"), 34)
    if isinstance(value, int) and 0 <= value < len(names):
        return f"{value} {clipped(names[value], 40)}"
    return number_text(value)


def _count(feature: FeatureFacts) -> int:
    if feature.numbers is not None:
        return feature.numbers.count
    return feature.strings.count if feature.strings is not None else feature.records


def _figures(feature: FeatureFacts, *, is_label: bool) -> Iterable[Figure]:
    if feature.numbers is not None and not is_label:  # the mean of classes says nothing
        yield from _number_figures(feature.numbers)
    if feature.images is not None:
        yield from _image_figures(feature.images)
    elif feature.strings is not None and feature.numbers is None:
        yield from _string_figures(feature.strings)
    if feature.distinct:
        yield (
            "classes" if is_label else "different",
            f"{'' if feature.distinct_exact else '≈ '}{feature.distinct:,}",
            "",
        )
    if feature.missing:
        yield "missing", f"{feature.missing:,}", ""
    if feature.empty:
        yield "empty", f"{feature.empty:,}", ""
    if feature.stored_bytes:
        yield "stored", bytes_text(feature.stored_bytes), ""


def _number_figures(numbers: NumberFacts) -> Iterable[Figure]:
    if numbers.min is not None and numbers.max is not None:
        yield "least", number_text(numbers.min), ""
        median = numbers.quantiles.get(0.5)
        if median is not None:
            yield "median", number_text(median), ""
        yield "greatest", number_text(numbers.max), ""
    if numbers.mean is not None:
        yield "mean", number_text(numbers.mean), ""
        yield "deviation", number_text(numbers.deviation or 0.0), ""
    if numbers.zeros:
        yield "zeros", _percent(numbers.zeros / max(1, numbers.count)), ""
    for count, label in ((numbers.nan, "NaN"), (numbers.positive_infinity, "∞"), (numbers.negative_infinity, "-∞")):
        if count:
            yield label, f"{count:,}", "bad"


def _string_figures(strings: StringFacts) -> Iterable[Figure]:
    yield "bytes each", _span(strings.lengths), ""
    yield "encoding", strings.encoding, "bad" if strings.encoding == "mixed" else ""
    if strings.empty:
        yield "empty texts", f"{strings.empty:,}", "bad"
    if strings.leading_space or strings.trailing_space:
        yield "white space", f"{strings.leading_space + strings.trailing_space:,}", "bad"
    if strings.control:
        yield "control characters", f"{strings.control:,}", "bad"


def _image_figures(images: ImageFacts) -> Iterable[Figure]:
    if images.widths is not None and images.heights is not None:
        yield "width", _span(images.widths), ""
        yield "height", _span(images.heights), ""
    if images.channels:
        yield (
            "channels",
            ", ".join(
                f"{n}: {count:,}" if len(images.channels) > 1 else str(n)
                for n, count in sorted(images.channels.items())
            ),
            "",
        )
    if len(images.formats) > 1:
        yield "formats", ", ".join(f"{clipped(name, 12)} {count:,}" for name, count in images.formats.items()), ""
    if images.decoded:
        yield "decoded", "all" if images.decoded_all else f"{images.decoded:,}", ""
    for count, label in (
        (images.undecodable, "undecodable"),
        (images.no_header, "no image"),
        (images.black, "one colour"),
    ):
        if count:
            yield label, f"{count:,}", "bad"


def _figure(label: str, value: str, kind: str) -> Markup:
    return element("div", element("dt", label), element("dd", value, class_=kind or None))


def _span(lengths: LengthFacts) -> str:
    return f"{lengths.min:,}" if lengths.fixed else f"{lengths.min:,} to {lengths.max:,}"


def _percent(share: float) -> str:
    return "< 1 %" if 0 < share < 0.01 else "> 99 %" if 0.99 < share < 1 else f"{100 * share:.0f} %"
