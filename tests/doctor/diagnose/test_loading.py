"""How rows are loaded: hanging pipelines, workers, samplers, subsets, and files that cannot be read."""

from __future__ import annotations

import itertools
import queue
import random
import sqlite3
import time
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import recordsmith as rs
from tests.doctor.diagnose.made_pipelines import codes, wrong

torch = pytest.importorskip("torch")
data = torch.utils.data
ROWS = torch.from_numpy(np.random.default_rng(0).normal(size=(256, 4)).astype(np.float32))
CLASSES = (ROWS[:, 0] > 0).long()


def first(pipeline: Any, **settings: Any) -> Any:
    return rs.diagnose(pipeline, progress=False, time_limit=20, **settings).findings[0]


# --- a pipeline that hangs ---


def test_a_pipeline_that_hangs_is_left_with_a_word_about_where() -> None:
    never: queue.Queue[Any] = queue.Queue()

    def batches() -> Iterator[Any]:
        yield ROWS[:32].numpy(), CLASSES[:32].numpy()
        yield never.get()

    report = rs.diagnose(batches(), progress=False, time_limit=2)
    found = report.findings[0]
    assert (found.code, found.severity) == ("T019", "error")
    assert "After 1 batch, no other one arrived" in found.message
    assert "test_loading.py, line " in found.message
    assert "in batches: yield never.get()" in found.message


def test_without_time_for_a_batch_nothing_is_claimed_but_that() -> None:
    def slow() -> Iterator[Any]:
        time.sleep(1)
        yield ROWS[:32].numpy(), CLASSES[:32].numpy()

    report = rs.diagnose(slow(), progress=False, time_limit=0.2)
    assert codes(report, least="warning") == ["T102"]
    assert "within the time limit of 0.2 seconds: nothing was checked" in report.findings[0].message


def test_the_first_batch_is_waited_for_however_short_its_share_of_the_time_is() -> None:
    def batches() -> Iterator[Any]:
        time.sleep(0.5)
        yield ROWS[:32].numpy(), CLASSES[:32].numpy()

    report = rs.diagnose(batches(), progress=False, time_limit=1.5)
    assert not {found.code for found in report.findings} & {"T002", "T019", "T102"}


def test_what_a_pipeline_raises_in_its_thread_is_reported_as_before() -> None:
    def failing() -> Iterator[Any]:
        yield ROWS[:32].numpy(), CLASSES[:32].numpy()
        raise ValueError("no more rows")

    found = first(failing())
    assert (found.code, "ValueError: no more rows" in found.message) == ("T001", True)


class Waiting(data.Dataset):  # type: ignore[misc,name-defined] # PyTorch has no types here
    def __len__(self) -> int:
        return 64

    def __getitem__(self, place: int) -> Any:
        if place == 40:
            queue.Queue[Any]().get()
        return ROWS[place], CLASSES[place]


def test_the_line_is_named_at_which_a_worker_waits() -> None:
    loader = data.DataLoader(Waiting(), batch_size=8, num_workers=2)
    found = rs.diagnose(loader, progress=False, time_limit=16).findings[0]
    assert found.code == "T019"
    assert "test_loading.py, line " in found.message
    assert "in __getitem__: queue.Queue[Any]().get() (in a worker process)" in found.message
    assert loader.worker_init_fn is None


def test_the_line_is_named_at_which_a_function_of_tf_data_waits() -> None:
    tf = pytest.importorskip("tensorflow")
    never: queue.Queue[Any] = queue.Queue()

    def rows() -> Iterator[Any]:
        yield from ROWS[:40].numpy()
        never.get()

    dataset = tf.data.Dataset.from_generator(rows, output_signature=tf.TensorSpec((4,))).batch(8).prefetch(2)
    found = rs.diagnose(dataset, progress=False, time_limit=8).findings[0]
    assert found.code == "T019"
    assert "in rows: never.get()" in found.message
    never.put(None)
    report = rs.diagnose(data.DataLoader(Streamed(divided=True), batch_size=16, num_workers=2), progress=False)
    assert codes(report, least="warning") == []  # workers do not collect what is left of the pipeline that hung


# --- workers ---


class Streamed(data.IterableDataset):  # type: ignore[misc,name-defined] # PyTorch has no types here
    def __init__(self, *, divided: bool) -> None:
        self.divided = divided

    def __iter__(self) -> Iterator[Any]:
        info = data.get_worker_info()
        rows = zip(ROWS, CLASSES, strict=True)
        return itertools.islice(rows, info.id, None, info.num_workers) if self.divided and info else iter(rows)


class Noisy(data.Dataset):  # type: ignore[misc,name-defined] # as above
    def __init__(self, generator: Any = None) -> None:
        self.generator = generator

    def __len__(self) -> int:
        return 64

    def __getitem__(self, place: int) -> Any:
        scale = np.random.random() if self.generator is None else self.generator.random()  # noqa: NPY002 - as users do
        return ROWS[place] * float(scale), CLASSES[place]


def same_seed(_worker: int) -> None:
    np.random.seed(0)  # noqa: NPY002 - the fault


def seed_of_the_worker(worker: int) -> None:
    np.random.seed(worker)  # noqa: NPY002 - the same in every epoch


def seed_of_pytorch(_worker: int) -> None:
    np.random.seed(torch.initial_seed() % 2**32)  # noqa: NPY002 - as PyTorch advises


class Kept(data.Dataset):  # type: ignore[misc,name-defined] # as above
    def __init__(self, *, copies: bool) -> None:
        self.rows, self.classes, self.copies = ROWS.numpy().copy(), CLASSES.numpy(), copies

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, place: int) -> Any:
        row = self.rows[place].copy() if self.copies else self.rows[place]
        row += np.random.normal(0, 0.01, row.shape).astype(np.float32)  # noqa: NPY002 - as users do
        return torch.from_numpy(row), self.classes[place]


@pytest.mark.parametrize("copies", [False, True])
def test_a_dataset_that_changes_its_own_rows(*, copies: bool) -> None:
    report = rs.diagnose(data.DataLoader(Kept(copies=copies), batch_size=32, shuffle=True), progress=False)
    assert codes(report, least="warning") == ([] if copies else ["T098"])
    assert copies or "changes its field 'rows' in place" in report.findings[0].message


@pytest.mark.parametrize("divided", [False, True])
def test_workers_that_each_give_all_rows(*, divided: bool) -> None:
    report = rs.diagnose(data.DataLoader(Streamed(divided=divided), batch_size=16, num_workers=2), progress=False)
    assert codes(report, least="warning") == ([] if divided else ["T045"])
    assert divided or "Each of the 2 workers gives all rows" in report.findings[0].message


@pytest.mark.parametrize(
    ("generator", "workers", "init", "said"),
    [
        (np.random.default_rng(0), 2, None, "the generator 'generator' of the dataset"),
        (random.Random(0), 1, None, "all epochs draw the same numbers"),
        (np.random.default_rng(0), 0, None, ""),
        (None, 2, None, ""),
        (None, 2, same_seed, "gives all workers the same seed"),
        (None, 2, seed_of_the_worker, "sets the same seeds in every epoch"),
        (None, 2, seed_of_pytorch, ""),
    ],
)
def test_workers_that_draw_the_same_numbers(generator: Any, workers: int, init: Any, said: str) -> None:
    loader = data.DataLoader(Noisy(generator), batch_size=16, shuffle=True, num_workers=workers, worker_init_fn=init)
    report = rs.diagnose(loader, progress=False)
    assert codes(report, least="warning") == (["T048"] if said else [])
    assert not said or said in report.findings[0].message


class Reseeding(Noisy):
    def __getitem__(self, place: int) -> Any:
        np.random.seed(0)  # noqa: NPY002 - the fault
        return super().__getitem__(place)


def test_a_seed_that_is_set_for_each_row() -> None:
    report = rs.diagnose(data.DataLoader(Reseeding(), batch_size=16, shuffle=True), progress=False)
    assert codes(report, least="warning") == ["T048"]
    assert "sets the seed of numpy's random numbers for each row" in report.findings[0].message


def test_what_cannot_be_used_in_another_thread_is_read_in_this_one() -> None:
    connection = sqlite3.connect(":memory:")
    connection.execute("create table rows (n integer)")
    connection.executemany("insert into rows values (?)", [(n,) for n in range(256)])

    class Rows:
        def __iter__(self) -> Any:
            order = connection.execute("select n from rows order by random()").fetchall()
            for start in range(0, 256, 32):
                rows = [n for (n,) in order[start : start + 32]]
                yield ROWS[rows].numpy(), CLASSES[rows].numpy()

    assert wrong(rs.diagnose(Rows(), progress=False)) == []


def test_a_generator_keeps_its_state() -> None:
    generator = np.random.default_rng(3)
    before = generator.bit_generator.state
    rs.diagnose(data.DataLoader(Noisy(generator), batch_size=16, num_workers=1), progress=False)
    assert generator.bit_generator.state == before


# --- samplers and subsets ---


def test_a_distributed_sampler_is_told_its_epochs() -> None:
    rows = data.TensorDataset(ROWS, CLASSES)
    sampler = data.DistributedSampler(rows, num_replicas=2, rank=0)
    report = rs.diagnose(data.DataLoader(rows, batch_size=16, sampler=sampler), progress=False)
    assert codes(report) == ["T049"]
    assert "set_epoch" in report.findings[0].message
    assert sampler.epoch == 0
    sampler.set_epoch(3)
    assert codes(rs.diagnose(data.DataLoader(rows, batch_size=16, sampler=sampler), progress=False)) == []


def test_a_whole_dataset_that_was_split() -> None:
    rows = data.TensorDataset(ROWS, CLASSES)
    train, kept = data.random_split(rows, [200, 56])
    found = first(data.DataLoader(train.dataset, batch_size=16, shuffle=True))
    assert (found.code, "Subsets of 200 and 56 rows" in found.message) == ("T058", True)
    assert wrong(rs.diagnose(data.DataLoader(train, batch_size=16, shuffle=True), validation=kept)) == []


# --- files that TensorFlow cannot read ---


def written(path: Path, compression: str | None = None) -> str:
    with rs.RecordWriter(path, compression=compression) as writer:
        for row, label in zip(ROWS.tolist(), CLASSES.tolist(), strict=True):
            writer.write_example({"x": row, "y": label})
    return str(path)


def parsed(files: Any, **settings: Any) -> Any:
    tf = pytest.importorskip("tensorflow")
    wanted = {"x": tf.io.FixedLenFeature([4], tf.float32), "y": tf.io.FixedLenFeature([], tf.int64)}
    rows = tf.data.TFRecordDataset(files, **settings).map(lambda one: tf.io.parse_single_example(one, wanted))
    return rows.map(lambda row: (row["x"], row["y"])).shuffle(256).batch(16)


def test_compression_that_was_not_expected(tmp_path: Path) -> None:
    path = written(tmp_path / "a.tfrecord", "gzip")
    found = first(parsed(path))
    assert (found.code, found.severity) == ("T064", "error")
    assert "is compressed with gzip, and the pipeline expects no compression" in found.message
    assert found.corrected == 'tf.data.TFRecordDataset(files, compression_type="GZIP")'
    assert wrong(rs.diagnose(parsed(path, compression_type="GZIP"), progress=False)) == []
    (tmp_path / "b.zz").write_bytes(zlib.compress(Path(written(tmp_path / "plain.tfrecord")).read_bytes()))
    assert "compressed with zlib" in first(parsed(str(tmp_path / "b.zz"))).message


def test_a_damaged_file_and_one_that_is_no_tfrecord(tmp_path: Path) -> None:
    path = Path(written(tmp_path / "a.tfrecord"))
    path.write_bytes(path.read_bytes()[:-30])
    found = first(parsed([written(tmp_path / "sound.tfrecord"), str(path)]))
    assert (found.code, "The file ends inside record 255" in found.message) == ("T064", True)
    (tmp_path / "table.csv").write_text("a,b\n" + "1,2\n" * 99)
    found = first(parsed(str(tmp_path / "table.csv")))
    assert (found.code, "is text" in found.message) == ("T064", True)


def test_sequence_examples_that_are_parsed_as_examples(tmp_path: Path) -> None:
    tf = pytest.importorskip("tensorflow")
    path = str(tmp_path / "a.tfrecord")
    with rs.RecordWriter(path) as writer:
        for n in range(64):
            writer.write(rs.encode_sequence_example({"label": n % 2}, {"tokens": [[n], [n + 1]]}))
    rows = tf.data.TFRecordDataset(path).map(
        lambda one: tf.io.parse_single_example(one, {"tokens": tf.io.VarLenFeature(tf.int64)})["tokens"]
    )
    found = first(rows.map(tf.sparse.to_dense).padded_batch(8))
    assert (found.code, "SequenceExamples, with 'tokens' in their feature_lists" in found.message) == ("T063", True)


def test_a_split_after_a_shuffle_that_reshuffles() -> None:
    tf = pytest.importorskip("tensorflow")
    rows = tf.data.Dataset.from_tensor_slices((ROWS.numpy(), CLASSES.numpy()))
    shuffled, fixed = rows.shuffle(256), rows.shuffle(256, reshuffle_each_iteration=False)
    found = first(shuffled.take(200).batch(16), validation=shuffled.skip(200).batch(16))
    assert (found.code, found.severity) == ("T056", "warning")
    kept = fixed.skip(200).batch(16)
    assert wrong(rs.diagnose(fixed.take(200).shuffle(200).batch(16), validation=kept, progress=False)) == []
    assert "T056" not in codes(rs.diagnose(shuffled.repeat().take(300).batch(16), progress=False))
    assert "T056" not in codes(rs.diagnose(shuffled.take(256).batch(16), progress=False))


@pytest.mark.parametrize("stateless", [True, False])
def test_an_augmentation_that_is_the_same_in_every_epoch(*, stateless: bool) -> None:
    tf = pytest.importorskip("tensorflow")

    def augmented(row: Any, label: Any) -> Any:
        noise = tf.random.stateless_normal((4,), seed=(1, 2)) if stateless else tf.random.normal((4,))
        return row + noise, label

    rows = tf.data.Dataset.from_tensor_slices((ROWS.numpy(), CLASSES.numpy())).shuffle(256).map(augmented)
    assert codes(rs.diagnose(rows.batch(16), progress=False), least="warning") == (["T057"] if stateless else [])
