"""The base class of what is fitted on the training split and then transforms all splits."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from typing import Any

from recordsmith.schema import Schema

__all__ = ["Preprocessor"]


class Preprocessor(ABC):
    """A transformation that is learned from the training split: `fit`, then `transform`, as in scikit-learn.

    After `fit` it is pickled for the processes that write shards, and `transform` gives the same result in all of them.
    """

    @abstractmethod
    def schema(self, schema: Schema) -> Schema:
        """Return the schema of the records after the change, or refuse records that it does not fit."""

    @abstractmethod
    def fit(self, batches: Callable[[], Iterable[dict[str, Any]]]) -> None:
        """Learn from the training split. Each call of `batches` is one pass over its columns, in bounded memory."""

    @abstractmethod
    def transform(self, columns: dict[str, Any]) -> dict[str, Any]:
        """Return the columns of some records after the change."""

    def artifacts(self) -> dict[str, str]:
        """Return the files to be kept next to the data, by name."""
        return {}

    @abstractmethod
    def describe(self) -> dict[str, Any]:
        """Return what it is and with which options, JSON-ready."""
