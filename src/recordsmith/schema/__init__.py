"""What is in a record, declared once: feature types, and the Schema that names them."""

from recordsmith.schema.constraints import Violation
from recordsmith.schema.feature import Feature
from recordsmith.schema.image import Image
from recordsmith.schema.label import Label
from recordsmith.schema.packed import Packed
from recordsmith.schema.plan import ColumnParts, Parts, PlanColumn
from recordsmith.schema.schema import Schema
from recordsmith.schema.sparse import Sparse
from recordsmith.schema.steps import Steps
from recordsmith.schema.strings import Bytes, Text
from recordsmith.schema.tensor import Scalar, Tensor

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
