"""array_record: Google's format with random access. Its files hold the same payloads as the TFRecord file."""

from __future__ import annotations

import importlib
import importlib.metadata
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.data.framing import payloads

if TYPE_CHECKING:
    from bench.peers.contract import Picking

# Form -> (options of the writer, options of the reader). The reader's second set is what its documentation advises for
# random access; "uncompressed" is the closest to a plain TFRecord.
_FOR_RANDOM = "readahead_buffer_size:0,max_parallelism:0"
FORMS = {
    "defaults": ("", ""),
    "default groups, reader set for random access": ("", _FOR_RANDOM),
    "group_size:1": ("group_size:1", ""),
    "group_size:1, reader set for random access": ("group_size:1", _FOR_RANDOM),
    "group_size:1, uncompressed": ("group_size:1,uncompressed", ""),
    "group_size:1, uncompressed, reader set for random access": ("group_size:1,uncompressed", _FOR_RANDOM),
}


class ArrayRecordPeer:
    """ArrayRecordReader.read([numbers]) on a file made from the TFRecord file."""

    def __init__(self) -> None:
        self._module: Any = importlib.import_module("array_record.python.array_record_module")

    def versions(self) -> dict[str, str]:
        """The versions of the libraries that do the work."""
        return {"array_record": importlib.metadata.version("array_record")}

    def picking_forms(self) -> list[str]:
        """See `Picks`."""
        return list(FORMS)

    def open_picking(self, path: Path, form: str, folder: Path) -> Picking:
        """See `Picks`."""
        written_with, read_with = FORMS[form]
        converted = folder / f"{path.name}.{written_with.replace(':', '-') or 'default'}.array_record"
        if not converted.exists():
            writer = self._module.ArrayRecordWriter(str(converted), written_with)
            for payload in payloads(path):
                writer.write(payload)
            writer.close()
        reader = self._module.ArrayRecordReader(str(converted), read_with)

        def pick(numbers: list[int]) -> Sequence[bytes]:
            found: Sequence[bytes] = reader.read(numbers)
            return found

        return pick
