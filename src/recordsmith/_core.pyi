"""The native core: the compiled module of `cpp/`. Its layouts are described in recordsmith/schema/plan.py."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias, overload

import numpy as np
import numpy.typing as npt

class Plan:
    def __init__(self, columns: list[tuple[str, str, int, int, str, Any, bool]], /) -> None: ...

# Of a file: inode, size, modified, changed, sample, noted (cpp/files/file_identity.h).
Identity: TypeAlias = tuple[int, int, int, int, int, int]

class RecordStream:
    def __init__(self, path: str, compression: str, verify: bool, known: Identity | None = None) -> None: ...
    def next(self) -> bytes | None: ...
    def next_frames(self, target_bytes: int) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.uint64]] | None: ...
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
        known: list[tuple[Identity, int, int]] | None = None,
    ) -> None: ...
    def next(self) -> tuple[int, list[Any]] | None: ...

class FileSet:
    def __init__(self, paths: list[str], known: list[Identity] | None = None) -> None: ...
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

class IndexFile:
    @staticmethod
    def open_fitting(path: str, data: str) -> IndexFile | None: ...
    @staticmethod
    def open(path: str) -> IndexFile | None: ...
    def __len__(self) -> int: ...
    def read(self, first: int, last: int) -> npt.NDArray[np.uint64]: ...
    def is_sound(self) -> bool: ...
    @property
    def facts(self) -> tuple[Identity, str, int]: ...

class IndexedFiles:
    def __init__(
        self, paths: list[str], known: list[Identity], indexes: list[npt.NDArray[np.uint64] | IndexFile]
    ) -> None: ...
    def read(self, numbers: npt.NDArray[np.int64], verify: bool) -> list[bytes]: ...
    def decode(self, plan: Plan, numbers: npt.NDArray[np.int64], verify: bool) -> list[Any]: ...
    def announce(self, numbers: npt.NDArray[np.int64]) -> None: ...

class RecoveredPiece:
    """A piece of a damaged file; see cpp/recovery/recovery.h.

    Attributes:
        kind: "sound", "repaired", "suspect", "doubtful" or "lost".
        is_kept: it is sound or repaired.
    """

    kind: str
    begin: int
    end: int
    records: int
    data_begin: int
    data_size: int
    header_is_sound: bool
    longest_zeros: int
    is_kept: bool

class RecordRecovery:
    def __init__(self, path: str) -> None: ...
    def advance(self, size: int) -> bool: ...
    def pieces(self) -> list[RecoveredPiece]: ...
    def read_frames(self, begin: int, end: int, target_bytes: int) -> npt.NDArray[np.uint8]: ...
    def frame(self, data_begin: int, data_size: int) -> npt.NDArray[np.uint8]: ...
    @property
    def offset(self) -> int: ...
    @property
    def size(self) -> int: ...

class InflateGap:
    """Compressed bytes that were not inflated, and where in the inflated file they are missing."""

    reason: str
    begin: int
    end: int
    inflated_at: int

class InflateRecovery:
    def __init__(self, path: str, compression: str, scratch: str) -> None: ...
    def advance(self, size: int) -> bool: ...
    def gaps(self) -> list[InflateGap]: ...
    @property
    def offset(self) -> int: ...
    @property
    def inflated(self) -> int: ...

class RecordSink:
    @overload
    def __init__(self, path: str, compression: str, level: int, threads: int) -> None: ...
    @overload
    def __init__(self) -> None: ...
    def digest_with(self, digest: hashlib._Hash) -> None: ...
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

def deal_columns(
    sinks: list[RecordSink], plan: Plan, parts: list[Any], rows: int, first_sink: int, threads: int
) -> None: ...

class RowEncoder:
    def __init__(self, plan: Plan, rules: list[tuple[bool, bool, str, tuple[int | None, ...]]]) -> None: ...
    def append(
        self,
        sink: RecordSink,
        rows: list[Any],
        first_number: int,
        convert: Callable[[Any, int], dict[str, Any]],
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
def build_index(path: str, compression: str) -> tuple[tuple[Identity, str, int], npt.NDArray[np.uint64]]: ...
def build_index_file(path: str, compression: str, target: str) -> None: ...
def write_index_file(
    target: str, identity: Identity, compression: str, content: int, offsets: npt.NDArray[np.uint64]
) -> None: ...
def record_numbers(keys: list[Any], start: int, step: int, count: int) -> npt.NDArray[np.int64] | None: ...
def verify_files(paths: list[str], compressions: Sequence[str], threads: int) -> int: ...

class CensusFeature:
    """What a look at the records found out about one feature; `recordsmith.dataset.inference` describes it."""

    key: str
    in_steps: bool
    records: int
    kinds: dict[str, int]
    counts: tuple[int, int]
    lengths: tuple[int, int]
    is_text: bool

class Census:
    """What a look at the records found out."""

    records: int
    is_complete: bool
    payloads: dict[str, int]
    features: list[CensusFeature]

def census(
    paths: list[str],
    compressions: Sequence[str],
    records_per_file: int,
    bytes_per_file: int,
    verify: bool,
    stop_at_damage: bool,
) -> Census: ...
def detect_compression(path: str) -> str: ...
def digest_frames(
    frames: npt.NDArray[np.uint8], offsets: npt.NDArray[np.uint64], ignored: list[str]
) -> npt.NDArray[np.uint64]: ...
def masked_crc32c(data: bytes) -> int: ...
def crc32c(data: bytes | memoryview) -> int: ...
def digest_bytes(data: bytes | memoryview | npt.NDArray[Any]) -> bytes: ...
def crc32c_backend() -> str: ...
def pool_retained_bytes() -> int: ...
def trim_pool() -> None: ...
def string_tensor(columns: list[tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]]], shape: list[int]) -> bytes: ...
def find_byte(text: bytes, byte: int) -> npt.NDArray[np.int64]: ...
def has_leading_zeros(text: bytes, separators: bytes) -> bool: ...
def json_depth(text: bytes) -> int: ...
def mark_rows_with(
    word: bytes,
    data: npt.NDArray[np.uint8],
    offsets: npt.NDArray[np.int64],
    marks: npt.NDArray[np.bool_],
    *,
    any_case: bool,
) -> None: ...
def shrink_by_area(source: npt.NDArray[np.uint8], target: npt.NDArray[np.uint8]) -> None:
    """Fill `target` with `source` resized: each pixel is the mean of the area that it covers.

    Both are of shape (height, width, channels), in C order; neither side of the target is larger than the source's.
    """

def fill_image(
    source: npt.NDArray[np.uint8],
    target: npt.NDArray[Any],
    *,
    part: tuple[int, int, int, int],
    planar: bool,
    flips: tuple[bool, bool],
    added: float,
    scale: float,
) -> None:
    """Resize a part (top, left, height, width) of an image into an array of uint8 or float32."""

def adjust_contrast(pixels: npt.NDArray[np.float32], factor: float) -> None:
    """Change the contrast of values from 0 to 1, in place."""

def adjust_saturation(pixels: npt.NDArray[np.float32], factor: float) -> None:
    """Change the saturation of values from 0 to 1, in place."""

def pack_lengths(lengths: npt.NDArray[np.int64], capacity: int, best: bool) -> npt.NDArray[np.int64]:
    """Return the row that each sequence is put into, by first fit, or by best fit with the longest first."""

def fill_packed(
    values: npt.NDArray[np.uint8],
    starts: npt.NDArray[np.int64],
    sizes: npt.NDArray[np.int64],
    rows: npt.NDArray[np.int64],
    padding: npt.NDArray[np.uint8],
    target: npt.NDArray[np.uint8],
) -> None:
    """Copy pieces of the values, in rising order of their rows, into the rows of `target`, and fill up the rest."""

def number_packed(
    sizes: npt.NDArray[np.int64],
    rows: npt.NDArray[np.int64],
    segments: npt.NDArray[np.int32],
    positions: npt.NDArray[np.int32],
) -> None:
    """Write the numbers of the pieces in their row, from 1, and of the items in their piece, from 0; 0 elsewhere."""

def gather_rows(
    values: npt.NDArray[np.uint8], starts: npt.NDArray[np.int64], stops: npt.NDArray[np.int64], item: int
) -> npt.NDArray[np.uint8]:
    """Return some rows of flat values, one after the other; starts and stops count items of `item` bytes."""

def pad_rows(
    values: npt.NDArray[np.uint8],
    offsets: npt.NDArray[np.int64],
    padding: npt.NDArray[np.uint8],
    target: npt.NDArray[np.uint8],
) -> None:
    """Copy rows into the rows of `target`, and fill the rest with `padding`, which is one item; offsets count items."""

def pooled_bytes(size: int) -> npt.NDArray[np.uint8]:
    """Return memory for a batch, with any content; it is reused when the last array over it is gone."""

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
        """Do what `fill_image` does, with three channels; False if the data are damaged."""

def read_image_header(data: bytes) -> tuple[str, int, int, int, int, int, bool] | None:
    """Return the format, height, width, channels, orientation, bits and whether it is plain; None for other data."""

# What a survey of files takes.

class SurveyFile:
    """A file and the number of its split."""

    def __init__(self, path: str, split: int) -> None: ...

class RawNumbers:
    """Numbers of one dtype in a byte string: all of it ("" and no count), or a named part at an offset."""

    def __init__(self, part: str, dtype: str, offset: int, count: int | None) -> None: ...

class Expectation:
    """What a schema says about a stored feature.

    Attributes:
        kind: "bytes", "float" or "int64".
        count: values per record or step; None for any number.
        row_bytes: the size of each byte string; None for any.
        classes: the number of classes of a label; None if it is none.
        raw_numbers: what byte strings contain.
    """

    def __init__(
        self,
        kind: str,
        *,
        count: int | None,
        row_bytes: int | None,
        classes: int | None,
        raw_numbers: list[RawNumbers],
    ) -> None: ...
    count: int
    classes: int

class SurveyOptions:
    """How to survey: see SurveyOptions in cpp/survey/survey.h."""

    def __init__(
        self,
        *,
        threads: int,
        records_per_file: int | None,
        unit_bytes: int,
        digests_in_memory: int,
        temporary_folder: str,
        frames_only: bool,
    ) -> None: ...

# What a survey returns: see cpp/survey/facts/summary.h.

RecordName: TypeAlias = tuple[int, int, int]  # the number of its file, its number in the file, its offset

class SurveyPlace:
    record: RecordName
    detail: str

class Sizes:
    """The smallest, the largest and the sum of some sizes."""

    count: int
    min: int
    max: int
    sum: int

class DamageSummary:
    """One damage of a file: the facts of a failure (core_failures.py), and how many bytes were skipped."""

    code: str
    offset: int | None
    record: int | None
    found: str
    expected: str
    detail: str
    system_error: int
    bytes: int | None

class FileSummary:
    """One file. `records` counts sound records; `payloads` counts them by what they are, such as "Example"."""

    def __init__(self) -> None: ...
    compression: str
    records: int
    payload_bytes: int
    sizes: Sizes | None
    payloads: dict[str, int]
    damages: list[DamageSummary]
    damage_count: int
    is_complete: bool

class ValueSummary:
    """How many different values there are, and how far an estimate may be off."""

    distinct: float
    is_exact: bool
    distinct_error: float

class NumberSummary:
    """Numbers of one feature. Quantiles are at the shares `SHARES` of facts/from_core/feature_facts.py.

    Without finite numbers, `min` to `deviation` mean nothing, and quantiles and edges are empty.
    """

    values: ValueSummary
    frequent: list[tuple[int | float, int]]
    count: int
    finite: int
    min: int | float
    max: int | float
    mean: float
    deviation: float
    zeros: int
    negatives: int
    nan: int
    positive_infinity: int
    negative_infinity: int
    is_integral: bool
    quantiles: list[float]
    quantiles_are_exact: bool
    rank_error: float
    edges: list[float]
    counts: list[int]

class ImageSummary:
    """Images among the byte strings of a feature; `sample` names some by record, step and value."""

    images: int
    formats: dict[str, int]
    channels: dict[int, int]
    heights: Sizes | None
    widths: Sizes | None
    no_header_places: list[SurveyPlace]
    suffix_differs: int
    suffix_places: list[SurveyPlace]
    sample: list[tuple[RecordName, int, int]]

class StringSummary:
    """Byte strings of one feature. `all` has every value and its count where there are few."""

    values: ValueSummary
    frequent: list[tuple[bytes, int]]
    all: list[tuple[bytes, int]]
    count: int
    lengths: Sizes | None
    empty: int
    ascii: int
    utf8: int
    leading_space: int
    trailing_space: int
    control: int
    images: ImageSummary

class LabelSummary:
    """The classes of the records: their values and counts, and which of them each record has."""

    classes: list[int] | list[bytes]
    counts: list[int]
    sequence: npt.NDArray[np.uint16]
    longest_run: int
    outside: int
    outside_places: list[SurveyPlace]

class RawNumberSummary:
    """Numbers that a schema declares in byte strings; `part` is "" if they are all of the string."""

    part: str
    numbers: NumberSummary
    not_finite_places: list[SurveyPlace]

class FeatureSummary:
    """One feature. `kinds` counts records by "bytes", "float" and "int64"; `label` is set if its values are classes."""

    key: str
    in_steps: bool
    records: int
    unset: int
    empty: int
    kinds: dict[str, int]
    kind_places: dict[str, list[SurveyPlace]]
    missing_places: list[SurveyPlace]
    not_finite_places: list[SurveyPlace]
    lengths: Sizes | None
    steps: Sizes | None
    stored_bytes: int
    wrong_shape: int
    wrong_shape_places: list[SurveyPlace]
    floats: NumberSummary | None
    int64s: NumberSummary | None
    strings: StringSummary | None
    raw_numbers: list[RawNumberSummary]
    label: LabelSummary | None

class AnomalySummary:
    kind: str
    feature: str
    count: int
    places: list[SurveyPlace]

class SplitSummary:
    """The records of one split, or of all."""

    def __init__(self) -> None: ...
    examples: int
    features: list[FeatureSummary]
    anomalies: list[AnomalySummary]
    features_left_out: float
    provenance: list[str]

class DuplicateGroup:
    """Records with equal content: the first by file and number, and the splits that have them."""

    count: int
    payloads_differ: bool
    records: list[tuple[int, int]]
    splits: list[int]

class DuplicateSummary:
    """Repeated content: counts by split, and by pairs of splits."""

    def __init__(self) -> None: ...
    within: list[int]
    across: dict[tuple[int, int], int]
    groups: list[DuplicateGroup]

class SurveySummary:
    files: list[FileSummary]
    splits: list[SplitSummary]
    total: SplitSummary
    duplicates: DuplicateSummary
    contradictions: DuplicateSummary

def survey(
    files: list[SurveyFile],
    expected: dict[tuple[str, bool], Expectation],
    *,
    provenance: list[str],
    options: SurveyOptions,
    progress: Callable[[int], object] | None,
) -> SurveySummary:
    """Survey files. `expected` is by key and whether it is in the feature lists; `progress` gets the bytes done."""

class SurveyUnit:
    """A stretch of a file that another process can survey: see cpp/survey/divided_survey.h."""

    size: int
    packed: bytes

class DividedSurvey:
    """A survey whose units are surveyed by other processes."""

    def __init__(
        self,
        files: list[SurveyFile],
        expected: dict[tuple[str, bool], Expectation],
        *,
        provenance: list[str],
        options: SurveyOptions,
    ) -> None: ...
    def plan(self) -> list[SurveyUnit]: ...
    def add(self, tallies: bytes) -> None:
        """Merge what was counted in the next unit."""
    def finish(self) -> SurveySummary: ...

def survey_unit(
    unit: bytes, expected: dict[tuple[str, bool], Expectation], *, provenance: list[str], options: SurveyOptions
) -> bytes:
    """Survey a unit that another process has planned; returns what was counted."""

def histogram_edges(low: float, high: float, integral: bool, most_bins: int) -> list[float]: ...
def mean_classes(sequence: npt.NDArray[np.uint16], window: int, buffer: int, key: int) -> float: ...
