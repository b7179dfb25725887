"""What is in a record, declared once: the feature types, and the Schema that names them."""

from recordsmith.schema.features.constraints import Violation
from recordsmith.schema.features.feature import Feature
from recordsmith.schema.features.image import Image
from recordsmith.schema.features.label import Label
from recordsmith.schema.features.packed import Packed
from recordsmith.schema.features.sparse import Sparse
from recordsmith.schema.features.steps import Steps
from recordsmith.schema.features.strings import Bytes, Text
from recordsmith.schema.features.tensor import Scalar, Tensor
from recordsmith.schema.plan import ColumnParts, Parts, PlanColumn
from recordsmith.schema.schema import Schema

__all__ = [
    "Bytes",
    "ColumnParts",
    "Feature",
    "Image",
    "Label",
    "Packed",
    "Parts",
    "PlanColumn",
    "Scalar",
    "Schema",
    "Sparse",
    "Steps",
    "Tensor",
    "Text",
    "Violation",
]
