"""The base class of all feature types: how values are stored, and how they become columns."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

from recordsmith.errors import EncodeError, SchemaError, did_you_mean, list_names
from recordsmith.schema.input.conversion import is_missing, missing_value

if TYPE_CHECKING:
    import numpy as np

    from recordsmith.schema.features.constraints import Violation
    from recordsmith.schema.plan import ColumnParts, Parts, PlanColumn

__all__ = ["Feature", "checked_shape"]

_MOST_DIMENSIONS = 64  # as numpy has it
_MOST_VALUES = 2**31 - 1  # of a record, which has at most as many bytes


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Feature(ABC):
    """What one feature of a record contains: its type, its shape and how it is stored.

    Feature types are frozen dataclasses. Their fields are their constructor's arguments, so that the repr, the JSON
    form and equality follow from the fields alone.

    Attributes:
        optional: a record may lack the feature; it then reads as absent, or as the default.
        default: what a record without the feature reads as; giving one makes the feature optional.
        description: a sentence for readers of the schema.

    >>> from recordsmith.schema import Scalar
    >>> isinstance(Scalar("float32"), Feature)
    True
    """

    type_name: ClassVar[str]
    """The type's name in the JSON form."""

    if TYPE_CHECKING:
        # `schema["label"]` is a Feature of any kind. So that `schema["label"].names` type-checks, the attributes that
        # only some kinds have are declared here; on the others they are an AttributeError.
        @property
        def dtype(self) -> np.dtype[Any]: ...  # noqa: D102 - described where it is
        @property
        def shape(self) -> tuple[int | None, ...]: ...  # noqa: D102 - likewise
        @property
        def names(self) -> tuple[str, ...]: ...  # noqa: D102 - likewise
        def label_of(self, number: int) -> str: ...  # noqa: D102 - likewise

    optional: bool = field(default=False, kw_only=True)
    default: Any = field(default=None, kw_only=True)
    description: str = field(default="", kw_only=True)

    @abstractmethod
    def plan(self, name: str) -> tuple[PlanColumn, ...]:
        """Return the stored features that this feature, under this name, is made of."""

    @abstractmethod
    def assemble(self, parts: Sequence[Parts]) -> Any:
        """Return the column that the core's parts, one for each plan column, stand for.

        It is an array (a masked one if the feature is optional and has no default) or one of recordsmith's columns.
        """

    @abstractmethod
    def row(self, column: Any, index: int) -> Any:
        """Return one row of an assembled column as the plainest value: None where it is absent."""

    @abstractmethod
    def column_to_parts(self, values: Any, rows: int | None = None, *, cast: bool = False) -> tuple[ColumnParts, ...]:
        """Return what the core needs to write a whole column, one entry for each plan column.

        Values are cast only where nothing is lost, or with `cast` to the nearest that the feature can hold; anything
        else is an EncodeError that names the row.
        """

    def rows_in(self, values: Any) -> int:
        """Count the rows of a column that is to be written."""
        if hasattr(values, "row_splits"):  # a ragged tensor of TensorFlow, which has no len()
            return len(values.row_splits) - 1
        try:
            return len(values)
        except TypeError:  # it has none: a generator, an array of no axis, a sparse matrix
            raise EncodeError(
                "A column must have a length.",
                found=type(values).__name__,
                expected="a list, an array or another column with one entry for each row",
                advice="Turn a generator into a list, and a single value into a list of one.",
            ) from None

    def violations(self, column: Any) -> list[Violation]:  # noqa: ARG002 - a feature without constraints has none
        """List the rows of an assembled column that break a constraint, in order.

        Writing refuses such rows; files that others wrote may have them.

        >>> from recordsmith.schema import Scalar
        >>> Scalar("int64", min=0).violations([3, -1])  # a list, or what `assemble` returns
        [Violation(row=1, constraint='min', found='-1 (int64)', expected='at least 0')]
        """
        return []

    def value_to_canonical(self, value: Any, *, cast: bool = False) -> Any:
        """Return one row's value as it is stored, under the same rules as a column; None if absent and optional.

        A float32 or int64 array of one axis, bytes, a list of bytes, or for steps a list of these; a tuple of them for
        a feature with more than one plan column.
        """
        if is_missing(value):
            if self.optional:
                return None
            raise missing_value(None)
        try:
            return self._canonical(value, cast=cast)
        except EncodeError as error:
            error.row = None  # the only row: only the caller knows its number
            raise

    @abstractmethod
    def _canonical(self, value: Any, *, cast: bool) -> Any:
        """Return a value that is not missing as it is stored."""

    @property
    def presence(self) -> Literal["required", "optional", "default"]:
        """What a record without the feature means."""
        if not self.optional:
            return "required"
        return "optional" if self.default is None else "default"

    def to_json(self) -> dict[str, Any]:
        """Return the feature as JSON-ready values, leaving out what is at its default.

        >>> from recordsmith.schema import Tensor
        >>> Tensor("float32", (None, 4)).to_json()
        {'type': 'tensor', 'dtype': 'float32', 'shape': [None, 4]}
        """
        return {"type": self.type_name, **{name: self._setting_to_json(name) for name in self._settings()}}

    @classmethod
    def from_json(cls, settings: Mapping[str, Any]) -> Self:
        """Build a feature of this type from what `to_json` wrote, without its "type".

        >>> from recordsmith.schema import Tensor
        >>> Tensor.from_json({"dtype": "float32", "shape": [None, 4]})
        Tensor('float32', (None, 4))
        """
        known = [entry.name for entry in fields(cls)]
        for name in settings:
            if name not in known:
                raise SchemaError(
                    f"A {cls.type_name} feature has no setting {name!r}.{did_you_mean(name, known)}",
                    expected=list_names(known),
                    advice="If a newer recordsmith wrote this schema, read it with that version.",
                )
        arguments = {name: cls._setting_from_json(name, value, settings) for name, value in settings.items()}
        try:
            return cls(**arguments)
        except TypeError as error:  # a setting that the type needs is not there
            raise SchemaError(f"A {cls.type_name} feature is incomplete: {error}", found=dict(settings)) from None

    def __eq__(self, other: object) -> bool:
        # By the JSON form and not by the fields, so that a default of NaN equals itself.
        if isinstance(other, Feature):
            return type(self) is type(other) and self.to_json() == other.to_json()
        return NotImplemented

    def __hash__(self) -> int:
        return hash((type(self), *self._settings()))

    def __repr__(self) -> str:
        keyword_only = {entry.name for entry in fields(self) if entry.kw_only}
        shown = [
            f"{name}={self._shown_setting(name)}" if name in keyword_only else self._shown_setting(name)
            for name in self._settings()
        ]
        return f"{type(self).__name__}({', '.join(shown)})"

    def _settings(self) -> list[str]:
        """List the fields that are not at their default, positional ones first."""
        entries = sorted(fields(self), key=lambda entry: entry.kw_only is True)
        changed = [entry.name for entry in entries if self._differs(getattr(self, entry.name), entry.default)]
        if self.default is not None:
            changed.remove("optional")  # it follows from the default
        return changed

    @staticmethod
    def _differs(value: Any, default: Any) -> bool:
        return type(value) is not type(default) or value != default

    def _shown_setting(self, name: str) -> str:
        return repr(getattr(self, name))

    def _setting_to_json(self, name: str) -> Any:
        value = getattr(self, name)
        return list(value) if isinstance(value, tuple) else value

    @classmethod
    def _setting_from_json(cls, _name: str, value: Any, _settings: Mapping[str, Any]) -> Any:
        return tuple(value) if isinstance(value, list) else value

    def _set(self, **values: Any) -> None:
        """Set fields from a constructor; everyone else finds them frozen."""
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def _set_common(self, *, optional: bool, default: Any, description: str) -> None:
        """Check and set what all features have; the type's own fields must be set already."""
        if not isinstance(optional, bool):
            raise SchemaError("optional must be True or False.", found=optional)
        if not isinstance(description, str):
            raise SchemaError("description must be a string.", found=description)
        self._set(optional=optional or default is not None, default=None, description=description)
        if default is None:
            return
        try:
            self._set(default=self._checked_default(default))
        except EncodeError as error:
            raise SchemaError(
                f"The default does not fit the feature. {error.problem}",
                found=error.found,
                expected=error.expected,
                advice="Give a default of the feature's own type and shape.",
            ) from None

    def _checked_default(self, default: Any) -> Any:
        """Return a default as plain, unchangeable Python values, or raise the EncodeError of one that does not fit."""
        self.value_to_canonical(default)
        return default


def checked_shape(shape: Any) -> tuple[int | None, ...]:
    """Return a shape as a tuple if recordsmith can store rows of it: sizes from 1, and None for those that vary.

    >>> checked_shape([None, 4])
    (None, 4)
    """
    if isinstance(shape, int) or shape is None:
        raise SchemaError("shape must be a tuple.", found=shape, advice=f"For one dimension, write shape=({shape},).")
    if not isinstance(shape, (tuple, list)):
        raise SchemaError("shape must be a tuple of sizes.", found=shape)
    sizes: list[int | None] = []
    for size in shape:
        if size is not None and (isinstance(size, bool) or not hasattr(size, "__index__") or size.__index__() < 1):
            raise SchemaError(
                "A dimension must be an integer of at least 1, or None if it varies.",
                found=f"shape {tuple(shape)}",
            )
        sizes.append(None if size is None else size.__index__())
    if len(sizes) > _MOST_DIMENSIONS or math.prod(size or 1 for size in sizes) > _MOST_VALUES:
        raise SchemaError(
            "No record can hold values of this shape.",
            found=f"shape {tuple(sizes)}"[:200],
            expected=f"at most {_MOST_DIMENSIONS} dimensions, and at most {_MOST_VALUES:,} values in all",
        )
    return tuple(sizes)
