"""The names that select is given, of a dataset and of a loader."""

from __future__ import annotations

from collections.abc import Iterable

from recordsmith.errors import RecordsmithError, list_names

__all__ = ["check_selected_names"]


def check_selected_names(names: tuple[object, ...], features: Iterable[str], error: type[RecordsmithError]) -> None:
    """Refuse what is not one or several names.

    >>> from recordsmith.errors import SchemaError
    >>> check_selected_names((), ["image", "label"], SchemaError)
    Traceback (most recent call last):
    recordsmith.errors.SchemaError: select needs at least one feature.
      expected: 'image', 'label'
    """
    if not names:
        raise error("select needs at least one feature.", expected=list_names(features))
    if not all(isinstance(name, str) for name in names):
        raise error(
            "select takes the names of features one after the other.",
            found=f".select({', '.join(map(repr, names))})"[:200],
            expected='such as .select("image", "label")',
            advice="Write .select(*names) if they are in a list.",
        )
