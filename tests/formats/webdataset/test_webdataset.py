"""Tar files of samples: how they are grouped and typed, and what is said about files that are cut or damaged."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import io
import lzma
import pickle
import tarfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recordsmith.errors import CompressionError, CorruptRecordError, PipelineError, RecordsmithError, TruncatedFileError
from recordsmith.formats.webdataset.source import webdataset
from recordsmith.images import read_header
from recordsmith.schema import Bytes, Image, Label, Scalar, Tensor, Text
from tests.images.made_images import colour, oriented, saved

JPEG = saved(colour(), "jpeg")
PNG = saved(colour(), "png")

Members = dict[str, bytes] | list[tuple[str, bytes]]


def tar(members: Members, tar_format: int = tarfile.USTAR_FORMAT) -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w", format=tar_format) as archive:
        for name, data in members.items() if isinstance(members, dict) else members:
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return file.getvalue()


def npy(array: object) -> bytes:
    file = io.BytesIO()
    np.save(file, np.asarray(array))
    return file.getvalue()


def test_a_sample_in_two_places_is_an_error(tmp_path):
    (tmp_path / "a.tar").write_bytes(tar([("0.jpg", JPEG), ("1.jpg", JPEG), ("0.cls", b"0"), ("1.cls", b"1")]))
    said = r"(?s)not next to each other.*a\.tar.*sample '0' twice, with 'image' and with 'label'.*--sort=name"
    with pytest.raises(PipelineError, match=said):
        webdataset(tmp_path / "a.tar").schema()


def load(source):
    schema = source.schema()
    columns: dict[str, list[object]] = {name: [] for name in schema}
    rejects, places = [], []
    for chunk in source.chunks():
        loaded = pickle.loads(pickle.dumps(chunk)).load()
        schema.columns_to_parts(loaded.columns)  # the rows fit their schema
        for name, values in loaded.columns.items():
            columns[name] += values
        places += [loaded.places.of(row) for row in range(loaded.rows)]
        rejects += loaded.rejects
    return columns, rejects, places


def of(tmp_path: Path, data: bytes, name: str = "a.tar", **options):
    (tmp_path / name).write_bytes(data)
    return webdataset(tmp_path / name, **options)


SAMPLES = {
    "one/0001.jpg": JPEG,
    "one/0001.cls": b"3\n",
    "one/0001.txt": "a cät".encode(),
    "one/0001.json": b'{"x": 1}',
    "one/0001.vec.npy": npy(np.arange(3, dtype=np.float32)),
    "one/0001.npy": npy(np.zeros((2, 5), np.uint8)),
    "one/0001.pyd": b"\x80\x04N.",
    "two/0002.jpg": JPEG,
    "two/0002.cls": b"5",
    "two/0002.txt": b"a dog",
    "two/0002.json": b"{}",
    "two/0002.vec.npy": npy(np.ones(3, ">f4")),
    "two/0002.npy": npy(np.ones((2, 7), np.uint8)),
    "two/0002.pyd": b"",
}


@pytest.mark.source("webdataset", keeps="every file of a sample, numbers, text, JSON, arrays")
@pytest.mark.parametrize("tar_format", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_every_extension_is_a_feature(tar_format, tmp_path):
    source = of(tmp_path, tar(SAMPLES, tar_format))
    assert dict(source.schema()) == {
        "image": Image(encoding="jpeg"),
        "label": Scalar("int64"),
        "txt": Text(),
        "json": Text(),
        "vec.npy": Tensor("float32", (3,)),
        "npy": Tensor("uint8", (2, None)),
        "pyd": Bytes(),
        "key": Text(description="the name of the sample in its tar file"),
    }
    columns, rejects, places = load(source)
    assert not rejects
    assert columns["image"] == [JPEG, JPEG]
    assert columns["label"] == [3, 5]
    assert columns["txt"] == ["a cät", "a dog"]
    assert columns["pyd"] == [b"\x80\x04N.", b""]
    assert columns["key"] == ["one/0001", "two/0002"]
    assert np.array_equal(np.stack(columns["vec.npy"]), [[0, 1, 2], [1, 1, 1]])
    assert places == [f"{tmp_path / 'a.tar'}, sample 'one/0001'", f"{tmp_path / 'a.tar'}, sample 'two/0002'"]
    assert (source.label, source.provenance) == ("label", ("key",))
    assert not source.sequential


@pytest.mark.parametrize("length", [99, 101, 256, 300])
@pytest.mark.parametrize("tar_format", [tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_long_and_foreign_names(tar_format, length, tmp_path):
    stem = "ü" * 5 + "/" + "x" * length
    columns, _, _ = load(of(tmp_path, tar({f"{stem}.txt": b"a", f"{stem}.cls": b"1", "b.txt": b"b"}, tar_format)))
    assert columns["key"] == [stem, "b"]
    assert columns["txt"] == ["a", "b"]


def test_names_are_cut_at_the_first_dot_and_neighbours_belong_together(tmp_path):
    members = [("a.b.txt", b"1"), ("a.TXT", b"2"), ("b.txt", b"3"), ("a.txt", b"4"), (".hidden", b""), ("README", b"")]
    columns, _, _ = load(of(tmp_path, tar(members)))
    assert columns == {"b.txt": ["1", None, None], "txt": ["2", "3", "4"], "key": ["a", "b", "a"]}


def test_folders_and_links_are_passed_over(tmp_path):
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as archive:
        folder = tarfile.TarInfo("x")
        folder.type = tarfile.DIRTYPE
        archive.addfile(folder)
        link = tarfile.TarInfo("x/l.txt")
        link.type, link.linkname = tarfile.SYMTYPE, "a.txt"
        archive.addfile(link)
        info = tarfile.TarInfo("x/a.txt")
        info.size = 1
        archive.addfile(info, io.BytesIO(b"a"))
    assert load(of(tmp_path, file.getvalue()))[0] == {"txt": ["a"], "key": ["x/a"]}


def test_classes_make_labels(tmp_path):
    numbers = of(tmp_path, tar({"a.cls": b"1", "b.cls": b"0"}), classes=["cat", "dog"])
    assert numbers.schema()["label"] == Label(["cat", "dog"])
    assert load(numbers)[0]["label"] == [1, 0]
    names = of(tmp_path, tar({"a.cls": b"dog\n", "b.cls": b"cat"}), classes=["cat", "dog"])
    assert load(names)[0]["label"] == ["dog", "cat"]
    assert of(tmp_path, tar({"a.cls": b"dog\n"})).schema()["label"] == Text()


def test_images_are_prepared(tmp_path):
    source = of(tmp_path, tar({"a.jpg": JPEG, "b.png": PNG, "c.jpg": oriented(6)}), size=(12, 16), encoding="png")
    assert source.schema()["image"] == Image(12, 16, encoding="png")
    for data in load(source)[0]["image"]:
        header = read_header(data)
        assert header is not None
        assert (header.format, header.height, header.width) == ("png", 12, 16)
    mixed = of(tmp_path, tar({"a.jpg": JPEG, "b.png": PNG}))
    assert mixed.schema()["image"] == Image()
    assert load(mixed)[0]["image"] == [JPEG, PNG]


def test_bad_samples_are_rejected_with_the_reason(tmp_path):
    good = [(f"{number:03}{suffix}", data) for number in range(70) for suffix, data in ((".jpg", JPEG), (".cls", b"1"))]
    bad = [
        ("cut.jpg", JPEG[:-50]),
        ("cut.cls", b"1"),
        ("lacks.jpg", JPEG),
        ("more.jpg", JPEG),
        ("more.cls", b"1"),
        ("more.xyz", b"1"),
        ("number.jpg", JPEG),
        ("number.cls", b"seven"),
        ("double.jpg", JPEG),
        ("double.png", PNG),
        ("double.cls", b"1"),
    ]
    columns, rejects, _ = load(of(tmp_path, tar(good + bad)))
    assert len(columns["key"]) == 70
    found = [(reject.source.rpartition(" ")[2], reject.feature, reject.reason) for reject in rejects]
    assert found == [
        ("'cut'", "image", "The JPEG of 56×40 cannot be decoded: it is incomplete or damaged."),
        ("'lacks'", "label", "The sample lacks this member, which the first samples have."),
        ("'more'", "xyz", "The sample has 'xyz', which the first samples do not have."),
        ("'number'", "label", "It contains b'seven', not an integer."),
        ("'double'", "image", "The sample has two members for one feature."),
    ]


@pytest.mark.parametrize(
    ("name", "good", "bad", "reason"),
    [
        ("txt", b"text", b"\xff", "not UTF-8 text: byte 0xff at position 0"),
        ("npy", npy([1.5]), b"text", "not a complete array in numpy's format"),
        ("npy", npy([1.5]), npy([1, 2]), "not float64"),
        ("npy", npy([[1.5]]), npy([1.5]), "not float64 of"),
        ("npy", npy([1.5]), b"\x93NUMPY\x01\x00\xff\xff{", "not a complete array in numpy's format"),
    ],
)
def test_values_that_do_not_fit(name, good, bad, reason, tmp_path):
    samples = {f"{number:03}.{name}": good for number in range(64)} | {f"bad.{name}": bad}
    columns, rejects, _ = load(of(tmp_path, tar(samples)))
    assert len(columns[name]) == 64
    assert reason in rejects[0].reason


def test_arrays_of_several_kinds_stay_bytes(tmp_path):
    assert of(tmp_path, tar({"a.npy": npy([1]), "b.npy": npy([1.5])})).schema()["npy"] == Bytes()
    pickled = io.BytesIO()
    np.save(pickled, np.array([{}], object), allow_pickle=True)
    assert of(tmp_path, tar({"a.npy": pickled.getvalue()})).schema()["npy"] == Bytes()


@pytest.mark.parametrize(
    ("suffix", "compress"),
    [
        ("tar.gz", gzip.compress),
        ("tgz", gzip.compress),
        ("tar.bz2", bz2.compress),
        ("tar.xz", lzma.compress),
        ("tar.zst", lambda data: pa.compress(data, "zstd", asbytes=True)),
        ("tar", gzip.compress),  # the content counts
    ],
)
def test_compressed(suffix, compress, tmp_path):
    plain = load(of(tmp_path, tar(SAMPLES)))
    packed = compress(tar(SAMPLES))
    source = of(tmp_path, packed, f"b.{suffix}")
    assert source.sequential
    columns, rejects, _ = load(source)
    assert not rejects
    assert {name: list(map(repr, values)) for name, values in columns.items()} == {
        name: list(map(repr, values)) for name, values in plain[0].items()
    }
    with pytest.raises((CompressionError, TruncatedFileError)) as caught:
        load(of(tmp_path, packed[: len(packed) // 2], f"c.{suffix}"))
    assert str(tmp_path / f"c.{suffix}") in str(caught.value)


def test_several_files(tmp_path):
    for number in range(12):
        (tmp_path / f"train-{number:03}.tar").write_bytes(tar({f"{number}.txt": b"text"}))
    (tmp_path / "notes.md").write_text("not a tar file")
    expected = [str(number) for number in range(12)]
    assert load(webdataset(tmp_path))[0]["key"] == expected
    assert load(webdataset(tmp_path / "train-*.tar"))[0]["key"] == expected
    assert load(webdataset(str(tmp_path / "train-{000..011}.tar")))[0]["key"] == expected
    assert load(webdataset(tmp_path / "train-{003..004}.tar"))[0]["key"] == ["3", "4"]
    assert load(webdataset([tmp_path / "train-005.tar", tmp_path / "train-002.tar"]))[0]["key"] == ["5", "2"]
    assert webdataset(tmp_path).size_bytes == 12 * len(tar({"0.txt": b"text"}))


def test_a_feature_that_only_some_files_have_is_optional(tmp_path):
    for number in range(4):
        members = {f"{number}.txt": b"text"} | ({f"{number}.cls": b"1"} if number == 2 else {})
        (tmp_path / f"{number}.tar").write_bytes(tar(members))
    assert load(webdataset(tmp_path))[0]["label"] == [None, None, 1, None]


def test_joined_tar_files_are_read_to_the_end(tmp_path):
    columns, _, _ = load(of(tmp_path, tar({"a.txt": b"1"}) + tar({"b.txt": b"2"})))
    assert columns["key"] == ["a", "b"]


def test_a_cut_file_is_never_taken_for_a_short_one(tmp_path):
    whole = tar({"a.txt": b"1" * 700, "b.txt": b"2" * 1500, "c.txt": b"3"})
    end = 512 + 1024 + 512 + 1536 + 512 + 512
    assert not whole[end:].strip(b"\0")
    for length in [*range(0, end, 256), end - 1, end]:
        with pytest.raises(TruncatedFileError, match="incomplete" if length else "empty"):
            list(of(tmp_path, whole[:length]).chunks())
    assert load(of(tmp_path, whole[: end + 512]))[0]["key"] == ["a", "b", "c"]


def test_a_damaged_header_is_never_taken_for_the_end(tmp_path):
    whole = bytearray(tar({"a.txt": b"1", "b.txt": b"2"}))
    whole[1024 + 20] ^= 0xFF
    with pytest.raises(CorruptRecordError, match="uses a feature that is not supported") as caught:
        list(of(tmp_path, bytes(whole)).chunks())
    assert caught.value.offset == 1024
    trailing = tar({"a.txt": b"1"}) + b"x" * 600
    with pytest.raises(CorruptRecordError, match="uses a feature that is not supported"):
        list(of(tmp_path, trailing).chunks())


@pytest.mark.parametrize(
    ("data", "kind", "problem"),
    [
        (b"plain text " * 100, CorruptRecordError, "This is not a tar file"),
        (b"PK\x03\x04" + bytes(600), RecordsmithError, "zip archive"),
        (tar({}), PipelineError, "no samples"),
        (tar({"README": b"text"}), PipelineError, "no samples"),
    ],
)
def test_files_of_another_kind(data, kind, problem, tmp_path):
    with pytest.raises(kind, match=problem):
        of(tmp_path, data).schema()


def test_a_senseless_extended_header(tmp_path):
    whole = bytearray(tar({"ü.txt": b"1"}, tarfile.PAX_FORMAT))
    whole[512:516] = b"99 p"
    with pytest.raises(CorruptRecordError, match="invalid extended header"):
        of(tmp_path, bytes(whole)).schema()


def test_chunks_are_bounded_and_stable(tmp_path):
    source = of(tmp_path, tar({f"{number:04}.txt": b"x" for number in range(2500)}))
    assert [chunk.load().rows for chunk in source.chunks()] == [1024, 1024, 452]
    large = of(tmp_path, tar({f"{number}.bin": bytes(3 << 20) for number in range(5)}), "b.tar")
    assert [chunk.load().rows for chunk in large.chunks()] == [2, 2, 1]
    assert all(len(pickle.dumps(chunk)) < 2000 for chunk in large.chunks())
    again = webdataset(tmp_path / "a.tar")
    assert [pickle.dumps(chunk) for chunk in source.chunks()] == [pickle.dumps(chunk) for chunk in again.chunks()]
    assert source.describe() == again.describe()


def test_options(tmp_path):
    data = tar({"a.txt": b"1", "a.key": b"2"})
    with pytest.raises(PipelineError, match="same name as the key"):
        of(tmp_path, data).schema()
    assert list(of(tmp_path, data, key=None).schema()) == ["txt", "key"]
    with pytest.raises(PipelineError, match="channels must be"):
        of(tmp_path, data, channels=2)
    with pytest.raises(PipelineError, match="Unknown way to check images"):
        of(tmp_path, data, check="no")


WHOLE = tar({"a.txt": b"1" * 700, "ü" * 60 + ".txt": b"2", "c.txt": b"3"}, tarfile.PAX_FORMAT)


@given(st.data())
@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_damage_is_an_error_of_ours_or_nothing(tmp_path, data):
    damaged = bytearray(WHOLE)
    for _ in range(data.draw(st.integers(1, 3))):
        damaged[data.draw(st.integers(0, len(WHOLE) - 1))] = data.draw(st.integers(0, 255))
    with contextlib.suppress(RecordsmithError):
        load(of(tmp_path, bytes(damaged[: data.draw(st.integers(0, len(WHOLE)) | st.just(len(WHOLE)))])))


@given(st.binary(max_size=200))
@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_an_extended_header_of_any_bytes(tmp_path, content):
    info = tarfile.TarInfo("x")
    info.type, info.size = tarfile.XHDTYPE, len(content)
    data = info.tobuf(tarfile.USTAR_FORMAT) + content + bytes(-len(content) % 512) + tar({"a.txt": b"1"})
    with contextlib.suppress(RecordsmithError):
        load(of(tmp_path, data))


@pytest.mark.parametrize("compressed", [False, True])
def test_a_member_that_is_too_large_is_a_reject_and_is_not_read(compressed, tmp_path):
    samples = {f"{number:03}.bin": b"x" * 10 for number in range(20)} | {"bad.bin": bytes(5000)}
    data = gzip.compress(tar(samples)) if compressed else tar(samples)
    (tmp_path / "a.tar").write_bytes(data)
    source = webdataset(tmp_path / "a.tar", max_member="1KB")
    columns, rejects, _ = load(source)
    assert columns["bin"] == [b"x" * 10] * 20
    assert [(reject.feature, reject.source.endswith("'bad'")) for reject in rejects] == [("bin", True)]
    assert rejects[0].reason.startswith("The file has 5")
    assert "max_member" in rejects[0].reason
    assert len(load(webdataset(tmp_path / "a.tar"))[0]["bin"]) == 21
