"""What a file that is not a TFRecord file is, detected from its first bytes."""

from __future__ import annotations

import contextlib
import struct
from dataclasses import dataclass

from recordsmith import _core
from recordsmith.storage.ranged.opening import is_ranged, read_remote

__all__ = ["Content", "describe_content"]


@dataclass(frozen=True, slots=True)
class Content:
    """What the beginning of a file says about it.

    Attributes:
        format: the format, in one word for programs; "unknown" if it is none of those known here.
        looks_like: the same for people: "is a Parquet file".
        found: the first bytes.
        advice: what to do with such a file.
        compression: that of the whole file, if TFRecords can have it.
    """

    format: str
    looks_like: str
    found: str
    advice: str
    compression: str | None = None


# Signatures at the start of a file, what has them, and what to do with such a file.
_SIGNATURES: tuple[tuple[bytes, str, str, str], ...] = (
    (
        b"version https://git-lfs",
        "git-lfs",
        "is a Git LFS pointer, not the data itself",
        "Run `git lfs pull` to fetch the data.",
    ),
    (b"PAR1", "parquet", "is a Parquet file", "Convert it to TFRecords with `recordsmith make`."),
    (b"ARROW1", "arrow", "is an Arrow file", "Convert it to TFRecords with `recordsmith make`."),
    (b"PK\x03\x04", "zip", "is a zip archive", "Unpack it first."),
    (b"BZh", "bzip2", "is compressed with bzip2", "Decompress it first: TFRecords use gzip or zlib."),
    (b"\xfd7zXZ\x00", "xz", "is compressed with xz", "Decompress it first: TFRecords use gzip or zlib."),
    (b"\x28\xb5\x2f\xfd", "zstd", "is compressed with Zstandard", "Decompress it first: TFRecords use gzip or zlib."),
    (b"\xff\xd8\xff", "jpeg", "is a JPEG image", "Convert images to TFRecords with `recordsmith make`."),
    (b"\x89PNG\r\n\x1a\n", "png", "is a PNG image", "Convert images to TFRecords with `recordsmith make`."),
    (b"GIF8", "gif", "is a GIF image", "Convert images to TFRecords with `recordsmith make`."),
    (b"RIFF", "riff", "is a RIFF file (WAV, WebP or AVI)", "Pass TFRecord files."),
    (b"\x93NUMPY", "npy", "is a numpy array", "Load it with numpy.load."),
    (b"\x89HDF\r\n\x1a\n", "hdf5", "is an HDF5 file", "Convert it to TFRecords with `recordsmith make`."),
    (b"SQLite format 3\x00", "sqlite", "is an SQLite database", "Convert it to TFRecords with `recordsmith make`."),
    (b"%PDF", "pdf", "is a PDF document", "Pass TFRecord files."),
    (b"\x7fELF", "elf", "is a program", "Pass TFRecord files."),
)
_TAR_AT = 257


def describe_content(path: str) -> Content:
    """Say what the file at `path` looks like.

    >>> import tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "data.tfrecord"
    >>> _ = file.write_bytes(b'{"label": 3}')
    >>> content = describe_content(str(file))
    >>> content.format, content.looks_like
    ('text', 'is text')
    """
    head = b""
    with contextlib.suppress(OSError):
        if is_ranged(path):
            head = read_remote(path, 512)
        else:
            with open(path, "rb") as file:
                head = file.read(512)
    shown = f"{head[:24]!r}{'...' if len(head) > 24 else ''}"
    if _is_record_header(head):
        return Content("tfrecord", "is a TFRecord file", shown, "")
    for signature, format_, meaning, advice in _SIGNATURES:
        if head.startswith(signature):
            return Content(format_, meaning, shown, advice)
    if head[_TAR_AT : _TAR_AT + 5] == b"ustar":
        return Content("tar", "is a tar archive", shown, "Unpack it first.")
    if head[8:12] == b"DUCK":
        return Content("duckdb", "is a DuckDB database", shown, "Convert it to TFRecords with `recordsmith make`.")
    if _is_array_record(head):
        return Content(
            "riegeli",
            "is a Riegeli or ArrayRecord file",
            shown,
            "Read it with array_record, or write it again as TFRecords.",
        )
    compression = _core.detect_compression(path) if head else "none"
    if compression != "none":
        return Content(
            compression,
            f"is compressed with {compression}",
            shown,
            f"Leave compression at 'auto', or pass compression={compression!r}.",
            compression=compression,
        )
    if not head:
        return Content("empty", "is empty", "no bytes", "Write it again.")
    with contextlib.suppress(UnicodeDecodeError):
        if head[:-3].decode("utf-8").isprintable() or not _has_control_bytes(head):
            return Content("text", "is text", shown, "Convert it to TFRecords with `recordsmith make`.")
    return Content(
        "unknown",
        "does not begin with a record",
        shown,
        "Check where the file comes from: its start may be damaged, or it may be in another format.",
    )


def _is_record_header(head: bytes) -> bool:
    if len(head) < 12:
        return False
    (stored,) = struct.unpack_from("<I", head, 8)
    return bool(_core.masked_crc32c(head[:8]) == stored)


def _is_array_record(head: bytes) -> bool:
    # A Riegeli file begins with a block header and a signature chunk whose type is 's', at byte 48.
    return len(head) >= 64 and head[8:16] == b"\x00" * 8 and head[48:49] == b"s"


def _has_control_bytes(head: bytes) -> bool:
    return any(byte < 0x20 and byte not in b"\t\n\r" for byte in head) or b"\x7f" in head
