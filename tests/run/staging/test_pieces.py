"""Pieces of staged records: when they end, which ones count, and that they do not change the dataset."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import recordsmith as rs
from recordsmith import _core
from recordsmith.run.staging import pieces, staged_files
from recordsmith.run.staging.encoded_chunk import Classes, EncodedChunk
from recordsmith.run.staging.pieces import Piece, PieceWriter, descriptions, remove_others, without_overlap
from tests.formats.made_sources import file_digests, labelled


def chunk(*payloads: bytes, label: str = "cat") -> EncodedChunk:
    sink = _core.RecordSink()
    for payload in payloads:
        sink.append(payload)
    frames, offsets = sink.take()
    digests = np.zeros(len(payloads), np.uint64)
    classes = Classes([label], np.zeros(len(payloads), np.int32))
    return EncodedChunk(frames, offsets, digests, digests, classes, classes, None, [], source_rows=len(payloads))


def write(folder: Path, first: int, *chunks: EncodedChunk) -> Piece:
    writer = PieceWriter(str(folder), first)
    for one in chunks:
        writer.add(one)
    piece = writer.close()
    assert piece is not None
    return piece


def find_pieces(folder: Path) -> list[Piece]:
    """What a resumed run finds; all other files are removed."""
    found = without_overlap(map(Piece.load, descriptions(str(folder))))
    remove_others(str(folder), found)
    return found


def test_what_was_written_is_found(tmp_path: Path) -> None:
    later = write(tmp_path, 3, chunk(b"d", label="dog"))
    first = write(tmp_path, 0, chunk(b"a", b"b"), chunk(b"c", label="dog"))
    assert find_pieces(tmp_path) == [first, later]
    assert (first.first, first.last, first.rows, first.counts["source_rows"]) == (0, 2, 3, 3)
    assert first.classes == ["cat", "dog"]
    keys = first.keys()
    assert keys["class"].tolist() == [0, 0, 1]
    assert keys["offset"].tolist() == [0, 17, 34]


def test_a_piece_that_overlaps_another_is_dropped(tmp_path: Path) -> None:
    first = write(tmp_path, 0, chunk(b"a"), chunk(b"b"))
    write(tmp_path, 1, chunk(b"b"))
    assert find_pieces(tmp_path) == [first]
    assert {path.name.split("-")[0] for path in tmp_path.iterdir()} == {"00000000"}
    assert len(list(tmp_path.iterdir())) == 3, "records, keys and the description"


def test_of_overlapping_pieces_the_longer_one_stays(tmp_path: Path) -> None:
    write(tmp_path, 0, chunk(b"a"))
    longer = write(tmp_path, 0, chunk(b"a"), chunk(b"b"))
    later = write(tmp_path, 2, chunk(b"c"))
    assert find_pieces(tmp_path) == [longer, later]


def test_two_attempts_leave_one_piece(tmp_path: Path) -> None:
    """Whoever is first counts; the files of the other are removed, and it takes those of the first."""
    slow, quick = (PieceWriter(str(tmp_path), 4) for _ in range(2))
    for writer in (slow, quick):
        writer.add(chunk(b"a", b"b"))
    first = quick.close()
    files = sorted(tmp_path.iterdir())
    assert slow.close() == first
    assert sorted(tmp_path.iterdir()) == [path for path in files if path.name[:17] != os.path.basename(slow._path)]
    assert find_pieces(tmp_path) == [first]


def test_an_attempt_replaces_a_damaged_piece(tmp_path: Path) -> None:
    damaged = write(tmp_path, 0, chunk(b"a"))
    Path(f"{damaged.path}.keys").write_bytes(b"")
    whole = write(tmp_path, 0, chunk(b"a"))
    assert find_pieces(tmp_path) == [whole]


@pytest.mark.parametrize("files", ["../00000000-00000000", "/etc/passwd", "00000000-0000000g", ""])
def test_a_description_names_files_of_its_folder_alone(files: str, tmp_path: Path) -> None:
    write(tmp_path, 0, chunk(b"a"))
    (path,) = descriptions(str(tmp_path))
    document = json.loads(Path(path).read_text())
    Path(path).write_text(json.dumps({**document, "files": files}))
    assert find_pieces(tmp_path) == []


def test_a_chunk_that_was_half_written_is_not_in_the_piece(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    writer = PieceWriter(str(tmp_path), 0)
    writer.add(chunk(b"a"))
    real = staged_files.write_all

    def full(file: Any, data: Any) -> None:
        real(file, data[:5])
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(pieces, "write_all", full)
    with pytest.raises(OSError, match="space"):
        writer.add(chunk(b"b"))
    monkeypatch.undo()
    piece = writer.close()
    assert piece is not None
    assert (piece.last, piece.rows, os.path.getsize(piece.records)) == (1, 1, 17)
    assert find_pieces(tmp_path) == [piece]


def test_a_piece_without_a_chunk_leaves_nothing(tmp_path: Path) -> None:
    assert PieceWriter(str(tmp_path), 0).close() is None
    assert list(tmp_path.iterdir()) == []


def test_an_old_piece_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    writer = PieceWriter(str(tmp_path), 0)
    writer.add(chunk(b"a"))
    assert not writer.is_full
    monkeypatch.setattr(pieces, "_PIECE_SECONDS", 0.0)
    assert writer.is_full
    writer.discard()


def test_many_small_chunks_are_few_pieces_and_the_same_dataset(
    quick_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = labelled([n % 3 for n in range(600)], chunk_rows=2)
    written: list[int] = []
    close = PieceWriter.close

    def noted(writer: PieceWriter) -> Piece | None:
        piece = close(writer)
        written.append(0 if piece is None else piece.last - piece.first)
        return piece

    monkeypatch.setattr(PieceWriter, "close", noted)
    for rows, expected in ((1 << 17, [300]), (40, [20] * 15), (1, [1] * 300)):
        monkeypatch.setattr(pieces, "_PIECE_ROWS", rows)
        monkeypatch.setattr(pieces, "_PIECE_SECONDS", 1e9)
        written.clear()
        rs.make(source, quick_path / str(rows), name="data", split="train=0.7,test=0.3", stratify="label")
        assert written == expected
    one, *others = (file_digests(quick_path / str(rows)) for rows in (1 << 17, 40, 1))
    assert all(other == one for other in others)
