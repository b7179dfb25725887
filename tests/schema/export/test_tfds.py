"""Schemas to and from TensorFlow Datasets: what is written here is opened there, and the other way round."""

from __future__ import annotations

import importlib.resources.abc
import io
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import PIL.Image
import pytest

import recordsmith as rs
from recordsmith.dataset.descriptions.tfds_folder import UnusedSchemaWarning
from recordsmith.schema.export.tfds import dataset_info, tfds_features, write_tfds_metadata
from recordsmith.storage.publication import Publication

# warnings of TFDS's own dependencies
pytestmark = pytest.mark.filterwarnings("ignore")

SPLITS = {"train": [3, 2], "test": [1]}


@pytest.fixture(scope="module")
def tfds() -> Any:
    return pytest.importorskip("tensorflow_datasets")


def made_image(shade: int, *, encoding: str = "PNG", mode: str = "RGB") -> bytes:
    buffer = io.BytesIO()
    PIL.Image.fromarray(np.full((4, 6, 3), shade, np.uint8)).convert(mode).save(buffer, encoding)
    return buffer.getvalue()


def write_folder(folder: Path, schema: rs.Schema, row: Any, **settings: Any) -> None:
    write_tfds_metadata(folder, schema, "pets", SPLITS, **settings)
    number = 0
    for split, lengths in SPLITS.items():
        for shard, length in enumerate(lengths):
            path = folder / f"pets-{split}.tfrecord-{shard:05}-of-{len(lengths):05}"
            with rs.RecordWriter(path) as writer:
                writer.write_rows((row(n) for n in range(number, number + length)), schema)
            number += length


def opened(tfds: Any, folder: Path, split: str = "train") -> list[Any]:
    builder = tfds.builder_from_directory(str(folder))
    return list(tfds.as_numpy(builder.as_dataset(split=split, shuffle_files=False)))


PETS = rs.Schema(
    {
        "image": rs.Image(4, 6, encoding="png", description="the animal"),
        "photo": rs.Image(channels=1, encoding="jpeg"),
        "label": rs.Label(["cat", "dog", "Kuh mit Ü"]),
        "grade": rs.Label(5),
        "name": rs.Text(),
        "words": rs.Text((None,)),
        "pair": rs.Text((2,)),
        "blob": rs.Bytes(),
        "blobs": rs.Bytes((None,)),
        "score": rs.Scalar("float32"),
        "box": rs.Tensor("float32", (2, 2)),
        "tokens": rs.Tensor("int64", (None,)),
        "points": rs.Tensor("float32", (2, None, 3)),
        "raw": rs.Tensor("uint8", (2, 3)),
        "wave": rs.Tensor("float64", (None, 2)),
        "map": rs.Tensor("float32", (None, 2, None)),
        "packed": rs.Packed({"a": ("uint8", (2,)), "b": ("int16", ())}),
        "tfidf": rs.Sparse("float32", 100),
        "big": rs.Scalar("uint64"),
        "flag": rs.Scalar("bool", storage="list"),
        "meta/height": rs.Scalar("int32", storage="list"),
        "meta/kind": rs.Label(["indoor", "outdoor"]),
        "meta/deep/er": rs.Scalar("int64"),
        "a": rs.Scalar("int64"),
        "a/b": rs.Scalar("int64"),
    }
)


def pet(n: int) -> dict[str, Any]:
    return {
        "image": made_image(n),
        "photo": made_image(n, encoding="JPEG", mode="L"),
        "label": ["cat", "dog", "Kuh mit Ü"][n % 3],
        "grade": n % 5,
        "name": f"Ünal {n}",
        "words": ["a", "b"][: n % 3],
        "pair": ["x", "y"],
        "blob": b"\xff\x00",
        "blobs": [b"\x00"] * n,
        "score": n / 4,
        "box": np.arange(4).reshape(2, 2) + n,
        "tokens": np.arange(n),
        "points": np.arange(6 * n).reshape(2, n, 3),
        "raw": np.full((2, 3), 250 + n),
        "wave": np.full((n, 2), 0.1),
        "map": np.full((n, 2, 3), n),
        "packed": {"a": [1, n], "b": -1},
        "tfidf": {n: 0.5, 99: 1.5},
        "big": 2**64 - 1 - n,
        "flag": n % 2 == 0,
        "meta/height": -n,
        "meta/kind": "outdoor",
        "meta/deep/er": n,
        "a": n,
        "a/b": -n,
    }


def test_tfds_opens_what_is_written_here(tfds: Any, tmp_path: Path):
    write_folder(tmp_path, PETS, pet, description="Some pets.", supervised=("image", "label"), version="2.0.1")
    builder = tfds.builder_from_directory(str(tmp_path))
    info = builder.info
    assert (info.name, str(info.version), info.description) == ("pets", "2.0.1", "Some pets.")
    assert {name: split.num_examples for name, split in info.splits.items()} == {"train": 5, "test": 1}
    assert info.splits["train"].shard_lengths == [3, 2]
    assert info.features["label"].names == ["cat", "dog", "Kuh mit Ü"]
    assert info.features["grade"].num_classes == 5
    assert info.features["meta"]["kind"].names == ["indoor", "outdoor"]
    assert info.features["image"].shape == (4, 6, 3)
    assert info.features["photo"].shape == (None, None, 1)
    assert info.features["image"].doc.desc == "the animal"
    assert info.supervised_keys == ("image", "label")
    examples = opened(tfds, tmp_path)
    assert len(examples) == 5
    for n, example in enumerate(examples):
        check_pet(example, n)
    check_pet(opened(tfds, tmp_path, "test")[0], 5)


def check_pet(found: dict[str, Any], n: int) -> None:
    row = pet(n)
    assert found["image"].tolist() == np.full((4, 6, 3), n).tolist()
    assert found["photo"].shape == (4, 6, 1)
    assert (found["label"], found["grade"], found["score"]) == (n % 3, n % 5, n / 4)
    assert (found["name"].decode(), found["blob"]) == (row["name"], row["blob"])
    assert [word.decode() for word in found["words"]] == row["words"]
    assert found["pair"].tolist() == [b"x", b"y"]
    assert found["blobs"].tolist() == row["blobs"]
    for name in ("box", "tokens", "points", "raw", "wave", "map"):
        assert found[name].dtype == PETS[name].dtype
        np.testing.assert_array_equal(found[name], np.asarray(row[name], PETS[name].dtype))
    assert found["packed"] == bytes([1, n, 255, 255])
    assert found["tfidf"]["indices"].tolist() == [n, 99]
    assert found["tfidf"]["values"].tolist() == [0.5, 1.5]
    assert found["big"].dtype == np.uint64
    assert (int(found["big"]), bool(found["flag"])) == (row["big"], row["flag"])
    assert (found["meta"]["height"], found["meta"]["kind"], found["meta"]["deep"]["er"]) == (-n, 1, n)
    assert (found["a"], found["a/b"]) == (n, -n)


def test_the_folder_opens_here_by_its_tfds_description_too(tmp_path: Path):
    write_folder(tmp_path, PETS, pet)
    ds = rs.open(tmp_path, split="train")
    # TFDS keeps the bytes of a file as they were, whatever encoding it declares, so the encoding is left open.
    expected: dict[str, Any] = {
        **PETS,
        # Only recordsmith.json has these two.
        "packed": rs.Bytes(),
        "tfidf/indices": rs.Tensor("int64", (None,)),
        "tfidf/values": rs.Tensor("float32", (None,)),
        "image": rs.Image(4, 6, description="the animal"),
        "photo": rs.Image(channels=1),
    }
    del expected["tfidf"]
    assert ds.schema == rs.Schema(expected)
    assert len(ds) == 5
    assert ds[4]["meta/kind"] == 1
    assert ds[4]["tokens"].tolist() == [0, 1, 2, 3]
    assert ds[2]["image"] == made_image(2)


@pytest.mark.parametrize(
    ("feature", "there", "absent"),
    [
        (rs.Scalar("float32", optional=True), 2.5, np.finfo(np.float32).min),
        (rs.Scalar("int64", default=7), 3, np.iinfo(np.int64).min),
        (rs.Text(optional=True), b"here", b""),
        (rs.Tensor("int64", (None,), optional=True), [1, 2], []),
    ],
    ids=repr,
)
def test_optional_lists_read_in_tfds_as_its_own_sign_of_absence(
    tfds: Any, tmp_path: Path, feature: Any, there: Any, absent: Any
):
    schema = rs.Schema({"x": feature})
    write_folder(tmp_path, schema, lambda n: {"x": None if n % 2 else there})
    found = [np.asarray(example["x"]).tolist() for example in opened(tfds, tmp_path)]
    assert found[:2] == [there, absent]


@pytest.mark.parametrize(
    "dtype", ["bool", "int8", "int16", "int32", "uint8", "uint16", "float16", "complex64", "complex128"]
)
def test_every_dtype_that_tfds_decodes_from_bytes(tfds: Any, tmp_path: Path, dtype: Any):
    schema = rs.Schema({"x": rs.Tensor(dtype, (2, 2))})
    values = np.array([[0, 1], [1, 0]], dtype)
    write_folder(tmp_path, schema, lambda _: {"x": values})
    found = opened(tfds, tmp_path)[0]["x"]
    assert found.dtype == values.dtype
    assert found.tolist() == values.tolist()


@pytest.mark.parametrize("encoding", ["webp", "gif", "bmp"])
def test_other_encodings_of_images(tfds: Any, tmp_path: Path, encoding: str):
    schema = rs.Schema({"x": rs.Image(4, 6, encoding=encoding)})
    write_folder(tmp_path, schema, lambda n: {"x": made_image(n, encoding=encoding.upper())})
    found = opened(tfds, tmp_path)[1]["x"]
    # TensorFlow gives images that could move a first dimension of frames.
    assert found.shape == ((4, 6, 3) if encoding == "bmp" else (1, 4, 6, 3))


@pytest.mark.parametrize(
    ("feature", "reason"),
    [
        (rs.Steps(rs.Scalar("float32")), "SequenceExample"),
        (rs.Scalar("uint32"), "uint32"),
        (rs.Scalar("uint8", optional=True), "optional"),
        (rs.Label(3, optional=True), "optional"),
        (rs.Image(optional=True), "optional"),
        (rs.Tensor("uint8", (None, None), optional=True), "optional"),
        (rs.Tensor("float32", (None, None), storage="list"), "only from bytes"),
        (rs.Sparse("float32", 9, default={1: 1.0}), "lack a feature"),
    ],
    ids=repr,
)
def test_what_tfds_cannot_express_is_refused(feature: Any, reason: str, tmp_path: Path):
    schema = rs.Schema({"fine": rs.Text(), "x": feature})
    with pytest.raises(rs.SchemaError, match=reason) as caught:
        schema.to_tfds()
    assert caught.value.feature == "x"
    assert caught.value.advice
    with pytest.raises(rs.SchemaError):
        write_tfds_metadata(tmp_path, schema, "pets", SPLITS)
    assert not list(tmp_path.iterdir())


def test_class_names_that_tfds_would_change_are_refused():
    with pytest.raises(rs.SchemaError, match="white space"):
        rs.Schema({"x": rs.Label(["cat", " dog"])}).tfds_label_files()


def test_what_is_written_into_the_folder(tmp_path: Path):
    files = write_tfds_metadata(tmp_path, PETS, "pets", SPLITS, split_bytes={"train": 1000})
    assert files == ("features.json", "label.labels.txt", "meta-kind.labels.txt", "dataset_info.json")
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(files)
    assert (tmp_path / "label.labels.txt").read_text() == "cat\ndog\nKuh mit Ü\n"
    assert json.loads((tmp_path / "features.json").read_text()) == PETS.to_tfds()
    info = json.loads((tmp_path / "dataset_info.json").read_text())
    assert info == dataset_info("pets", SPLITS, split_bytes={"train": 1000})
    assert info["splits"][0] == {
        "name": "train",
        "shardLengths": ["3", "2"],
        "numBytes": "1000",
        "filepathTemplate": "{DATASET}-{SPLIT}.{FILEFORMAT}-{SHARD_X_OF_Y}",
    }


def test_features_json_is_what_tfds_would_write(tfds: Any):
    from google.protobuf import json_format

    features = tfds.features
    theirs = features.FeaturesDict(
        {
            "image": features.Image(shape=(4, 6, 3), encoding_format="png", doc="the animal"),
            "label": features.ClassLabel(num_classes=3),
            "name": features.Text(),
            "words": features.Sequence(features.Text()),
            "raw": features.Tensor(shape=(2, None), dtype=np.uint8, encoding="bytes"),
            "meta": {"height": features.Tensor(shape=(), dtype=np.int32)},
        }
    )
    ours = rs.Schema(
        {
            "image": rs.Image(4, 6, encoding="png", description="the animal"),
            "label": rs.Label(3),
            "name": rs.Text(),
            "words": rs.Text((None,)),
            "raw": rs.Tensor("uint8", (2, None)),
            "meta/height": rs.Scalar("int32", storage="list"),
        }
    )
    assert ours.to_tfds() == json_format.MessageToDict(theirs.to_proto())


class TestReading:
    """Folders that TFDS prepared, with features that recordsmith does not write."""

    @pytest.fixture(scope="class")
    def prepared(self, tfds: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
        # TFDS asks for this backport without declaring it for the Pythons that have it built in.
        sys.modules.setdefault("importlib_resources", importlib.resources)
        features = tfds.features
        declared = features.FeaturesDict(
            {
                "label": features.ClassLabel(names=["cat", "dog"]),
                "unnamed": features.ClassLabel(num_classes=4),
                "image": features.Image(shape=(None, None, 3), encoding_format="png", doc="an image"),
                "depth": features.Image(shape=(2, 2, 1), dtype=np.float32),
                "objects": features.Sequence(
                    {"bbox": features.BBoxFeature(), "kind": features.ClassLabel(names=["x", "y"]), "id": np.int64}
                ),
                "frames": features.Video(shape=(None, 2, 2, 3)),
                "nested": features.Sequence(features.Sequence(np.int64)),
                "three": features.Sequence(np.float32, length=3),
                "names": features.Sequence(features.Text()),
                "audio": features.Audio(),
                "pair": features.Translation(["de", "en"]),
                "words": features.TranslationVariableLanguages(languages=["de", "en"]),
                "raw": features.Tensor(shape=(2, 2), dtype=np.uint16, encoding="bytes"),
                "packed": features.Tensor(shape=(2,), dtype=np.int32, encoding="zlib"),
                "half": features.Tensor(shape=(2,), dtype=np.float16),
                "double": features.Scalar(np.float64),
                "maybe": features.Scalar(np.int64, optional=True),
                "string": features.Tensor(shape=(2,), dtype=np.str_),
                "meta": {"kind": features.ClassLabel(names=["in", "out"]), "flag": np.bool_},
            }
        )

        class Zoo(tfds.core.GeneratorBasedBuilder):  # type: ignore[misc]
            VERSION = tfds.core.Version("1.0.0")
            name = "zoo"

            def _info(self) -> Any:
                return self.dataset_info_from_configs(features=declared)

            def _split_generators(self, dl_manager: Any) -> Any:  # noqa: ARG002 - TFDS's interface
                return {"train": self._generate_examples()}

            def _generate_examples(self) -> Any:
                box = tfds.features.BBox(ymin=0.0, xmin=0.0, ymax=0.5, xmax=1.0)
                for n in range(3):
                    yield (
                        n,
                        {
                            "label": n % 2,
                            "unnamed": n,
                            "image": np.full((2, 3, 3), n, np.uint8),
                            "depth": np.full((2, 2, 1), n, np.float32),
                            "objects": [{"bbox": box, "kind": "y", "id": n}] * n,
                            "frames": np.zeros((n + 1, 2, 2, 3), np.uint8),
                            "nested": [list(range(i)) for i in range(n + 1)],
                            "three": [n, n, n],
                            "names": ["a"] * n,
                            "audio": np.arange(n + 1),
                            "pair": {"de": "ja", "en": "yes"},
                            "words": {"de": "ja", "en": ["yes", "yea"]},
                            "raw": np.full((2, 2), n, np.uint16),
                            "packed": np.array([n, n], np.int32),
                            "half": np.array([n, 0.5], np.float16),
                            "double": n / 2,
                            "maybe": None if n else 5,
                            "string": ["p", "q"],
                            "meta": {"kind": "out", "flag": n == 1},
                        },
                    )

        builder = Zoo(data_dir=tmp_path_factory.mktemp("tfds"), file_format="tfrecord")
        builder.download_and_prepare(
            download_config=tfds.download.DownloadConfig(try_download_gcs=False, register_checksums=False)
        )
        return Path(builder.data_dir)

    def test_the_schema(self, prepared: Path):
        expected = {
            "label": rs.Label(["cat", "dog"]),
            "unnamed": rs.Label(4),
            "image": rs.Image(description="an image"),
            "depth": rs.Image(2, 2, channels=1, pixel_type="float32"),
            "objects/bbox": rs.Boxes(split=False),
            "objects/kind": rs.Labels(["x", "y"]),
            "objects/id": rs.Tensor("int64", (None,)),
            "frames": rs.Sequence(rs.Image(2, 2)),
            "nested": rs.Sequence(rs.Sequence(rs.Scalar("int64"))),
            "three": rs.Tensor("float32", (3,)),
            "names": rs.Text((None,)),
            "audio": rs.Tensor("int64", (None,)),
            "pair/de": rs.Text(),
            "pair/en": rs.Text(),
            "words/language": rs.Text((None,)),
            "words/translation": rs.Text((None,)),
            "raw": rs.Tensor("uint16", (2, 2)),
            "packed": rs.Tensor("int32", (2,), storage="zlib"),
            "half": rs.Tensor("float16", (2,), storage="list"),
            "double": rs.Scalar("float64", storage="list"),
            "maybe": rs.Scalar("int64", optional=True),
            "string": rs.Bytes((2,)),
            "meta/kind": rs.Label(["in", "out"]),
            "meta/flag": rs.Scalar("bool", storage="list"),
        }
        assert dict(rs.Schema.from_tfds(prepared)) == expected
        assert rs.Schema.from_tfds(prepared / "features.json") == rs.Schema.from_tfds(prepared)

    def test_the_rows(self, prepared: Path):
        rows = sorted(rs.open(prepared, split="train"), key=lambda row: int(row["unnamed"]))
        assert [row["label"] for row in rows] == [0, 1, 0]
        assert [row["maybe"] for row in rows] == [5, None, None]
        assert rows[2]["objects/bbox"].tolist() == [[0, 0, 0.5, 1]] * 2
        assert rows[2]["objects/kind"].tolist() == [1, 1]
        assert [len(row["frames"]) for row in rows] == [1, 2, 3]
        assert [one.tolist() for one in rows[2]["nested"]] == [[], [0], [0, 1]]
        assert rows[2]["packed"].tolist() == [2, 2]
        assert rows[1]["raw"].tolist() == [[1, 1], [1, 1]]
        assert rows[1]["pair/de"] == "ja"
        assert rows[1]["words/language"] == ["de", "en", "en"]
        assert rows[1]["words/translation"] == ["ja", "yea", "yes"]
        assert [bool(row["meta/flag"]) for row in rows] == [False, True, False]


def document(**node: Any) -> dict[str, Any]:
    return {"featuresDict": {"features": {"x": {"pythonClassName": "my.own.Feature", **node}}}}


@pytest.mark.parametrize(
    "node",
    [
        {"jsonFeature": {"json": "{}"}},
        {"tensor": {"shape": {"dimensions": ["2", "2"]}, "dtype": "string"}},
        {"tensor": {"shape": {"dimensions": ["2"]}, "dtype": "float32", "encoding": "brotli"}},
        {"tensor": {"shape": {"dimensions": ["0"]}, "dtype": "float32"}},
        {"tensor": {"shape": {}, "dtype": "qint8"}},
    ],
    ids=lambda node: json.dumps(node)[:50],
)
def test_features_that_are_not_known_are_named(node: dict[str, Any]):
    with pytest.raises(rs.SchemaError) as caught:
        rs.Schema.from_tfds(document(**node))
    assert caught.value.feature == "x"


def test_a_folder_with_a_feature_that_is_not_known_is_read_by_its_records(tmp_path: Path):
    write_folder(tmp_path, rs.Schema({"x": rs.Scalar("int64")}), lambda n: {"x": n})
    (tmp_path / "features.json").write_text(json.dumps(document(jsonFeature={"json": "{}"})))
    with pytest.warns(UnusedSchemaWarning, match=r"features.json is not used \(feature 'x': The TensorFlow") as caught:
        assert rs.open(tmp_path).schema["x"] == rs.Scalar("int64")
    assert caught[0].filename == __file__, "the warning points at the wrong line"


@pytest.mark.parametrize("text", ["{", "[]", '"features"'])
def test_a_damaged_description_is_an_error(tmp_path: Path, text: str):
    write_folder(tmp_path, rs.Schema({"x": rs.Scalar("int64")}), lambda n: {"x": n})
    (tmp_path / "features.json").write_text(text)
    for attempt in (rs.Schema.from_tfds, rs.open):
        with pytest.raises(rs.SchemaError) as caught:
            attempt(tmp_path)
        assert str(caught.value.path).endswith("features.json")


@pytest.mark.parametrize(
    "node",
    [
        {"featuresDict": {"features": []}},
        {"featuresDict": {"features": {"x": 3}}},
        {"featuresDict": {"features": {"x": {"sequence": {}}}}},
        {"featuresDict": {"features": {"x": {"tensor": {"shape": {"dimensions": ["two"]}, "dtype": "int64"}}}}},
        {"featuresDict": {"features": {"x": {"classLabel": {"numClasses": "many"}}}}},
    ],
    ids=json.dumps,
)
def test_a_description_that_is_not_complete(tmp_path: Path, node: Any):
    (tmp_path / "features.json").write_text(json.dumps(node))
    with pytest.raises(rs.SchemaError) as caught:
        rs.Schema.from_tfds(tmp_path)
    assert str(caught.value.path).endswith("features.json")


@pytest.mark.parametrize("info", [{}, {"name": "pets"}, {"name": "pets", "splits": [3]}, {"splits": [{"name": "a"}]}])
def test_a_dataset_info_that_is_not_complete(tmp_path: Path, info: Any):
    write_folder(tmp_path, rs.Schema({"x": rs.Scalar("int64")}), lambda n: {"x": n})
    (tmp_path / "dataset_info.json").write_text(json.dumps(info))
    with pytest.raises(rs.RecordsmithError):
        rs.open(tmp_path, split="train")


def test_a_folder_has_all_old_or_all_new_descriptions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    write_tfds_metadata(tmp_path, {"x": rs.Label(["a", "b"])}, "pets", SPLITS)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}

    def fail(publication: Publication, name: str) -> str:
        if name == "dataset_info.json":
            raise OSError(28, "No space left on device")
        return new_file(publication, name)

    new_file = Publication.new_file
    monkeypatch.setattr(Publication, "new_file", fail)
    with pytest.raises(OSError, match="No space"):
        write_tfds_metadata(tmp_path, {"x": rs.Label(["c", "d"])}, "pets", SPLITS)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_something_else_is_not_taken_for_a_description():
    with pytest.raises(rs.SchemaError, match=r"features\.json"):
        rs.Schema.from_tfds({"type": "tensorflow_datasets.core.features.features_dict.FeaturesDict", "content": {}})


def test_label_files_that_do_not_fit_are_not_believed(tmp_path: Path):
    write_tfds_metadata(tmp_path, {"x": rs.Label(["a", "b"])}, "pets", SPLITS)
    (tmp_path / "x.labels.txt").write_text("a\nb\nc\n")
    assert rs.Schema.from_tfds(tmp_path)["x"] == rs.Label(2)
    assert tfds_features({"x": rs.Label(2)}) == json.loads((tmp_path / "features.json").read_text())
