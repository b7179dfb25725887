"""V008 to V010, V016 and V017: encoded images."""

from __future__ import annotations

from collections.abc import Iterator

from recordsmith.checking.feature_reading import is_mask
from recordsmith.checking.wording import first_detail, located, share
from recordsmith.facts.dataset_facts import DatasetFacts
from recordsmith.facts.value_facts import FeatureFacts, ImageFacts
from recordsmith.rules import Finding, Location, Severity, rule
from recordsmith.schema import Image
from recordsmith.wording.numbers import count_text

__all__ = ["image_suffix_differs", "mixed_channels", "not_an_image", "one_colour_images", "undecodable_image"]

_ONE_COLOUR_SHARE = 0.01


@rule("V008", "undecodable-image", Severity.ERROR)
def undecodable_image(facts: DatasetFacts) -> Iterator[Finding]:
    """An image cannot be decoded.

    Its header is valid (otherwise it is V009). A sample of the images is decoded; `--decode all` decodes every image.

    Why it matters:
        `tf.io.decode_jpeg` stops the run in the middle of an epoch, with an error that does not name the record.

    Example:
        An incomplete download; an image in a variant that the decoder does not support.

    Fix:
        Leave the records out or fetch the images again. `recordsmith make` rejects such files with the reason.
    """
    for feature, images in _with_images(facts):
        if images.undecodable:
            which = "" if images.decoded_all else f" of a sample of {images.decoded:,}"
            yield undecodable_image.finding(
                f"{count_text(images.undecodable, 'image')}{which} of {feature.name!r} cannot be decoded."
                f"{first_detail(images.undecodable_places)}",
                count=images.undecodable,
                evidence={"decoded": images.decoded, "undecodable": images.undecodable},
                **located(images.undecodable_places, feature.name),
            )


@rule("V009", "not-an-image", Severity.ERROR)
def not_an_image(facts: DatasetFacts) -> Iterator[Finding]:
    """A feature contains images, but some of its values are not images.

    Why it matters:
        Decoding fails at those records.

    Example:
        An error page saved under the name of an image; empty files; raw pixels among encoded ones.

    Fix:
        Look at the records with `recordsmith show PATH --record K`, and leave them out or fetch the images again.
    """
    for feature, images in _with_images(facts):
        if images.no_header:
            total = images.no_header + sum(images.formats.values())
            yield not_an_image.finding(
                f"{count_text(images.no_header, 'value')} of {feature.name!r} ({share(images.no_header, total)}) "
                f"{'is not an image' if images.no_header == 1 else 'are not images'}, unlike the others."
                f"{first_detail(images.no_header_places)}",
                count=images.no_header,
                **located(images.no_header_places, feature.name),
            )


@rule("V010", "image-suffix-differs", Severity.WARNING)
def image_suffix_differs(facts: DatasetFacts) -> Iterator[Finding]:
    """An image has another format than its file name or the schema says.

    The name is the value of another feature, such as `filename`.

    Why it matters:
        Code that chooses the decoder by the name fails: `tf.io.decode_jpeg` is lenient, other readers are not. It may
        also mean that images were encoded again with loss.

    Example:
        A PNG that was renamed to `.jpg`; a web server that delivers WebP under any name.

    Fix:
        Decode with `tf.io.decode_image` or `.images()`, which detect the format from the content; or convert the
        images.
    """
    for feature, images in _with_images(facts):
        if images.suffix_differs:
            yield image_suffix_differs.finding(
                f"{count_text(images.suffix_differs, 'image')} of {feature.name!r} "
                f"{'is' if images.suffix_differs == 1 else 'are'} in another format than the file name says."
                f"{first_detail(images.suffix_places)}",
                count=images.suffix_differs,
                **located(images.suffix_places, feature.name),
            )


@rule("V016", "one-colour-images", Severity.WARNING)
def one_colour_images(facts: DatasetFacts) -> Iterator[Finding]:
    """Images have only one colour.

    If they are less than 1 % of the decoded images, it is an info. Features named like masks are not checked.

    Why it matters:
        A model learns nothing from them, and their labels are noise.

    Example:
        A placeholder for missing images; a crop outside the image; an integer division that made all pixels 0.

    Fix:
        Leave them out, and find out where they come from.
    """
    for feature, images in _with_images(facts):
        if images.black and not is_mask(feature.name):
            few = images.black < _ONE_COLOUR_SHARE * images.decoded
            yield one_colour_images.finding(
                f"{count_text(images.black, 'image')} of {feature.name!r} ({share(images.black, images.decoded)} of "
                f"the decoded ones) {'has' if images.black == 1 else 'have'} only one colour.",
                location=Location(feature=feature.name),
                count=images.black,
                severity=Severity.INFO if few else Severity.WARNING,
            )


@rule("V017", "mixed-channels", Severity.INFO)
def mixed_channels(facts: DatasetFacts) -> Iterator[Finding]:
    """Some images are grey and others in colour, or some have an alpha channel.

    Not reported if the schema declares how many channels images are decoded to.

    Why it matters:
        Decoded without conversion, they have different shapes and cannot be batched.

    Example:
        A few grey JPEGs among colour ones, as in ImageNet; screenshots with transparency.

    Fix:
        Decode all to one number of channels: `tf.io.decode_image(data, channels=3)`, `rs.Image(channels=3)`.
    """
    for feature, images in _with_images(facts):
        declared = None if facts.schema is None else facts.schema.get(feature.name)
        if len(images.channels) < 2 or (isinstance(declared, Image) and declared.channels is not None):
            continue
        kinds = ", ".join(f"{count:,} with {channels}" for channels, count in sorted(images.channels.items()))
        yield mixed_channels.finding(
            f"The images of {feature.name!r} have different numbers of channels: {kinds}.",
            location=Location(feature=feature.name),
            evidence={"channels": {str(channels): count for channels, count in images.channels.items()}},
        )


def _with_images(facts: DatasetFacts) -> Iterator[tuple[FeatureFacts, ImageFacts]]:
    for feature in facts.features:
        if feature.images is not None:
            yield feature, feature.images
