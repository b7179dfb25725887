"""The names under which images, boxes and masks are stored, and their features.

    what          names="tf" (Object Detection API)      names="tfds" (TensorFlow Datasets)
    image         image/encoded                          image
    boxes         image/object/bbox/{ymin,xmin,...}      objects/bbox
    classes       image/object/class/label, .../text     objects/label
    masks         image/object/mask                      objects/mask

"tf" is the default: the readers of the Object Detection API and of the Model Garden look for exactly these names in the
records. TensorFlow Datasets reads the names from features.json, so it opens both. With "tf", class numbers start at 1,
and 0 is the background, as these readers expect; with "tfds" they start at 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from recordsmith.errors import PipelineError, did_you_mean
from recordsmith.schema import Boxes, Feature, Labels, Mask, Masks, Points, Scalar, Tensor, Text

__all__ = ["Naming", "NamingName", "naming_of", "unique_names"]

NamingName = Literal["tf", "tfds"]

_TF = {
    "image": "image/encoded",
    "format": "image/format",
    "height": "image/height",
    "width": "image/width",
    "filename": "image/filename",
    "source_id": "image/source_id",
    "semantic": "image/segmentation/class/encoded",
    "boxes": "image/object/bbox",
    "labels": "image/object/class/label",
    "texts": "image/object/class/text",
    "area": "image/object/area",
    "crowd": "image/object/is_crowd",
    "difficult": "image/object/difficult",
    "truncated": "image/object/truncated",
    "view": "image/object/view",
    "masks": "image/object/mask",
    "keypoints": "image/object/keypoint",
    "visibility": "image/object/keypoint/visibility",
}
_TFDS = {
    "image": "image",
    "height": "image/height",
    "width": "image/width",
    "filename": "image/filename",
    "source_id": "image/id",
    "semantic": "segmentation_mask",
    "boxes": "objects/bbox",
    "labels": "objects/label",
    "area": "objects/area",
    "crowd": "objects/is_crowd",
    "difficult": "objects/is_difficult",
    "truncated": "objects/is_truncated",
    "view": "objects/pose",
    "masks": "objects/mask",
    "keypoints": "objects/keypoints",
    "visibility": "objects/keypoints_visibility",
}
_BACKGROUND = "background"


@dataclass(frozen=True, slots=True)
class Naming:
    """One of the two ways to name and number things.

    >>> naming_of("tf").features(["cat"], ["boxes", "labels"])["image/object/class/label"]
    Labels(['background', 'cat'])
    >>> list(naming_of("tfds").features(["cat"], ["boxes", "labels"]))
    ['objects/bbox', 'objects/label']
    """

    name: NamingName

    @property
    def names(self) -> dict[str, str]:
        """The stored name of each thing."""
        return _TF if self.name == "tf" else _TFDS

    @property
    def first_class(self) -> int:
        """The number of the first class."""
        return 1 if self.name == "tf" else 0

    def class_names(self, classes: Sequence[str]) -> list[str]:
        """Return the names of all numbers: with "tf", that of the background first."""
        return unique_names([*([_BACKGROUND] if self.first_class else []), *classes])

    def features(self, classes: Sequence[str], wanted: Iterable[str], keypoints: int = 0) -> dict[str, Feature]:
        """Return the features of the things that are wanted, by their stored names."""
        split = self.name == "tf"
        flags = Tensor("int64", (None,)) if split else Tensor("bool", (None,), storage="list")
        number = Scalar("int64")
        made: dict[str, Feature] = {
            "format": Text(),
            "height": number,
            "width": number,
            "filename": Text(description="the path of the image, relative to the source folder"),
            "source_id": Text(description="the id of the image in its annotations"),
            "semantic": Mask(list(classes) or None),
            "boxes": Boxes(split=split),
            "labels": Labels(self.class_names(classes)) if classes else Tensor("int64", (None,)),
            "texts": Text((None,)),
            "area": Tensor("float32", (None,)),
            "crowd": flags,
            "difficult": flags,
            "truncated": flags,
            "view": Text((None,)),
            "masks": Masks(),
        }
        if keypoints:
            made["keypoints"] = Points(keypoints, split=split)
            made["visibility"] = Tensor("int64", (None, keypoints))
        return {self.names[what]: made[what] for what in wanted if what in self.names}


def naming_of(name: str) -> Naming:
    """Return the feature names of a convention, or raise a PipelineError if it is unknown."""
    if name not in ("tf", "tfds"):
        raise PipelineError(
            f"Unknown names {name!r}.{did_you_mean(str(name), ('tf', 'tfds'))}",
            expected="'tf' (those of the TensorFlow Object Detection API) or 'tfds' (those of TensorFlow Datasets)",
        )
    return Naming(name)  # type: ignore[arg-type] # it is one of the two


def unique_names(names: Iterable[str]) -> list[str]:
    """Return class names as they can be stored: each once, not empty, on one line.

    >>> unique_names(["cat", "cat", ""])
    ['cat', 'cat (2)', 'class 2']
    """
    found: dict[str, None] = {}
    for number, name in enumerate(names):
        plain = " ".join(str(name).split()) or f"class {number}"
        chosen, again = plain, 2
        while chosen in found:
            chosen, again = f"{plain} ({again})", again + 1
        found[chosen] = None
    return list(found)
