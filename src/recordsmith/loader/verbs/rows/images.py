"""images: encoded images become arrays, resized, scaled and augmented."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Literal

import numpy as np

from recordsmith.augment import Augmentation, Crop
from recordsmith.columns import Ragged
from recordsmith.errors import PipelineError, did_you_mean, list_names
from recordsmith.loader.engine.image_followers import ImageFollowers
from recordsmith.loader.engine.image_work import ImageWork
from recordsmith.loader.engine.row_access import ImageValues
from recordsmith.loader.plan import Plan, RowChange, Rows
from recordsmith.loader.verbs.arguments import check_whole_number, verb
from recordsmith.loader.verbs.chain import Chain, LoaderT
from recordsmith.loader.verbs.rows.image_followers import decoded_followers, followers_of
from recordsmith.schema import Bytes, Feature, Image, Mask, Sequence, Steps, Tensor

__all__ = ["ImagesDecoded", "ImagesVerb"]

_LAYOUTS = ("NHWC", "NCHW")
_DTYPES = ("uint8", "float32")
_CHANNELS = (1, 3, 4)
_LONGEST_SIDE = 65_500


@dataclass(frozen=True)
class ImagesDecoded(RowChange):
    """Turns a column of encoded images into arrays."""

    feature: str
    work: ImageWork
    length: int | None = None  # of lists of images that all have one length
    followers: ImageFollowers | None = None
    heavy = True

    def apply(self, rows: Rows) -> Rows:
        """Return the rows with arrays."""
        column = rows.columns[self.feature]
        if self.followers:
            rows.columns = self.followers.apply(rows)
        if isinstance(column, Ragged):
            images: Any = self._lists(column, rows)
        else:
            images = self.work.column(
                column, records=rows.numbers, epochs=rows.epochs, feature=self.feature, memory=rows.memory
            )
        rows.columns = {**rows.columns, self.feature: images}
        return rows

    def _lists(self, column: Ragged, rows: Rows) -> Any:
        """Return the arrays of lists of images. The images of a record are all changed in the same way."""
        start = int(column.offsets[0])
        offsets = column.offsets - start
        counts = np.diff(offsets)
        images = self.work.column(
            column.values[start : int(column.offsets[-1])],
            records=np.repeat(rows.numbers, counts),
            epochs=np.repeat(rows.epochs, counts),
            feature=self.feature,
        )
        if isinstance(images, np.ndarray) and (len(images) or self.work.size is not None):
            if self.length is not None:
                return images.reshape(len(rows), self.length, *images.shape[1:])
            return Ragged.unchecked(images, offsets, present=column.present)
        lists: list[Any] = [list(images[begin:end]) for begin, end in pairwise(offsets.tolist())]
        if column.present is not None:
            lists = [one if there else None for one, there in zip(lists, column.present.tolist(), strict=True)]
        return ImageValues(lists)


class ImagesVerb(Chain[LoaderT]):
    """Gives a chain the method `images`."""

    @verb
    def images(
        self,
        size: tuple[int, int] | None = None,
        *,
        scale: float | None = None,
        augment: Iterable[Augmentation] | Augmentation = (),
        channels: int | None = None,
        layout: Literal["NHWC", "NCHW"] = "NHWC",
        feature: str | None = None,
        dtype: Any = None,
        seed: int = 0,
    ) -> LoaderT:
        """Decode images to arrays, and resize, scale or augment them.

        With a size, a batch of images is one array of shape (rows, height, width, channels), RGB. Lists of images, such
        as the frames of a video, become an `rs.Ragged` of such arrays. Resizing is bilinear, as in `tf.image.resize`.
        Images of uint16 and float32 keep their values, and cannot be resized or augmented. Images are rotated
        as their EXIF orientation says. An image that cannot be decoded is an error that names the record.

        Boxes, Points, Mask and Masks of the schema move with their image. A Mask is decoded too, and resized with the
        nearest neighbour. A crop leaves objects out of whose box less than a quarter is left, in all lists of the same
        group of names, such as those of "image/object/".

        Args:
            size: the height and width; None keeps the size of each image, and returns a list of arrays unless the
                schema declares one size.
            scale: a factor for the values from 0 to 255, such as 1 / 255; the result is then float32.
            augment: random changes from `rs.augment`. They depend only on the seed, the epoch and the record, not on
                the number of threads.
            channels: 1 grey, 3 RGB, 4 RGBA; None uses that of the schema, or 3.
            layout: "NHWC" (channels last, for TensorFlow and JAX) or "NCHW" (for PyTorch).
            feature: the feature with the images; None: the only `rs.Image` of the schema.
            dtype: "uint8" or "float32"; None depends on `scale`.
            seed: a different seed gives other random changes.
        """
        plan = self.plan
        plan.before_batching("images", "decode whole batches. Decode first: .images(...).batch(n).")
        name = _the_feature(plan) if feature is None else feature
        declared_kind = plan.feature(name, "images")
        kind = _one_image(declared_kind)
        if plan.has(f"decoded {name}"):
            raise PipelineError(f"The images of {name!r} are decoded already.", advice="One .images() is enough.")
        if kind is not None and not isinstance(kind, (Image, Bytes)):
            image_features = [
                other for other, its in (plan.features or {}).items() if isinstance(_one_image(its), Image)
            ]
            raise PipelineError(
                f"images needs encoded images, and {name!r} has none.",
                feature=name,
                found=repr(declared_kind),
                expected=f"an Image or a Bytes feature{': ' + list_names(image_features) if image_features else ''}",
            )
        changes = (augment,) if isinstance(augment, Augmentation) else tuple(augment)
        _check_augment(changes)
        _check_layout(layout)
        check_whole_number("The seed", seed, least=None)
        wanted = _checked_size(size)
        depth = _checked_channels(channels, kind)
        stored = kind.pixel_type if isinstance(kind, Image) else "uint8"
        if stored != "uint8" and (wanted is not None or changes or dtype is not None):
            raise PipelineError(
                f"Images of {stored} can be decoded and scaled, but not resized, augmented or converted.",
                feature=name,
                advice="Leave out size, augment and dtype, and change the arrays in .map().",
            )
        kept = _checked_dtype(dtype, scale) if stored == "uint8" else stored if scale is None else "float32"
        declared = kind.shape[:2] if isinstance(kind, Image) else (None, None)
        if any(isinstance(change, Crop) for change in changes):
            declared = (None, None)
        height, width = wanted or declared
        work = ImageWork(
            size=wanted,
            scale=None if scale is None else float(scale),
            augment=changes,
            channels=depth,
            planar=layout == "NCHW",
            dtype=np.dtype(kept),
            seed=int(seed),
            dense=height is not None and width is not None,
            stored=stored,
        )
        listed = declared_kind is not kind
        length = declared_kind.length if isinstance(declared_kind, Sequence) else None
        shape = (depth, height, width) if work.planar else (height, width, depth)
        shape = (length, *shape) if listed else shape
        followers = followers_of(plan, name, work)
        if listed and followers:
            raise PipelineError(
                "Boxes, points and masks cannot move with lists of images.",
                feature=name,
                advice="Leave them out with .select(), or leave out the augmentation.",
            )
        features = None if plan.features is None else {**plan.features, name: Tensor(work.dtype, shape)}
        if features is not None:
            features |= decoded_followers(followers, height, width)
        settings = {
            "feature": name,
            "size": None if wanted is None else list(wanted),
            "scale": work.scale,
            "augment": [change.settings() for change in changes] or None,
            "channels": depth,
            "layout": layout,
            "dtype": kept,
            "seed": work.seed if changes else None,
        }
        return self._then(
            replace(
                plan.then("images", settings, features=features, known=plan.known | {f"decoded {name}"}),
                changes=(*plan.changes, ImagesDecoded(name, work, length, followers)),
            )
        )


def _one_image(feature: Feature | None) -> Feature | None:
    """Return the feature of one image, of a feature that may be a list of them."""
    if isinstance(feature, (Sequence, Steps)):
        return feature.feature
    if isinstance(feature, Bytes) and feature.shape:
        return Bytes()
    return feature


def _the_feature(plan: Plan) -> str:
    """Return the one image feature that there is."""
    if plan.features is None:
        raise PipelineError(
            "The features after .map() are not known.", advice="Name the images: .images(feature='image')."
        )
    image_features = [
        name
        for name, feature in plan.features.items()
        if isinstance(_one_image(feature), Image) and not isinstance(feature, Mask)
    ]
    if len(image_features) == 1:
        return image_features[0]
    if image_features:
        raise PipelineError(
            "There are several image features.",
            expected=list_names(image_features),
            advice=f"Choose one: .images(feature={image_features[0]!r}). To decode several, write .images() for each.",
        )
    if any(known.startswith("decoded ") for known in plan.known):
        raise PipelineError("The images are decoded already.", advice="One .images() is enough.")
    encoded = [name for name, feature in plan.features.items() if isinstance(feature, Bytes) and feature.shape == ()]
    advice = "Declare it in the schema: rs.Image()."
    if encoded:
        advice = f"Name the feature that contains encoded images: .images(feature={encoded[0]!r})."
    raise PipelineError("There is no image feature.", found=list_names(plan.features), advice=advice)


def _checked_size(size: Any) -> tuple[int, int] | None:
    if size is None:
        return None
    sides = tuple(size) if isinstance(size, (tuple, list, np.ndarray)) else ()
    if len(sides) != 2:
        raise PipelineError(
            "The size must be a height and a width.", found=repr(size), expected="two integers, such as (224, 224)"
        )
    for side in sides:
        check_whole_number("A side of the size", side, least=1)
        if side > _LONGEST_SIDE:
            raise PipelineError("A side of the size is too long.", found=repr(side), expected=f"up to {_LONGEST_SIDE}")
    return int(sides[0]), int(sides[1])


def _checked_channels(channels: int | None, kind: Feature | None) -> int:
    if channels is None:
        declared = kind.channels if isinstance(kind, Image) else None
        return 3 if declared is None else declared
    if isinstance(channels, bool) or channels not in _CHANNELS:
        raise PipelineError(
            "Images must have 1, 3 or 4 channels.", found=repr(channels), expected="1 grey, 3 RGB or 4 RGBA"
        )
    return int(channels)


def _checked_dtype(dtype: Any, scale: Any) -> str:
    if scale is not None and (
        isinstance(scale, bool) or not isinstance(scale, (int, float, np.number)) or not np.isfinite(scale)
    ):
        raise PipelineError("The scale must be a number.", found=repr(scale), expected="for example 1 / 255")
    if dtype is None:
        return "uint8" if scale is None else "float32"
    try:
        name = str(np.dtype(dtype).name)
    except TypeError:
        name = str(dtype)
    if name not in _DTYPES:
        raise PipelineError(
            f"The dtype of images must be uint8 or float32.{did_you_mean(name, _DTYPES)}",
            found=repr(dtype),
            advice="Convert further with .map().",
        )
    if name == "uint8" and scale is not None:
        raise PipelineError(
            "Scaled images do not fit into uint8.", found=f"scale={scale!r}", advice="Leave out scale, or dtype."
        )
    return name


def _check_layout(layout: Any) -> None:
    if layout not in _LAYOUTS:
        raise PipelineError(
            f"Unknown layout.{did_you_mean(str(layout), _LAYOUTS)}",
            found=repr(layout),
            expected="'NHWC' (TensorFlow, JAX) or 'NCHW' (PyTorch)",
        )


def _check_augment(changes: tuple[Any, ...]) -> None:
    for change in changes:
        if not isinstance(change, Augmentation):
            called = isinstance(change, type) and issubclass(change, Augmentation)
            raise PipelineError(
                "augment takes augmentations from rs.augment.",
                found=repr(change),
                expected="for example [rs.augment.flip_left_right(), rs.augment.brightness(0.2)]",
                advice="Call it: the parentheses are missing." if called else None,
            )
