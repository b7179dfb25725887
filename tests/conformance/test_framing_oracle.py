"""Forty-eight files made for this project, with what TensorFlow 2.21 made of each.

TensorFlow's outcome is the expected one, in recordsmith's words; where recordsmith differs on purpose, the table below
says what it does and why.
"""

from __future__ import annotations

import base64
import gzip
import json
import random
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import recordsmith as rs
from tests.made_records import file_bytes, framed

CASES: list[dict[str, Any]] = json.loads((Path(__file__).parents[1] / "oracles" / "framing.json").read_text())


@dataclass(frozen=True)
class Outcome:
    records: tuple[bytes, ...]
    error: type[Exception] | None = None
    offset: int | None = None  # of the record that the error is about


@dataclass(frozen=True)
class Deviation:
    outcome: Outcome
    reason: str


FOO, BAR = b"foo", b"bar"
CUT_TAIL = "a stray tail of 1 to 11 bytes is a cut file, which must never pass in silence"
CUT_TRAILER = "a cut file must never pass in silence; the trailer's checksum is missing"
BAD_TRAILER = "the records have checksums of their own that hold, and what is sound is delivered before the error"
HUGE = "a length is compared with the rest of the file before anything else"

DEVIATIONS = {
    "truncated_in_length(5B)": Deviation(Outcome((FOO,), rs.TruncatedFileError, 19), CUT_TAIL),
    "truncated_in_length_crc(10B)": Deviation(Outcome((FOO,), rs.TruncatedFileError, 19), CUT_TAIL),
    "trailing_zero_bytes_4": Deviation(Outcome((FOO,), rs.TruncatedFileError, 19), CUT_TAIL),
    "trailing_newline": Deviation(Outcome((FOO,), rs.TruncatedFileError, 19), CUT_TAIL),
    "short_junk_3B": Deviation(Outcome((), rs.TruncatedFileError, 0), CUT_TAIL),
    "zlib_two_streams": Deviation(Outcome((FOO, BAR)), "TensorFlow drops the second stream without a word"),
    "gzip_truncated_trailer": Deviation(Outcome((FOO, BAR), rs.CompressionError), CUT_TRAILER),
    "zlib_truncated_adler": Deviation(Outcome((FOO, BAR), rs.CompressionError), CUT_TRAILER),
    "gzip_truncated_stream": Deviation(
        Outcome((FOO,), rs.CompressionError), "it is the compressed stream that is cut, and that is what the error says"
    ),
    "gzip_bad_crc32_trailer": Deviation(Outcome((FOO, BAR), rs.CompressionError), BAD_TRAILER),
    "zlib_bad_adler": Deviation(Outcome((FOO, BAR), rs.CompressionError), BAD_TRAILER),
    "length_2^40_valid_crc": Deviation(Outcome((FOO,), rs.TruncatedFileError, 19), f"TensorFlow died; {HUGE}"),
    "length_2^63_valid_crc": Deviation(Outcome((FOO,), rs.CorruptRecordError, 19), f"no file is that long; {HUGE}"),
    "length_2^64-1_valid_crc": Deviation(Outcome((FOO,), rs.CorruptRecordError, 19), f"no file is that long; {HUGE}"),
    "snappy_compression_type": Deviation(
        Outcome((), rs.CompressionError), "an unknown compression is refused before the file is opened"
    ),
    "bz2_compression_type": Deviation(
        Outcome((), rs.CompressionError), "TensorFlow reads the file as if nothing had been said"
    ),
}

# TensorFlow's words, and the exception that says the same here.
MEANINGS: list[tuple[str, type[Exception]]] = [
    (r"corrupted record at 0 \(Is this even a TFRecord file\?\)", rs.NotTFRecordError),
    (r"corrupted record at (\d+)$", rs.CorruptRecordError),
    (r"truncated record at (\d+)'", rs.TruncatedFileError),
    (r"inflate\(\) failed", rs.CompressionError),
]


def tensorflows_outcome(case: dict[str, Any]) -> Outcome:
    records = tuple(record.encode() for record in case["records"])
    if case["error"] is None:
        return Outcome(records)
    for pattern, error in MEANINGS:
        found = re.search(pattern, case["error"])
        if found is not None:
            return Outcome(records, error, _record_start(int(found[1]), records) if found.groups() else None)
    raise AssertionError(f"nobody has said what this means: {case['error']}")


def _record_start(place: int, records: tuple[bytes, ...]) -> int:
    # For damaged data TensorFlow names the place of the data, 12 bytes after the record's own.
    start = len(file_bytes(records))
    assert place in (start, start + 12)
    return start


def content(case: dict[str, Any]) -> bytes:
    if case["input_b64"] is not None:
        return base64.b64decode(case["input_b64"])
    # One case is given by its making only: a second record that cannot be compressed, and the stream cut in it.
    assert case["name"] == "gzip_truncated_stream"
    whole = gzip.compress(framed(FOO) + framed(random.Random(0).randbytes(5000)), mtime=0)
    return whole[: case["input_len"]]


def read(path: Path, compression: str) -> tuple[Outcome, Exception | None]:
    records: list[bytes] = []
    try:
        records.extend(rs.RecordReader(path, compression=compression))
    except rs.RecordsmithError as error:
        return Outcome(tuple(records), type(error), error.offset), error
    return Outcome(tuple(records)), None


def test_the_oracle_is_whole():
    assert len(CASES) == 48
    assert DEVIATIONS.keys() <= {case["name"] for case in CASES}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_file(case: dict[str, Any], tmp_path: Path):
    path = tmp_path / "case.tfrecord"
    path.write_bytes(content(case))
    assert path.stat().st_size == case["input_len"]
    deviation = DEVIATIONS.get(case["name"])
    expected = tensorflows_outcome(case) if deviation is None else deviation.outcome
    found, error = read(path, case["compression"])
    assert found.records == expected.records
    assert found.error == expected.error
    if expected.offset is not None:
        assert found.offset == expected.offset
    if error is not None and case["compression"] in ("", "GZIP", "ZLIB"):
        assert str(path) in str(error)  # none of TensorFlow's messages names the file


@pytest.mark.parametrize(
    "case", [case for case in CASES if case["compression"] in ("", "GZIP", "ZLIB")], ids=lambda case: case["name"]
)
def test_every_way_of_reading_says_the_same(case: dict[str, Any], tmp_path: Path):
    path = tmp_path / "case.tfrecord"
    path.write_bytes(content(case))
    _, error = read(path, case["compression"])
    dataset = rs.open(path, compression=case["compression"], schema=rs.Schema({}))
    if error is None:
        assert dataset.verify(threads=1) == dataset.verify(threads=3) == len(dataset)
        return
    for threads in (1, 3):
        with pytest.raises(type(error)) as caught:
            dataset.verify(threads=threads)
        assert str(caught.value) == str(error)


@pytest.mark.parametrize("name", sorted(DEVIATIONS))
def test_a_deviation_is_one(name: str):
    case = next(case for case in CASES if case["name"] == name)
    assert (
        case["records"] is None
        or re.search("negative|too large|Failed to read", case["error"] or "")
        or (tensorflows_outcome(case) != DEVIATIONS[name].outcome)
    ), "the two agree: the table should not hold it"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("lfs_pointer", "git lfs pull"),
        ("gzip_read_as_none", "compression='gzip'"),
        ("none_read_as_gzip", "not compressed"),
        ("none_read_as_zlib", "not compressed"),
        ("zlib_read_as_gzip", "The file is zlib"),
        ("gzip_read_as_zlib", "The file is gzip"),
        ("text_file", "is text"),
        ("junk_15B", "is text"),
    ],
)
def test_the_error_knows_what_the_file_is(name: str, said: str, tmp_path: Path):
    case = next(case for case in CASES if case["name"] == name)
    path = tmp_path / "case.tfrecord"
    path.write_bytes(content(case))
    _, error = read(path, case["compression"])
    assert said in str(error)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_auto_tells_the_compression_from_the_content(case: dict[str, Any], tmp_path: Path):
    path = tmp_path / "case.tfrecord.gz"  # the name says nothing
    path.write_bytes(content(case))
    found, _ = read(path, "auto")
    detected = rs.RecordReader(path).compression or ""
    same, _ = read(path, detected)
    assert found == same
    if case["error"] is None and case["compression"] in ("GZIP", "ZLIB") and case["input_len"]:
        assert detected.upper() == case["compression"]
