"""The description that `recordsmith export` stores with its files, so that `make` can restore the dataset.

    data.parquet       the key "recordsmith" of the file's metadata
    data.csv           data.csv.schema.json next to it; data.jsonl likewise
    data.tar           .recordsmith.json, the first member

All are one JSON object: {"format": "recordsmith-export", "version": 1, "kind": "csv", "schema": {...},
"encodings": {"image": "base64", ...}, "members": {"image": "jpg", ...}, "split": "train"}.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from recordsmith.errors import RecordsmithError, SchemaError
from recordsmith.records.described_splits import check_split_name
from recordsmith.schema import Bytes, Feature, Label, Scalar, Schema, Sequence, Steps, Text
from recordsmith.schema.features.encoded import EncodedFeature
from recordsmith.storage.json_descriptions import JsonObject, parse_json, read_bounded
from recordsmith.storage.publication import in_force, public_path
from recordsmith.storage.ranged.opening import is_file, is_ranged
from recordsmith.wording.visible_text import json_text

__all__ = ["METADATA_KEY", "SIDECAR", "TAR_MEMBER", "ExportedForm", "encoding_of", "form_beside"]

METADATA_KEY = b"recordsmith"
SIDECAR = ".schema.json"
TAR_MEMBER = ".recordsmith.json"
_DOCUMENT = "description of the export"
_FORMAT = "recordsmith-export"
_VERSION = 1


@dataclass(frozen=True)
class ExportedForm:
    """What an exported file says of itself.

    Attributes:
        kind: "parquet", "csv", "jsonl" or "webdataset".
        schema: what the records held.
        encodings: how the values of a feature are written, where they are not as they are: "base64" or "json".
        members: in a tar file, the extension of each feature's members.
        splits: the split of each file that it is about; none where they are in none.
        extension_types: in a Parquet file, tensors of one shape have Arrow's own type; a reader sees it in the file.
    """

    kind: str
    schema: Schema
    encodings: Mapping[str, str] = field(default_factory=dict)
    members: Mapping[str, str] = field(default_factory=dict)
    splits: tuple[str, ...] = ()
    extension_types: bool = False

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON-ready values."""
        return {
            "format": _FORMAT,
            "version": _VERSION,
            "kind": self.kind,
            "schema": self.schema.to_json(),
            **({"encodings": dict(self.encodings)} if self.encodings else {}),
            **({"members": dict(self.members)} if self.members else {}),
            **({"split": self.splits[0]} if self.splits else {}),
        }

    def to_text(self) -> str:
        """Return it as the text of a JSON file."""
        return json_text(self.to_json()) + "\n"

    @classmethod
    def from_json(cls, document: Any, path: str | None = None) -> ExportedForm:
        """Read what `to_json` returned."""
        known = isinstance(document, dict) and document.get("format") == _FORMAT
        if not known or document.get("version") != _VERSION:
            raise SchemaError(
                "This export description is not supported by this version of recordsmith.",
                path=path,
                expected=f'"format": "{_FORMAT}", "version": {_VERSION}',
                advice="Read it with the version of recordsmith that wrote it, or pass your own schema.",
            )
        form = JsonObject(document, _DOCUMENT, path)
        form.require("kind", "schema")
        try:
            return cls(
                form.text("kind"),
                Schema.from_json(document["schema"]),
                form.object("encodings").all_texts(),
                form.object("members").all_texts(),
                (check_split_name(form.text("split")),) if "split" in document else (),
            )
        except RecordsmithError as error:
            raise error.at(path=path) from None

    @classmethod
    def from_text(cls, text: str | bytes, path: str | None = None) -> ExportedForm:
        """Read what `to_text` returned.

        >>> ExportedForm.from_text("{}", "data.csv.schema.json")
        Traceback (most recent call last):
        recordsmith.errors.SchemaError: This export description is not supported by this version of recordsmith.
        ...
        """
        return cls.from_json(parse_json(text, _DOCUMENT, path), path)


def form_beside(paths: Iterable[str]) -> ExportedForm | None:
    """Return the description next to exported files; None if they are not exported."""
    found = []
    for path in paths:
        sidecar = path + SIDECAR if is_ranged(path) else in_force(public_path(path) + SIDECAR)
        if not is_file(sidecar):
            return None
        found.append(ExportedForm.from_text(read_bounded(sidecar, _DOCUMENT), sidecar))
    return same_form(found)


def same_form(found: list[ExportedForm]) -> ExportedForm | None:
    """Return the description that all files share, if they do."""
    if not found or any(one.schema != found[0].schema or one.members != found[0].members for one in found):
        return None
    splits = tuple(split for one in found for split in one.splits)
    return replace(found[0], splits=splits if len(splits) == len(found) else ())


def encoding_of(feature: Feature, kind: str) -> str | None:
    """Say how the values of a feature are written in a text: "base64", "json", or None for as they are.

    >>> [encoding_of(feature, "csv") for feature in (Bytes(), Scalar("int64"), Text((None,)))]
    ['base64', None, 'json']
    """
    inner = feature.feature if isinstance(feature, Steps) else feature
    inner = inner.leaf if isinstance(inner, Sequence) else inner
    if isinstance(inner, (Bytes, EncodedFeature)):
        single = isinstance(inner, EncodedFeature) or not inner.shape
        return "base64" if single and inner is feature else "base64 in json" if kind == "csv" else "base64"
    if (
        kind == "csv"
        and not isinstance(feature, (Scalar, Label))
        and not (isinstance(feature, Text) and not feature.shape)
    ):
        return "json"
    return None
