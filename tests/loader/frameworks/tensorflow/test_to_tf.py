"""to_tf: batches as a tf.data.Dataset."""

from __future__ import annotations

import gc
import time
from pathlib import Path
from typing import Any

import pytest

import recordsmith as rs
from tests.loader.frameworks.framework_data import OPTIONAL, PLAIN, STEPS, numbered, numbers, our_threads, plain, write

SHOWN = {
    "TensorFlow (`to_tf`)": {
        "feeds": "test_each_iteration_is_a_new_epoch",
        "resumes mid-epoch": "test_a_restored_loader_goes_on_in_the_middle",
    },
}

tf = pytest.importorskip("tensorflow")
keras = pytest.importorskip("keras")


@pytest.mark.parametrize("drop_last", [False, True])
@pytest.mark.parametrize("features", [{**PLAIN, **OPTIONAL}, {"n": PLAIN["n"], **STEPS}], ids=["example", "steps"])
def test_every_feature_comes_as_parse_tf_gives_it(
    tmp_path: Path, features: dict[str, rs.Feature], *, drop_last: bool
) -> None:
    ds = write(tmp_path / "a.tfrecord", features, 8)
    ours = ds.batch(3, drop_last=drop_last).to_tf()
    theirs = tf.data.TFRecordDataset(ds.files).batch(3, drop_remainder=drop_last).map(ds.schema.parse_tf)
    assert ours.element_spec == theirs.element_spec
    assert [plain(batch) for batch in ours] == [plain(batch) for batch in theirs]
    assert ours.cardinality() == (2 if drop_last else 3)


def test_pairs_are_tuples(tmp_path: Path) -> None:
    ds = numbered(tmp_path / "a.tfrecord", 5)
    one = ds.batch(2).pairs("x", "y", one_hot=True, with_index=True).to_tf()
    inputs, target, index = next(iter(one))
    assert one.element_spec[1] == tf.TensorSpec((None, 2), tf.float32)
    assert inputs.shape == (2, 4)
    assert (target.numpy().argmax(axis=1) == [row["y"] for row in ds[:2]]).all()
    assert index.numpy().tolist() == [0, 1]
    named = ds.batch(2, drop_last=True).pairs(["n", "x"], "y").to_tf()
    assert named.element_spec == (
        {"n": tf.TensorSpec((2,), tf.int64), "x": tf.TensorSpec((2, 4), tf.float32)},
        tf.TensorSpec((2,), tf.int64),
    )


def test_padding_is_static_where_it_is_told(tmp_path: Path) -> None:
    ds = write(tmp_path / "a.tfrecord", PLAIN, 6).select("tokens", "boxes", "shaped", "parts")
    spec = ds.padded_batch(4, pad_to={"tokens": 5}).to_tf().element_spec
    assert spec == {
        "tokens": tf.TensorSpec((None, 5), tf.int64),
        "boxes": tf.TensorSpec((None, None, 4), tf.float32),
        "shaped": tf.TensorSpec((None, None, None, 3), tf.uint8),
        "parts": tf.TensorSpec((None, None), tf.string),
    }
    native = list(ds.padded_batch(4))
    for ours, batch in zip(ds.padded_batch(4).to_tf(), native, strict=True):
        assert ours["boxes"].numpy().tolist() == batch["boxes"].tolist()
        assert ours["parts"].numpy().tolist() == batch["parts"].tolist()


def test_strings_of_any_length_arrive(tmp_path: Path) -> None:
    # Short ones travel as a message, long ones as objects: batches of both, and of one after the other.
    schema = rs.Schema({"a": rs.Bytes(), "b": rs.Text(), "parts": rs.Bytes(shape=(None,))})
    rows = [
        {"a": b"\x00" * (number % 5), "b": "é" * (40_000 if number // 4 % 2 else number), "parts": [b"", b"x" * number]}
        for number in range(24)
    ]
    rows[5]["parts"] = []
    with rs.RecordWriter(tmp_path / "a.tfrecord") as writer:
        writer.write_rows(rows, schema)
    ds = rs.open(tmp_path / "a.tfrecord", schema=schema)
    for size in (4, 7):
        batches = list(ds.batch(size).to_tf())
        assert [value for batch in batches for value in batch["a"].numpy()] == [row["a"] for row in rows]
        assert [value.decode() for batch in batches for value in batch["b"].numpy()] == [row["b"] for row in rows]
        assert [value for batch in batches for value in batch["parts"].to_list()] == [row["parts"] for row in rows]
    mapped = ds.batch(4).map(lambda batch: {"b": batch["b"].to_numpy()}).to_tf()  # objects of Python
    assert next(iter(mapped))["b"].numpy()[3].decode() == rows[3]["b"]


def test_after_map_the_first_batch_tells_dtypes_and_shapes(tmp_path: Path) -> None:
    ds = write(tmp_path / "a.tfrecord", PLAIN, 7)
    mapped = ds.map(lambda row: {"twice": row["matrix"] * 2, "tokens": row["tokens"], "loud": row["text"].upper()})
    padded = mapped.padded_batch(3).map(lambda batch: {**batch, "shifted": batch["tokens"] + 1}).to_tf()
    assert padded.element_spec == {
        "twice": tf.TensorSpec((None, 2, 3), tf.float32),
        "tokens": tf.TensorSpec((None, None), tf.int64),
        "loud": tf.TensorSpec((None,), tf.string),
        "shifted": tf.TensorSpec((None, None), tf.int64),
    }
    batches = list(padded)
    assert [len(batch["loud"]) for batch in batches] == [3, 3, 1]
    assert batches[2]["loud"].numpy()[0].decode() == "ROW 6 É"


def test_batches_of_another_form_than_the_first_are_an_error(tmp_path: Path) -> None:
    ds = numbered(tmp_path / "a.tfrecord", 4)
    uneven = ds.map(lambda row: {"x": row["x"][: 2 + row["n"] // 2]}).batch(2).to_tf()
    with pytest.raises(tf.errors.InvalidArgumentError, match="do not all have the same form"):
        list(uneven)


def test_each_iteration_is_a_new_epoch(tmp_path: Path) -> None:
    ds = numbered(tmp_path / "a.tfrecord", 20)
    native, dataset = ds.shuffle(seed=1).batch(8), ds.shuffle(seed=1).batch(8).to_tf()
    assert [numbers(dataset) for _ in range(3)] == [numbers(native) for _ in range(3)]


def test_whatever_is_made_anew_a_new_iteration_is_a_new_epoch(tmp_path: Path) -> None:
    ds = numbered(tmp_path / "a.tfrecord", 20)
    native, loader = ds.shuffle(seed=1).batch(8), ds.shuffle(seed=1).batch(8)
    iter(loader.to_tf())  # never advanced: it does not count
    assert [numbers(loader.to_tf()), numbers(loader), numbers(loader.to_tf())] == [numbers(native) for _ in range(3)]
    assert loader.state() == native.state()


def test_a_restore_after_to_tf_is_refused(tmp_path: Path) -> None:
    ds = numbered(tmp_path / "a.tfrecord", 20)
    loader = ds.shuffle(seed=1).batch(8)
    dataset = loader.to_tf()
    next(iter(dataset))
    loader.restore(loader.state())
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"restored after to_tf\(\)"):
        next(iter(dataset))
    assert len(list(loader.to_tf())) == 2


def test_batches_of_which_nothing_is_left_are_not_fed(tmp_path: Path) -> None:
    ds = numbered(tmp_path / "a.tfrecord", 6)

    def fails(row: dict[str, Any]) -> dict[str, Any]:
        if row["n"] in (2, 3):
            raise ValueError("not these")
        return {"n": row["n"]}

    skipping = ds.map(fails).batch(2, on_error="skip")
    assert numbers(skipping.to_tf()) == [[0, 1], [4, 5]]


def test_cardinality_known_unknown_and_infinite(tmp_path: Path) -> None:
    ds = numbered(tmp_path / "a.tfrecord", 10)
    assert ds.batch(4).repeat(3).to_tf().cardinality() == 9
    filtered = ds.filter(lambda row: row["n"] < 5).batch(4).to_tf()
    assert filtered.cardinality() == tf.data.UNKNOWN_CARDINALITY
    assert numbers(filtered) == [[0, 1, 2, 3], [4]]
    endless = ds.batch(4).repeat().to_tf()
    assert endless.cardinality() == tf.data.INFINITE_CARDINALITY
    assert len(list(endless.take(7))) == 7
    some = ds.repeat().batch(4).take(3).to_tf()
    assert (int(some.cardinality()), len(list(some))) == (3, 3)


def test_a_restored_loader_goes_on_in_the_middle(tmp_path: Path) -> None:
    ds = numbered(tmp_path / "a.tfrecord", 10)
    loader = ds.shuffle(seed=2).batch(3)
    batches = iter(loader)
    next(batches)
    state = loader.state()
    rest, second = numbers(batches), numbers(loader)
    restored = ds.shuffle(seed=2).batch(3).restore(state).to_tf()
    assert [numbers(restored), numbers(restored)] == [rest, second]


@pytest.mark.parametrize(
    "chain",
    [
        lambda ds: ds.shuffle(seed=2).batch(3),
        lambda ds: ds.shuffle(seed=2).filter(lambda row: row["n"] % 4 > 0).batch(3),
        lambda ds: ds.shuffle(seed=2).batch(4).repeat(2),
    ],
    ids=["known length", "filtered", "repeated"],
)
def test_the_state_is_that_of_the_batches_that_were_received(tmp_path: Path, chain: Any) -> None:
    """Also when tf.data has fetched more, and at the end, when everything was fetched long before."""
    ds = numbered(tmp_path / "a.tfrecord", 30)
    native = chain(ds)
    states = [native.state(), *(native.state() for _ in native)]
    loader = chain(ds)
    received = iter(loader.to_tf())
    for count, state in enumerate(states[:-1]):
        if count:
            assert loader.state() == state
        next(received)
        if count == 2:
            time.sleep(0.05)  # time enough to fetch more
    assert loader.state() == states[-1]
    rest = chain(ds).restore(states[2])
    assert numbers(rest.to_tf()) == numbers(native.restore(states[2]))


def test_the_state_while_keras_trains(tmp_path: Path) -> None:
    ds = numbered(tmp_path / "a.tfrecord", 40)
    loader = ds.shuffle(seed=2).batch(4).pairs("x", "y")
    seen: list[tuple[int, int]] = []

    def note(*_: Any, **_logs: Any) -> None:
        state = loader.state()
        seen.append((state["epoch"], state["batch"]))

    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    model.fit(
        loader.to_tf(),
        epochs=2,
        verbose=0,
        shuffle=False,
        callbacks=[keras.callbacks.LambdaCallback(on_train_batch_end=note)],
    )
    assert seen == [*((0, n) for n in range(1, 10)), (1, 0), *((1, n) for n in range(1, 10)), (2, 0)]


def test_leaving_early_leaves_no_thread(tmp_path: Path) -> None:
    ds = numbered(tmp_path / "a.tfrecord", 1000)
    dataset = ds.shuffle(seed=0).batch(2, threads=2).to_tf()
    for _ in range(3):
        for _ in dataset:
            break
    gc.collect()
    assert our_threads() == []
    assert sum(map(len, numbers(dataset))) == 1000


def test_an_error_in_a_function_arrives(tmp_path: Path) -> None:
    ds = numbered(tmp_path / "a.tfrecord", 6)

    def fails(row: dict[str, Any]) -> dict[str, Any]:
        if row["n"] == 5:
            raise ValueError("five is not liked")
        return row

    dataset = ds.map(fails).batch(2).to_tf()
    with pytest.raises(tf.errors.InvalidArgumentError, match="five is not liked"):
        list(dataset)
    assert our_threads() == []


def test_rows_without_batches_are_refused(tmp_path: Path) -> None:
    ds = numbered(tmp_path / "a.tfrecord", 6)
    with pytest.raises(rs.PipelineError, match="no batches yet"):
        ds.shuffle().to_tf()


def test_two_iterations_at_once_do_not_disturb_each_other(tmp_path: Path) -> None:
    ds = numbered(tmp_path / "a.tfrecord", 40)
    dataset = ds.batch(4).to_tf()
    pairs = [(one["n"].numpy().tolist(), two["n"].numpy().tolist()) for one, two in zip(dataset, dataset, strict=True)]
    assert [one for one, _ in pairs] == [two for _, two in pairs] == numbers(ds.batch(4))
