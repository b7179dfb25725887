"""The kinds of sources: the module of each, and how its files are recognised. A new kind is one entry here."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["KINDS", "KIND_OF_CONTENT", "KIND_OF_SUFFIX", "Kind"]


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of source.

    Attributes:
        module: where its function is, below `recordsmith`.
        suffixes: how the names of its files end, before a suffix of compression.
        contents: what `records.file_signatures` calls the content of its files, where names say nothing.
    """

    module: str
    suffixes: tuple[str, ...] = ()
    contents: tuple[str, ...] = ()


KINDS = {
    "images": Kind(
        "formats.images.source",
        (".jpg", ".jpeg", ".png", ".webp", ".bmp", ".gif", ".jpe", ".jfif"),
        ("jpeg", "png", "gif"),
    ),
    "coco": Kind("formats.detection.coco"),
    "voc": Kind("formats.detection.voc"),
    "yolo": Kind("formats.detection.yolo"),
    "masks": Kind("formats.detection.masks"),
    "listed": Kind("formats.listed.source"),
    "csv": Kind("formats.csv.source", (".csv", ".tsv")),
    "jsonl": Kind("formats.json_lines.source", (".jsonl", ".ndjson", ".json")),
    "parquet": Kind("formats.parquet.source", (".parquet", ".pq"), ("parquet",)),
    "arrow": Kind("formats.arrow.source", (".arrow", ".feather", ".ipc"), ("arrow",)),
    "arrays": Kind("formats.arrays.source", (".npy", ".npz"), ("npy",)),
    "hdf5": Kind("formats.hdf5.source", (".h5", ".hdf5", ".hdf"), ("hdf5",)),
    "mat": Kind("formats.mat.source", (".mat",)),
    "idx": Kind("formats.idx.source"),
    "cifar": Kind("formats.cifar.source"),
    "sql": Kind("formats.sql.source", (".sqlite", ".sqlite3", ".duckdb"), ("sqlite", "duckdb")),
    "excel": Kind("formats.excel.source", (".xlsx", ".xlsm")),
    "text": Kind("formats.text_files.source", (".txt",)),
    "webdataset": Kind("formats.webdataset.source", (".tar", ".tgz"), ("tar",)),
    "tfrecords": Kind("making.sources.tfrecord_files", (), ("tfrecord",)),
    "lerobot": Kind("formats.lerobot.source"),
    "rlds": Kind("making.sources.rlds_episodes"),
    "audio": Kind(
        "formats.audio.source",
        (".wav", ".wave", ".flac", ".ogg", ".oga", ".opus", ".mp3", ".m4a", ".aac", ".aif", ".aiff", ".wma", ".amr"),
    ),
    "dicom": Kind("formats.scans.source", (".dcm", ".dicom", ".ima")),
    "nifti": Kind("formats.scans.source", (".nii",)),
    "tiff": Kind("formats.scans.source", (".tif", ".tiff")),
    "video": Kind("formats.video.source", (".mp4", ".avi", ".mov", ".mkv", ".webm", ".m4v", ".mpg", ".mpeg")),
}

KIND_OF_SUFFIX = {suffix: name for name, kind in KINDS.items() for suffix in kind.suffixes}
KIND_OF_CONTENT = {content: name for name, kind in KINDS.items() for content in kind.contents}
