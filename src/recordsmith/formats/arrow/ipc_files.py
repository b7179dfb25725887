"""Files of Arrow record batches, as batches: Arrow IPC files and streams, Feather, what Hugging Face saves to disk."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from recordsmith.errors import CorruptRecordError, RecordsmithError, import_extra
from recordsmith.formats.arrow.memory_tables import without_views
from recordsmith.formats.files.source_files import PathLike, SourceFile, find_files, opened
from recordsmith.formats.tables.batch_source import Batch, BatchReader
from recordsmith.storage.json_descriptions import read_json_object

__all__ = ["is_saved_dataset", "readers_of_files"]

SUFFIXES = (".arrow", ".feather", ".ipc")
_STATE, _SPLITS = "state.json", "dataset_dict.json"  # what save_to_disk writes next to the data
_INFO = "dataset_info.json"  # what is next to the Arrow files of the cache; TFDS has a file of this name too


class IpcReader(BatchReader):
    """A file of record batches: an Arrow file or stream."""

    def __init__(self, file: SourceFile, split: str | None = None) -> None:
        self.file = self._file = file
        self.name = file.path
        self.folder = os.path.dirname(file.path) or "."
        self.split = split

    def batches(self, fields: Any) -> Iterator[Batch]:  # noqa: ARG002 - the types are those of the file
        """Give the batches of the file, each checked: what they say of themselves may be anything."""
        with self._reader() as reader:
            count = getattr(reader, "num_record_batches", None)
            for batch in reader if count is None else map(reader.get_batch, range(count)):
                batch.validate(full=True)
                yield Batch(without_views(batch))

    def metadata(self) -> dict[bytes, bytes]:
        """Return the metadata of the file's schema."""
        with self._reader() as reader:
            return dict(reader.schema.metadata or {})

    def describe(self) -> Any:
        """Return the path: the source describes files."""
        return self.name

    @contextmanager
    def _reader(self) -> Iterator[Any]:
        arrow = import_extra("pyarrow", "arrow", purpose="Reading Arrow files")
        ipc = import_extra("pyarrow.ipc", "arrow", purpose="Reading Arrow files")
        with opened(self._file) as stream:
            head = stream.read(6)
            stream.seek(0)
            if head.startswith(b"FEA1"):
                raise RecordsmithError(
                    "This is a Feather file of version 1, which is no longer written.",
                    path=self.name,
                    advice="Convert it: pyarrow.feather.write_feather(pyarrow.feather.read_table(old), new)",
                )
            try:
                source = arrow.PythonFile(stream, "r")
                yield ipc.open_file(source) if head == b"ARROW1" else ipc.open_stream(source)
            except (arrow.ArrowException, OSError, ValueError, MemoryError, OverflowError) as error:
                if isinstance(error, RecordsmithError) or (isinstance(error, OSError) and error.errno is not None):
                    raise
                raise CorruptRecordError(
                    "This is not a complete Arrow file.",
                    path=self.name,
                    found=str(error).partition("\n")[0],
                    advice="Copy the file again from its source, or write it again.",
                ) from None


def readers_of_files(paths: Any) -> list[BatchReader]:
    """Return the readers of the files that a path stands for; a folder may be a saved dataset of Hugging Face."""
    if isinstance(paths, (str, os.PathLike)) and _is_saved(os.fsdecode(paths)):
        return _readers_of_saved(os.fsdecode(paths))
    return [IpcReader(file) for file in find_files(paths, SUFFIXES, kind="Arrow")]


def is_saved_dataset(folder: PathLike) -> bool:
    """Say whether a folder was written by `save_to_disk` of Hugging Face's datasets, or is one of its cache."""
    if _is_saved(folder):
        return True
    return os.path.isfile(os.path.join(folder, _INFO)) and any(name.endswith(".arrow") for name in os.listdir(folder))


def _is_saved(folder: PathLike) -> bool:
    return any(os.path.isfile(os.path.join(folder, name)) for name in (_STATE, _SPLITS))


def _readers_of_saved(folder: str) -> list[BatchReader]:
    if not os.path.isfile(os.path.join(folder, _SPLITS)):
        return _readers_of_split(folder, None)
    path = os.path.join(folder, _SPLITS)
    splits = read_json_object(path, "list of splits").entries.get("splits")
    if not isinstance(splits, list) or not splits:
        raise RecordsmithError("The saved dataset lists no splits.", path=path)
    return [reader for split in splits for reader in _readers_of_split(_inside(folder, split, path), split)]


def _readers_of_split(folder: str, split: str | None) -> list[BatchReader]:
    path = os.path.join(folder, _STATE)
    state = read_json_object(path, "state of a saved dataset").entries
    files = state.get("_data_files")
    if not isinstance(files, list) or not all(isinstance(file, dict) for file in files):
        raise RecordsmithError("The saved dataset lists no files.", path=path)
    if any(state.get(name) for name in ("_indices_files", "_indices_data_files")):
        raise RecordsmithError(
            "The saved dataset is a selection of rows, in an old form.",
            path=path,
            advice=f"Pass the dataset itself: rs.make(datasets.load_from_disk({folder!r}), ...)",
        )
    own = state.get("_split")
    name = split or (own if isinstance(own, str) and re.fullmatch(r"\w+", own) else None)
    return [IpcReader(SourceFile.at(_inside(folder, file.get("filename"), path)), name) for file in files]


def _inside(folder: str, name: Any, listed_in: str) -> str:
    """Return the path of a file or folder that must be in a folder."""
    if not isinstance(name, str) or not name or name != os.path.basename(name) or name in (".", ".."):
        raise RecordsmithError("This is not a name in the folder.", path=listed_in, found=repr(name))
    return os.path.join(folder, name)
