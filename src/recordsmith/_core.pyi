"""The native core. Its layouts are described in recordsmith/schema/plan.py, its code in cpp/."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, overload

import numpy as np
import numpy.typing as npt

class Plan:
    def __init__(self, columns: list[tuple[str, str, int, int, str, Any, bool]], /) -> None: ...

class RecordStream:
    def __init__(self, path: str, compression: str, verify: bool) -> None: ...
    def next(self) -> bytes | None: ...
    def recover(self) -> bool: ...
    @property
    def offset(self) -> int: ...
    @property
    def number(self) -> int: ...
    @property
    def compression(self) -> str: ...

class BatchStream:
    def __init__(
        self,
        paths: list[str],
        compressions: Sequence[str],
        plan: Plan,
        batch_size: int,
        *,
        verify: bool,
        drop_last: bool,
        threads: int,
    ) -> None: ...
    def next(self) -> tuple[int, list[Any]] | None: ...

class FileSet:
    def __init__(self, paths: list[str]) -> None: ...
    def read(
        self,
        files: npt.NDArray[np.uint32],
        offsets: npt.NDArray[np.uint64],
        lengths: npt.NDArray[np.uint64],
        numbers: npt.NDArray[np.uint64],
        verify: bool,
    ) -> list[bytes]: ...
    def forget(self) -> None: ...
    def frames(
        self,
        files: npt.NDArray[np.uint32],
        offsets: npt.NDArray[np.uint64],
        lengths: npt.NDArray[np.uint64],
        numbers: npt.NDArray[np.uint64],
        verify: bool,
    ) -> npt.NDArray[np.uint8]: ...
    def decode(
        self,
        plan: Plan,
        files: npt.NDArray[np.uint32],
        offsets: npt.NDArray[np.uint64],
        lengths: npt.NDArray[np.uint64],
        numbers: npt.NDArray[np.uint64],
        verify: bool,
    ) -> list[Any]: ...

class BufferShuffle:
    def __init__(self, n: int, buffer: int, key: int) -> None: ...
    def next(self, count: int) -> npt.NDArray[np.int64]: ...

class Permutation:
    def __init__(self, n: int, key: int) -> None: ...
    def __len__(self) -> int: ...
    def at(self, positions: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]: ...

class IndexedFiles:
    def __init__(self, paths: list[str], offsets: list[npt.NDArray[np.uint64]]) -> None: ...
    def read(self, numbers: npt.NDArray[np.int64], verify: bool) -> list[bytes]: ...
    def decode(self, plan: Plan, numbers: npt.NDArray[np.int64], verify: bool) -> list[Any]: ...

class RecordSink:
    @overload
    def __init__(self, path: str, compression: str, level: int) -> None: ...
    @overload
    def __init__(self) -> None: ...
    def append(self, payload: bytes) -> None: ...
    def append_frames(self, frames: npt.NDArray[np.uint8]) -> None: ...
    def append_every(
        self, frames: npt.NDArray[np.uint8], offsets: npt.NDArray[np.uint64], first: int, step: int
    ) -> None: ...
    def append_chosen(
        self,
        frames: npt.NDArray[np.uint8],
        offsets: npt.NDArray[np.uint64],
        numbers: npt.NDArray[np.int64],
    ) -> None: ...
    def take(self) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.uint64]]: ...
    def append_columns(self, plan: Plan, parts: list[Any], rows: int) -> None: ...
    def flush(self) -> None: ...
    def close(self, sync: bool) -> None: ...
    @property
    def records(self) -> int: ...
    @property
    def bytes(self) -> int: ...

class RowEncoder:
    def __init__(self, plan: Plan, rules: list[tuple[bool, bool, str, tuple[int | None, ...]]]) -> None: ...
    def append(
        self,
        sink: RecordSink,
        rows: list[dict[str, Any]],
        first_number: int,
        normalize: Callable[[int, int, dict[str, Any]], Any],
        complain: Callable[[int, dict[str, Any]], None],
    ) -> None: ...

def decode_example(payload: bytes) -> dict[str, Any]: ...
def decode_sequence_example(payload: bytes) -> tuple[dict[str, Any], dict[str, list[Any]]]: ...
def decode_frames(plan: Plan, frames: npt.NDArray[np.uint8], offsets: npt.NDArray[np.uint64]) -> list[Any]: ...
def decode_payloads(plan: Plan, payloads: list[bytes]) -> list[Any]: ...
def encode_example(mapping: dict[str, Any], normalize: Callable[[str, Any], Any]) -> bytes: ...
def encode_sequence_example(
    context: dict[str, Any], feature_lists: Mapping[str, list[Any]], normalize: Callable[[str, Any], Any]
) -> bytes: ...
def payload_kind(payload: bytes) -> str: ...
def scan_offsets(path: str, compression: str, verify: bool) -> tuple[npt.NDArray[np.uint64], str]: ...
def record_numbers(keys: list[Any], start: int, step: int, count: int) -> npt.NDArray[np.int64] | None: ...
def verify_files(paths: list[str], compressions: Sequence[str], threads: int) -> int: ...
def census(
    paths: list[str],
    compressions: Sequence[str],
    records_per_file: int,
    bytes_per_file: int,
    verify: bool,
    stop_at_damage: bool,
) -> dict[str, Any]: ...
def detect_compression(path: str) -> str: ...
def digest_frames(
    frames: npt.NDArray[np.uint8], offsets: npt.NDArray[np.uint64], ignored: list[str]
) -> npt.NDArray[np.uint64]: ...
def masked_crc32c(data: bytes) -> int: ...
def crc32c_backend() -> str: ...
def pool_retained_bytes() -> int: ...
def trim_pool() -> None: ...
def find_byte(text: bytes, byte: int) -> npt.NDArray[np.int64]: ...
def has_leading_zeros(text: bytes, separators: bytes) -> bool: ...
def shrink_by_area(source: npt.NDArray[np.uint8], target: npt.NDArray[np.uint8]) -> None:
    """Fill `target` with `source` resized: each pixel is the mean of the area that it covers.

    Both are of shape (height, width, channels), in C order; neither side of the target is larger than the source's.
    """

def fill_picture(
    source: npt.NDArray[np.uint8],
    target: npt.NDArray[Any],
    *,
    part: tuple[int, int, int, int],
    planar: bool,
    flips: tuple[bool, bool],
    added: float,
    scale: float,
) -> None:
    """Resize a part (top, left, height, width) of a picture into an array of uint8 or float32."""

def adjust_contrast(pixels: npt.NDArray[np.float32], factor: float) -> None:
    """Change the contrast of values from 0 to 1, in place."""

def adjust_saturation(pixels: npt.NDArray[np.float32], factor: float) -> None:
    """Change the saturation of values from 0 to 1, in place."""

def pooled_bytes(size: int) -> npt.NDArray[np.uint8]:
    """Return memory for a batch, with any content; it is used again when the last array over it is gone."""

class JpegDecoder:
    """Decodes one JPEG after the other, for one thread."""

    def __init__(self) -> None: ...
    def open(self, data: npt.NDArray[np.uint8]) -> int:
        """Read the header: 0 if it can be decoded here, 1 if there is EXIF data too, 2 if it cannot."""

    @property
    def height(self) -> int: ...
    @property
    def width(self) -> int: ...
    def fill(
        self,
        target: npt.NDArray[Any],
        *,
        part: tuple[int, int, int, int],
        planar: bool,
        flips: tuple[bool, bool],
        added: float,
        scale: float,
    ) -> bool:
        """Do what `fill_picture` does, with three channels; False if the data are damaged."""
