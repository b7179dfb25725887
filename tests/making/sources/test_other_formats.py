"""What is not read is named, with lines of Python that really pass its rows to rs.make."""

from __future__ import annotations

import os
import pickle
import re
import shutil
import subprocess
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import recordsmith as rs
from recordsmith.making.sources.other_formats import _BY_SUFFIX, error_about

FRAME = pd.DataFrame({"n": [1, 2, 3], "words": ["a", "b", "c"]})


def lines_of(path: Path, out: Path) -> str:
    with pytest.raises(rs.RecordsmithError) as caught:
        rs.make(path, out)
    assert not out.exists() or not list(out.iterdir())
    assert "csv" not in str(caught.value)
    assert re.search("(Read it in Python|Unpack it), and pass the (rows|folder):", caught.value.on_command_line())
    lines = caught.value.example or ""
    assert 2 <= len(lines.splitlines()) <= 5
    return lines


def rows_by(lines: str) -> list[dict[str, Any]]:
    exec(lines, {"rs": rs})
    return list(rs.open("data"))


def written_pickle(path: Path) -> None:
    path.write_bytes(pickle.dumps([{"n": n} for n in (1, 2, 3)]))


def written_torch(path: Path) -> None:
    torch = pytest.importorskip("torch")
    torch.save({"n": torch.tensor([1, 2, 3])}, path)


def written_safetensors(path: Path) -> None:
    pytest.importorskip("safetensors.numpy").save_file({"n": np.array([1, 2, 3])}, path)


def written_stata(path: Path) -> None:
    FRAME.to_stata(path, write_index=False)


def written_orc(path: Path) -> None:
    pytest.importorskip("pyarrow.orc").write_table(pa.table({"n": [1, 2, 3]}), path)


def written_avro(path: Path) -> None:
    fastavro = pytest.importorskip("fastavro")
    with path.open("wb") as file:
        fields = [{"name": "n", "type": "long"}]
        fastavro.writer(file, {"type": "record", "name": "r", "fields": fields}, [{"n": n} for n in (1, 2, 3)])


def written_arff(path: Path) -> None:
    path.write_text("@relation r\n@attribute n numeric\n@data\n1\n2\n3\n")


def written_svmlight(path: Path) -> None:
    path.write_text("1 1:1\n0 1:2\n1 1:3\n")


def written_bin(path: Path) -> None:
    np.arange(3 * 3073).astype(np.uint8).tofile(path)


def written_zip(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.csv", "n\n1\n2\n3\n")


def written_xml(path: Path) -> None:
    pytest.importorskip("lxml")
    FRAME.to_xml(path, index=False)


def written_lmdb(path: Path) -> None:
    lmdb = pytest.importorskip("lmdb")
    with lmdb.open(str(path), subdir=not path.suffix) as database, database.begin(write=True) as writing:
        for n in range(3):
            writing.put(b"%d" % n, b"x")


def written_lance(path: Path) -> None:
    pytest.importorskip("lance").write_dataset(pa.table({"n": [1, 2, 3]}), str(path))


def written_delta(path: Path) -> None:
    deltalake = pytest.importorskip("deltalake")
    deltalake.write_deltalake(str(path), pa.table({"n": [1, 2, 3, 4]}))
    deltalake.DeltaTable(str(path)).delete("n = 4")


def written_zarr(path: Path) -> None:
    group = pytest.importorskip("zarr").open_group(str(path), mode="w")
    group["n"] = np.array([1, 2, 3])


def written_docx(path: Path) -> None:
    document = pytest.importorskip("docx").Document()
    for word in "abc":
        document.add_paragraph(word)
    document.save(str(path))


def written_pdf(path: Path) -> None:
    writer = pytest.importorskip("pypdf").PdfWriter()
    for _ in range(3):
        writer.add_blank_page(width=72, height=72)
    writer.write(str(path))


def written_protobuf(path: Path) -> None:
    path.write_bytes(b"")


CASES = {
    "a.pkl": written_pickle,
    "a.pt": written_torch,
    "a.safetensors": written_safetensors,
    "a.dta": written_stata,
    "a.orc": written_orc,
    "a.avro": written_avro,
    "a.arff": written_arff,
    "a.libsvm": written_svmlight,
    "a.bin": written_bin,
    "a.zip": written_zip,
    "a.xml": written_xml,
    "a.lmdb": written_lmdb,
    "lmdb folder": written_lmdb,
    "a.lance": written_lance,
    "delta": written_delta,
    "a.zarr": written_zarr,
    "a.docx": written_docx,
    "a.pdf": written_pdf,
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.filterwarnings("ignore")  # those of other libraries
def test_the_lines_do_what_they_say(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    CASES[name](tmp_path / name)
    rows = rows_by(lines_of(tmp_path / name, tmp_path / "out"))
    assert len(rows) == 3
    if "n" in rows[0]:
        assert sorted(int(row["n"]) for row in rows) == [1, 2, 3]


def test_a_protobuf_message_with_a_class_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    struct = pytest.importorskip("google.protobuf.struct_pb2")
    message = struct.Struct()
    message["n"] = 3
    (tmp_path / "a.pb").write_bytes(message.SerializeToString())
    lines = lines_of(tmp_path / "a.pb", tmp_path / "out")
    lines = lines.replace("your_messages_pb2 import Message ", "google.protobuf.struct_pb2 import Struct as Message ")
    assert [row["n"] for row in rows_by(lines)] == [3]


def test_other_archives_are_unpacked_by_a_program(tmp_path, monkeypatch):
    if shutil.which("7z") is None:
        assert "7z" in str(error_about("a.rar"))
        return
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.csv").write_text("n\n1\n2\n3\n")
    subprocess.run(["7z", "a", "a.7z", "a.csv"], check=True, capture_output=True)
    assert len(rows_by(lines_of(tmp_path / "a.7z", tmp_path / "out"))) == 3


@pytest.mark.parametrize("suffix", _BY_SUFFIX)
def test_every_format_is_named_alone_and_in_a_folder(suffix, tmp_path):
    path = tmp_path / "folder" / f"a{suffix}"
    path.parent.mkdir()
    path.write_bytes(b"\x01\x02")
    lines = lines_of(path, tmp_path / "out")
    assert repr(str(path)) in lines
    compile(lines, "lines", "exec")
    if suffix != ".pdf":  # which are often beside the data
        assert lines_of(path.parent, tmp_path / "out") == lines


class Harmful:
    def __reduce__(self) -> Any:
        return os.mkdir, ("/tmp/recordsmith-was-run",)


def test_a_pickle_is_never_run(tmp_path):
    for name in ("a.pkl", "a.pt", "a.joblib", "a.bin", "a", "a.mat", "a.h5", "a.npy", "a.arrow", "a.xlsx", "a.db"):
        (tmp_path / name).write_bytes(pickle.dumps(Harmful()))
        with pytest.raises(rs.RecordsmithError):
            rs.make(tmp_path / name, tmp_path / "out")
    assert not Path("/tmp/recordsmith-was-run").exists()
