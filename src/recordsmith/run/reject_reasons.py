"""Why rows were refused, commonest first."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass

from recordsmith.errors import RecordsmithError, advise
from recordsmith.storage.json_descriptions import JsonObject
from recordsmith.wording.numbers import count_text

__all__ = ["RejectReason", "commonest_reasons"]

_DISTINCT = 10_000  # reasons that quote a value may all differ; more of them are not told apart


@dataclass(frozen=True, slots=True)
class RejectReason:
    """A reason for which rows were refused.

    Attributes:
        count: how many rows.
        feature: the feature at fault, if it was one.
        reason: what was wrong.
        example: where one of the rows came from.

    >>> print(RejectReason(3, "age", "The value is not a number.", "people.csv, line 7"))
    3 times: The value is not a number. (feature 'age', as in people.csv, line 7)
    """

    count: int
    feature: str | None
    reason: str
    example: str

    @classmethod
    def of(cls, document: JsonObject) -> RejectReason:
        """Read one from a manifest."""
        return cls(
            document.count("count") or 0,
            document.optional_text("feature"),
            document.text("reason", ""),
            document.text("example", ""),
        )

    def __str__(self) -> str:
        feature = "" if self.feature is None else f"feature {self.feature!r}, "
        return f"{count_text(self.count, 'time')}: {self.reason} ({feature}as in {self.example})"


def commonest_reasons(path: str, most: int = 5) -> list[RejectReason]:
    r"""Return the commonest reasons in a file of rejects.

    >>> import tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "rejected.jsonl"
    >>> _ = file.write_text('{"source": "a.csv, line 2", "reason": "Too long."}\n' * 2)
    >>> commonest_reasons(str(file))
    [RejectReason(count=2, feature=None, reason='Too long.', example='a.csv, line 2')]
    """
    counts: Counter[tuple[str | None, str]] = Counter()
    examples: dict[tuple[str | None, str], str] = {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            feature, reason, source = _reject(line, path)
            key = (feature, reason)
            if key not in examples and len(examples) >= _DISTINCT:
                key = (None, "other reasons")
            counts[key] += 1
            examples.setdefault(key, source)
    return [
        RejectReason(count, feature, reason, examples[feature, reason])
        for (feature, reason), count in counts.most_common(most)
    ]


def _reject(line: str, path: str) -> tuple[str | None, str, str]:
    """Return the feature, the reason and the source of a rejected row."""
    try:
        reject = json.loads(line)
        feature, reason, source = reject.get("feature"), reject["reason"], reject["source"]
    except (ValueError, RecursionError, AttributeError, KeyError, TypeError):
        feature = reason = source = None
    if not isinstance(reason, str) or not isinstance(source, str) or not isinstance(feature, str | None):
        raise RecordsmithError(
            "A line of the file of rejected rows is damaged.",
            path=path,
            advice=advise("Start over with {overwrite}.", overwrite=True),
        )
    return feature, reason, source
