"""Formats that are not read: what each is, and the few lines of Python with which its rows are passed to `rs.make`."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from glob import escape as glob_escape
from glob import glob
from itertools import islice

from recordsmith.errors import RecordsmithError, advise, list_names
from recordsmith.formats.files.folder_walk import walk_files
from recordsmith.formats.webdataset.recognition import is_sample_archive
from recordsmith.records.shards import parse_shard_name, split_in_name
from recordsmith.storage.ranged.opening import is_ranged, walk_folder

__all__ = ["error_about", "refuse_archive", "refuse_folder"]

_MOST_README = 1 << 20
_MOST_FILES_INSPECTED = 2000  # files of a folder that are looked at


@dataclass(frozen=True, slots=True)
class OtherFormat:
    """A format that is not read.

    Attributes:
        what: a sentence about the file.
        lines: the Python code that passes its rows to `rs.make`; PATH stands for the path.
        advice: what the code does.
    """

    what: str
    lines: str
    advice: str = "Read it in Python, and pass the rows:"


_PICKLE = OtherFormat(
    "A pickle is not read, because it can run any code.",
    """
import pickle
with open(PATH, "rb") as file:
    rows = pickle.load(file)  # runs the code in it: only for files that you trust
rs.make(rows, "data")  # a DataFrame, a dict of arrays, or a list of dicts
""",
)
_TORCH = OtherFormat(
    "Files of PyTorch are not read, because they can run code.",
    """
import torch
tensors = torch.load(PATH, weights_only=True)
rs.make({name: tensor.numpy() for name, tensor in tensors.items()}, "data")  # of a dict of tensors
""",
)
_R = OtherFormat(
    "Files of R are not read.",
    """
import pyreadr
frame = next(iter(pyreadr.read_r(PATH).values()))
rs.make(frame, "data")
""",
)
_ARCHIVE = OtherFormat(
    "Archives are not read, except tar files of WebDataset.",
    """
import shutil
shutil.unpack_archive(PATH, "unpacked")
rs.make("unpacked", "data")
""",
    "Unpack it, and pass the folder:",
)
_TAR = OtherFormat(
    "This tar file is an archive of files, and not of the samples of a WebDataset.",
    """
import shutil
shutil.unpack_archive(PATH, "unpacked", filter="data")
rs.make("unpacked", "data")
""",
    advise(
        "Unpack it, and pass the folder. If each of its files is a sample, pass {kind}.",
        kind=("rs.sources.webdataset(path)", "--kind webdataset"),
    ),
)
_PACKED = OtherFormat(
    "Archives are not read, except tar files of WebDataset.",
    """
import subprocess
subprocess.run(["7z", "x", PATH, "-ounpacked"], check=True)
rs.make("unpacked", "data")
""",
    "Unpack it, and pass the folder:",
)
_OLD_SHEET = OtherFormat(
    "Of workbooks, only .xlsx and .xlsm are read.",
    """
import pandas
frame = pandas.read_excel(PATH)
rs.make(frame, "data")
""",
)
_PROTOBUF = OtherFormat(
    "A protobuf message does not say what its fields are.",
    """
from google.protobuf.json_format import MessageToDict
from your_messages_pb2 import Message  # made by protoc from the .proto file
with open(PATH, "rb") as file:
    message = Message.FromString(file.read())
rs.make([MessageToDict(message)], "data")
""",
)
_ROBOT_LOG = OtherFormat(
    "Logs of robots are not read.",
    """
from pathlib import Path
from rosbags.highlevel import AnyReader
with AnyReader([Path(PATH)]) as log:
    rows = ({"topic": c.topic, "time": time, "message": bytes(data)} for c, time, data in log.messages())
    rs.make(rows, "data")
""",
)
_LMDB = OtherFormat(
    "LMDB databases are not read.",
    """
import lmdb
with lmdb.open(PATH, readonly=True, lock=False, subdir=SUBDIR) as database, database.begin() as reading:
    rows = ({"key": key, "value": value} for key, value in reading.cursor())
    rs.make(rows, "data")
""",
)
_LANCE = OtherFormat(
    "Lance is read through its own library.",
    """
import lance
rs.make(lance.dataset(PATH), "data")
""",
)
_DELTA = OtherFormat(
    "This is a Delta table: its files also have rows that were deleted.",
    """
import deltalake
rs.make(deltalake.DeltaTable(PATH).to_pyarrow_table(), "data")
""",
)
_ICEBERG = OtherFormat(
    "This is an Iceberg table: its files also have rows that were deleted.",
    """
from pyiceberg.table import StaticTable
rs.make(StaticTable.from_metadata(PATH).scan().to_arrow(), "data")
""",
)
_ZARR = OtherFormat(
    "Zarr is not read.",
    """
import zarr
group = zarr.open(PATH, mode="r")
rs.make({name: array[:] for name, array in group.arrays()}, "data")
""",
)
_PDF = OtherFormat(
    "PDF documents are not read.",
    """
import pypdf
pages = pypdf.PdfReader(PATH).pages
rs.make([{"page": n, "text": page.extract_text()} for n, page in enumerate(pages)], "data")
""",
)
_DOCX = OtherFormat(
    "Word documents are not read.",
    """
import docx
paragraphs = docx.Document(PATH).paragraphs
rs.make([{"text": paragraph.text} for paragraph in paragraphs], "data")
""",
)


def _pandas(what: str, function: str) -> OtherFormat:
    """Return what is said about a format that pandas reads."""
    return OtherFormat(f"{what} are not read.", f'\nimport pandas\nrs.make(pandas.{function}(PATH), "data")\n')


_BY_SUFFIX = {
    **dict.fromkeys((".pkl", ".pickle", ".p", ".joblib"), _PICKLE),
    **dict.fromkeys((".pt", ".pth", ".ckpt"), _TORCH),
    ".safetensors": OtherFormat(
        "Safetensors files are not read.",
        '\nfrom safetensors.numpy import load_file\nrs.make(load_file(PATH), "data")\n',
    ),
    **dict.fromkeys((".rds", ".rdata", ".rda"), _R),
    ".sav": _pandas("Files of SPSS", "read_spss"),
    ".dta": _pandas("Files of Stata", "read_stata"),
    ".sas7bdat": _pandas("Files of SAS", "read_sas"),
    ".xpt": _pandas("Files of SAS", "read_sas"),
    ".xml": _pandas("XML files", "read_xml"),
    ".orc": OtherFormat(
        "ORC files are not read.", '\nimport pyarrow.orc\nrs.make(pyarrow.orc.read_table(PATH), "data")\n'
    ),
    ".avro": OtherFormat(
        "Avro files are not read.",
        '\nimport fastavro\nwith open(PATH, "rb") as file:\n    rs.make(fastavro.reader(file), "data")\n',
    ),
    ".arff": OtherFormat(
        "ARFF files are not read.",
        "\nimport pandas, scipy.io.arff\nrows, kinds = scipy.io.arff.loadarff(PATH)\n"
        'rs.make(pandas.DataFrame(rows), "data")\n',
    ),
    ".svmlight": OtherFormat(
        "LIBSVM files are not read.",
        "\nfrom sklearn.datasets import load_svmlight_file\nx, y = load_svmlight_file(PATH)\n"
        'rs.make({"x": x.toarray(), "y": y}, "data")\n',
    ),
    ".bin": OtherFormat(
        "A file of raw numbers does not contain their dtype and shape.",
        '\nimport numpy\nvalues = numpy.fromfile(PATH, "uint8").reshape(-1, 3073)  # as CIFAR-10 has them\n'
        'rs.make({"label": values[:, 0], "image": values[:, 1:]}, "data")\n',
    ),
    ".zip": _ARCHIVE,
    **dict.fromkeys((".7z", ".rar"), _PACKED),
    **dict.fromkeys((".xls", ".xlsb", ".ods"), _OLD_SHEET),
    **dict.fromkeys((".pb", ".binpb", ".pbtxt"), _PROTOBUF),
    **dict.fromkeys((".mcap", ".bag", ".db3"), _ROBOT_LOG),
    **dict.fromkeys((".mdb", ".lmdb"), _LMDB),
    ".lance": _LANCE,
    ".zarr": _ZARR,
    ".pdf": _PDF,
    ".docx": _DOCX,
}
_BY_SUFFIX[".libsvm"] = _BY_SUFFIX[".svmlight"]
# Files and folders that say what the folder is that they are in.
_BY_ENTRY = {
    "_delta_log": _DELTA,
    "data.mdb": _LMDB,
    ".zgroup": _ZARR,
    "zarr.json": _ZARR,
    "_versions": _LANCE,
}


def refuse_folder(folder: str) -> None:
    """Raise for a folder that is one table or store of a format that is not read, or several datasets in one."""
    _refuse_configurations(folder)
    _refuse_same_shards(folder)
    for entry, other in _BY_ENTRY.items():
        if os.path.exists(os.path.join(folder, entry)):
            raise _error(other, folder)
    versions = sorted(glob(os.path.join(glob_escape(folder), "metadata", "*.metadata.json")))
    if versions:
        raise _error(_ICEBERG, versions[-1])


def _refuse_configurations(folder: str) -> None:
    """Refuse a repository of Hugging Face whose README says what file names do not: several datasets, other splits."""
    try:
        with open(os.path.join(folder, "README.md"), encoding="utf-8", errors="replace") as file:
            front = file.read(_MOST_README).split("\n---", 1)[0]
    except OSError:
        return
    if not front.startswith("---") or not re.search(r"(?m)^configs:", front):
        return
    names = list(dict.fromkeys(re.findall(r"(?m)^\s*-?\s*config_name:\s*[\"']?([^\s\"']+)", front)))
    pairs = re.findall(r"(?m)^\s*-\s*split:\s*[\"']?([^\s\"']+)[\"']?\s*\n\s*path:[ \t]*[\"']?([^\s\"']+)", front)
    hidden = [split for split, path in pairs if split not in map(split_in_name, path.split("/"))]
    if len(names) < 2 and (not hidden or len(pairs) < 2):
        return
    what = "has several datasets" if len(names) > 1 else "says which files are which split"
    raise RecordsmithError(
        f"The README of this repository of Hugging Face {what}.",
        path=os.path.join(folder, "README.md"),
        found=list_names(names if len(names) > 1 else [f"{split}: {path}" for split, path in pairs]),
        advice="Pass the files or the folder of one of them, or load it with its library, and pass it:",
        example=f"import datasets\nloaded = datasets.load_dataset({folder!r}"
        + (f", {names[0]!r}" if len(names) > 1 else "")
        + ')\nrs.make(loaded, "data")',
    )


def _refuse_same_shards(folder: str) -> None:
    """Refuse folders with the same shard of a split, such as en/train-00000-of-00001.parquet and de/..., the same."""
    seen: dict[tuple[str, str], str] = {}
    names = (name for _, name in (walk_folder(folder) if is_ranged(folder) else walk_files(folder)))
    for name in names:
        folders, _, file = name.rpartition("/")
        shard = parse_shard_name(file)
        if shard.shard is None or shard.split is None or "=" in folders:
            continue
        splits = ",".join(found for part in folders.split("/") if (found := split_in_name(part)))
        other = seen.setdefault((file, splits), name)
        if other != name:
            raise RecordsmithError(
                "Several folders have the same shard of a split: they look like several datasets.",
                path=folder,
                found=list_names(sorted([other, name])),
                advice="Pass the folder of one of them. If they are one dataset, pass a glob such as 'data/*/*'.",
            )


def error_about(path: str) -> RecordsmithError | None:
    """Return the error for a file of a format that is not read, or for a folder of such; None if it is not known.

    >>> print(error_about("log.avro"))
    Avro files are not read.
      where:    log.avro
      to do:    Read it in Python, and pass the rows:
    <BLANKLINE>
        import fastavro
        with open('log.avro', "rb") as file:
            rs.make(fastavro.reader(file), "data")
    """
    if not os.path.isdir(path):
        other = _BY_SUFFIX.get(os.path.splitext(path)[1].lower())
        return None if other is None else _error(other, path)
    for entry, _ in islice(walk_files(path), _MOST_FILES_INSPECTED):
        found = _BY_SUFFIX.get(os.path.splitext(entry.name)[1].lower())
        if found is not None and found is not _PDF:  # which are often next to the data
            return _error(found, entry.path)
    return None


def refuse_archive(path: str) -> None:
    """Raise for a tar file that is an archive of files, and not of the samples of a WebDataset."""
    if not is_sample_archive(path):
        raise _error(_TAR, path)


def _error(other: OtherFormat, path: str) -> RecordsmithError:
    lines = other.lines.strip().replace("PATH", repr(path)).replace("SUBDIR", str(os.path.isdir(path)))
    return RecordsmithError(other.what, path=path, advice=other.advice, example=lines)
