"""Rules on what a network expects of its data: the order of dimensions, the scale, class numbers, masks, boxes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from recordsmith.doctor.diagnose.observing.observations import Observations
from recordsmith.doctor.diagnose.rules.wording import at, begin, shape_text
from recordsmith.rules import Finding, Severity, rule

__all__ = ["EXPECTATION_RULES"]

_LEAST_SIDE = 8
_LARGE_TARGET = 10_000
_RELATIVE = re.compile("log|percentage|msle|mape", re.IGNORECASE)
_RANGES: dict[str, tuple[float | None, float | None]] = {
    "sigmoid": (0, 1),
    "tanh": (-1, 1),
    "relu": (0, None),
    "softmax": (0, 1),
}


@rule("T066", "mask-with-fractions", Severity.WARNING)
def mask_with_fractions(observed: Observations) -> Iterator[Finding]:
    """A target of class numbers for each pixel has values between the numbers.

    Most values are a few whole numbers, and others are between them. It is an error with a loss that takes class
    numbers.

    Why it matters:
        Resizing by interpolation makes new classes at every border: 1.5 between the classes 0 and 3.

    Example:
        `tf.image.resize(mask, size)`, which interpolates unless it is told otherwise.

    Fix:
        `tf.image.resize(mask, size, method="nearest")`; `F.interpolate(mask, size, mode="nearest")`.
    """
    loss = observed.model.loss if observed.model is not None else None
    for target in observed.targets:
        image = len(target.shape) in (2, 3) and min(side or 0 for side in target.shape[:2]) >= _LEAST_SIDE
        if not image or not target.fractions or (target.max or 0) <= 1 or (target.min or 0) < 0:
            continue
        yield mask_with_fractions.finding(
            f"{begin(target)} holds class numbers, and {target.fractions:.1%} of its values are fractions between "
            "them: it was resized with interpolation.",
            location=at(target),
            corrected='tf.image.resize(mask, size, method="nearest")',
            severity=Severity.ERROR if loss is not None and loss.kind == "sparse-categorical" else Severity.WARNING,
        )


@rule("T067", "time-before-rows", Severity.WARNING)
def time_before_rows(observed: Observations) -> Iterator[Finding]:
    """A PyTorch layer that takes (time, rows, values) is given (rows, time, values).

    Why it matters:
        The layer runs along the rows of the batch instead of the time: each row is predicted from the rows before it,
        and no error is raised.

    Example:
        `nn.LSTM(8, 32)` or `nn.TransformerEncoderLayer(64, 4)`, fed by a DataLoader, whose batches have the rows first.

    Fix:
        `batch_first=True`, or `x.transpose(0, 1)` before the layer.
    """
    if observed.model is not None and observed.model.time_first:
        yield time_before_rows.finding(
            f"The layer {observed.model.time_first} has batch_first=False and takes the time first, and it is given "
            "the rows of the batch first.",
            corrected="batch_first=True",
        )


@rule("T068", "pretrained-scaling", Severity.WARNING)
def pretrained_scaling(observed: Observations) -> Iterator[Finding]:
    """A pretrained network is given images in another scale than it was trained with.

    What counts is what reaches its first layer with weights.

    Why it matters:
        Its features mean something only for the scale that they were learned with. Frozen, it gives nearly the same
        output for all images.

    Example:
        MobileNetV2, which expects -1 to 1, on images from 0 to 255; ResNet50, which expects 0 to 255 minus the mean,
        on images from 0 to 1.

    Fix:
        The `preprocess_input` of the same application: `keras.applications.mobilenet_v2.preprocess_input(image)`. For
        torchvision, `weights.transforms()`.
    """
    model = observed.model
    layer = model.first_layer if model is not None else None
    if model is None or layer is None or not model.pretrained or not any(one.image for one in observed.inputs):
        return
    name, low, high = model.pretrained.lower(), layer.min, layer.max
    if name.startswith(("efficientnet", "convnext", "mobilenetv3", "mobilenet_v3")) and model.framework == "keras":
        return  # they scale by themselves; rule T025 reports scaling twice
    centred = name.startswith(("vgg", "resnet")) and not name.endswith("v2") and model.framework == "keras"
    if centred:
        expected, wrong = "0 to 255 minus the mean (about -124 to 152)", high <= 2 or low >= 0
    elif model.framework == "torch" or name.startswith("densenet"):
        expected, wrong = "values normalised with ImageNet's mean and deviation (about -2 to 2.6)", high > 10
    else:
        expected, wrong = "-1 to 1", high > 2 or low >= 0
    if wrong:
        yield pretrained_scaling.finding(
            f"The pretrained {model.pretrained} expects {expected}, and {low:.3g} to {high:.3g} reaches its first "
            "layer.",
            corrected="image = preprocess_input(image)" if model.framework == "keras" else "image = normalize(image)",
        )


@rule("T069", "output-cannot-reach-target", Severity.WARNING)
def output_cannot_reach_target(observed: Observations) -> Iterator[Finding]:
    """The activation of the last layer cannot give values as large, or as small, as the targets of a regression.

    A sigmoid gives 0 to 1, a tanh -1 to 1, a ReLU no negative values. At least 5 % of the targets must be outside.

    Why it matters:
        The loss can never get small, and outputs stay at the end of the range, where gradients vanish.

    Example:
        A sigmoid before boxes in pixels (0 to 640); a ReLU before temperatures, of which some are negative.

    Fix:
        No activation in the last layer of a regression, or targets that are scaled to its range.
    """
    model, target = observed.model, observed.target
    if model is None or model.loss is None or model.loss.kind != "regression" or target is None:
        return
    low, high = _RANGES.get(model.activation, (None, None))
    histogram = target.histogram
    if histogram is None or target.min is None or target.max is None or (low is None and high is None):
        return
    middles = [(left + right) / 2 for left, right in pairwise(histogram.edges)]
    outside = sum(
        count
        for middle, count in zip(middles, histogram.counts, strict=True)
        if (low is not None and middle < low) or (high is not None and middle > high)
    )
    if outside < 0.05 * sum(histogram.counts):
        return
    limits = "no negative values" if high is None else f"values from {low:g} to {high:g}"
    yield output_cannot_reach_target.finding(
        f"The last layer ({model.activation}) gives {limits}, and the target goes from {target.min:.3g} to "
        f"{target.max:.3g}: the output cannot reach it.",
        location=at(target),
    )


@rule("T100", "target-not-scaled", Severity.WARNING)
def target_not_scaled(observed: Observations) -> Iterator[Finding]:
    """The targets of a regression are in the ten thousands or more, and the model answers with numbers around 1.

    Why it matters:
        A step of the optimizer changes an answer by a little. The loss begins astronomically high and its gradients are
        as large: training diverges, or it takes ages to come near the targets at all.

    Example:
        Prices of 250,000 as they are, with `mse`.

    Fix:
        Scale the targets as well as the inputs, (y - mean) / deviation or in thousands or by a logarithm, and scale the
        predictions back.
    """
    model, target = observed.model, observed.target
    if model is None or model.loss is None or model.loss.kind != "regression" or model.output is None:
        return
    if _RELATIVE.search(model.loss.name) or target is None or target.mean is None or target.deviation is None:
        return
    size = max(abs(target.mean), target.deviation)
    answered = max(abs(model.output.min), abs(model.output.max))
    if size >= _LARGE_TARGET and model.output.finite and answered < size / 100:
        yield target_not_scaled.finding(
            f"{begin(target)} is around {size:,.3g}, but the model's outputs go up to "
            f"{answered:.2g}: without scaling, it will take very long to reach them, or diverge.",
            location=at(target),
        )


@rule("T059", "image-mirrored-alone", Severity.ERROR)
def image_mirrored_alone(observed: Observations) -> Iterator[Finding]:
    """Images are flipped at random, and their masks or boxes are not.

    Images that came in both epochs with the same mask or boxes are compared. Flips are found where an image is the
    mirror image of the other one, also if its brightness or contrast changed.

    Why it matters:
        A flipped image has its objects on the other side. With the old mask or boxes, half of the targets are wrong,
        and the model learns to predict the middle.

    Example:
        `image = tf.image.random_flip_left_right(image)` in a function that returns `image, mask`.

    Fix:
        Flip both or none: draw one random number, and apply the flip to the image and to its mask or boxes.
    """
    found = observed.mirrored
    if found is None:
        return
    what = f"{found.kind} {found.name!r}" if found.name else found.kind
    stays = "stays" if found.kind == "mask" else "stay"
    column = observed.column(found.name) if found.name else observed.target
    yield image_mirrored_alone.finding(
        f"{found.mirrored:,} of {found.twice:,} images that came in both epochs are flipped ({found.axis}) in one of "
        f"them, and their {what} {stays} as before.",
        location=at(column) if column is not None else None,
        advice="Draw one random number for each row, and flip the image and its "
        + ("mask." if found.kind == "mask" else "boxes: x becomes width - x."),
        evidence={"mirrored": found.mirrored, "twice": found.twice},
    )


@rule("T103", "boxes-beyond-image", Severity.WARNING)
def boxes_beyond_image(observed: Observations) -> Iterator[Finding]:
    """Boxes lie outside of their images: the images were resized, and the boxes were not.

    Why it matters:
        The boxes name places that the model never sees. It learns the size of the original images at best.

    Example:
        Images resized from 1920 x 1080 to 416 x 416, with boxes that reach to x = 1900.

    Fix:
        Multiply the boxes by the same factors as the image: `boxes * [416 / width, 416 / height] * 2`; or store them as
        shares of the image.
    """
    images = [one for one in observed.inputs if one.image is not None and None not in one.shape]
    for target in observed.targets:
        if len(images) != 1 or not target.corners or target.max is None:
            continue
        sides = [side for side in images[0].shape if side is not None]
        longest = max(sides)
        if target.max > 1.1 * longest:
            yield boxes_beyond_image.finding(
                f"{begin(target)} has boxes that reach to {target.max:,.0f}, and the images are "
                f"{shape_text(images[0].shape)}: they are outside of their images.",
                location=at(target),
                advice="Scale the boxes by the same factors as the images.",
            )


@rule("T071", "metric-of-scores", Severity.WARNING)
def metric_of_scores(observed: Observations) -> Iterator[Finding]:
    """A metric compares raw scores with 0.5, where it expects probabilities.

    Why it matters:
        A score of 0.3 means a probability of 57 %, and counts as class 0. The accuracy that is shown is wrong, while
        the loss is right.

    Example:
        `model.compile(loss=BinaryCrossentropy(from_logits=True), metrics=["accuracy"])` and a last layer without
        sigmoid.

    Fix:
        `metrics=[keras.metrics.BinaryAccuracy(threshold=0.0)]`, or a sigmoid in the last layer and `from_logits=False`.
    """
    model = observed.model
    if model is None or model.loss is None or model.loss.kind != "binary" or not model.loss.from_logits:
        return
    scores = model.output is not None and (model.output.min < 0 or model.output.max > 1)
    if scores and model.halving_metrics:
        yield metric_of_scores.finding(
            f"The metric {model.halving_metrics[0]} counts outputs above 0.5 as class 1, and the model gives raw "
            "scores, for which 0 is the middle.",
            corrected="metrics=[keras.metrics.BinaryAccuracy(threshold=0.0)]",
        )


EXPECTATION_RULES = (
    mask_with_fractions,
    time_before_rows,
    pretrained_scaling,
    output_cannot_reach_target,
    target_not_scaled,
    image_mirrored_alone,
    boxes_beyond_image,
    metric_of_scores,
)
