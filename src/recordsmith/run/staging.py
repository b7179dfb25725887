"""The staging folder: everything that a run has finished so far, so that a killed one can be resumed.

It is the folder of `recordsmith.storage.publication`, which explains the lock, shards/ and how they are published.

    plan.json         what is being made from what; another plan cannot be continued here
    records           the encoded records in the order of the source, framed like any TFRecord file
    keys              one fixed-size entry for each of them: place, content digest, class, group
    rejected.jsonl    the rows that were refused
    journal.jsonl     one line for each finished chunk: how long the other files are then
    shards/           finished shards under their final names
    shards.jsonl      one line for each of them

A chunk counts once its line in the journal is whole. On opening, the files are cut back to what the last whole line
says, so that a run killed at any moment continues as if it had never been started on the next chunk.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import threading
from collections.abc import Iterator
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from recordsmith import _core
from recordsmith.errors import RecordsmithError, SchemaError, advise
from recordsmith.records.described_splits import check_file_name
from recordsmith.records.index import FRAMING_BYTES
from recordsmith.run.encoded_chunk import Classes, EncodedChunk
from recordsmith.storage.atomic_file import write_text_atomically
from recordsmith.storage.json_descriptions import JsonObject, read_json_object
from recordsmith.storage.publication import Publication

__all__ = ["KEY", "Staging", "differences"]

KEY = np.dtype(
    [
        ("offset", "<u8"),
        ("length", "<u4"),
        ("class", "<i4"),  # of the label
        ("digest", "<u8"),
        ("group", "<u8"),
        ("content", "<u8"),  # the digest of all but the label
        ("stratum", "<i4"),  # the class that is to have the same share in every split
        ("split", "<u4"),  # the place of the split that it came from, where splits are kept
    ]
)
_FORMAT = "recordsmith-making"
_VERSION = 2
_BLOCK_ROWS = 1 << 18
_SHOWN_DIFFERENCES = 6
_SHOWN_PLACES = 3


class Staging:
    """What a run has finished so far, on disk.

    Attributes:
        rows: how many records are staged.
        bytes: how long they are with their framing.
        chunks: how many chunks of the source they came from.
        counts: source rows, source bytes, rejects and dropped rows so far.
        classes: the distinct classes, in the order in which they were met.
    """

    def __init__(self, publication: Publication) -> None:
        self.publication = publication
        self.folder = publication.hidden
        self.rows = 0
        self.bytes = 0
        self.chunks = 0
        self.counts = {"source_rows": 0, "source_bytes": 0, "rejects": 0, "dropped": 0, "unlabelled": 0}
        self.classes: list[Any] = []
        self.strata: list[Any] = []
        self.left_out: list[str] = []
        self.unlabelled_places: list[str] = []
        self.complete = False
        self._rejected_bytes = 0
        self._files: dict[str, BinaryIO] = {}
        self._noting = threading.Lock()

    # --- opening and ending ---

    @classmethod
    def exists(cls, out: str) -> bool:
        """Say whether there is an unfinished run in an output folder."""
        return Publication(out).is_resumable

    @classmethod
    def clear_away(cls, out: str) -> None:
        """Remove what a finished run left because it was killed while it tidied up."""
        publication = Publication(out)
        if os.path.isdir(publication.hidden) and not publication.is_resumable:
            publication.lock()
            publication.discard()

    @classmethod
    def start(cls, publication: Publication, plan: dict[str, Any]) -> Staging:
        """Begin a new run, dropping an unfinished one."""
        staging = cls(publication)
        publication.lock()
        with staging._closed_on_failure():
            staging._begin(plan)
        return staging

    def _begin(self, plan: dict[str, Any]) -> None:
        self.publication.clear()
        os.makedirs(self.path("shards"))
        document = {"format": _FORMAT, "version": _VERSION, "plan": plan}
        write_text_atomically(self.path("plan.json"), json.dumps(document, indent=1))
        self._open_files()

    @classmethod
    def go_on(cls, publication: Publication, plan: dict[str, Any]) -> Staging:
        """Continue an unfinished run, if it had the same plan."""
        staging = cls(publication)
        publication.lock()
        with staging._closed_on_failure():
            staging._take_up(plan)
        return staging

    def _take_up(self, plan: dict[str, Any]) -> None:
        try:
            document = read_json_object(self.path("plan.json"), "plan of the unfinished run")
        except SchemaError:
            document = JsonObject({}, "plan of the unfinished run")
        if document.entries.get("format") != _FORMAT or document.entries.get("version") != _VERSION:
            raise RecordsmithError(
                "The unfinished run was begun by another version of recordsmith.",
                path=self.folder,
                advice=advise("Start over with {overwrite}.", overwrite=True),
            )
        changed = differences(dict(document.object("plan").entries), plan)
        if changed:
            raise RecordsmithError(
                "The unfinished run was begun with other options, and its files would not fit.",
                path=self.folder,
                found="; ".join(changed),
                advice=advise("Resume with the same options, or start over with {overwrite}.", overwrite=True),
            )
        self._replay()
        self._open_files()

    def close(self) -> None:
        """Close the files; what is staged stays."""
        try:
            self._close_files()
        finally:
            self.publication.close()

    def _close_files(self) -> None:
        for file in self._files.values():
            file.close()
        self._files = {}

    def path(self, *names: str) -> str:
        """Return a path inside the folder."""
        return os.path.join(self.folder, *names)

    # --- chunks ---

    def append(self, chunk: EncodedChunk) -> None:
        """Add a finished chunk."""
        keys = np.zeros(chunk.rows, KEY)
        starts = chunk.offsets[:-1]
        keys["offset"] = starts + np.uint64(self.bytes)
        keys["length"] = np.diff(chunk.offsets) - np.uint64(FRAMING_BYTES)
        keys["digest"] = chunk.digests
        keys["content"] = chunk.contents
        keys["split"] = chunk.split
        keys["class"], new_classes = _coded(chunk.classes, self.classes)
        keys["stratum"], new_strata = _coded(chunk.strata, self.strata)
        if chunk.groups is not None:
            keys["group"] = chunk.groups
        rejected = "".join(json.dumps(reject.to_json(), ensure_ascii=False) + "\n" for reject in chunk.rejects).encode(
            errors="backslashreplace"
        )
        _write_all(self._files["records"], chunk.frames)
        _write_all(self._files["keys"], keys.view(np.uint8) if len(keys) else b"")
        _write_all(self._files["rejected.jsonl"], rejected)

        self.rows += chunk.rows
        self.bytes += len(chunk.frames)
        self.chunks += 1
        self._rejected_bytes += len(rejected)
        self.counts["source_rows"] += chunk.source_rows
        self.counts["source_bytes"] += chunk.source_bytes
        self.counts["rejects"] += len(chunk.rejects)
        self.counts["dropped"] += chunk.dropped
        self.counts["unlabelled"] += chunk.unlabelled
        self.left_out.extend(name for name in chunk.left_out if name not in self.left_out)
        self.unlabelled_places = [*self.unlabelled_places, *chunk.unlabelled_places][:_SHOWN_PLACES]
        self._log(
            chunks=self.chunks,
            rows=self.rows,
            bytes=self.bytes,
            rejected_bytes=self._rejected_bytes,
            counts=self.counts,
            left_out=self.left_out,
            unlabelled_places=self.unlabelled_places,
            new_classes=new_classes,
            new_strata=new_strata,
        )

    def finish_chunks(self) -> None:
        """Note that the source has no more."""
        self.complete = True
        self._log(complete=True)

    def key_blocks(self) -> Iterator[Any]:
        """Give the keys of all records in order, in blocks."""
        with open(self.path("keys"), "rb") as file:
            left = self.rows
            while left:
                block = np.fromfile(file, KEY, min(left, _BLOCK_ROWS))
                left -= len(block)
                yield block

    # --- shards ---

    def shards_done(self) -> dict[str, dict[str, Any]]:
        """Return the finished shards by name, as far as their files are there and unharmed; remove everything else."""
        done = {}
        for entry in _whole_lines(self.path("shards.jsonl"), self.folder):
            name = check_file_name(entry.text("file"))
            with contextlib.suppress(FileNotFoundError), open(self.path("shards", name), "rb") as file:
                if hashlib.file_digest(file, "sha256").hexdigest() == entry.text("sha256"):
                    done[name] = {**entry.entries, "records": entry.count("records"), "bytes": entry.count("bytes")}
        for name in os.listdir(self.path("shards")):
            if name not in done:
                os.remove(self.path("shards", name))
        return done

    def note_shard(self, entry: dict[str, Any]) -> None:
        """Note a finished shard, which has its final name already."""
        with self._noting:  # several threads write shards
            _write_all(self._files["shards.jsonl"], json.dumps(entry).encode() + b"\n")

    # --- inside ---

    @contextlib.contextmanager
    def _closed_on_failure(self) -> Iterator[None]:
        """Give the lock back if the block fails; nothing is left of a run that did not come as far as having a plan."""
        try:
            yield
        except BaseException:
            self._close_files()
            self.publication.discard()
            raise

    def _open_files(self) -> None:
        for name in ("records", "keys", "rejected.jsonl", "journal.jsonl", "shards.jsonl"):
            self._files[name] = open(self.path(name), "ab", buffering=0)  # noqa: SIM115 - closed by close()

    def _replay(self) -> None:
        """Take up the state of the last whole line of the journal, and cut the files back to it."""
        for entry in _whole_lines(self.path("journal.jsonl"), self.folder):
            if entry.entries.get("complete"):
                self.complete = True
                break  # what a sampler added after it is made again
            self.chunks, self.rows = entry.count("chunks") or 0, entry.count("rows") or 0
            self.bytes, self._rejected_bytes = entry.count("bytes") or 0, entry.count("rejected_bytes") or 0
            self.counts = dict.fromkeys(self.counts, 0) | entry.object("counts").tallies()
            self.left_out = list(entry.texts("left_out"))
            self.unlabelled_places = list(entry.texts("unlabelled_places"))
            self.classes.extend(entry.plain_values("new_classes"))
            self.strata.extend(entry.plain_values("new_strata"))
        for name, length in (
            ("records", self.bytes),
            ("keys", self.rows * KEY.itemsize),
            ("rejected.jsonl", self._rejected_bytes),
        ):
            _cut(self.path(name), length, self.folder)
        _cut_to_whole_lines(self.path("journal.jsonl"), self.chunks + self.complete)
        _cut_to_whole_lines(self.path("shards.jsonl"), None)
        if self.bytes and _core.verify_files([self.path("records")], ["none"], os.cpu_count() or 1) != self.rows:
            raise _damaged(self.folder)
        os.makedirs(self.path("shards"), exist_ok=True)

    def _log(self, **entry: Any) -> None:
        _write_all(self._files["journal.jsonl"], json.dumps(entry, ensure_ascii=False).encode() + b"\n")


def _write_all(file: BinaryIO, data: Any) -> None:
    view = memoryview(data).cast("B") if len(data) else memoryview(b"")
    while view:
        view = view[file.write(view) :]


def _coded(chunk: Classes, known: list[Any]) -> tuple[npt.NDArray[np.int32], list[Any]]:
    """Return the codes of a chunk's classes among all that are known, and the classes that are new; they are added."""
    places = {value: place for place, value in enumerate(known)}
    new = [value for value in chunk.values if value not in places]
    for value in new:
        places[value] = len(known)
        known.append(value)
    codes = np.array([places[value] for value in chunk.values] + [-1], np.int32)
    return codes[chunk.code_of], new  # -1 takes the last entry, which is -1


def _whole_lines(path: str, folder: str) -> Iterator[JsonObject]:
    with contextlib.suppress(FileNotFoundError), open(path, "rb") as file:
        for line in file:
            if not line.endswith(b"\n"):
                return  # cut off by the end of the run
            try:
                document = json.loads(line)
            except (ValueError, RecursionError):
                raise _damaged(folder) from None
            yield JsonObject.of(document, "journal of the unfinished run", path)


def _cut_to_whole_lines(path: str, lines: int | None) -> None:
    with contextlib.suppress(FileNotFoundError), open(path, "rb+") as file:
        whole = [line for line in file if line.endswith(b"\n")]
        file.truncate(sum(map(len, whole if lines is None else whole[:lines])))


def _cut(path: str, length: int, folder: str) -> None:
    try:
        size = os.path.getsize(path)
    except FileNotFoundError:
        size = 0
    if size < length:
        raise _damaged(folder)
    if size > length:
        os.truncate(path, length)


def _damaged(folder: str) -> RecordsmithError:
    return RecordsmithError(
        "The unfinished run is damaged: some of what it wrote is not on the disk.",
        path=folder,
        advice=advise("A power cut can do that. Start over with {overwrite}.", overwrite=True),
    )


def differences(old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    """Say which entries of two plans differ.

    >>> differences({"options": {"seed": 1, "name": "a"}}, {"options": {"seed": 2, "name": "a"}})
    ['options.seed was 1 and is 2']
    """
    found = list(_differences(old, json.loads(json.dumps(new)), ""))
    return found if len(found) <= _SHOWN_DIFFERENCES else [*found[:_SHOWN_DIFFERENCES], "and more"]


def _differences(old: dict[str, Any], new: dict[str, Any], at: str) -> Iterator[str]:
    for name in [*old, *(name for name in new if name not in old)]:
        before, after = old.get(name), new.get(name)
        if isinstance(before, dict) and isinstance(after, dict):
            yield from _differences(before, after, f"{at}{name}.")
        elif before != after:
            yield f"{at}{name} was {_short(before)} and is {_short(after)}"


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 80 else text[:80] + "..."
