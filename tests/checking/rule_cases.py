"""For each rule a dataset that triggers it, and a like one that is sound: the tests run all rules over both.

A case is a function that writes into a folder and returns what is checked: a path, or a path and the arguments of
`rs.check`. Its name is the rule's code and what it makes; the two tables at the end put them together.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import cv2
import numpy as np

import recordsmith as rs
from recordsmith.dataset.index_report import keep_indexes
from recordsmith.facts.dataset_facts import DatasetFacts
from recordsmith.records.index import export_index
from tests.checking.made_datasets import (
    CLASSES,
    SCHEMA,
    Row,
    changed,
    example,
    feature,
    float_list,
    image_rows,
    int64_list,
    made,
    made_image,
    rows,
    sound,
    splits,
    write,
    write_payloads,
)


@dataclass(frozen=True)
class Checked:
    """What is checked and how; `facts` alters what was surveyed, where a real file would be too large to make."""

    path: Path
    options: dict[str, Any] = field(default_factory=dict)
    facts: Callable[[DatasetFacts], DatasetFacts] | None = None


Case = Callable[[Path], Path | Checked]
TRIGGERS: dict[str, Case] = {}
CLEAN: dict[str, Case] = {}


def triggers(code: str) -> Callable[[Case], Case]:
    def register(case: Case) -> Case:
        assert code not in TRIGGERS, code
        TRIGGERS[code] = case
        return case

    return register


def clean(*codes: str) -> Callable[[Case], Case]:
    def register(case: Case) -> Case:
        for code in codes:
            assert code not in CLEAN, code
            CLEAN[code] = case
        return case

    return register


# --- F: framing -------------------------------------------------------------------------------------------------------


@clean("F001", "F002", "F003", "F004", "F005", "F007", "F008", "F013", "F014", "W001", "W002", "W003", "W004", "W005")
def one_sound_file(folder: Path) -> Path:
    return sound(folder)


def _damaged(folder: Path, damage: Callable[[bytearray], Any]) -> Path:
    path = sound(folder)
    data = bytearray(path.read_bytes())
    damage(data)
    path.write_bytes(data)
    return path


@triggers("F001")
def a_flipped_bit_in_a_length(folder: Path) -> Path:
    second = rs.encode_example(rows()[0])
    return _damaged(folder, lambda data: data.__setitem__(len(second) + 16, data[len(second) + 16] ^ 1))


@triggers("F002")
def a_flipped_bit_in_the_data(folder: Path) -> Path:
    return _damaged(folder, lambda data: data.__setitem__(30, data[30] ^ 1))


@triggers("F003")
def a_file_cut_inside_a_record(folder: Path) -> Path:
    return _damaged(folder, lambda data: data.__delitem__(slice(-20, None)))


@triggers("F004")
def a_newline_behind_the_last_record(folder: Path) -> Path:
    return _damaged(folder, lambda data: data.extend(b"\n"))


@triggers("F005")
def a_git_lfs_pointer(folder: Path) -> Path:
    sound(folder)
    pointer = folder / "more.tfrecord"
    pointer.write_text("version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n")
    return folder


@triggers("F006")
def gzip_without_a_suffix(folder: Path) -> Path:
    return write(folder / "data.tfrecord", rows(), compression="gzip")


@clean("F006")
def gzip_with_its_suffix(folder: Path) -> Path:
    write(folder / "a.tfrecord.gz", rows(seed=1), compression="gzip")
    write(folder / "b.tfrecord.zlib", rows(seed=2), compression="zlib")
    write(folder / "c.tfrecord.gz-00000-of-00001", rows(seed=3), compression="gzip")
    return folder


@triggers("F007")
def gzip_with_a_damaged_stream(folder: Path) -> Path:
    path = write(folder / "data.tfrecord.gz", rows(), compression="gzip")
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 0xFF
    path.write_bytes(data)
    return path


@triggers("F008")
def an_empty_file_among_others(folder: Path) -> Path:
    sound(folder)
    (folder / "more.tfrecord").write_bytes(b"")
    return folder


def _three_shards(folder: Path) -> Path:
    for shard in range(3):
        write(folder / f"train-{shard:05}-of-00003", rows(60, seed=shard))
    return folder


@clean("F009", "F010", "D008", "D009")
def three_shards(folder: Path) -> Path:
    return _three_shards(folder)


@triggers("F009")
def a_shard_of_three_is_missing(folder: Path) -> Path:
    _three_shards(folder)
    (folder / "train-00001-of-00003").unlink()
    return folder


@triggers("F010")
def two_numberings_side_by_side(folder: Path) -> Path:
    _three_shards(folder)
    write(folder / "train-00000-of-00001", rows(60, seed=9))
    return folder


@clean("F011", "F012", "F016")
def a_made_dataset(folder: Path) -> Path:
    return made(folder / "data")


@triggers("F011")
def a_shard_of_another_run(folder: Path) -> Path:
    data = made(folder / "data")
    other = made(folder / "other", rows(400, seed=5))
    name = "pets-train.tfrecord-00000-of-00001"
    shutil.copy(other / name, data / name)
    return data


@triggers("F012")
def a_file_that_the_manifest_does_not_name(folder: Path) -> Path:
    data = made(folder / "data")
    write(data / "old-train.tfrecord-00000-of-00001", rows(60, seed=7))
    return data


@triggers("F013")
def a_file_changed_after_it_was_indexed(folder: Path) -> Path:
    path = sound(folder)
    assert len(list(keep_indexes([str(path)]))) == 1
    write(path, rows(150, seed=3))
    return path


@triggers("F014")
def a_file_that_cannot_be_read(folder: Path) -> Path | Checked:
    """A folder with the name of a file; permissions would not stop a test that runs as root."""
    sound(folder)
    (folder / "more.tfrecord").symlink_to(folder / "gone.tfrecord")
    return Checked(folder, facts=_unreadable)


def _unreadable(facts: DatasetFacts) -> DatasetFacts:
    from recordsmith.facts.dataset_facts import Damage

    (shard,) = facts.shards
    damage = Damage("unreadable", shard.path, None, None, None, "Permission denied")
    return replace(facts, shards=(replace(shard, damages=(damage,), damage_count=1),))


def _with_shard(**changes: Any) -> Callable[[DatasetFacts], DatasetFacts]:
    def altered(facts: DatasetFacts) -> DatasetFacts:
        return replace(facts, shards=(replace(facts.shards[0], **changes), *facts.shards[1:]))

    return altered


@triggers("F015")
def a_record_of_3_gib(folder: Path) -> Checked:
    return Checked(sound(folder), facts=_with_shard(max_record=3 << 30))


@clean("F015", "D010", "D011")
def large_but_usual(folder: Path) -> Checked:
    return Checked(sound(folder), facts=_with_shard(max_record=1 << 30, bytes=900_000_000))


@triggers("F016")
def a_manifest_cut_short(folder: Path) -> Path:
    data = made(folder / "data")
    manifest = data / "recordsmith.json"
    manifest.write_text(manifest.read_text()[:-100])
    return data


@triggers("F017")
def an_index_of_the_file_as_it_was(folder: Path) -> Path:
    path = sound(folder)
    export_index(path, format="dali")
    return write(path, rows(130, seed=3))


@clean("F017")
def indexes_for_other_programs(folder: Path) -> Path:
    path = sound(folder)
    export_index(path, format="dali")
    export_index(path, format="vahidk")
    (folder / "notes.idx").write_text("no index at all")
    return path


# --- W: wire ----------------------------------------------------------------------------------------------------------


@triggers("W001")
def text_among_examples(folder: Path) -> Path:
    payloads = [rs.encode_example(row) for row in rows(30)]
    return write_payloads(folder / "data.tfrecord", [*payloads, b'{"label": "cat"}'])


def _odd(folder: Path, payload: bytes) -> Path:
    payloads = [rs.encode_example({"a": number, "b": float(number) / 7}) for number in range(30)]
    return write_payloads(folder / "data.tfrecord", [*payloads, payload])


B = feature(b"b", float_list(0.25))


@triggers("W002")
def a_feature_twice(folder: Path) -> Path:
    return _odd(folder, example(feature(b"a", int64_list(77)), feature(b"a", int64_list(78)), B))


@triggers("W003")
def floats_among_integers(folder: Path) -> Path:
    return changed(folder, lambda number, row: row.update(age=row["age"] + 0.5) if number == 7 else None)


@triggers("W004")
def a_list_that_goes_on(folder: Path) -> Path:
    return _odd(folder, example(feature(b"a", int64_list(77), int64_list(78)), B))


@triggers("W005")
def a_field_that_no_example_has(folder: Path) -> Path:
    from tests.checking.made_datasets import field as message_field

    return _odd(folder, example(feature(b"a", int64_list(77)), B, message_field(9, b"more")))


@triggers("W006")
def a_name_in_latin_1(folder: Path) -> Path:
    return _odd(folder, example(feature(b"a", int64_list(77)), B, feature("größe".encode("latin-1"), int64_list(1))))


@clean("W006")
def names_in_utf_8(folder: Path) -> Path:
    return changed(folder, lambda number, row: row.update({"größe": number}))


@triggers("W007")
def two_kinds_in_one_feature(folder: Path) -> Path:
    return _odd(folder, example(feature(b"a", int64_list(77), float_list(0.5)), B))


@triggers("W008")
def examples_and_sequence_examples(folder: Path) -> Path:
    sound(folder)
    with rs.RecordWriter(folder / "steps.tfrecord") as writer:
        for number in range(30):
            writer.write(rs.encode_sequence_example({"id": number}, {"step": [[number], [number + 1]]}))
    return folder


@triggers("W009")
def words_as_names(folder: Path) -> Path:
    def counts(number: int, row: Row) -> None:
        row.update({f"word {number * 9 + word}": word for word in range(1, 10)})

    return changed(folder, counts)


@clean("W007", "W008", "W009")
def sequence_examples(folder: Path) -> Path:
    path = folder / "steps.tfrecord"
    with rs.RecordWriter(path) as writer:
        for number in range(60):
            steps = [[number], [number + 1], [number * 2]][: 1 + number % 3]
            writer.write(rs.encode_sequence_example({"id": number}, {"step": steps}))
    return path


# --- S: schema --------------------------------------------------------------------------------------------------------


def _with_schema(folder: Path, change: Callable[[int, Row], Any], schema: rs.Schema = SCHEMA) -> Checked:
    return Checked(changed(folder, change), {"schema": schema})


@clean("S001", "S002", "S003", "S004", "S005", "S006", "S008", "S009", "S010")
def rows_as_declared(folder: Path) -> Checked:
    return Checked(sound(folder), {"schema": SCHEMA})


@triggers("S001")
def a_row_without_its_label(folder: Path) -> Checked:
    return _with_schema(folder, lambda number, row: row.pop("label") if number == 3 else None)


@triggers("S002")
def a_misspelled_feature(folder: Path) -> Checked:
    return _with_schema(folder, lambda number, row: row.update(lable=number % 3))


@triggers("S003")
def labels_stored_as_floats(folder: Path) -> Checked:
    return _with_schema(folder, lambda _, row: row.update(label=float(row["label"])))


@triggers("S004")
def a_row_with_five_numbers(folder: Path) -> Checked:
    return _with_schema(folder, lambda number, row: row.update(x=np.ones(5, np.float32)) if number == 3 else None)


@triggers("S005")
def an_age_of_400(folder: Path) -> Checked:
    return _with_schema(folder, lambda number, row: row.update(age=400) if number == 3 else None)


@triggers("S006")
def classes_counted_from_one(folder: Path) -> Checked:
    return _with_schema(folder, lambda _, row: row.update(label=row["label"] + 1))


def _with_default(**optional: Any) -> rs.Schema:
    return rs.Schema({**SCHEMA, "score": rs.Scalar("float32", **optional)})


@triggers("S007")
def a_default_that_is_never_used(folder: Path) -> Checked:
    return _with_schema(folder, lambda number, row: row.update(score=number / 7), _with_default(default=0.0))


@clean("S007")
def a_default_that_is_used_at_times(folder: Path) -> Checked:
    return _with_schema(
        folder,
        lambda number, row: row.update(score=number / 7) if number % 2 else None,
        _with_default(default=0.0),
    )


@triggers("S008")
def a_default_that_is_always_used(folder: Path) -> Checked:
    return Checked(sound(folder), {"schema": _with_default(default=0.0)})


@triggers("S009")
def a_class_that_nothing_has(folder: Path) -> Checked:
    schema = rs.Schema({**SCHEMA, "label": rs.Label([*CLASSES, "fish"])})
    return Checked(sound(folder), {"schema": schema})


@triggers("S010")
def sequences_declared_as_examples(folder: Path) -> Checked:
    payloads = [rs.encode_sequence_example({"n": n}, {"tokens": [[n], [n + 1]]}) for n in range(40)]
    schema = rs.Schema({"n": rs.Scalar("int64"), "tokens": rs.Tensor("int64", (2,))})
    return Checked(write_payloads(folder / "data.tfrecord", payloads), {"schema": schema})


# --- V: values --------------------------------------------------------------------------------------------------------


@clean("V001", "V002", "V003", "V006", "V007", "V013", "V014", "V015", "V019")
def all_kinds_of_values(folder: Path) -> Path:
    def more(number: int, row: Row) -> None:
        row.update(colour=("red", "green", "blue")[number % 3], note=f"  free text {number}\n")
        row.update(flag=float(number % 2), height=28, channels=1, weights=np.full(number % 4, number / 3, np.float32))

    return changed(folder, more)


@triggers("V001")
def a_nan(folder: Path) -> Path:
    return changed(folder, lambda number, row: row["x"].__setitem__(2, np.nan) if number == 7 else None)


@triggers("V002")
def a_constant(folder: Path) -> Path:
    return changed(folder, lambda _, row: row.update(score=0.5))


@triggers("V003")
def a_feature_that_hardly_any_row_has(folder: Path) -> Path:
    return changed(folder, lambda number, row: row.update(score=number / 7) if number in (3, 9) else None)


@triggers("V019")
def a_label_that_two_rows_lack(folder: Path) -> Path:
    return changed(folder, lambda number, row: row.pop("label") if number in (3, 9) else None)


def _boxes(folder: Path, change: Callable[[Any], None]) -> Path:
    """Records with boxes under the names of the Object Detection API; `change` alters those of one record."""
    rng = np.random.default_rng(7)

    def more(number: int, row: Row) -> None:
        corners = np.sort(rng.uniform(0, 1, (2, number % 4 + 1, 2)), axis=0).astype(np.float32)
        boxes = np.concatenate([corners[0], corners[1]], axis=1)
        if number == 7:
            change(boxes)
        for place, side in enumerate(("ymin", "xmin", "ymax", "xmax")):
            row[f"image/object/bbox/{side}"] = boxes[:, place]

    return changed(folder, more)


@clean("V020", "V021", "V022")
def boxes_inside(folder: Path) -> Path:
    return _boxes(folder, lambda _: None)


@triggers("V020")
def a_box_outside(folder: Path) -> Path:
    return _boxes(folder, lambda boxes: boxes.__setitem__((0, 3), 1.6))


@triggers("V021")
def a_box_with_swapped_corners(folder: Path) -> Path:
    return _boxes(folder, lambda boxes: boxes.__setitem__(0, [0.5, 0.5, 0.25, 0.75]))


@triggers("V022")
def a_box_without_area(folder: Path) -> Path:
    return _boxes(folder, lambda boxes: boxes.__setitem__(0, [0.5, 0.5, 0.5, 0.75]))


def _pixels(folder: Path, convert: Callable[[Any], Any]) -> Path:
    rng = np.random.default_rng(7)
    return changed(folder, lambda _, row: row.update(image=convert(rng.integers(0, 256, 64).astype(np.float64))))


@triggers("V004")
def floats_of_0_to_255(folder: Path) -> Path:
    return _pixels(folder, lambda pixels: (pixels * 0.999 + 0.01).astype(np.float32))


@clean("V004", "V005")
def floats_around_zero(folder: Path) -> Path:
    rng = np.random.default_rng(7)
    return changed(folder, lambda _, row: row.update(image=rng.normal(0, 1, 64).astype(np.float32)))


@triggers("V005")
def divided_by_255_twice(folder: Path) -> Path:
    return _pixels(folder, lambda pixels: (pixels / 255 / 255).astype(np.float32))


@triggers("V006")
def a_category_in_two_spellings(folder: Path) -> Path:
    return changed(folder, lambda number, row: row.update(colour=("red", "Red", "blue")[number % 3]))


@triggers("V007")
def a_category_with_its_newline(folder: Path) -> Path:
    return changed(folder, lambda number, row: row.update(colour=("red", "green\n", "blue")[number % 3]))


@clean("V008", "V009", "V010", "V016", "V017", "D006")
def sound_images(folder: Path) -> Checked:
    return Checked(write(folder / "data.tfrecord", image_rows()), {"decode": "all", "similar_images": True})


def _images(folder: Path, change: Callable[[Row], Any]) -> Checked:
    some = image_rows()
    for row in some[3:6]:
        change(row)
    return Checked(write(folder / "data.tfrecord", some), {"decode": "all"})


@triggers("V008")
def images_cut_short(folder: Path) -> Checked:
    return _images(folder, lambda row: row.update(image=row["image"][:200]))


@triggers("V009")
def error_pages_in_place_of_images(folder: Path) -> Checked:
    return _images(folder, lambda row: row.update(image=f"<html>404 {row['filename']}</html>"))


@triggers("V010")
def png_called_jpg(folder: Path) -> Checked:
    return _images(folder, lambda row: row.update(image=made_image(len(row["image"]), ".png")))


@triggers("V011")
def float64_pixels_as_bytes(folder: Path) -> Path:
    rng = np.random.default_rng(7)
    shape = {"height": 16, "width": 16, "depth": 3}
    return changed(folder, lambda _, row: row.update(image_raw=rng.random((16, 16, 3)).tobytes(), **shape))


@clean("V011")
def small_pixels_as_uint8(folder: Path) -> Path:
    rng = np.random.default_rng(7)
    shape = {"height": 16, "width": 16, "depth": 3}
    return changed(
        folder, lambda _, row: row.update(image_raw=rng.integers(0, 256, (16, 16, 3), np.uint8).tobytes(), **shape)
    )


@triggers("V012")
def pixels_divided_and_stored_as_floats(folder: Path) -> Path:
    return _pixels(folder, lambda pixels: (pixels / 255).astype(np.float32))


@clean("V012")
def real_floats(folder: Path) -> Path:
    rng = np.random.default_rng(7)
    return changed(folder, lambda _, row: row.update(image=rng.random(64).astype(np.float32)))


@triggers("V013")
def samples_as_negative_integers(folder: Path) -> Path:
    rng = np.random.default_rng(7)
    return changed(folder, lambda _, row: row.update(sound=rng.integers(-3000, 3000, 200)))


@triggers("V014")
def ages_as_floats(folder: Path) -> Path:
    return changed(folder, lambda _, row: row.update(age=float(row["age"])))


@triggers("V015")
def a_name_in_latin_1_among_others(folder: Path) -> Path:
    return changed(folder, lambda number, row: row.update(name="Größe".encode("latin-1")) if number == 3 else None)


@triggers("V016")
def black_images(folder: Path) -> Checked:
    def black(row: Row) -> None:
        side = 20 + len(row["filename"]) + int(row["filename"].split("-")[2].split(".")[0])
        row.update(image=bytes(cv2.imencode(".jpg", np.zeros((side, 24, 3), np.uint8))[1]))

    return _images(folder, black)


@triggers("V017")
def grey_images_among_coloured(folder: Path) -> Checked:
    return _images(folder, lambda row: row.update(image=made_image(len(row["image"]), channels=1)))


@triggers("V018")
def tf_idf_written_densely(folder: Path) -> Path:
    rng = np.random.default_rng(7)

    def dense(_: int, row: Row) -> None:
        vector = np.zeros(500, np.float32)
        vector[rng.choice(500, 9)] = rng.random(9)
        row.update(tfidf=vector)

    return changed(folder, dense)


@clean("V018")
def tf_idf_written_sparsely(folder: Path) -> Path:
    rng = np.random.default_rng(7)
    return changed(
        folder,
        lambda _, row: row.update(words=np.sort(rng.choice(500, 9)), weights=rng.random(9).astype(np.float32)),
    )


# --- D: dataset -------------------------------------------------------------------------------------------------------


def _labelled(labels: Any, seed: int = 0) -> list[Row]:
    some = rows(len(labels), seed)
    for row, label in zip(some, labels, strict=True):
        row["label"] = int(label)
    return some


@triggers("D001")
def one_class_of_two_is_rare(folder: Path) -> Path:
    return write(folder / "data.tfrecord", _labelled(np.random.default_rng(0).permutation([1] * 3 + [0] * 300)))


@clean("D001", "D007")
def uneven_but_usual_classes(folder: Path) -> Path:
    return write(folder / "data.tfrecord", _labelled(np.random.default_rng(0).permutation([1] * 80 + [0] * 320)))


@clean("D002", "D003", "D004", "D012", "D013", "D014")
def two_random_splits(folder: Path) -> Path:
    return splits(folder, train=rows(600, seed=1), test=rows(300, seed=2))


@triggers("D002")
def a_class_that_is_only_in_the_test_split(folder: Path) -> Path:
    train = [row for row in rows(600, seed=1) if row["label"] != 2]
    return splits(folder, train=train, test=rows(300, seed=2))


@triggers("D003")
def rows_written_twice(folder: Path) -> Path:
    some = rows(120)
    return write(folder / "data.tfrecord", [*some, *some[:10]])


@triggers("D004")
def training_rows_in_the_test_split(folder: Path) -> Path:
    train = rows(600, seed=1)
    return splits(folder, train=train, test=[*rows(280, seed=2), *train[:20]])


def _similar(folder: Path, splits_of_copies: tuple[str, str]) -> Checked:
    parts = {"train": image_rows(30, seed=1), "test": image_rows(30, seed=2)}
    small = cv2.imdecode(np.frombuffer(parts["train"][3]["image"], np.uint8), cv2.IMREAD_COLOR)
    again = bytes(cv2.imencode(".jpg", cv2.resize(small, (48, 48)), [cv2.IMWRITE_JPEG_QUALITY, 90])[1])
    parts[splits_of_copies[1]].append({"image": again, "filename": "again.jpg", "label": 1})
    return Checked(splits(folder, **parts), {"similar_images": True})


@triggers("D005")
def a_resized_image_in_the_other_split(folder: Path) -> Checked:
    return _similar(folder, ("train", "test"))


@clean("D005", "D015")
def different_images_in_both_splits(folder: Path) -> Checked:
    parts = splits(folder, train=image_rows(30, seed=1), test=image_rows(30, seed=2))
    return Checked(parts, {"similar_images": True})


@triggers("D015")
def one_image_under_two_labels(folder: Path) -> Path:
    some = image_rows(30, seed=1)
    return splits(folder, train=[*some, {**some[3], "label": some[3]["label"] ^ 1}], test=image_rows(30, seed=2))


@triggers("D006")
def a_resized_image_in_the_same_split(folder: Path) -> Checked:
    return _similar(folder, ("train", "train"))


@triggers("D007")
def rows_sorted_by_label(folder: Path) -> Path:
    return write(folder / "data.tfrecord", _labelled(np.repeat(np.arange(8), 750)))


@triggers("D008")
def one_shard_with_nearly_everything(folder: Path) -> Path:
    for shard, count in enumerate((300, 40, 40)):
        write(folder / f"train-{shard:05}-of-00003", rows(count, seed=shard))
    return folder


@triggers("D009")
def a_file_for_each_few_rows(folder: Path) -> Path:
    for shard in range(20):
        write(folder / f"train-{shard:05}-of-00020", rows(6, seed=shard))
    return folder


@triggers("D010")
def a_shard_of_5_gb(folder: Path) -> Checked:
    return Checked(sound(folder), facts=_with_shard(bytes=5_000_000_000))


@triggers("D011")
def two_gb_in_one_file(folder: Path) -> Checked:
    return Checked(sound(folder), facts=_with_shard(bytes=2_000_000_000))


@triggers("D012")
def classes_with_other_shares_in_the_test_split(folder: Path) -> Path:
    rng = np.random.default_rng(0)
    train = _labelled(rng.choice(3, 600, p=[0.6, 0.3, 0.1]), seed=1)
    return splits(folder, train=train, test=_labelled(rng.choice(3, 300, p=[0.1, 0.3, 0.6]), seed=2))


@triggers("D013")
def a_test_split_prepared_otherwise(folder: Path) -> Path:
    test = rows(300, seed=2)
    for row in test:
        row["x"] = row["x"] + 2
    return splits(folder, train=rows(600, seed=1), test=test)


@triggers("D014")
def a_test_split_without_a_feature(folder: Path) -> Path:
    test = [{name: value for name, value in row.items() if name != "age"} for row in rows(300, seed=2)]
    return splits(folder, train=rows(600, seed=1), test=test)
