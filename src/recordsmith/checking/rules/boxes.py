"""V020 to V022: boxes that are outside of their image, have swapped corners, or no area."""

from __future__ import annotations

from collections.abc import Iterator

from recordsmith.checking.wording import located, share
from recordsmith.facts.dataset_facts import BoxFacts, DatasetFacts
from recordsmith.rules import Finding, Rule, Severity, rule
from recordsmith.wording.numbers import count_text

__all__ = ["box_outside_image", "box_without_area", "swapped_box_corners"]

_MOSTLY = 0.5
_DIVIDE = "Divide x by the width of the image and y by its height when you write the records."


@rule("V020", "box-outside-image", Severity.WARNING)
def box_outside_image(facts: DatasetFacts) -> Iterator[Finding]:
    """A box is outside of its image by more than 1 % of the image's size.

    Checked for features declared as `rs.Boxes`, and for the names of the TensorFlow Object Detection API
    (`image/object/bbox/xmin` and the like). Coordinates are parts of the image, from 0 to 1.

    Why it matters:
        The model learns to predict places that are not in the image. If most boxes are outside, they are in pixels:
        TensorFlow's readers then put all of them into one corner.

    Example:
        `xmax` is 1.6, because it was divided by the height instead of the width.

    Fix:
        Divide x by the width of the image and y by its height, and clip what annotators drew beyond the edge.
        `rs.sources.coco(..., clip=True)` clips, `rs.sources.voc` and `rs.sources.yolo` too.
    """
    for boxes in facts.boxes:
        count = boxes.counts["outside"]
        if not count:
            continue
        if boxes.in_pixels > _MOSTLY * boxes.boxes:
            message = f"The boxes of {boxes.feature!r} are in pixels instead of parts of the image"
            yield _finding(box_outside_image, boxes, "outside", message, _DIVIDE)
        else:
            message = f"{_boxes(count, boxes)} of {boxes.feature!r} {_is(count)} outside of the image"
            yield _finding(box_outside_image, boxes, "outside", message)


@rule("V021", "swapped-box-corners", Severity.ERROR)
def swapped_box_corners(facts: DatasetFacts) -> Iterator[Finding]:
    """A box has a minimum above its maximum.

    Checked for features declared as `rs.Boxes`, and for the names of the TensorFlow Object Detection API.

    Why it matters:
        Its width or height is negative. Losses that take the logarithm or the root of it become NaN, and most
        detectors stop with an error about the box.

    Example:
        (x, y, width, height) was written as (xmin, ymin, xmax, ymax).

    Fix:
        Write xmax = x + width and ymax = y + height. If the corners are only swapped, sort them.
    """
    for boxes in facts.boxes:
        count = boxes.counts["swapped"]
        if count:
            message = f"{_boxes(count, boxes)} of {boxes.feature!r} {_has(count)} a minimum above the maximum"
            yield _finding(swapped_box_corners, boxes, "swapped", message)


@rule("V022", "box-without-area", Severity.INFO)
def box_without_area(facts: DatasetFacts) -> Iterator[Finding]:
    """A box has no width or no height.

    Checked for features declared as `rs.Boxes`, and for the names of the TensorFlow Object Detection API.

    Why it matters:
        Nothing can be learned from it, and some losses divide by the area.

    Example:
        A click of the annotator that was saved as a box.

    Fix:
        Leave such boxes out, together with their classes.
    """
    for boxes in facts.boxes:
        count = boxes.counts["empty"]
        if count:
            message = f"{_boxes(count, boxes)} of {boxes.feature!r} {_has(count)} no area"
            yield _finding(box_without_area, boxes, "empty", message)


def _finding(of: Rule[DatasetFacts], boxes: BoxFacts, what: str, message: str, advice: str = "") -> Finding:
    first = boxes.places[what][0].detail
    records = count_text(boxes.records[what], "record")
    return of.finding(
        f"{message}, in {records}, such as {first}.",
        count=boxes.counts[what],
        advice=advice,
        **located(boxes.places[what], boxes.feature),
    )


def _boxes(count: int, boxes: BoxFacts) -> str:
    return f"{count:,} of {count_text(boxes.boxes, 'box', 'boxes')} ({share(count, boxes.boxes)})"


def _is(count: int) -> str:
    return "is" if count == 1 else "are"


def _has(count: int) -> str:
    return "has" if count == 1 else "have"
