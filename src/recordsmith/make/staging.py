"""The staging folder: everything that a run has finished so far, so that a killed one can go on.

    plan.json         what is being made from what; another plan cannot go on here
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
import fcntl
import json
import os
import shutil
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any, BinaryIO

import numpy as np

from recordsmith import _core
from recordsmith.atomic_file import write_text_atomically
from recordsmith.errors import RecordsmithError, list_names
from recordsmith.index import FRAMING_BYTES
from recordsmith.make.chunk_encoding import EncodedChunk

__all__ = ["KEY", "Staging"]

FOLDER = ".recordsmith-making"
KEY = np.dtype([("offset", "<u8"), ("length", "<u4"), ("class", "<i4"), ("digest", "<u8"), ("group", "<u8")])
_FORMAT = "recordsmith-making"
_VERSION = 1
_BLOCK_ROWS = 1 << 18


class Staging:
    """What a run has finished so far, on disk.

    Attributes:
        rows: how many records are staged.
        bytes: how long they are with their framing.
        chunks: how many chunks of the source they came from.
        counts: source rows, source bytes, rejects and dropped rows so far.
        classes: the distinct classes, in the order in which they were met.
    """

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.rows = 0
        self.bytes = 0
        self.chunks = 0
        self.counts = {"source_rows": 0, "source_bytes": 0, "rejects": 0, "dropped": 0}
        self.classes: list[Any] = []
        self.left_out: list[str] = []
        self.complete = False
        self._class_codes: dict[Any, int] = {}
        self._rejected_bytes = 0
        self._files: dict[str, BinaryIO] = {}
        self._lock: int | None = None

    # --- opening and ending ---

    @classmethod
    def exists(cls, out: str) -> bool:
        """Say whether an unfinished run lies in an output folder."""
        return os.path.exists(os.path.join(out, FOLDER, "plan.json"))

    @classmethod
    def start(cls, out: str, plan: dict[str, Any]) -> Staging:
        """Begin a new run, dropping an unfinished one."""
        staging = cls(os.path.join(out, FOLDER))
        os.makedirs(staging.folder, exist_ok=True)
        staging._take_lock()
        for name in os.listdir(staging.folder):
            if name != "lock":
                path = os.path.join(staging.folder, name)
                shutil.rmtree(path) if os.path.isdir(path) else os.remove(path)
        os.makedirs(staging.path("shards"))
        document = {"format": _FORMAT, "version": _VERSION, "plan": plan}
        write_text_atomically(staging.path("plan.json"), json.dumps(document, indent=1))
        staging._open_files()
        return staging

    @classmethod
    def go_on(cls, out: str, plan: dict[str, Any]) -> Staging:
        """Continue an unfinished run, if it had the same plan."""
        staging = cls(os.path.join(out, FOLDER))
        staging._take_lock()
        try:
            with open(staging.path("plan.json"), encoding="utf-8") as file:
                document = json.load(file)
        except ValueError:
            document = {}
        if document.get("format") != _FORMAT or document.get("version") != _VERSION:
            raise RecordsmithError(
                "The unfinished run was begun by another version of recordsmith.",
                path=staging.folder,
                advice="Start over with overwrite (--overwrite).",
            )
        differences = _differences(document["plan"], json.loads(json.dumps(plan)))
        if differences:
            raise RecordsmithError(
                "The unfinished run was begun with other options, and its files would not fit.",
                path=staging.folder,
                found="; ".join(differences),
                advice="Resume with the same options, or start over with overwrite (--overwrite).",
            )
        staging._replay()
        staging._open_files()
        return staging

    def close(self) -> None:
        """Close the files; what is staged stays."""
        for file in self._files.values():
            file.close()
        self._files = {}
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def remove(self) -> None:
        """Remove the folder: the dataset is where it belongs."""
        self.close()
        shutil.rmtree(self.folder)

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
        new_classes = self._code_classes(chunk.classes)
        codes = np.array([self._class_codes[value] for value in chunk.classes] + [-1], np.int32)
        keys["class"] = codes[chunk.class_of]  # -1 takes the last entry, which is -1
        if chunk.groups is not None:
            keys["group"] = chunk.groups
        rejected = "".join(
            json.dumps({key: value for key, value in asdict(reject).items() if value is not None}, ensure_ascii=False)
            + "\n"
            for reject in chunk.rejects
        ).encode(errors="backslashreplace")
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
        self.left_out.extend(name for name in chunk.left_out if name not in self.left_out)
        self._log(
            chunks=self.chunks,
            rows=self.rows,
            bytes=self.bytes,
            rejected_bytes=self._rejected_bytes,
            counts=self.counts,
            left_out=self.left_out,
            new_classes=new_classes,
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
        """Return the finished shards by name, as far as their files are there and as long as they were."""
        done = {}
        for entry in _whole_lines(self.path("shards.jsonl")):
            with contextlib.suppress(OSError):
                if os.path.getsize(self.path("shards", entry["file"])) == entry["bytes"]:
                    done[entry["file"]] = entry
        return done

    def note_shard(self, entry: dict[str, Any]) -> None:
        """Note a finished shard, which has its final name already."""
        _write_all(self._files["shards.jsonl"], json.dumps(entry).encode() + b"\n")

    # --- inside ---

    def _take_lock(self) -> None:
        descriptor = os.open(self.path("lock"), os.O_RDWR | os.O_CREAT, 0o666)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(descriptor)
            raise RecordsmithError(
                "Another process is making this dataset just now.", path=self.folder, advice="Wait for it, or stop it."
            ) from None
        self._lock = descriptor

    def _open_files(self) -> None:
        for name in ("records", "keys", "rejected.jsonl", "journal.jsonl", "shards.jsonl"):
            self._files[name] = open(self.path(name), "ab", buffering=0)  # noqa: SIM115 - closed by close()

    def _replay(self) -> None:
        """Take up the state of the last whole line of the journal, and cut the files back to it."""
        for entry in _whole_lines(self.path("journal.jsonl")):
            if entry.get("complete"):
                self.complete = True
                break  # what a sampler added after it is made again
            self.chunks, self.rows, self.bytes = entry["chunks"], entry["rows"], entry["bytes"]
            self._rejected_bytes = entry["rejected_bytes"]
            self.counts = dict(entry["counts"])
            self.left_out = list(entry["left_out"])
            self._code_classes(entry["new_classes"])
        for name, length in (
            ("records", self.bytes),
            ("keys", self.rows * KEY.itemsize),
            ("rejected.jsonl", self._rejected_bytes),
        ):
            _cut(self.path(name), length, self.folder)
        _cut_to_whole_lines(self.path("journal.jsonl"), self.chunks + self.complete)
        _cut_to_whole_lines(self.path("shards.jsonl"), None)
        if self.bytes and _core.verify_file(self.path("records"), "none", os.cpu_count() or 1) != self.rows:
            raise _damaged(self.folder)
        os.makedirs(self.path("shards"), exist_ok=True)

    def _code_classes(self, values: list[Any]) -> list[Any]:
        new = [value for value in values if value not in self._class_codes]
        for value in new:
            self._class_codes[value] = len(self.classes)
            self.classes.append(value)
        return new

    def _log(self, **entry: Any) -> None:
        _write_all(self._files["journal.jsonl"], json.dumps(entry, ensure_ascii=False).encode() + b"\n")


def _write_all(file: BinaryIO, data: Any) -> None:
    view = memoryview(data).cast("B") if len(data) else memoryview(b"")
    while view:
        view = view[file.write(view) :]


def _whole_lines(path: str) -> Iterator[dict[str, Any]]:
    with contextlib.suppress(FileNotFoundError), open(path, "rb") as file:
        for line in file:
            if not line.endswith(b"\n"):
                return  # cut off by the end of the run
            yield json.loads(line)


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
        advice="A power cut can do that. Start over with overwrite (--overwrite).",
    )


def _differences(old: dict[str, Any], new: dict[str, Any], at: str = "") -> list[str]:
    """Say which entries of two JSON objects differ."""
    found = []
    for name in [*old, *(name for name in new if name not in old)]:
        before, after = old.get(name), new.get(name)
        if before == after:
            continue
        if isinstance(before, dict) and isinstance(after, dict):
            found.extend(_differences(before, after, f"{at}{name}."))
        else:
            found.append(f"{at}{name} was {_short(before)} and is {_short(after)}")
    return found if len(found) <= 6 or at else [*found[:6], list_names([f"{len(found) - 6} more"])]


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 80 else text[:80] + "..."
