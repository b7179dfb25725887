"""Tar files of WebDataset, written batch by batch."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Mapping
from typing import Any

from recordsmith.formats.exported.form import TAR_MEMBER, ExportedForm
from recordsmith.formats.exported.writer import ExportWriter
from recordsmith.formats.webdataset.feature_members import EMPTY, member_of, members_of
from recordsmith.schema import Schema

__all__ = ["WebDatasetWriter"]


class WebDatasetWriter(ExportWriter):
    """Writes samples of WebDataset, in the order of the records."""

    kind = "webdataset"
    suffixes = (".tar",)

    @classmethod
    def form(cls, schema: Schema) -> ExportedForm:
        """Return the description, with the extension that the members of each feature have."""
        return ExportedForm(cls.kind, schema, members=members_of(schema))

    def __init__(self, form: ExportedForm, path: str) -> None:
        self._form = form
        self._tar = tarfile.open(path, "w", format=tarfile.USTAR_FORMAT)  # noqa: SIM115 - closed by close()
        self._rows = 0
        self._add(TAR_MEMBER, form.to_text().encode())

    def write(self, columns: Mapping[str, Any], rows: int) -> None:
        """Write some rows."""
        for row in range(rows):
            key = f"{self._rows:010}"
            self._rows += 1
            empty = True
            for name, feature in self._form.schema.items():
                value = feature.row(columns[name], row)
                if value is not None:
                    extension, data = member_of(self._form.members[name], feature, value)
                    self._add(f"{key}.{extension}", data)
                    empty = False
            if empty:
                self._add(f"{key}.{EMPTY}", b"{}")

    def close(self) -> None:
        """Finish the file."""
        self._tar.close()

    def _add(self, name: str, data: bytes) -> None:
        member = tarfile.TarInfo(name)
        member.size = len(data)
        self._tar.addfile(member, io.BytesIO(data))
