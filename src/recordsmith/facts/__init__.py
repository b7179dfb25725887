"""Facts: what a look at the data tells, as frozen dataclasses that know neither terminals nor files."""

from recordsmith.facts.overview import (
    DatasetOverview,
    FeatureOverview,
    FileOverview,
    RowOverview,
    RowRange,
    look_at,
)

__all__ = ["DatasetOverview", "FeatureOverview", "FileOverview", "RowOverview", "RowRange", "look_at"]
