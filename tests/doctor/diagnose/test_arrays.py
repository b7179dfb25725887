"""Pipelines without any framework: what is wrong with them is named first, and healthy ones are left alone."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import recordsmith as rs
from tests.doctor.diagnose.made_pipelines import Epochs, codes, write, wrong
from tests.doctor.diagnose.made_pipelines import images as made_images

RANDOM = np.random.default_rng(7)
ROWS = 256
TABLE = RANDOM.normal(size=(ROWS, 6)).astype(np.float32)
CLASSES = (TABLE[:, 0] > 0).astype(np.int64)
PIXELS, KINDS = made_images(ROWS)
SCALED = PIXELS.astype(np.float32) / 255
WORDS = RANDOM.integers(1, 500, (ROWS, 12))
RARE = (RANDOM.random(ROWS) < 0.06).astype(np.int64)
MEASURED = (TABLE @ RANDOM.normal(size=6)).astype(np.float32)


def as_dict(columns: list[Any]) -> dict[str, Any]:
    return {"x": columns[0], "label": columns[1]}


HEALTHY = {
    "standardised table": Epochs(TABLE, CLASSES),
    "float64": Epochs(TABLE.astype(np.float64), CLASSES),
    "dict": Epochs(TABLE, CLASSES, form=as_dict),
    "list": Epochs(TABLE, CLASSES, form=list),
    "pictures": Epochs(SCALED, KINDS),
    "bytes": Epochs(PIXELS, KINDS),
    "from -1 to 1": Epochs(SCALED * 2 - 1, KINDS),
    "standardised images": Epochs((SCALED - SCALED.mean()) / SCALED.std(), KINDS),
    "channels first": Epochs(np.moveaxis(SCALED, 3, 1), KINDS),
    "flat images": Epochs(SCALED.reshape(ROWS, -1), KINDS),
    "brightened a little": Epochs(SCALED + RANDOM.uniform(-0.2, 0.2, (ROWS, 1, 1, 1)), KINDS),
    "noise": Epochs(RANDOM.random((ROWS, 16, 20, 3)).astype(np.float32), KINDS),
    "black and white": Epochs((SCALED > 0.5).astype(np.float32), KINDS),
    "one colour each": Epochs(np.ones((ROWS, 8, 8, 3)) * RANDOM.random((ROWS, 1, 1, 1)), KINDS),
    "spectrograms": Epochs(RANDOM.normal(-40, 12, (ROWS, 32, 40, 1)).astype(np.float32), KINDS),
    "ids": Epochs(WORDS, CLASSES),
    "ids and a mask": Epochs(WORDS, np.ones_like(WORDS), CLASSES),
    "rare class": Epochs(TABLE, RARE),
    "measured target": Epochs(TABLE, MEASURED),
    "target as a column": Epochs(TABLE, MEASURED[:, np.newaxis]),
    "one-hot": Epochs(TABLE, np.eye(2)[CLASSES]),
    "several labels a row": Epochs(TABLE, (RANDOM.random((ROWS, 5)) < 0.3).astype(np.float32)),
    "many classes": Epochs(TABLE, RANDOM.integers(0, 100, ROWS)),
    "its own input": Epochs(SCALED, SCALED),
    "next word": Epochs(WORDS[:, :-1], WORDS[:, 1:]),
    "inputs only": Epochs(TABLE, form=lambda columns: columns[0]),
    "one batch": Epochs(TABLE[:20], CLASSES[:20]),
    "one batch, endless": [(TABLE[:20], CLASSES[:20])] * 6,
    "steps by features": Epochs(RANDOM.normal(size=(ROWS, 24, 6)).astype(np.float32), CLASSES),
    "counts": Epochs(RANDOM.poisson(3, (ROWS, 8)), CLASSES),
    "small numbers": Epochs(TABLE * 1e-6, CLASSES),
    "probabilities": Epochs(np.exp(TABLE) / np.exp(TABLE).sum(axis=1, keepdims=True), CLASSES),
}


@pytest.mark.parametrize("name", HEALTHY)
def test_a_healthy_pipeline_is_left_alone(name: str) -> None:
    report = rs.diagnose(HEALTHY[name])
    assert wrong(report) == []
    assert report.ok


def as_bytes(values: Any, dtype: Any, shape: tuple[int, ...]) -> Any:
    return np.frombuffer(np.ascontiguousarray(values).tobytes(), dtype).reshape(len(values), *shape)


def with_nan(values: Any) -> Any:
    spoilt = values.copy()
    spoilt[3, 0] = np.nan
    return spoilt


def blank(values: Any) -> Any:
    return values * (np.arange(len(values)) % 3 > 0)[:, np.newaxis, np.newaxis, np.newaxis]


IN_ORDER = np.argsort(CLASSES, kind="stable")
BROKEN = {
    "T002": Epochs(TABLE[:0], CLASSES[:0]),
    "T004": Epochs(TABLE, CLASSES, size=1, form=lambda columns: tuple(column[0] for column in columns)),
    "T005": Epochs(TABLE, CLASSES, form=lambda columns: (columns[0], columns[1][1:])),
    "T006": Epochs(TABLE[:, :0], CLASSES),
    "T020": Epochs(with_nan(TABLE), CLASSES),
    "T021": Epochs(np.log(np.maximum(TABLE, 0), where=TABLE > 0, out=np.full_like(TABLE, -np.inf)), CLASSES),
    "T022": Epochs(TABLE * 0, CLASSES),
    "T023": Epochs(TABLE * 0 + 1, CLASSES),
    "T025": Epochs(SCALED / 255, KINDS),
    "T026": Epochs(blank(SCALED), KINDS),
    "T028": Epochs(SCALED + RANDOM.uniform(-60, 60, (ROWS, 1, 1, 1)), KINDS),
    "T029": Epochs(np.ascontiguousarray(np.moveaxis(SCALED, 3, 1)).reshape(SCALED.shape), KINDS),
    "T030": Epochs(as_bytes(PIXELS, np.float32, (192,)), KINDS),
    "T031": Epochs(TABLE, CLASSES * 0),
    "T032": Epochs(TABLE, np.eye(4)[:, 1:][RANDOM.integers(0, 4, ROWS)]),
    "T033": Epochs(np.column_stack([TABLE, CLASSES]).astype(np.float32), CLASSES),
    "T035": Epochs((SCALED - 0.5) * 60, KINDS),
    "T036": Epochs((PIXELS // 255).astype(np.uint8), KINDS),
    "T040": Epochs(TABLE[IN_ORDER], CLASSES[IN_ORDER], seed=None),
}


@pytest.mark.parametrize("code", BROKEN)
def test_what_is_wrong_is_named_first(code: str) -> None:
    report = rs.diagnose(BROKEN[code])
    assert codes(report, least="warning")[:1] == [code], wrong(report)
    assert not report.ok


@pytest.mark.parametrize(
    ("values", "dtype", "words"),
    [
        (TABLE.astype(np.float64), np.float32, "float64 numbers read as float32"),
        (WORDS, np.float64, "whole numbers, such as int64 or int32, read as float64"),
        (WORDS, np.float32, "whole numbers, such as int64 or int32, read as float32"),
        (TABLE, np.int32, "float32 numbers read as int32"),
        (TABLE.astype(np.float64), np.int64, "float64 numbers read as int64"),
        (TABLE, np.uint8, "float32 numbers read as uint8"),
        (WORDS, np.uint8, "int64 numbers read as uint8"),
    ],
)
def test_bytes_read_as_another_type_are_recognised(values: Any, dtype: Any, words: str) -> None:
    width = values.shape[1] * values.dtype.itemsize // np.dtype(dtype).itemsize
    first = rs.diagnose(Epochs(as_bytes(values, dtype, (width,)), CLASSES)).findings[0]
    assert first.code == "T030"
    assert words in first.message


def test_a_weak_shuffle_is_told_from_a_true_one() -> None:
    near = np.argsort(CLASSES + RANDOM.normal(0, 0.6, ROWS))  # rows moved, but not far
    assert codes(rs.diagnose(Epochs(TABLE[near], CLASSES[near], seed=None)), least="warning") == ["T041"]


def test_chance_alone_does_not_look_like_a_weak_shuffle() -> None:
    for seed in range(20):
        assert wrong(rs.diagnose(Epochs(TABLE, RARE, seed=seed), epochs=1)) == []


def test_the_same_order_in_both_epochs_is_worth_knowing_of_a_loop() -> None:
    report = rs.diagnose(Epochs(TABLE, CLASSES, seed=None, size=16))
    assert codes(report) == ["T042"]
    assert report.ok


def test_batches_of_one_are_worth_knowing_of() -> None:
    assert codes(rs.diagnose(Epochs(TABLE, CLASSES, size=1))) == ["T017"]


def test_a_generator_is_drawn_once_and_that_is_said() -> None:
    batches = iter(Epochs(TABLE, CLASSES))
    report = rs.diagnose(batches)
    assert codes(report) == ["T047"]
    assert next(batches, None) is None


def test_an_error_of_the_pipeline_is_a_finding() -> None:
    def batches() -> Any:
        yield TABLE[:8], CLASSES[:8]
        raise KeyError("imgae")

    report = rs.diagnose(batches())
    assert codes(report, least="error") == ["T001"]
    assert "imgae" in report.findings[0].message


@pytest.mark.parametrize(
    "batch",
    [
        (np.array([{"a": 1}, None], object), CLASSES[:2]),
        (TABLE[:4], {"one": CLASSES[:4], "two": [b"a", b"b", b"c", b"d"]}),
        ([TABLE[:3], TABLE[:5]], CLASSES[:2]),
        ({}, CLASSES[:4]),
        (np.zeros((4, 2), complex), CLASSES[:4]),
        np.datetime64("2026-01-01"),
        (None, None),
    ],
)
def test_whatever_a_pipeline_yields_there_is_a_report(batch: Any, tmp_path: Path) -> None:
    report = rs.diagnose([batch, batch])
    assert "X001" not in codes(report)
    report.to_html(tmp_path / "page.html")


def test_drawing_stops_at_the_limit_and_an_endless_pipeline_does_not_hang() -> None:
    def endless() -> Any:
        while True:
            yield TABLE[:8] + RANDOM.random(), CLASSES[:8]

    first = rs.diagnose(endless(), batches=5).sections[0].to_json()["text"]
    assert "5 batches, 40 rows; not the whole epoch" in first


def test_random_numbers_stay_where_they_were() -> None:
    random.seed(3)
    np.random.seed(3)  # noqa: NPY002 - the old ones are what is kept
    before = random.getstate(), np.random.get_state()[1].tolist()  # type: ignore[index] # noqa: NPY002

    class Drawing:
        def __iter__(self) -> Any:
            order = np.random.permutation(ROWS)  # noqa: NPY002 - as above
            random.random()
            yield from ((TABLE[order[i : i + 32]], CLASSES[order[i : i + 32]]) for i in range(0, ROWS, 32))

    rs.diagnose(Drawing())
    assert (random.getstate(), np.random.get_state()[1].tolist()) == before  # type: ignore[index] # noqa: NPY002


@pytest.mark.parametrize("wanted", [{"batches": 0}, {"epochs": 0}, {"time_limit": 0}, {"batches": True}])
def test_settings_that_make_no_sense_are_refused(wanted: dict[str, Any]) -> None:
    with pytest.raises(rs.PipelineError, match=next(iter(wanted))):
        rs.diagnose([], **wanted)


def test_a_dataset_is_not_a_pipeline(tmp_path: Path) -> None:
    with pytest.raises(rs.PipelineError, match="a model is fed batches"):
        rs.diagnose(rs.open(write(tmp_path / "a.tfrecord", PIXELS[:4], KINDS[:4])))


# --- with records ---


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> str:
    return write(tmp_path_factory.mktemp("records") / "a.tfrecord", PIXELS, KINDS)


def mixed(values: Any) -> Any:
    return values[np.random.default_rng(5).permutation(len(values))]


CHANGES = {
    "as stored": PIXELS,
    "divided by 255": SCALED,
    "from -1 to 1": SCALED * 2 - 1,
    "channels first": np.moveaxis(SCALED, 3, 1),
    "float64": SCALED.astype(np.float64),
    "brighter": np.clip(SCALED * 0.7 + 0.1, 0, 1),
    "mirrored": SCALED[:, :, ::-1],
    "standardised": (SCALED - SCALED.mean(axis=(1, 2, 3), keepdims=True)) / SCALED.std(),
}


@pytest.mark.parametrize("change", CHANGES)
def test_labels_of_other_records_are_proven(change: str, path: str) -> None:
    report = rs.diagnose(Epochs(CHANGES[change], mixed(KINDS)), path)
    finding = report.findings[0]
    assert finding.code == "T060", wrong(report)
    assert finding.evidence["compared"] > ROWS / 2
    assert finding.evidence["agree"] / finding.evidence["compared"] < 0.65
    example = finding.evidence["examples"][0]
    assert KINDS[example["record"]] == int(example["stored"]) != int(example["fed"])
    sure = finding.evidence["how"] == "content"
    assert sure == (change not in ("brighter", "mirrored", "standardised"))
    assert ("certain" in finding.message) == sure


@pytest.mark.parametrize("change", CHANGES)
def test_true_labels_are_confirmed(change: str, path: str) -> None:
    report = rs.diagnose(Epochs(CHANGES[change], KINDS), path)
    assert wrong(report) == []
    assert f"{ROWS} of {ROWS} elements found again" in report.sections[0].to_json()["text"] or change in (
        "brighter",
        "mirrored",
        "standardised",
    )


def test_renamed_labels_are_not_wrong_labels(path: str) -> None:
    report = rs.diagnose(Epochs(SCALED, KINDS + 1), path)
    assert codes(report) == ["T062"]


def test_a_standardised_table_is_found_again(tmp_path: Path) -> None:
    schema = rs.Schema({"x": rs.Tensor("float32", (6,)), "y": rs.Scalar("float32")})
    with rs.RecordWriter(tmp_path / "t.tfrecord") as writer:
        writer.write_columns({"x": TABLE * 7 + 3, "y": MEASURED}, schema)
    for target, expected in ((MEASURED, []), (mixed(MEASURED), ["T060"])):
        assert codes(rs.diagnose(Epochs(TABLE, target), tmp_path / "t.tfrecord"), least="warning") == expected


def test_rows_that_do_not_arrive(path: str) -> None:
    some = Epochs(SCALED[:200], KINDS[:200])
    assert codes(rs.diagnose(some, path)) == ["T044"]
    assert rs.diagnose(some, path).ok
    few = Epochs(SCALED[:6], KINDS[:6], size=2)
    assert codes(rs.diagnose(few, path), least="warning") == ["T044"]


def test_rows_that_arrive_twice(path: str) -> None:
    twice = Epochs(np.concatenate([SCALED, SCALED]), np.concatenate([KINDS, KINDS]))
    assert codes(rs.diagnose(twice, path)) == ["T045"]


def test_a_class_that_never_arrives(tmp_path: Path) -> None:
    images, labels = made_images(300, 3)
    stored = write(tmp_path / "three.tfrecord", images, labels)
    some = labels < 2
    assert codes(rs.diagnose(Epochs(images[some], labels[some]), stored), least="warning") == ["T046"]


def test_images_that_are_cut_off_are_compared_with_those_on_disk(path: str) -> None:
    report = rs.diagnose(Epochs(np.clip((SCALED - 0.5) * 8 + 0.5, 0, 1), KINDS), path)
    assert codes(report, least="warning") == ["T027"]


def test_the_same_batch_again(path: str) -> None:
    assert codes(rs.diagnose([(SCALED[:32], KINDS[:32])] * 6, path), least="warning") == ["T043"]


def test_a_loader_knows_its_own_records(path: str) -> None:
    chain = rs.open(path).images((16, 16), feature="image", scale=1 / 255).shuffle(seed=0)
    loader = chain.batch(32).pairs("image", "label")
    assert wrong(rs.diagnose(loader)) == []
    assert loader.state()["epoch"] == 0
    spoilt = chain.map(lambda row: {**row, "label": 1 - row["label"] if row["image"][0, 0, 0] > 0.2 else row["label"]})
    report = rs.diagnose(spoilt.batch(32).pairs("image", "label"))
    assert codes(report, least="error") == ["T060"]
    assert report.findings[0].evidence["how"] == "index"


def test_the_page_shows_images_before_and_after(path: str, tmp_path: Path) -> None:
    report = rs.diagnose(Epochs(SCALED, KINDS), path)
    grid = next(section for section in report.to_json()["sections"] if section["type"] == "images")
    assert [image["note"].split()[0] for image in grid["images"][:4]] == ["as", "record", "as", "record"]
    assert grid["images"][0]["caption"] == grid["images"][1]["caption"]
    report.to_html(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text().count("<img") >= len(grid["images"])
