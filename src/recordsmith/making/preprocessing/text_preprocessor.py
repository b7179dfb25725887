"""What all preprocessors of text share: which feature they read, and where the numbers go."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable
from typing import Any

from recordsmith.errors import PipelineError, did_you_mean, list_names
from recordsmith.making.preprocessing.preprocessor import Preprocessor
from recordsmith.schema import Feature, Schema, Text

__all__ = ["TextPreprocessor", "checked_length"]


class TextPreprocessor(Preprocessor):
    """Turns one text feature into a feature of numbers.

    Args:
        feature: the name of the text.
        into: the name of the numbers; None: they take the text's place under its name.
        keep_text: the text stays in the records too; the numbers need a name of their own then.
    """

    def __init__(self, feature: str, *, into: str | None, keep_text: bool) -> None:
        if keep_text and into in (None, feature):
            raise PipelineError(
                "The text and its numbers cannot have the same name.",
                feature=feature,
                advice=f'Give the numbers another name, as in into="{feature}_ids".',
            )
        self._feature = feature
        self._into = feature if into is None else into
        self._keep_text = keep_text

    def schema(self, schema: Schema) -> Schema:
        """Return the schema with the numbers in the text's place, or after it."""
        if self._feature not in schema:
            raise PipelineError(
                f"There is no feature {self._feature!r}.{did_you_mean(self._feature, schema)}",
                expected=list_names(name for name, feature in schema.items() if isinstance(feature, Text)),
            )
        text = schema[self._feature]
        if not isinstance(text, Text) or text.shape != ():
            raise PipelineError(
                f"{type(self).__name__} needs one text in each record.",
                feature=self._feature,
                found=repr(text),
                expected="Text()",
                advice="Join several texts into one with map=, or declare the feature as Text.",
            )
        if self._into != self._feature and self._into in schema:
            raise PipelineError(
                f"The feature {self._into!r} already exists.", feature=self._into, advice="Give into= another name."
            )
        numbers = self._numbers(optional=text.presence == "optional")
        features: dict[str, Feature] = {}
        for name, feature in schema.items():
            if name != self._feature or self._keep_text:
                features[name] = feature
            if name == self._feature:
                features[self._into] = numbers
        return Schema(features)

    def transform(self, columns: dict[str, Any]) -> dict[str, Any]:
        """Return the columns with the numbers in them."""
        if not self._fitted:
            raise PipelineError(f"{type(self).__name__} is not fitted yet.", feature=self._feature)
        changed = dict(columns)
        text = changed[self._feature] if self._keep_text else changed.pop(self._feature)
        changed[self._into] = self._encode(text)
        return changed

    @property
    @abstractmethod
    def _fitted(self) -> bool:
        """Whether `fit` was called."""

    @abstractmethod
    def _numbers(self, *, optional: bool) -> Feature:
        """Return the feature that the numbers are."""

    @abstractmethod
    def _encode(self, texts: Any) -> Any:
        """Return the numbers of a column of texts."""

    def _texts(self, batches: Callable[[], Iterable[dict[str, Any]]]) -> Iterable[Any]:
        """Give the column of texts of each batch."""
        return (batch[self._feature] for batch in batches())

    def _artifact(self, kind: str) -> str:
        """Return the name of the file that keeps what was learned, such as vocabulary.text.json."""
        return f"{kind}.{self._into.replace('/', '.')}.json"

    def describe(self) -> dict[str, Any]:
        """Return its kind, and where the text comes from and the numbers go."""
        return {
            "kind": type(self).__name__,
            "feature": self._feature,
            "into": self._into,
            "keep_text": self._keep_text,
        }


def checked_length(max_length: int | None) -> int | None:
    """Return a limit on the length of a row, or refuse what is none."""
    if max_length is not None and (isinstance(max_length, bool) or not isinstance(max_length, int) or max_length < 1):
        raise PipelineError("max_length must be an integer of at least 1.", found=repr(max_length))
    return max_length
