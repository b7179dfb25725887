"""What Hugging Face's datasets says about the columns of a table in its metadata: class names, sounds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from recordsmith.errors import list_names
from recordsmith.formats.tables.options import TableOptions
from recordsmith.storage.json_descriptions import parse_json

__all__ = ["HUGGING_FACE_KEY", "DeclaredColumns", "declared_columns"]

HUGGING_FACE_KEY = b"huggingface"


@dataclass(frozen=True, slots=True)
class DeclaredColumns:
    """What is declared about columns.

    Attributes:
        classes: the names of classes, by column.
        sounds: the columns of sounds.
        lost: warnings about what is declared and not kept.
    """

    classes: Mapping[str, list[str]] = field(default_factory=dict)
    sounds: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()

    def with_sounds(self, options: TableOptions, wanted: Iterable[str]) -> TableOptions:
        """Return options that say which of some columns are sounds."""
        sounds = {name: "audio" for name in wanted if name in self.sounds and options.declared(name) is None}
        return replace(options, types={**options.types, **sounds}) if sounds else options


def declared_columns(metadata: Mapping[bytes, bytes] | None) -> DeclaredColumns:
    """Return what the metadata of an Arrow schema declares; nothing, if it is not Hugging Face's.

    >>> declared_columns({b"huggingface": b'{"info": {"features": {"y": {"_type": "ClassLabel", "names": ["a"]}}}}'})
    DeclaredColumns(classes={'y': ['a']}, sounds=(), lost=())
    """
    try:
        text = (metadata or {})[HUGGING_FACE_KEY]
        features = parse_json(text, "metadata of Hugging Face")["info"]["features"]
        found = list(_declared("", features))
        sounds = tuple(name for name, one in features.items() if isinstance(one, dict) and one.get("_type") == "Audio")
    except (KeyError, ValueError, TypeError, AttributeError):
        return DeclaredColumns()
    lists = [name for name, _, in_list in found if in_list]
    lost = (f"The class names of {list_names(lists)} are not kept: they are lists of classes.",) if lists else ()
    return DeclaredColumns({name: names for name, names, in_list in found if not in_list}, sounds, lost)


def _declared(name: str, feature: Any, *, in_list: bool = False) -> Iterator[tuple[str, list[str], bool]]:
    """Give the columns of classes: their name, the names of the classes, and whether they are lists."""
    if isinstance(feature, list):
        feature = {"_type": "List", "feature": feature[0]}
    kind = feature.get("_type") if isinstance(feature, dict) else None
    if kind == "ClassLabel":
        names = feature.get("names")
        if isinstance(names, list) and names and all(isinstance(one, str) for one in names):
            yield name, names, in_list
    elif kind in ("List", "LargeList", "Sequence"):
        yield from _declared(name, feature["feature"], in_list=True)
    elif isinstance(feature, dict) and not isinstance(kind, str):
        for inner, declared in feature.items():
            yield from _declared(f"{name}/{inner}" if name else inner, declared, in_list=in_list)
