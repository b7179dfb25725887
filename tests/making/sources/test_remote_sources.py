"""Sources of make on s3://: read by ranges, with the same dataset as from local files."""

import io
import os
import tarfile

import numpy as np
import pytest

import recordsmith as rs
from recordsmith.storage.objects import open_folder
from recordsmith.storage.ranged import remote_object

pytest.importorskip("obstore")
pyarrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

ROWS = 500


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("RECORDSMITH_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "indexes"))


def as_csv(folder):
    (folder / "rows.csv").write_text("n,word\n" + "".join(f"{n},w{n % 7}\n" for n in range(ROWS)))


def as_compressed_csv(folder):
    text = "n,word\n" + "".join(f"{n},w{n % 7}\n" for n in range(ROWS))
    with pyarrow.CompressedOutputStream(str(folder / "rows.csv.gz"), "gzip") as stream:
        stream.write(text.encode())


def as_jsonl(folder):
    (folder / "rows.jsonl").write_text("".join(f'{{"n": {n}, "word": "w{n % 7}"}}\n' for n in range(ROWS)))


def as_parquet(folder):
    table = pyarrow.table({"n": range(ROWS), "word": [f"w{n % 7}" for n in range(ROWS)], "x": np.arange(ROWS) / 2})
    parquet.write_table(table, folder / "rows.parquet", row_group_size=100)


def as_tar(folder):
    with tarfile.open(folder / "rows.tar", "w") as tar:
        for n in range(ROWS):
            for suffix, data in (("cls", str(n % 7).encode()), ("txt", f"row {n}".encode())):
                entry = tarfile.TarInfo(f"{n:05d}.{suffix}")
                entry.size = len(data)
                tar.addfile(entry, io.BytesIO(data))


def as_arrays(folder):
    np.savez_compressed(folder / "rows.npz", n=np.arange(ROWS), x=np.ones((ROWS, 3), "float32"))


def as_arrow(folder):
    table = pyarrow.table({"n": range(ROWS), "word": [f"w{n % 7}" for n in range(ROWS)]})
    with pyarrow.ipc.new_file(str(folder / "rows.arrow"), table.schema) as writer:
        writer.write_table(table, max_chunksize=100)


def as_hdf5(folder):
    with pytest.importorskip("h5py").File(folder / "rows.h5", "w") as file:
        file["n"] = np.arange(ROWS)
        file["x"] = np.ones((ROWS, 3), "float32")


def as_idx(folder):
    head = bytes([0, 0, 8, 1]) + ROWS.to_bytes(4, "big")
    (folder / "train-labels-idx1-ubyte").write_bytes(head + bytes(n % 7 for n in range(ROWS)))


def as_excel(folder):
    book = pytest.importorskip("openpyxl").Workbook()
    for row in (["n", "word"], *([n, f"w{n % 7}"] for n in range(ROWS))):
        book.active.append(row)
    book.save(folder / "rows.xlsx")


def as_json_array(folder):
    rows = ", ".join(f'{{"n": {n}, "word": "w{n % 7}"}}' for n in range(ROWS))
    (folder / "rows.json").write_text(f"[{rows}]")


def as_texts(folder):
    for kind in ("pos", "neg"):
        (folder / kind).mkdir()
        for n in range(20):
            (folder / kind / f"{n}.txt").write_text(f"{kind} {n}")


def as_images(folder):
    cv2 = pytest.importorskip("cv2")
    for label in ("cat", "dog"):
        (folder / label).mkdir()
        for n in range(20):
            pixels = np.full((12, 16, 3), n * 10, np.uint8)
            cv2.imwrite(str(folder / label / f"{n}.png"), pixels)


def upload(folder, url):
    remote = open_folder(url)
    for above, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(above, name)
            remote.upload(os.path.relpath(path, folder), path)


SOURCES = [as_csv, as_compressed_csv, as_jsonl, as_parquet, as_tar, as_arrays]
OTHERS = [as_arrow, as_hdf5, as_idx, as_excel, as_json_array, as_texts, as_images]


@pytest.mark.parametrize(
    ("write", "given"),
    [*((one, given) for one in SOURCES for given in ("folder", "file")), *((one, "folder") for one in OTHERS)],
)
def test_a_remote_source_gives_the_dataset_of_a_local_one(tmp_path, s3_url, write, given):
    source = tmp_path / "source"
    source.mkdir()
    write(source)
    upload(source, s3_url)
    names = [] if given == "folder" else [name for name in os.listdir(source) if (source / name).is_file()]
    local, remote = ("/".join([str(place), *names]) for place in (source, s3_url))
    rs.make(remote, tmp_path / "ours", shards=2, seed=3, name="d")
    rs.make(local, tmp_path / "theirs", shards=2, seed=3, name="d")
    shards = [name for name in sorted(os.listdir(tmp_path / "theirs")) if ".tfrecord-" in name]
    assert shards
    for name in shards:
        assert (tmp_path / "ours" / name).read_bytes() == (tmp_path / "theirs" / name).read_bytes()
    assert not (tmp_path / "cache" / "remote").exists()  # where whole files would be downloaded to


def test_images_that_a_remote_table_names_come_from_its_folder_only(tmp_path, s3_url):
    source = tmp_path / "source"
    source.mkdir()
    as_images(source)
    outside = tmp_path / "outside.png"
    outside.write_bytes((source / "cat" / "1.png").read_bytes())
    rows = ["cat/0.png,cat", "dog/3.png,dog", f"{outside},cat", "../outside.png,cat", "cat/none.png,cat"]
    (source / "rows.csv").write_text("\n".join(["image,label", *rows, ""]))
    upload(source, s3_url)
    table = rs.sources.csv(f"{s3_url}/rows.csv", images="image", label="label")
    made = rs.make(table, tmp_path / "made", max_rejects=1.0)
    assert len(rs.open(tmp_path / "made")) == 2
    assert made.rejects == 3


def test_a_source_that_changes_meanwhile_is_an_error(tmp_path, s3_url, monkeypatch):
    source = tmp_path / "source"
    source.mkdir()
    as_csv(source)
    upload(source, s3_url)
    found = rs.sources.csv(s3_url)
    open_folder(s3_url).put("rows.csv", b"n,word\n1,a\n")
    remote_object._arrived.forget()
    monkeypatch.setenv("RECORDSMITH_CACHE_LIMIT", "0")
    with pytest.raises(rs.RecordsmithError, match="changed"):
        rs.make(found, tmp_path / "made")
