"""What is in a record, declared once: the feature types, and the Schema that names them."""

from recordsmith.schema.features.audio import Audio
from recordsmith.schema.features.constraints import Violation
from recordsmith.schema.features.detection.geometry import Boxes, Points
from recordsmith.schema.features.detection.labels import Labels
from recordsmith.schema.features.detection.mask import Mask, Masks
from recordsmith.schema.features.feature import Feature
from recordsmith.schema.features.image import Image
from recordsmith.schema.features.label import Label
from recordsmith.schema.features.packed import Packed
from recordsmith.schema.features.sequence import Sequence
from recordsmith.schema.features.sparse import Sparse
from recordsmith.schema.features.steps import Steps
from recordsmith.schema.features.strings import Bytes, Text
from recordsmith.schema.features.tensor import Scalar, Tensor
from recordsmith.schema.plan import ColumnParts, Parts, PlanColumn
from recordsmith.schema.schema import Schema

__all__ = [
    "Audio",
    "Boxes",
    "Bytes",
    "ColumnParts",
    "Feature",
    "Image",
    "Label",
    "Labels",
    "Mask",
    "Masks",
    "Packed",
    "Parts",
    "PlanColumn",
    "Points",
    "Scalar",
    "Schema",
    "Sequence",
    "Sparse",
    "Steps",
    "Tensor",
    "Text",
    "Violation",
]
