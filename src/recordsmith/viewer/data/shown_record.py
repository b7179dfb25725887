"""One record as the viewer shows it."""

from __future__ import annotations

from collections.abc import Sequence

from recordsmith.dataset.row_decoding import RowOverview
from recordsmith.errors import RecordsmithError

__all__ = ["ShownRecord"]


class ShownRecord:
    """One record to show: what was decoded, or why it cannot be read.

    Attributes:
        number: its number in the dataset.
        row: its values; None where it cannot be read.
        error: why not.
        problems: where it does not fit its schema.
    """

    __slots__ = ("error", "number", "problems", "row")

    def __init__(
        self, number: int, row: RowOverview | None, error: str | None = None, problems: Sequence[RecordsmithError] = ()
    ) -> None:
        self.number = number
        self.row = row
        self.error = error
        self.problems = tuple(problems)

    @property
    def values(self) -> dict[str, object]:
        """All values by name: those of the record, and the lists of steps."""
        if self.row is None:
            return {}
        return {**(self.row.features or {}), **(self.row.steps or {})}
