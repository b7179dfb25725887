"""Labels: the classes of several things in one record, such as the objects of an image."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from recordsmith.schema.features.label import Label
from recordsmith.schema.features.tensor import Tensor

if TYPE_CHECKING:
    from recordsmith.schema.plan import ColumnParts

__all__ = ["Labels"]


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Labels(Tensor):
    """Any number of classes in a record: a list of numbers, written by name or by number.

    Use it for the classes of the boxes of an image. For one class per record, use Label.

    Args:
        names: the names of the classes in the order of their numbers; or the number of classes.
        optional: records may lack it; absent rows are read as None.
        default: the value for records without it.
        description: a sentence for readers of the schema.

    >>> classes = Labels(["background", "cat", "dog"])
    >>> classes.value_to_canonical(["dog", "cat", 2])
    array([2, 1, 2])
    >>> classes.label_of(1)
    'cat'
    """

    type_name: ClassVar[str] = "labels"

    names: tuple[str, ...]

    def __init__(
        self, names: Sequence[str] | int, *, optional: bool = False, default: Any = None, description: str = ""
    ) -> None:
        self._set(names=Label(names).names)
        self._set_numbers("int64", None, low=0, high=self.size - 1, one_of=None, finite=False)
        self._set(shape=(None,), min_length=None, max_length=None)
        self._set_common(optional=optional, default=default, description=description)

    @property
    def size(self) -> int:
        """How many classes there are."""
        return len(self.names)

    def label_of(self, number: int) -> str:
        """Return the name of a class."""
        return Label(self.names).label_of(number)

    def column_to_parts(self, values: Any, rows: int | None = None, *, cast: bool = False) -> tuple[ColumnParts, ...]:
        """Return what the core writes for a column of lists of names or numbers."""
        if isinstance(values, (list, tuple)):
            label = Label(self.names)
            values = [_numbered(label, row) for row in values]
        return super().column_to_parts(values, rows, cast=cast)

    def _settings(self) -> list[str]:
        return [name for name in super()._settings() if name not in ("dtype", "shape", "min", "max")]

    def _shown_setting(self, name: str) -> str:
        return Label(self.names)._shown_setting(name) if name == "names" else super()._shown_setting(name)  # noqa: SLF001 - the same setting

    def _setting_to_json(self, name: str) -> Any:
        return Label(self.names).to_json()["names"] if name == "names" else super()._setting_to_json(name)


def _numbered(label: Label, row: Any) -> Any:
    """Return a row with numbers in the place of names; anything else stays as it is."""
    if not isinstance(row, (list, tuple, np.ndarray)) or not any(isinstance(one, (str, bytes)) for one in row):
        return row
    return label.column_to_parts(list(row))[0][0]
