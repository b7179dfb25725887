"""Rules on images: scaled as the model needs them, and still showing what they showed on disk."""

from __future__ import annotations

from collections.abc import Iterator

from recordsmith.doctor.diagnose.observing.observations import Observations
from recordsmith.doctor.diagnose.rules.wording import are_pixels, at, begin, image_like
from recordsmith.rules import Finding, Severity, rule

__all__ = ["IMAGE_RULES"]

_ENOUGH_IMAGES = 16
_ENOUGH_COLOURED = 8


@rule("T024", "not-scaled", Severity.WARNING)
def not_scaled(observed: Observations) -> Iterator[Finding]:
    """Pixels reach the first layer as 0 to 255.

    With a model, what counts is what reaches its first layer with weights: a `Rescaling` layer in the model is as good
    as a division in the pipeline. Without a model it is only an info.

    Why it matters:
        Weights are initialised for inputs around 1. With values a hundred times larger the first steps are far too
        long: the loss jumps, units die, training stalls.

    Example:
        `tf.io.decode_jpeg(data)` cast to float32 and not divided.

    Fix:
        `image = tf.cast(image, tf.float32) / 255`, or `keras.layers.Rescaling(1 / 255)` as the model's first layer.
    """
    for column in observed.inputs:
        if not are_pixels(column) or column.max is None or column.max <= 100:
            continue
        layer = observed.model.first_layer if observed.model is not None else None
        if observed.model is None:
            severity, what = Severity.INFO, "fine if the model scales them itself"
        elif layer is None or layer.kind != "linear" or not (layer.min >= -0.5 and layer.max > 100):
            continue
        elif observed.model.normalises:
            severity, what = (
                Severity.INFO,
                f"they reach the layer {layer.name!r} as they are; the model normalises after it",
            )
        else:
            severity, what = Severity.WARNING, f"they reach the layer {layer.name!r} so"
        yield not_scaled.finding(
            f"{begin(column)} holds pixels from {column.min:g} to {column.max:g}: {what}.",
            location=at(column),
            severity=severity,
            corrected="image = tf.cast(image, tf.float32) / 255" if severity is Severity.WARNING else None,
        )


@rule("T025", "fed-scaled-twice", Severity.ERROR)
def scaled_twice(observed: Observations) -> Iterator[Finding]:
    """Pixels were divided by 255 twice: all values are between 0 and 0.004.

    Why it matters:
        To the first layer all images look black. Training is slow or stalls.

    Example:
        `tf.image.convert_image_dtype(image, tf.float32)`, which scales, followed by `/ 255`; a `Rescaling` layer after
        a pipeline that already scales.

    Fix:
        Scale in one place: in the pipeline or in the model.
    """
    limit = 1.02 / 255
    for column in observed.inputs:
        if column.max is None or column.min is None or not image_like(column):
            continue
        layer = observed.model.first_layer if observed.model is not None else None
        low = 0.2 / 255 if column.image is not None else 0.9 / 255
        if column.min >= -limit and low < max(-column.min, column.max) <= limit:
            yield scaled_twice.finding(
                f"{begin(column)} holds pixels from {column.min:g} to {column.max:.4f}: divided by 255 twice.",
                location=at(column),
            )
        elif layer is None or layer.kind != "linear" or not (column.min >= -1.01 and 0.2 < column.max <= 1.01):
            continue
        elif layer.max - layer.min <= 2.04 / 127.5 * (column.max - column.min) and layer.max != layer.min:
            yield scaled_twice.finding(
                f"{begin(column)} arrives as {column.min:.3g} to {column.max:.3g}, and the model scales it again: the "
                f"layer {layer.name!r} sees {layer.min:.4g} to {layer.max:.4g}.",
                location=at(column),
                advice="Remove the Rescaling layer from the model, or the scaling from the pipeline.",
            )


@rule("T026", "blank-images", Severity.ERROR)
def blank_images(observed: Observations) -> Iterator[Finding]:
    """Images arrive with one colour throughout.

    Why it matters:
        A label beside a black square teaches the model that anything may be anything.

    Example:
        An augmentation that moves the image out of the frame, or brightens it until it is white.

    Fix:
        Look at the images in `report.to_html(...)`, and make the augmentation weaker.
    """
    for column in observed.inputs:
        facts = column.image
        if facts is None or facts.looked_at < _ENOUGH_IMAGES or column.distinct <= 1:
            continue
        share = facts.flat / facts.looked_at
        before = observed.records.flat if observed.records is not None else None
        detail = "" if before is None else f" On disk it is {before:.0%}."
        if share >= 0.05 and before is not None and share > 2 * before + 0.03:
            severity = Severity.ERROR
        elif before is None and facts.blank >= 0.25 * facts.looked_at:
            severity = Severity.WARNING
        else:
            continue
        yield blank_images.finding(
            f"{facts.flat} of {facts.looked_at} images of {column.shown} have one colour throughout.{detail}",
            location=at(column),
            severity=severity,
            count=facts.flat,
        )


@rule("T027", "saturated-images", Severity.ERROR)
def saturated_images(observed: Observations) -> Iterator[Finding]:
    """Far more pixels are completely black or white when they arrive than on disk.

    Why it matters:
        Details that were clipped at the ends of the range are lost.

    Example:
        `tf.image.random_brightness(image, 100)` for images from 0 to 1, clipped afterwards.

    Fix:
        Use strengths that fit the range of the image: 0.2 for images from 0 to 1, 50 for 0 to 255.
    """
    before = observed.records.extreme if observed.records is not None else None
    if before is None:
        return
    for column in observed.inputs:
        facts = column.image
        if facts is None or facts.looked_at < _ENOUGH_IMAGES or column.distinct <= 1:
            continue
        if facts.extreme - before > 0.3 and facts.flat < facts.looked_at:
            yield saturated_images.finding(
                f"{facts.extreme:.0%} of all values of {column.shown} are at an end of the range; on disk "
                f"{before:.0%} do.",
                location=at(column),
            )


@rule("T028", "brightness-drowns-images", Severity.WARNING)
def brightness_drowns(observed: Observations) -> Iterator[Finding]:
    """Images differ far more in brightness than the pixels within any of them do.

    Why it matters:
        The model sees a random number with a faint image on top.

    Example:
        `tf.image.random_brightness(image, 63)`, a strength for 0 to 255, on images from 0 to 1.

    Fix:
        Use a strength that fits the range of the image: `random_brightness(image, 0.2)` for 0 to 1.
    """
    for column in observed.inputs:
        facts = column.image
        if facts is None or facts.looked_at < _ENOUGH_IMAGES or facts.flat > facts.looked_at / 2:
            continue
        if facts.within > 0 and facts.between > 5 * facts.within:
            yield brightness_drowns.finding(
                f"The images of {column.shown} differ by {facts.between:.3g} in brightness, and values within one "
                f"by {facts.within:.3g}.",
                location=at(column),
            )


@rule("T029", "pixels-in-another-order", Severity.WARNING)
def pixels_in_another_order(observed: Observations) -> Iterator[Finding]:
    """The same values, read in another order, give far smoother images.

    Why it matters:
        A reshape to the wrong order of dimensions raises no error if the number of values is right, and the model sees
        stripes.

    Example:
        Pixels stored as (height, width, 3), reshaped to (width, height, 3); stored channels first, reshaped to channels
        last without a transpose.

    Fix:
        Reshape to the order in which the values were written, then use `tf.transpose` to get the model's order.
    """
    for column in observed.inputs:
        if column.image is not None and column.image.other_layout and len(column.shape) == 3:
            first, second, third = column.shape
            if column.image.other_layout == "channels last":
                yield pixels_in_another_order.finding(
                    f"{begin(column)} {column.shape}: read with channels last, neighbouring pixels differ only "
                    f"{column.image.smoother:.0%} as much as they do now.",
                    location=at(column),
                    corrected=f"image = pixels.reshape({second}, {third}, {first}).permute(2, 0, 1)",
                )
                continue
            changed = f"image = tf.reshape(pixels, ({second}, {first}, {third}))"
            if column.image.other_layout == "channels first":
                changed = f"image = tf.transpose(tf.reshape(pixels, ({third}, {first}, {second})), (1, 2, 0))"
            yield pixels_in_another_order.finding(
                f"{begin(column)} {column.shape}: read with {column.image.other_layout}, neighbouring pixels differ "
                f"only {column.image.smoother:.0%} as much as they do now.",
                location=at(column),
                corrected=changed,
            )


@rule("T035", "image-out-of-range", Severity.WARNING)
def image_out_of_range(observed: Observations) -> Iterator[Finding]:
    """Colour images have values that no common scaling gives.

    Common are 0 to 1, -1 to 1, 0 to 255, standardised (within about ±6), and 0 to 255 less the mean.

    Why it matters:
        An augmentation in the wrong unit, or a scaling in the wrong direction, gives values that the model never meets
        when it is used.

    Example:
        `tf.image.adjust_contrast(image, 100)`; multiplying by 255 instead of dividing.

    Fix:
        Look at the histogram in `report.to_html(...)`; clip after augmenting: `tf.clip_by_value(image, 0, 1)`.
    """
    for column in observed.inputs:
        if column.image is None or column.min is None or column.max is None or column.bits_of:
            continue
        low, high = column.min, column.max
        stored = observed.records is not None and observed.records.extreme is not None
        if 3 not in (column.shape[0], column.shape[-1]) and not stored:
            continue
        usual = low >= -6 and high <= 6
        pixels = low >= -1 and 20 < high <= 256.5
        centred = low < -60 and high > 60 and high - low < 300
        if not (usual or pixels or centred):
            yield image_out_of_range.finding(
                f"{begin(column)} holds images with values from {low:.3g} to {high:.3g}.", location=at(column)
            )
        elif usual and (-1 < low < -0.02 or 1.02 < high < 2) and 0.15 < (column.mean or 0) < 0.85 and low > -1:
            yield image_out_of_range.finding(
                f"{begin(column)} goes from {low:.3g} to {high:.3g}, a little outside 0 to 1.",
                location=at(column),
                severity=Severity.INFO,
                corrected="image = tf.clip_by_value(image, 0, 1)",
            )


@rule("T036", "pixels-made-whole", Severity.ERROR)
def pixels_made_whole(observed: Observations) -> Iterator[Finding]:
    """Pixels were divided by 255 and then cast to integers: nearly all are 0.

    Why it matters:
        Only pure white is left: the model sees black images.

    Example:
        `tf.cast(image / 255, tf.uint8)`; in numpy `image //= 255`.

    Fix:
        Keep the fractions: `tf.cast(image, tf.float32) / 255`.
    """
    for column in observed.inputs:
        if column.image is None or column.rows < _ENOUGH_IMAGES or not column.integral or column.max != 1:
            continue
        if column.min == 0 and column.zeros >= 0.97 * column.values and 3 in (column.shape[0], column.shape[-1]):
            yield pixels_made_whole.finding(
                f"{begin(column)} holds images of 0 and 1 only, and {column.zeros / column.values:.1%} are 0: scaled "
                "pixels were cast to integers.",
                location=at(column),
                corrected="image = tf.cast(image, tf.float32) / 255",
            )


@rule("T038", "red-and-blue-swapped", Severity.WARNING)
def red_and_blue_swapped(observed: Observations) -> Iterator[Finding]:
    """Images arrive with red and blue swapped.

    At least 8 colour images are compared with their records, and 90 % or more of them must be swapped. Images of 0 to
    255 minus the mean are not reported: some models (VGG, ResNet50) expect them in the order blue, green, red.

    Why it matters:
        Pretrained weights expect red first. And a program that uses the model later decodes images as usual, so that
        the model sees other colours than in training.

    Example:
        `cv2.imdecode` or `cv2.imread`, which give blue, green, red, in training only.

    Fix:
        `cv2.cvtColor(image, cv2.COLOR_BGR2RGB)`, or `image[..., ::-1]`.
    """
    records = observed.records
    if records is None or records.coloured < _ENOUGH_COLOURED or records.swapped < 0.9 * records.coloured:
        return
    for column in observed.inputs:
        if column.image is None or 3 not in (column.shape[0], column.shape[-1]):
            continue
        if column.min is not None and column.max is not None and column.min < -60 and column.max > 60:
            continue
        yield red_and_blue_swapped.finding(
            f"{begin(column)} holds images in the order blue, green, red: in {records.swapped} of {records.coloured} "
            "that were compared, red is where the record has blue.",
            location=at(column),
            count=records.swapped,
            corrected="image = image[..., ::-1]",
        )


@rule("T039", "values-wrapped", Severity.ERROR)
def values_wrapped(observed: Observations) -> Iterator[Finding]:
    """Pixel values overflowed: 250 plus 10 became 4.

    It is detected by images that equal a record's except for a number that was added to all pixels and wrapped; or by
    neighbouring pixels that jump from one end of the range to the other far more often than on disk, and that are close
    to each other if 0 follows 255. Without records it is a warning, and is reported only where hardly any pixel is
    completely black or white.

    Why it matters:
        Bright areas become dark with a hard edge around them: the model sees contours that do not exist.

    Example:
        `image + 200` or `image * 2` while the image is still uint8.

    Fix:
        Make the image float32 before changing it, and clip afterwards: `tf.cast(image, tf.float32)`,
        `tf.clip_by_value(image, 0, 255)`. `tf.image.adjust_brightness` does both.
    """
    before = observed.records.jumps if observed.records is not None else None
    extreme = observed.records.extreme if observed.records is not None else None
    for column in observed.inputs:
        facts = column.image
        if facts is None or facts.looked_at < _ENOUGH_IMAGES:
            continue
        most = 0.03 if before is None else 0.5 if extreme is None else min(0.5, extreme + 0.2)
        wrapped = observed.records.wrapped if observed.records is not None else 0
        jumps = facts.jumps > (before or 0) + 0.005 and facts.wrapping < 0.72 and facts.extreme < most
        if wrapped >= _ENOUGH_COLOURED or jumps:
            if wrapped:
                detail = f"{wrapped} images are those of a record with a number added, which made bright pixels dark"
            else:
                detail = f"{facts.jumps:.1%} of all neighbours jump from one end of the range to the other"
                detail += "" if before is None else f"; on disk {before:.1%} do"
            yield values_wrapped.finding(
                f"{begin(column)} holds pixels that overflowed a byte: {detail}.",
                location=at(column),
                severity=Severity.WARNING if before is None else Severity.ERROR,
                corrected="image = tf.clip_by_value(tf.cast(image, tf.float32) + 200, 0, 255)",
            )


IMAGE_RULES = (
    not_scaled,
    scaled_twice,
    blank_images,
    saturated_images,
    brightness_drowns,
    pixels_in_another_order,
    image_out_of_range,
    pixels_made_whole,
    red_and_blue_swapped,
    values_wrapped,
)
