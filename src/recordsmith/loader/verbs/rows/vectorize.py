"""vectorize: text to numbers, by a vocabulary or a tokenizer."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from recordsmith.columns import ByteColumn, Ragged
from recordsmith.columns.offset_column import offsets_of
from recordsmith.errors import PipelineError
from recordsmith.loader.plan import RowChange, Rows
from recordsmith.loader.verbs.arguments import verb
from recordsmith.loader.verbs.chain import Chain, LoaderT
from recordsmith.schema import Bytes, Tensor, Text
from recordsmith.text import Vocabulary

__all__ = ["VectorizeVerb"]


@dataclass(frozen=True)
class Vectorized(RowChange):
    """Turns a column of text into rows of numbers."""

    feature: str
    into: str
    vocabulary: Any

    def apply(self, rows: Rows) -> Rows:
        """Return the rows with numbers."""
        column = rows.columns[self.feature]
        encoded = self.vocabulary.encode(column) if isinstance(self.vocabulary, Vocabulary) else self._tokenized(column)
        columns = {}
        for name, values in rows.columns.items():
            columns[self.into if name == self.feature else name] = encoded if name == self.feature else values
        rows.columns = columns
        return rows

    def _tokenized(self, column: Any) -> Ragged:
        texts = column.to_list() if isinstance(column, ByteColumn) else list(column)
        texts = [text.decode(errors="replace") if isinstance(text, bytes) else text or "" for text in texts]
        ids = [encoding.ids for encoding in self.vocabulary.encode_batch(texts)]
        flat = np.array([number for row in ids for number in row], np.int64)
        return Ragged(flat, offsets_of([len(row) for row in ids]))


class VectorizeVerb(Chain[LoaderT]):
    """Gives a chain the method `vectorize`."""

    @verb
    def vectorize(self, feature: str, vocabulary: Any, *, into: str | None = None) -> LoaderT:
        """Turn a text into numbers: ids of its words, in rows of different length.

        Args:
            feature: the name of the text.
            vocabulary: an `rs.Vocabulary`, or a tokenizer of the package tokenizers.
            into: the name of the ids; None: the name of the text.
        """
        plan = self.plan
        plan.before_batching("vectorize", "come too late. Vectorize first: .vectorize(...).padded_batch(n).")
        kind = plan.feature(feature, "vectorize")
        if kind is not None and not (isinstance(kind, (Text, Bytes)) and kind.shape == ()):
            raise PipelineError(
                f"vectorize needs one text per row, but {feature!r} is something else.",
                feature=feature,
                found=repr(kind),
            )
        if not isinstance(vocabulary, Vocabulary) and not hasattr(vocabulary, "encode_batch"):
            raise PipelineError(
                "vectorize needs a vocabulary.",
                found=type(vocabulary).__name__,
                expected="an rs.Vocabulary, or a tokenizer of the package tokenizers",
            )
        name = feature if into is None else into
        if name != feature and plan.features is not None and name in plan.features:
            raise PipelineError(f"The feature {name!r} already exists.", advice="Choose another name for the numbers.")
        features = None
        if plan.features is not None:
            features = {
                (name if key == feature else key): Tensor("int64", (None,)) if key == feature else value
                for key, value in plan.features.items()
            }
        settings = {"feature": feature, "vocabulary": repr(vocabulary), "into": into}
        return self._then(
            replace(
                plan.then("vectorize", settings, features=features),
                changes=(*plan.changes, Vectorized(feature, name, vocabulary)),
            )
        )
