"""Feature types and shapes in a few characters."""

from __future__ import annotations

from recordsmith.query.overview import FeatureOverview
from recordsmith.schema import (
    Boxes,
    Feature,
    Image,
    Label,
    Labels,
    Mask,
    Packed,
    Points,
    Scalar,
    Sequence,
    Sparse,
    Steps,
    Tensor,
)
from recordsmith.schema.features.detection.geometry import SplitTensor

__all__ = ["shape_text", "type_text"]

_STORED_AS = {"float": "float32", "int64": "int64", "bytes": "bytes"}


def type_text(overview: FeatureOverview) -> str:
    """Name a feature's type; where records disagree, every kind that was met.

    >>> type_text(FeatureOverview("x", Scalar("float32"), declared=False))
    'float32'
    >>> type_text(FeatureOverview("x", None, declared=False, kinds={"int64": 2, "bytes": 1}))
    'int64 or bytes'
    >>> type_text(FeatureOverview("x", Label(["cat", "dog"]), declared=True))
    'label of 2'
    >>> type_text(FeatureOverview("x", Image(encoding="jpeg"), declared=True))
    'jpeg image'
    >>> type_text(FeatureOverview("x", Sparse("float32", 100), declared=True))
    'sparse float32'
    """
    match _inner(overview.feature):
        case None:
            return " or ".join(_STORED_AS[kind] for kind in overview.kinds) or "nothing"
        case Labels() as feature:
            return f"labels of {feature.size:,}"
        case Boxes() | Points() as feature:
            return feature.type_name
        case Scalar() | Tensor() as feature:
            return feature.dtype.name
        case Label() as feature:
            return f"label of {feature.size:,}"
        case Mask():
            return "mask"
        case Image() as feature:
            return f"{feature.encoding} image" if feature.encoding else "image"
        case Sparse() as feature:
            return f"sparse {feature.dtype.name}"
        case feature:
            return feature.type_name


def shape_text(overview: FeatureOverview) -> str:
    """Write a feature's shape, with the range that was found where it varies.

    >>> shape_text(FeatureOverview("x", Tensor("int64", (None,)), declared=False, counts=(2, 9)))
    '(2..9,)'
    >>> shape_text(FeatureOverview("x", Tensor("int64", (None, 4)), declared=True, counts=(8, 40)))
    '(2..10, 4)'
    >>> shape_text(FeatureOverview("x", Steps(Scalar("int64")), declared=False, steps=True))
    '(steps,)'
    >>> shape_text(FeatureOverview("x", Image(width=640), declared=True))
    '(?, 640, 3)'
    >>> shape_text(FeatureOverview("x", Boxes(), declared=True, counts=(0, 3)))
    '(0..3, 4)'
    >>> shape_text(FeatureOverview("x", Sparse("float32", 100), declared=True))
    '(100,)'
    >>> shape_text(FeatureOverview("x", Packed({"pixels": ("uint8", (8, 8)), "label": ("int64", ())}), declared=True))
    'pixels (8, 8), label ()'
    """
    feature = _inner(overview.feature)
    if isinstance(feature, Packed):
        return ", ".join(f"{name} {shape}" for name, (_, shape) in feature.parts.items())
    sizes: list[int | None] = list(getattr(feature, "shape", (None,) if feature is None else ()))
    unit = 1
    for size in sizes:
        unit *= size or 1
    # Sizes that are in the header of each image, or in a stored shape, do not follow from the number of values.
    in_data = isinstance(feature, Image) or sizes.count(None) > 1 or getattr(feature, "packing", None) is not None
    varies = "?" if in_data else _free(overview, feature, unit)
    shown = [varies if size is None else str(size) for size in sizes]
    if isinstance(overview.feature, Sequence):
        shown.insert(0, str(overview.feature.length or "?"))
    if overview.steps:
        shown.insert(0, "steps")
    return "scalar" if not shown else f"({shown[0]},)" if len(shown) == 1 else f"({', '.join(shown)})"


def _free(overview: FeatureOverview, feature: Feature | None, unit: int) -> str:
    low, high = overview.counts
    if isinstance(feature, (Scalar, Tensor)) and feature.stored_as == "bytes":
        (low, high), unit = overview.lengths, unit * feature.dtype.itemsize
    if isinstance(feature, SplitTensor) and feature.split:
        unit //= len(feature.coordinates)
    low, high = low // unit, high // unit
    return str(low) if low == high else f"{low}..{high}"


def _inner(feature: Feature | None) -> Feature | None:
    if isinstance(feature, Sequence):
        return feature.leaf
    return feature.feature if isinstance(feature, Steps) else feature
