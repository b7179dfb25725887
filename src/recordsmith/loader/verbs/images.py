"""images: encoded images become arrays, resized, scaled and augmented."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from recordsmith.augment import Augmentation, Crop
from recordsmith.errors import PipelineError, did_you_mean, list_names
from recordsmith.loader.engine.image_work import ImageWork
from recordsmith.loader.plan import Plan, RowChange, Rows
from recordsmith.loader.verbs.arguments import check_whole_number, verb
from recordsmith.loader.verbs.chain import Chain, LoaderT
from recordsmith.schema import Bytes, Feature, Image, Tensor

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
    heavy = True

    def apply(self, rows: Rows) -> Rows:
        """Return the rows with arrays."""
        column = rows.columns[self.feature]
        pictures = self.work.column(
            column, records=rows.numbers, epochs=rows.epochs, feature=self.feature, room=rows.room
        )
        rows.columns = {**rows.columns, self.feature: pictures}
        return rows


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
        """Decode images to arrays: resized, scaled, augmented.

        With a size, a batch of images is one array of shape (rows, height, width, channels), RGB. Resizing is that of
        `tf.image.resize`, bilinear. Images are turned as their EXIF orientation says; an image that cannot be
        decoded is an error with its record.

        Args:
            size: the height and width; None leaves each image as large as it is, and gives a list of arrays unless
                the schema says that all have one size.
            scale: what the values from 0 to 255 are multiplied by, such as 1 / 255; the result is then float32.
            augment: random changes from `rs.augment`. Each record has its own random numbers in each epoch, whatever
                the number of threads.
            channels: 1 grey, 3 RGB, 4 RGBA; None takes what the schema says, or 3.
            layout: "NHWC", channels last, as TensorFlow and JAX like it, or "NCHW", as PyTorch does.
            feature: the images; None takes the only `rs.Image` that there is.
            dtype: "uint8" or "float32"; None chooses by `scale`.
            seed: another seed, other random changes.
        """
        plan = self.plan
        plan.before_batching("images", "find the images put together already. Decode first: .images(...).batch(n).")
        name = _the_feature(plan) if feature is None else feature
        kind = plan.feature(name, "images")
        if plan.has(f"decoded {name}"):
            raise PipelineError(f"The images of {name!r} are decoded already.", advice="One .images() does everything.")
        if kind is not None and not isinstance(kind, (Image, Bytes)):
            pictures = [other for other, its in (plan.features or {}).items() if isinstance(its, Image)]
            raise PipelineError(
                f"images takes encoded images, and {name!r} holds none.",
                feature=name,
                found=repr(kind),
                expected=f"an Image or a Bytes feature{': ' + list_names(pictures) if pictures else ''}",
            )
        changes = (augment,) if isinstance(augment, Augmentation) else tuple(augment)
        _check_augment(changes)
        _check_layout(layout)
        check_whole_number("The seed", seed, least=None)
        wanted = _checked_size(size)
        depth = _checked_channels(channels, kind)
        kept = _checked_dtype(dtype, scale)
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
        )
        shape = (depth, height, width) if work.planar else (height, width, depth)
        features = None if plan.features is None else {**plan.features, name: Tensor(work.dtype, shape)}
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
                changes=(*plan.changes, ImagesDecoded(name, work)),
            )
        )


def _the_feature(plan: Plan) -> str:
    """Return the one image feature that there is."""
    if plan.features is None:
        raise PipelineError(
            "What rows have after .map() is not known.", advice="Name the images: .images(feature='image')."
        )
    pictures = [name for name, feature in plan.features.items() if isinstance(feature, Image)]
    if len(pictures) == 1:
        return pictures[0]
    if pictures:
        raise PipelineError(
            "There are several image features.",
            expected=list_names(pictures),
            advice=f"Say which: .images(feature={pictures[0]!r}). To decode several, write .images() for each.",
        )
    if any(known.startswith("decoded ") for known in plan.known):
        raise PipelineError("The images are decoded already.", advice="One .images() does everything.")
    encoded = [name for name, feature in plan.features.items() if isinstance(feature, Bytes) and feature.shape == ()]
    advice = "Declare it in the schema: rs.Image()."
    if encoded:
        advice = f"Name the feature that holds encoded images: .images(feature={encoded[0]!r})."
    raise PipelineError("There is no image feature.", found=list_names(plan.features), advice=advice)


def _checked_size(size: Any) -> tuple[int, int] | None:
    if size is None:
        return None
    sides = tuple(size) if isinstance(size, (tuple, list, np.ndarray)) else ()
    if len(sides) != 2:
        raise PipelineError(
            "The size is a height and a width.", found=repr(size), expected="two whole numbers, such as (224, 224)"
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
        raise PipelineError("Images have 1, 3 or 4 channels.", found=repr(channels), expected="1 grey, 3 RGB or 4 RGBA")
    return int(channels)


def _checked_dtype(dtype: Any, scale: Any) -> str:
    if scale is not None and (
        isinstance(scale, bool) or not isinstance(scale, (int, float, np.number)) or not np.isfinite(scale)
    ):
        raise PipelineError("The scale is a number.", found=repr(scale), expected="such as 1 / 255")
    if dtype is None:
        return "uint8" if scale is None else "float32"
    try:
        name = str(np.dtype(dtype).name)
    except TypeError:
        name = str(dtype)
    if name not in _DTYPES:
        raise PipelineError(
            f"Images become uint8 or float32.{did_you_mean(name, _DTYPES)}",
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
                "augment takes what rs.augment makes.",
                found=repr(change),
                expected="such as [rs.augment.flip_left_right(), rs.augment.brightness(0.2)]",
                advice="Call it: it lacks its parentheses." if called else None,
            )
