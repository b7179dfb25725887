"""What is fitted on the training split alone and then applied to all splits: vocabularies, TF-IDF and the like."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from typing import Any

from recordsmith.schema import Schema

__all__ = ["Finisher"]


class Finisher(ABC):
    """A change to the records that can only be known once the splits are: it is fitted on the training split.

    After `fit` it is pickled to wherever shards are written, and `apply` gives the same result everywhere.
    """

    @abstractmethod
    def schema(self, schema: Schema) -> Schema:
        """Return the schema of the records after the change, or refuse records that it does not fit."""

    @abstractmethod
    def fit(self, batches: Callable[[], Iterable[dict[str, Any]]]) -> None:
        """Learn from the training split. Each call of `batches` is one pass over its columns, in bounded memory."""

    @abstractmethod
    def apply(self, columns: dict[str, Any]) -> dict[str, Any]:
        """Return the columns of some records after the change."""

    def artifacts(self) -> dict[str, str]:
        """Return the files to be kept beside the data, by name."""
        return {}

    @abstractmethod
    def describe(self) -> dict[str, Any]:
        """Return what it is and with which options, JSON-ready."""
