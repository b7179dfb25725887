"""images() in TensorFlow's own operations: images are decoded one by one, in parallel, before they are batched."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from recordsmith.augment import Augmentation, Brightness, Contrast, FlipLeftRight, FlipUpDown, Saturation
from recordsmith.errors import PipelineError
from recordsmith.loader.verbs.rows.images import ImagesDecoded
from recordsmith.schema import Feature, Image
from recordsmith.schema.export.tensorflow_features import import_tensorflow

__all__ = ["decoded_image"]

Change = Callable[[Any], Any]

_WITH_ALPHA = 4  # channels, which a JPEG never has


def decoded_image(change: ImagesDecoded, feature: Feature) -> Change:
    """Return what makes pixels of the bytes of one image.

    >>> import recordsmith as rs, tensorflow as tf
    >>> from recordsmith.loader.engine.image_work import ImageWork
    >>> png = tf.io.encode_png(tf.zeros((4, 6, 3), tf.uint8))
    >>> decoded_image(ImagesDecoded("image", ImageWork(size=(2, 3))), rs.Image(encoding="png"))(png).shape
    TensorShape([2, 3, 3])
    """
    tf = import_tensorflow("Loader.to_tf")
    work = change.work
    size = work.size
    if size is None:
        raise PipelineError(
            "Images of different sizes cannot be batched by TensorFlow's own operations.",
            feature=change.feature,
            advice="Give a size: .images(size=(224, 224)).",
        )
    changes = [_augmented(tf, augmentation, work.seed + place) for place, augmentation in enumerate(work.augment)]
    floats = work.dtype == "float32"

    def pixels_of(data: Any) -> Any:
        pixels = _decoded(tf, data, work.channels, feature)
        pixels = tf.image.resize(pixels, size)  # bilinear, and float32 from 0 to 255
        if changes:
            pixels /= 255.0
            for one in changes:
                pixels = one(pixels)
            pixels *= 255.0
        if floats:
            pixels = pixels if work.scale is None else pixels * work.scale
        else:
            pixels = tf.cast(tf.round(pixels), tf.uint8)
        pixels = tf.ensure_shape(pixels, (*size, work.channels))
        return tf.transpose(pixels, (2, 0, 1)) if work.planar else pixels

    return pixels_of


def _decoded(tf: Any, data: Any, channels: int, feature: Feature) -> Any:
    """Decode an image, JPEGs accurately, as everything but TensorFlow does by default.

    What TensorFlow does instead differs by one in 255 in the mean: a model would learn on other images than those
    that it is shown later.
    """

    def jpeg() -> Any:
        return tf.io.decode_jpeg(data, channels=channels, dct_method="INTEGER_ACCURATE")

    def other() -> Any:
        return tf.io.decode_image(data, channels=channels, expand_animations=False)

    encoding = feature.encoding if isinstance(feature, Image) else None
    if channels == _WITH_ALPHA or encoding not in (None, "jpeg"):
        return other()
    return jpeg() if encoding == "jpeg" else tf.cond(tf.io.is_jpeg(data), jpeg, other)


def _augmented(tf: Any, augmentation: Augmentation, seed: int) -> Change:
    if isinstance(augmentation, (FlipLeftRight, FlipUpDown)) and augmentation.p == 0.5:
        flip = tf.image.random_flip_left_right
        if isinstance(augmentation, FlipUpDown):
            flip = tf.image.random_flip_up_down
        return lambda pixels: flip(pixels, seed=seed)
    if isinstance(augmentation, Brightness):
        return lambda pixels: _limited(tf, tf.image.random_brightness(pixels, augmentation.most, seed=seed))
    if isinstance(augmentation, Contrast):
        return lambda pixels: _limited(
            tf, tf.image.random_contrast(pixels, augmentation.least, augmentation.most, seed=seed)
        )
    if isinstance(augmentation, Saturation):
        return lambda pixels: _limited(
            tf, tf.image.random_saturation(pixels, augmentation.least, augmentation.most, seed=seed)
        )
    raise PipelineError(
        f"rs.augment.{augmentation.name}() has no counterpart in TensorFlow's own operations.",
        found=repr(augmentation),
        advice="Use .to_tf() without graph=True.",
    )


def _limited(tf: Any, pixels: Any) -> Any:
    return tf.clip_by_value(pixels, 0.0, 1.0)
