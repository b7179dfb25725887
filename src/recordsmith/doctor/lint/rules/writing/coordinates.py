"""The rule on boxes whose coordinates are written under the wrong names, or divided by the wrong side of the image."""

from __future__ import annotations

import re
from collections.abc import Iterator

from recordsmith.doctor.lint.interpreter.values import Call, Group, Item, Literal, Many, Operation, Value, walk
from recordsmith.doctor.lint.program import Program
from recordsmith.rules import Finding, Severity, rule

__all__ = ["COORDINATE_RULES"]

_COORDINATE = re.compile(r"(?:^|.*[/_.])([xy])_?(min|max|1|2)s?", re.IGNORECASE)


@rule("P291", "coordinate-under-another-name", Severity.ERROR)
def coordinate_under_another_name(program: Program) -> Iterator[Finding]:
    """Coordinates of boxes are written under another name, or divided by the other side of the image.

    Why it matters:
        With x and y swapped, or x divided by the height, boxes are somewhere else than the objects. In square images
        nothing seems wrong; in others boxes leave the image, and the model learns from wrong places.

    Example:
        `height, width = image.size`, where Pillow gives (width, height), then `xmin / width`; or
        `zip([xmin, ymin, xmax, ymax], (ymin, xmin, ymax, xmax))`.

    Fix:
        `width, height = image.size` of Pillow, `height, width = image.shape[:2]` of arrays; and one order of
        coordinates everywhere.
    """
    for example in program.examples:
        problems = [
            problem
            for name, feature in example.features.items()
            if (wanted := _COORDINATE.fullmatch(name)) is not None and feature.value is not None
            for value in _members(feature.value)
            for found in (_named(value), _divided(value))
            if (problem := _problem(name, (wanted[1].lower(), wanted[2].lower()), found)) is not None
        ]
        if problems:
            yield program.finding(coordinate_under_another_name, example.call.expression, problems[0])


def _problem(name: str, wanted: tuple[str, str], found: tuple[str, str]) -> str | None:
    axis, side = found
    if side in ("min", "max", "1", "2"):
        same = (axis, side) == wanted or not axis
        return None if same else f"{name!r} is written from `{axis}{side}`: the coordinates are under wrong names."
    if side in ("width", "height") and (wanted[0] == "x") != (side == "width"):
        return f"{name!r} is divided by the {side} of the image: boxes are in the wrong places."
    return None


def _members(value: Value) -> Iterator[Value]:
    if isinstance(value, Group):
        yield from value.members
    elif isinstance(value, Many):
        yield value.member
    else:
        yield value


def _named(value: Value) -> tuple[str, str]:
    """The coordinate that a value was read from, by the key or the tag that says it, where it is but one."""
    texts: set[tuple[str, str]] = set()
    for one in walk(value, 40):
        word = None
        if isinstance(one, Item) and isinstance(one.index, Literal):
            word = one.index.value
        elif isinstance(one, Call) and one.name in (".find", ".findtext") and one.args:
            word = one.args[0].value if isinstance(one.args[0], Literal) else None
        match = re.fullmatch(r"([xy])_?(min|max|1|2)", word, re.IGNORECASE) if isinstance(word, str) else None
        if match is not None:
            texts.add((match[1].lower(), match[2].lower()))
    return next(iter(texts)) if len(texts) == 1 else ("", "")


def _divided(value: Value) -> tuple[str, str]:
    """Which side of an image a coordinate is divided by: by Pillow's `size`, an array's `shape`, or a name."""
    by = (
        value.operands[1]
        if isinstance(value, Operation) and value.operator == "/" and len(value.operands) == 2
        else None
    )
    match by:
        case Item(
            base=Item(base=Call() as image, index=Literal(value="size"), attribute=True),
            index=Literal(value=0 | 1 as at),
        ):
            pillow = any(isinstance(one, Call) and one.name == "PIL.Image.open" for one in walk(image, 20))
            return ("", ("width", "height")[at]) if pillow else ("", "")
        case Item(base=Item(index=Literal(value="shape"), attribute=True), index=Literal(value=0 | 1 as at)):
            return ("", ("height", "width")[at])
    return ("", "")


COORDINATE_RULES = [coordinate_under_another_name]
