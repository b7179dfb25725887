"""Images as a source: class folders, labels from a CSV file, and what is rejected, ignored, kept or changed."""

from __future__ import annotations

import os
import pickle
import re
from pathlib import Path

import numpy as np
import pytest
from PIL import Image as PillowImage

from recordsmith.errors import PipelineError
from recordsmith.formats.images import image_files
from recordsmith.formats.images.source import images
from recordsmith.images import decode_image, read_header
from recordsmith.schema import Image, Label, Text
from tests.images.made_images import HEIGHT, WIDTH, colour, oriented, saved, with_alpha
from tests.images.made_images import images as made_images

JPEG = saved(colour(), "jpeg", quality=90)
PNG = saved(colour(), "png")


def put(folder: Path, files: dict[str, bytes]) -> Path:
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return folder


def load(source):
    """All rows, by feature, with the rejects and the place of each row."""
    columns: dict[str, list[object]] = {name: [] for name in source.schema()}
    rejects, places = [], []
    for chunk in source.chunks():
        loaded = pickle.loads(pickle.dumps(chunk)).load()
        source.schema().columns_to_parts(loaded.columns)  # the rows fit their schema
        for name, values in loaded.columns.items():
            assert len(values) == loaded.rows
            columns[name] += values
        places += [loaded.places.of(row) for row in range(loaded.rows)]
        rejects += loaded.rejects
    return columns, rejects, places


@pytest.mark.source("images", keeps="files byte for byte, class folders as labels, file names")
def test_class_folders(tmp_path):
    root = put(tmp_path / "photos", {"dog/2.jpg": JPEG, "cat/1.jpg": JPEG, "cat/old/deep/3.jpg": JPEG})
    source = images(root)
    schema = source.schema()
    assert schema["image"] == Image(channels=3, encoding="jpeg")
    assert schema["label"] == Label(["cat", "dog"])
    assert isinstance(schema["filename"], Text)
    columns, rejects, places = load(source)
    assert columns == {
        "image": [JPEG] * 3,
        "label": [0, 0, 1],
        "filename": ["cat/1.jpg", "cat/old/deep/3.jpg", "dog/2.jpg"],
    }
    assert not rejects
    assert places == [str(root / name) for name in columns["filename"]]
    assert source.label == "label"
    assert source.provenance == ("filename",)
    assert source.row_count == 3
    assert source.size_bytes == 3 * len(JPEG)
    assert sum(chunk.source_bytes for chunk in source.chunks()) == source.size_bytes


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (("cat", "dog", "test"), "The folder 'test' is taken for a class, because those beside it are: 'cat', 'dog'"),
        (("1", "2", "10"), r"Class '10' has the number 1(.|\n)*classes=\['1', '2', '10', ...\]"),
        (("1", "2", "3"), None),
        (("cat", "constrained"), None),
    ],
)
def test_what_the_names_of_class_folders_may_be_meant_to_be(names, said, tmp_path):
    source = images(put(tmp_path, {f"{name}/{number}.jpg": JPEG for name in names for number in range(2)}))
    source.schema()
    assert [bool(re.match(said or "", one)) for one in source.warnings] == ([] if said is None else [True])
    assert images(tmp_path, classes=names).warnings == ()


def test_a_folder_without_classes_has_no_labels(tmp_path):
    source = images(put(tmp_path, {"1.jpg": JPEG, "2.png": PNG}))
    assert list(source.schema()) == ["image", "filename"]
    assert source.schema()["image"] == Image(channels=3, encoding=None)
    assert source.label is None
    assert load(source)[0]["image"] == [JPEG, PNG]


def test_names_of_features(tmp_path):
    source = images(put(tmp_path, {"a/1.jpg": JPEG}), image="photo", label="kind", filename=None)
    assert list(source.schema()) == ["photo", "kind"]
    assert (source.label, source.provenance) == ("kind", ())
    assert list(images(tmp_path, label=None).schema()) == ["image", "filename"]
    with pytest.raises(PipelineError, match="same name"):
        images(tmp_path, image="x", label="x")


def test_images_beside_class_folders_are_rejected(tmp_path):
    columns, rejects, _ = load(images(put(tmp_path, {"cat/1.jpg": JPEG, "lost.jpg": JPEG})))
    assert columns["filename"] == ["cat/1.jpg"]
    assert [(reject.source, reject.row, reject.feature) for reject in rejects] == [
        (str(tmp_path / "lost.jpg"), 1, "label")
    ]
    assert "outside the class folders" in rejects[0].reason


def test_classes_in_a_given_order(tmp_path):
    put(tmp_path, {"cat/1.jpg": JPEG, "dog/1.jpg": JPEG})
    source = images(tmp_path, classes=["dog", "bird", "cat"])
    assert source.schema()["label"] == Label(["dog", "bird", "cat"])
    assert load(source)[0]["label"] == [2, 0]
    with pytest.raises(PipelineError, match="Did you mean 'dogs'"):
        images(tmp_path, classes=["cat", "dogs"]).schema()


def test_content_decides_and_not_the_suffix(tmp_path):
    put(tmp_path, {"a/1.png": JPEG, "a/2.jpg": PNG, "a/3": JPEG, "a/4.dat": PNG, "a/5.JPG": JPEG})
    columns, rejects, _ = load(images(tmp_path))
    assert columns["image"] == [JPEG, PNG, JPEG, PNG, JPEG]
    assert not rejects


def test_what_is_no_image_is_rejected_or_ignored_but_never_lost(tmp_path):
    put(
        tmp_path,
        {
            "a/good.jpg": JPEG,
            "a/empty.jpg": b"",
            "a/text.jpg": b"<html>404 not found</html>",
            "a/cut.jpg": JPEG[:-100],
            "a/cut.png": PNG[: len(PNG) // 2],
            "a/head.jpg": JPEG[:50],
            "a/scan.tiff": b"II*\0" + bytes(100),
            "a/README.txt": b"about these images",
            "a/.hidden.jpg": JPEG,
            "a/Thumbs.db": b"\xd0\xcf\x11\xe0",
            ".git/x.jpg": JPEG,
            "__MACOSX/a/good.jpg": JPEG,
        },
    )
    source = images(tmp_path)
    columns, rejects, _ = load(source)
    assert columns["filename"] == ["a/good.jpg"]
    reasons = {os.path.basename(reject.source): reject.reason for reject in rejects}
    assert list(reasons) == ["cut.jpg", "cut.png", "empty.jpg", "head.jpg", "scan.tiff", "text.jpg"]
    assert reasons["cut.jpg"] == f"The JPEG of {WIDTH}×{HEIGHT} cannot be decoded: it is incomplete or damaged."
    assert reasons["empty.jpg"] == "The image has no bytes."
    assert "starts with b'<html>404 no'" in reasons["text.jpg"]
    assert all(reject.feature == "image" for reject in rejects)
    described = source.describe()
    assert (described["files"], described["ignored"]) == (7, 3)
    assert described["ignored_names"] == ["a/.hidden.jpg", "a/README.txt", "a/Thumbs.db"]


def test_a_header_can_be_trusted_on_request(tmp_path):
    put(tmp_path, {"cut.jpg": JPEG[:-100], "empty.jpg": b""})
    columns, rejects, _ = load(images(tmp_path, check="header"))
    assert columns["image"] == [JPEG[:-100]]
    assert len(rejects) == 1
    with pytest.raises(PipelineError, match="Unknown way to check images"):
        images(tmp_path, check="none")  # type: ignore[arg-type]


def test_files_that_cannot_be_read_are_rejected(tmp_path):
    put(tmp_path, {"a/1.jpg": JPEG, "a/2.jpg": JPEG})
    (tmp_path / "a" / "3.jpg").symlink_to(tmp_path / "nowhere.jpg")
    (tmp_path / "a" / "4.jpg").symlink_to(tmp_path / "a" / "4.jpg")
    os.mkfifo(tmp_path / "a" / "5.jpg")  # reading it would wait for ever
    source = images(tmp_path)
    chunks = list(source.chunks())
    (tmp_path / "a" / "2.jpg").unlink()
    loaded = chunks[0].load()
    assert loaded.columns["filename"] == ["a/1.jpg"]
    reasons = [reject.reason for reject in loaded.rejects]
    assert reasons[:2] == ["It cannot be read: No such file or directory."] * 2
    assert "symbolic links" in reasons[2]
    assert source.describe()["ignored_names"] == []


def test_links_are_followed_but_not_in_circles(tmp_path):
    put(tmp_path, {"elsewhere/1.jpg": JPEG, "photos/cat/2.jpg": JPEG})
    (tmp_path / "photos" / "cat" / "linked").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "photos" / "cat" / "up").symlink_to(tmp_path / "photos")
    (tmp_path / "elsewhere" / "again").symlink_to(tmp_path / "elsewhere")
    assert load(images(tmp_path / "photos"))[0]["filename"] == ["cat/2.jpg", "cat/linked/1.jpg"]


def test_names_beyond_ascii(tmp_path):
    root = put(tmp_path / "фото", {"Кошка/мяу 1.jpg": JPEG, "犬/ワン.jpg": JPEG})
    broken = os.fsencode(root) + b"/\xe7\x8a\xac/caf\xe9.jpg"
    with open(broken, "wb") as file:
        file.write(JPEG)
    source = images(root)
    columns, rejects, _ = load(source)
    assert source.schema()["label"] == Label(["Кошка", "犬"])
    assert columns["filename"] == ["Кошка/мяу 1.jpg", r"犬/caf\xe9.jpg", "犬/ワン.jpg"]
    assert not rejects
    assert source.describe()["files"] == 3


def test_not_recursive(tmp_path):
    put(tmp_path, {"cat/1.jpg": JPEG, "cat/old/2.jpg": JPEG})
    assert load(images(tmp_path, recursive=False))[0]["filename"] == ["cat/1.jpg"]
    put(tmp_path / "cat", {"labels.csv": b"filename,label\n1.jpg,x\n"})
    source = images(tmp_path / "cat", labels=tmp_path / "cat" / "labels.csv", recursive=False)
    assert load(source)[0]["filename"] == ["1.jpg"]


def test_files_and_patterns(tmp_path):
    put(tmp_path, {"a/2.jpg": JPEG, "a/1.jpg": JPEG, "b/3.png": PNG, "b/notes.txt": b"text"})
    source = images([tmp_path / "b" / "3.png", str(tmp_path / "a" / "*.jpg")])
    assert load(source)[0] == {"image": [PNG, JPEG, JPEG], "filename": ["b/3.png", "a/1.jpg", "a/2.jpg"]}
    assert load(images(tmp_path / "a" / "1.jpg"))[0]["filename"] == ["1.jpg"]
    _, rejects, _ = load(images([str(tmp_path / "b" / "*")]))
    assert [reject.source for reject in rejects] == [str(tmp_path / "b" / "notes.txt")]  # it was asked for by name


@pytest.mark.parametrize(
    ("paths", "problem"),
    [
        (["missing.jpg"], "no such file"),
        (["*.jpg"], "No file matches"),
        (["folder", "1.txt"], "folder was given together with files"),
        ("folder", "No images were found"),
        ("text", "None of the files is an image"),
    ],
)
def test_nothing_to_take(paths, problem, tmp_path, monkeypatch):
    monkeypatch.chdir(put(tmp_path, {"folder/readme": b"text", "1.txt": b"text", "text/1.jpg": b"text"}))
    with pytest.raises(PipelineError, match=problem):
        images(paths).schema()


def test_everything_is_kept_as_it_is(tmp_path):
    files = {f"{number:02}.{name.split()[0]}": data for number, (name, (data, _)) in enumerate(made_images().items())}
    source = images(put(tmp_path, files))
    assert source.schema()["image"] == Image(channels=3, encoding=None)
    columns, rejects, _ = load(source)
    assert columns["image"] == list(files.values())
    assert not rejects


def test_turned_images_are_made_upright(tmp_path):
    put(tmp_path, {f"{number}.jpg": oriented(number) for number in range(1, 9)})
    columns, _, _ = load(images(tmp_path))
    assert columns["image"][0] == oriented(1)
    for data in columns["image"][1:]:
        header = read_header(data)
        assert header is not None
        assert header.orientation == 1
    for number, data in enumerate(columns["image"], 1):
        difference = decode_image(data).astype(int) - decode_image(oriented(number))
        assert np.abs(difference).mean() < 6
    assert images(tmp_path).describe()["headers"] == {"read": 8, "jpeg": 8, "turned": 7}
    assert load(images(tmp_path, orient=False))[0]["image"] == [oriented(number) for number in range(1, 9)]


def test_one_size_for_all(tmp_path):
    files = {f"{number:02}.{name.split()[0]}": data for number, (name, (data, _)) in enumerate(made_images().items())}
    source = images(put(tmp_path, files), size=(20, 30), channels=3, encoding="jpeg")
    assert source.schema()["image"] == Image(20, 30, channels=3, encoding="jpeg")
    columns, rejects, _ = load(source)
    assert not rejects
    assert len(columns["image"]) == len(files)
    for data in columns["image"]:
        header = read_header(data)
        assert header is not None
        assert (header.format, header.height, header.width, header.channels) == ("jpeg", 20, 30, 3)


@pytest.mark.parametrize(
    ("files", "options", "channels", "encoding"),
    [
        ({"1.jpg": JPEG, "2.jpg": saved(colour().convert("L"), "jpeg")}, {}, 3, "jpeg"),
        ({"2.jpg": saved(colour().convert("L"), "jpeg")}, {}, 1, "jpeg"),
        ({"1.png": saved(with_alpha(), "png"), "2.png": saved(with_alpha().convert("LA"), "png")}, {}, 4, "png"),
        ({"1.png": saved(with_alpha(), "png"), "2.png": PNG}, {}, 3, "png"),
        ({"1.png": saved(with_alpha(), "png")}, {"encoding": "jpeg"}, 3, "jpeg"),
        ({"1.jpg": JPEG, "2.png": PNG}, {}, 3, None),
        ({"1.jpg": JPEG, "2.png": PNG}, {"encoding": "webp"}, 3, "webp"),
        ({"1.webp": saved(colour(), "webp"), "2.gif": saved(colour(), "gif")}, {"size": (9, 9)}, 3, "png"),
        ({"2.gif": saved(colour(), "gif")}, {}, 3, "gif"),
    ],
)
def test_the_schema_says_what_the_images_are(files, options, channels, encoding, tmp_path):
    source = images(put(tmp_path, files), **options)
    feature = source.schema()["image"]
    assert isinstance(feature, Image)
    assert (feature.channels, feature.encoding) == (channels, encoding)
    assert len(load(source)[0]["image"]) == len(files)


def test_images_that_were_not_looked_at_are_made_to_fit(tmp_path, monkeypatch):
    monkeypatch.setattr(image_files, "_MOST_HEADERS", 2)
    source = images(put(tmp_path, {"1.jpg": JPEG, "2.jpg": PNG, "3.jpg": JPEG, "4.jpg": JPEG}))
    assert source.schema()["image"] == Image(encoding="jpeg")
    columns, rejects, _ = load(source)
    assert not rejects
    assert columns["image"][0] == JPEG
    assert np.abs(decode_image(columns["image"][1]).astype(int) - decode_image(PNG)).mean() < 6


def test_a_header_behind_a_long_thumbnail(tmp_path):
    segment = b"\xff\xe2\xff\xff" + bytes(65_533)
    put(tmp_path, {"1.jpg": JPEG[:2] + segment * 3 + JPEG[2:]})
    assert images(tmp_path).schema()["image"] == Image(encoding="jpeg")


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"size": (0, 10)}, "size must be"),
        ({"size": 224}, "height and a width"),
        ({"size": (224.5, 224)}, "height and a width"),
        ({"channels": 2}, "channels must be"),
        ({"encoding": "jpeg", "channels": 4}, "cannot have 4 channels"),
        ({"encoding": "tiff"}, "encoding must be"),
        ({"encoding": "gif"}, "GIF"),
        ({"quality": 101}, "quality must be"),
    ],
)
def test_options_that_cannot_be(options, problem, tmp_path):
    with pytest.raises(PipelineError, match=problem):
        images(tmp_path, **options)


LABELS = {"1.jpg": JPEG, "2.jpg": JPEG, "sub/3.jpg": JPEG}


@pytest.mark.parametrize(
    "text",
    [
        "filename,label\n1.jpg,dog\n2.jpg,cat\nsub/3.jpg,dog\n",
        "label,extra,file\ndog,x,1.jpg\ncat,,2.jpg\ndog,y,./sub/3.jpg\n",
        "\ufeffImage_ID,Breed\r\n1,dog\r\n2,cat\r\nsub/3,dog\r\n",
        "1.jpg,dog\n2.jpg,cat\nsub\\3.jpg,dog\n",
        'filename,label\n"1.jpg","dog"\n\n2.jpg,cat \nsub/3.jpg,dog\n',
        'filename;label\n1.jpg;dog\n2.jpg;"cat"\nsub/3.jpg;dog\n',
        "filename\tlabel\n1.jpg\tdog\n2.jpg\tcat\nsub/3.jpg\tdog\n",
    ],
)
def test_labels_from_a_file(text, tmp_path):
    put(tmp_path, {**LABELS, "labels.csv": text.encode()})
    source = images(tmp_path, labels=tmp_path / "labels.csv")
    assert source.schema()["label"] == Label(["cat", "dog"])
    columns, rejects, _ = load(source)
    assert not rejects
    assert columns["filename"] == ["1.jpg", "2.jpg", "sub/3.jpg"]
    assert columns["label"] == [1, 0, 1]
    assert source.describe()["labels"]["size"] == len(text.encode())


def test_labels_relative_to_their_own_file(tmp_path):
    put(tmp_path, {**{f"images/{name}": data for name, data in LABELS.items()}})
    (tmp_path / "labels.csv").write_text("path,class\nimages/1.jpg,a\nimages/2.jpg,b\nimages/sub/3.jpg,b\n")
    columns, rejects, _ = load(images(tmp_path / "images", labels=tmp_path / "labels.csv"))
    assert (columns["label"], rejects) == ([0, 1, 1], [])


def test_accents_may_be_spelt_in_two_ways(tmp_path):
    put(tmp_path, {"cafe\u0301.jpg": JPEG})
    (tmp_path / "labels.csv").write_text("filename,label\ncaf\u00e9.jpg,a\n")
    assert load(images(tmp_path, labels=tmp_path / "labels.csv"))[0]["label"] == [0]


@pytest.mark.parametrize(
    ("labels", "names", "numbers"),
    [
        (("2", "0", "2"), 3, [2, 0, 2]),
        (("10", "9", "9"), 11, [10, 9, 9]),
        (("007", "001", "007"), ["001", "007"], [1, 0, 1]),
        (("-1", "1", "1"), ["-1", "1"], [0, 1, 1]),
        (("99999999", "5", "5"), ["5", "99999999"], [1, 0, 0]),
        (("123456789012345678901234567890", "5", "5"), ["123456789012345678901234567890", "5"], [0, 1, 1]),
    ],
)
def test_labels_that_are_numbers(labels, names, numbers, tmp_path):
    rows = "".join(f"{name},{label}\n" for name, label in zip(LABELS, labels, strict=True))
    put(tmp_path, {**LABELS, "labels.csv": f"filename,label\n{rows}".encode()})
    source = images(tmp_path, labels=tmp_path / "labels.csv")
    assert source.schema()["label"] == Label(names)
    assert load(source)[0]["label"] == numbers


def test_labels_missing_doubled_and_lost(tmp_path):
    text = (
        "filename,label\n1.jpg,cat\n1.jpg,cat\n2.jpg,cat\n2.jpg,dog\ngone.jpg,dog\n"
        "sub/3.jpg,dog\nempty.jpg,\n"
    )  # fmt: skip
    put(tmp_path, {**LABELS, "4.jpg": JPEG, "empty.jpg": JPEG, "labels.csv": text.encode()})
    path = tmp_path / "labels.csv"
    columns, rejects, _ = load(images(tmp_path, labels=path))
    assert columns["filename"] == ["1.jpg", "sub/3.jpg"]
    assert [(reject.source, reject.reason) for reject in rejects] == [
        (f"{path}, line 3", "The image '1.jpg' is already listed in line 2."),
        (str(tmp_path / "2.jpg"), f"It has several labels in {path}: 'cat' in line 4 and 'dog' in line 5."),
        (str(tmp_path / "4.jpg"), f"It has no label in {path}."),
        (str(tmp_path / "empty.jpg"), f"Its label in {path}, line 8, is empty."),
        (f"{path}, line 6", "There is no image 'gone.jpg'."),
    ]
    assert all(reject.feature == "label" for reject in rejects)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (b"", "empty"),
        (b"a,b,c\n1.jpg,x,y\n", "not clear which columns"),
        (b"filename,b,c\n1.jpg,x,y\n", "not clear which columns"),
        (b"filename,label\n1.jpg\n", "Line 2 has a different number of columns"),
        (b"filename,label\n1.jpg,0.25\n2.jpg,1\n", "measurements"),
        (b"filename,label\n1.jpg,\n", "No image has a label"),
        (b"filename,label\nx/1.jpg,a\n", "No image has a name"),
        (b"filename,label\n1.jpg,caf\xe9\n", "not CSV in UTF-8"),
        (b'filename,label\n"1.jpg,cat\n', "not CSV in UTF-8"),
        (None, "cannot be read"),
    ],
)
def test_labels_that_cannot_be_used(text, problem, tmp_path):
    put(tmp_path, LABELS if text is None else {**LABELS, "labels.csv": text})
    with pytest.raises(PipelineError, match=problem):
        images(tmp_path, labels=tmp_path / "labels.csv").schema()


def test_thousands_of_files_and_stable_chunks(tmp_path):
    names = [f"{'ab'[number % 2]}/{number:05}.png" for number in range(1500)]
    tiny = saved(PillowImage.new("L", (1, 1)), "png")
    put(tmp_path, dict.fromkeys(names, tiny))
    source = images(tmp_path, check="header")
    sizes = [chunk.load().rows for chunk in source.chunks()]
    assert sum(sizes) == 1500
    assert max(sizes) == 64
    assert [pickle.dumps(chunk) for chunk in source.chunks()] == [
        pickle.dumps(chunk) for chunk in images(tmp_path, check="header").chunks()
    ]
    assert source.describe() == images(tmp_path, check="header").describe()


def test_chunks_end_at_eight_megabytes(tmp_path):
    large = JPEG + bytes((3 << 20) - len(JPEG))  # what follows an image does not matter
    put(tmp_path, {f"{number}.jpg": large for number in range(5)} | {"9.jpg": JPEG + bytes(9 << 20)})
    assert [chunk.load().rows for chunk in images(tmp_path).chunks()] == [2, 2, 1, 1]


def test_chunks_are_smaller_where_images_become_large(tmp_path):
    put(tmp_path, {f"{number}.jpg": JPEG for number in range(5)})
    assert [chunk.load().rows for chunk in images(tmp_path, size=(2000, 2500)).chunks()] == [2, 2, 1]


def test_the_description_changes_with_the_files(tmp_path):
    put(tmp_path, {"a/1.jpg": JPEG, "a/2.jpg": JPEG})
    before = images(tmp_path).describe()
    os.utime(tmp_path / "a" / "1.jpg", ns=(1, 1))
    after = images(tmp_path).describe()
    assert before["digest"] != after["digest"]
    assert {key for key in before if before[key] != after[key]} == {"digest"}
    assert images(tmp_path, size=(8, 8)).describe() != after


@pytest.mark.parametrize(
    ("files", "options", "words"),
    [
        ({"1.jpg": JPEG, "2.png": PNG}, {}, []),
        ({"1.jpg": JPEG, "2.gif": saved(colour(), "gif")}, {}, ["1 of the images is GIF or WebP"]),
        ({"1.gif": saved(colour(), "gif"), "2.webp": saved(colour(), "webp")}, {}, ["2 of the images are GIF"]),
        ({"1.gif": saved(colour(), "gif")}, {"encoding": "png"}, []),
        ({"1.bmp": made_images()["bmp palette"][0], "2.bmp": made_images()["bmp"][0]}, {}, ["1 of the images is BMP"]),
        ({"1.bmp": made_images()["bmp palette"][0]}, {"channels": 3}, []),
        ({"1.png": PNG, "2.png": saved(with_alpha(), "png")}, {}, ["partly transparent"]),
        ({"2.png": saved(with_alpha(), "png")}, {}, []),
        ({"1.png": PNG, "2.png": saved(with_alpha(), "png")}, {"channels": 3}, []),
    ],
)
def test_warnings_about_what_tensorflow_would_show(files, options, words, tmp_path):
    warnings = images(put(tmp_path, files), **options).warnings
    assert len(warnings) == len(words)
    assert all(word in warning for word, warning in zip(words, warnings, strict=True))
