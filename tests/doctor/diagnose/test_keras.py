"""Situations A3 and C1 to C7 with real TensorFlow and Keras: the true cause comes first, the model stays as it was."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import recordsmith as rs
from tests.doctor.diagnose.made_pipelines import Epochs, codes, images, write, wrong

tf = pytest.importorskip("tensorflow")
keras = tf.keras
ROWS = 256
PIXELS, KINDS = images(ROWS)


@pytest.fixture(scope="module", autouse=True)
def quiet() -> None:
    tf.get_logger().setLevel("ERROR")
    keras.utils.set_random_seed(0)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> str:
    return write(tmp_path_factory.mktemp("records") / "a.tfrecord", PIXELS, KINDS)


@pytest.fixture(scope="module")
def by_class(tmp_path_factory: pytest.TempPathFactory) -> str:
    return write(tmp_path_factory.mktemp("sorted") / "a.tfrecord", *images(ROWS, in_order=True))


def parse(record: Any, image: str = "image", label: str = "label", **default: Any) -> tuple[Any, Any]:
    spec = {image: tf.io.FixedLenFeature([], tf.string), label: tf.io.FixedLenFeature([], tf.int64, **default)}
    row = tf.io.parse_single_example(record, spec)
    return tf.cast(tf.ensure_shape(tf.io.decode_png(row[image], 3), (16, 16, 3)), tf.float32) / 255, row[label]


def fed(path: str, change: Any = None, *, size: int = 32, buffer: int = ROWS) -> Any:
    rows = tf.data.TFRecordDataset(path).map(parse, num_parallel_calls=2)
    rows = rows.map(change, num_parallel_calls=2) if change is not None else rows
    return rows.shuffle(buffer).batch(size).prefetch(1)


def network(units: int = 2, activation: str | None = "softmax", *, first: Any = (), loss: Any = None) -> Any:
    layers = [keras.layers.Conv2D(4, 3, strides=2, activation="relu"), keras.layers.Flatten()]
    last = keras.layers.Dense(units, activation=activation)
    model = keras.Sequential([keras.Input((16, 16, 3)), *first, *layers, last])
    model.compile("adam", loss or "sparse_categorical_crossentropy")
    return model


# --- healthy ---


def test_images_with_a_model_are_left_alone_and_so_is_the_model(path: str) -> None:
    model = network(first=[keras.layers.Dropout(0.2), keras.layers.BatchNormalization()])
    model.train_on_batch(PIXELS[:32].astype(np.float32) / 255, KINDS[:32])  # so that its optimizer has a state
    before = [one.numpy() for one in (*model.variables, *model.optimizer.variables)]
    report = rs.diagnose(fed(path), path, model)
    assert codes(report) == []
    for one, other in zip(before, (*model.variables, *model.optimizer.variables), strict=True):
        assert np.array_equal(one, other.numpy())
    assert not any("call" in vars(layer) for layer in model.layers)
    training = next(one for one in report.to_json()["sections"] if one["title"] == "Training a copy of the model")
    assert any("on only that batch" in row[0] for row in training["rows"])


def test_bytes_with_rescaling_in_the_model_are_left_alone(path: str) -> None:
    model = network(
        activation=None,
        first=[keras.layers.Rescaling(1 / 255)],
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    )
    assert wrong(rs.diagnose(fed(path, lambda x, y: (tf.cast(x * 255, tf.uint8), y)), path, model)) == []


def test_augmented_images_are_left_alone(path: str) -> None:
    def augment(image: Any, label: Any) -> tuple[Any, Any]:
        return tf.image.random_brightness(tf.image.random_flip_left_right(image), 0.2), label

    assert wrong(rs.diagnose(fed(path, augment), path)) == []


def test_text_of_different_lengths_with_an_embedding_is_left_alone() -> None:
    random = np.random.default_rng(0)
    texts = [" ".join(random.choice(["good", "bad", "film", "story"], random.integers(3, 9))) for _ in range(192)]
    labels = np.array([text.count("good") > text.count("bad") for text in texts]).astype(np.int64)
    words = keras.layers.TextVectorization()
    words.adapt(texts)
    rows = tf.data.Dataset.from_tensor_slices((words(texts), labels)).shuffle(192).batch(24)
    inputs = keras.Input((None,), dtype="int64")
    hidden = keras.layers.GlobalAveragePooling1D()(keras.layers.Embedding(words.vocabulary_size(), 8)(inputs))
    model = keras.Model(inputs, keras.layers.Dense(1, activation="sigmoid")(hidden))
    model.compile("adam", "binary_crossentropy")
    assert wrong(rs.diagnose(rows, None, model)) == []


def test_a_table_by_names_with_a_measured_target_is_left_alone() -> None:
    random = np.random.default_rng(0)
    table = {"age": random.uniform(20, 80, 256), "income": random.uniform(1e3, 1e5, 256)}
    target = (table["age"] / 50 + table["income"] / 1e5).astype(np.float32)
    inputs, scaled = {}, []
    for name, values in table.items():
        inputs[name] = keras.Input((1,), name=name)
        layer = keras.layers.Normalization()
        layer.adapt(values[:, np.newaxis])
        scaled.append(layer(inputs[name]))
    model = keras.Model(inputs, keras.layers.Dense(1)(keras.layers.Concatenate()(scaled)))
    model.compile("adam", "mse")
    rows = tf.data.Dataset.from_tensor_slices((table, target)).shuffle(256).batch(32).repeat()
    assert wrong(rs.diagnose(rows, None, model, batches=20)) == []


# --- A3: labels of other records ---


def test_a3_two_shuffled_streams_zipped(path: str) -> None:
    records = tf.data.TFRecordDataset(path).map(parse)
    images, labels = records.map(lambda x, _: x).shuffle(ROWS), records.map(lambda _, y: y).shuffle(ROWS)
    report = rs.diagnose(tf.data.Dataset.zip((images, labels)).batch(32), path, network())
    assert codes(report, least="warning") == ["T052", "T060", "T099"]
    assert "certain" in report.findings[1].message


def test_a3_streams_shuffled_alike_stay_together(path: str) -> None:
    records = tf.data.TFRecordDataset(path).map(parse)
    images, labels = (
        records.map(lambda x, _: x).shuffle(ROWS, seed=3),
        records.map(lambda _, y: y).shuffle(ROWS, seed=3),
    )
    assert wrong(rs.diagnose(tf.data.Dataset.zip((images, labels)).batch(32), path)) == []


# --- C1, C2, C3: names, dtypes, shapes ---


def test_c1_a_mistyped_name_raises_and_the_nearest_is_told(path: str) -> None:
    rows = tf.data.TFRecordDataset(path).map(lambda record: parse(record, image="imgae")).batch(8)
    report = rs.diagnose(rows, path)
    assert codes(report, least="warning") == ["T001"]
    assert "Did you mean 'image'?" in report.findings[0].advice


def test_c1_a_default_value_hides_a_mistyped_label(path: str) -> None:
    rows = tf.data.TFRecordDataset(path).map(lambda record: parse(record, label="lable", default_value=0))
    report = rs.diagnose(rows.shuffle(ROWS).batch(32), path)
    assert codes(report, least="warning")[0] == "T031"
    assert "2 classes" in report.findings[0].message


def test_c1_a_feature_that_is_always_empty(path: str) -> None:
    spec = {"tokens": tf.io.VarLenFeature(tf.int64), "label": tf.io.FixedLenFeature([], tf.int64)}

    def rows(record: Any) -> tuple[Any, Any]:
        row = tf.io.parse_single_example(record, spec)
        return {"tokens": tf.sparse.to_dense(row["tokens"])}, row["label"]

    report = rs.diagnose(tf.data.TFRecordDataset(path).map(rows).shuffle(ROWS).batch(32), path)
    assert codes(report, least="warning") == ["T006"]


@pytest.mark.parametrize("dtype", [tf.float32, tf.float64])
def test_c2_raw_bytes_read_as_another_type(tmp_path: Path, dtype: Any) -> None:
    with rs.RecordWriter(tmp_path / "raw.tfrecord") as writer:
        rows = [{"image": image.tobytes(), "label": int(label)} for image, label in zip(PIXELS, KINDS, strict=True)]
        writer.write_rows(rows, rs.Schema({"image": rs.Bytes(), "label": rs.Label(2)}))
    spec = {"image": tf.io.FixedLenFeature([], tf.string), "label": tf.io.FixedLenFeature([], tf.int64)}

    def read(record: Any) -> tuple[Any, Any]:
        row = tf.io.parse_single_example(record, spec)
        return tf.io.decode_raw(row["image"], dtype), row["label"]

    rows = tf.data.TFRecordDataset(str(tmp_path / "raw.tfrecord")).map(read).shuffle(ROWS).batch(32)
    report = rs.diagnose(rows, tmp_path / "raw.tfrecord")
    assert codes(report, least="warning") == ["T030"]
    assert report.findings[0].corrected == "tf.io.decode_raw(x, tf.uint8)"


def test_c3_a_shape_that_the_model_does_not_take(path: str) -> None:
    report = rs.diagnose(fed(path, lambda x, y: (tf.transpose(x, (2, 0, 1)), y)), path, network())
    assert codes(report, least="warning") == ["T007"]
    assert "tf.transpose" in report.findings[0].advice


def test_c3_the_right_count_in_the_wrong_order(path: str) -> None:
    report = rs.diagnose(
        fed(path, lambda x, y: (tf.reshape(tf.transpose(x, (2, 0, 1)), (16, 16, 3)), y)), path, network()
    )
    assert codes(report, least="warning") == ["T029"]


# --- C4: augmentation ---

AUGMENTATIONS = {
    "T022": lambda x, y: (x * 0, y),
    "T020": lambda x, y: (x * tf.where(tf.random.uniform(()) < 0.1, np.nan, 1.0), y),
    "T026": lambda x, y: (x * tf.cast(tf.random.uniform(()) > 0.3, tf.float32), y),
    "T027": lambda x, y: (tf.clip_by_value(tf.image.adjust_contrast(x, 12.0), 0, 1), y),
    "T028": lambda x, y: (tf.image.random_brightness(x, 63.0), y),
}


@pytest.mark.parametrize("code", AUGMENTATIONS)
def test_c4_augmentation_that_spoils_pictures(code: str, path: str) -> None:
    report = rs.diagnose(fed(path, AUGMENTATIONS[code]), path)
    assert codes(report, least="warning")[:1] == [code], wrong(report)


def test_c4_labels_that_are_no_longer_true(path: str) -> None:
    report = rs.diagnose(fed(path).map(lambda x, y: (tf.roll(tf.clip_by_value(x * 1.2, 0, 1), 1, 0), y)), path)
    assert codes(report, least="warning") == ["T060", "T099"]
    assert report.findings[0].evidence["how"] == "nearest"


# --- C5: order ---


def test_c5_no_shuffle_and_sorted_records(by_class: str) -> None:
    report = rs.diagnose(tf.data.TFRecordDataset(by_class).map(parse).batch(32), by_class)
    assert codes(report, least="warning") == ["T040"]
    assert "no shuffle" in report.findings[0].message


def test_c5_a_buffer_shorter_than_the_runs(by_class: str) -> None:
    report = rs.diagnose(fed(by_class, buffer=40), by_class)
    assert codes(report, least="warning") == ["T041"]
    assert "a buffer of 40" in report.findings[0].message


ORDERS = {
    "T017": lambda rows: rows.shuffle(ROWS).batch(1),
    "T042": lambda rows: rows.shuffle(ROWS, reshuffle_each_iteration=False).batch(32),
    "T050": lambda rows: rows.batch(32).shuffle(10),
    "T051": lambda rows: rows.repeat(2).shuffle(ROWS).batch(32),
    "T053": lambda rows: rows.shuffle(ROWS).cache().batch(32),
}


@pytest.mark.parametrize("code", ORDERS)
def test_c5_steps_in_the_wrong_order(code: str, path: str) -> None:
    rows = ORDERS[code](tf.data.TFRecordDataset(path).map(parse))
    model = network() if code in ("T017", "T042") else None  # without one, these two may be meant
    assert codes(rs.diagnose(rows, None, model, time_limit=5), least="warning") == [code]


# --- C6: scale ---


def test_c6_pixels_that_are_not_scaled(path: str) -> None:
    report = rs.diagnose(fed(path, lambda x, y: (x * 255, y)), path, network(), time_limit=20)
    assert codes(report, least="warning")[0] == "T024"


def test_c6_pixels_that_are_scaled_twice_by_the_model(path: str) -> None:
    report = rs.diagnose(fed(path), path, network(first=[keras.layers.Rescaling(1 / 255)]))
    assert codes(report, least="warning") == ["T025"]
    assert "the model scales it again" in report.findings[0].message


def test_c6_numbers_far_apart() -> None:
    random = np.random.default_rng(0)
    table = np.column_stack([random.uniform(20, 80, 256), random.uniform(1e3, 1e5, 256)]).astype(np.float32)
    model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(2, activation="softmax")])
    model.compile("adam", "sparse_categorical_crossentropy")
    report = rs.diagnose(Epochs(table, (table[:, 0] > 50).astype(np.int64)), None, model)
    assert codes(report, least="warning")[0] == "T034"


# --- C7: labels, output and loss ---


def from_logits() -> Any:
    return keras.losses.SparseCategoricalCrossentropy(from_logits=True)


ENCODINGS: dict[str, tuple[str, Any, Any]] = {
    "classes from 1": ("T011", lambda y: y + 1, network),
    "class numbers for a one-hot loss": ("T010", lambda y: y, lambda: network(loss="categorical_crossentropy")),
    "one-hot for a loss of class numbers": ("T010", lambda y: tf.one_hot(y, 2), network),
    "-1 and 1": ("T011", lambda y: y * 2 - 1, lambda: network(1, "sigmoid", loss="binary_crossentropy")),
    "softmax over one unit": ("T012", lambda y: y, lambda: network(1, loss="binary_crossentropy")),
    "one unit for classes": ("T012", lambda y: y, lambda: network(1, "sigmoid")),
    "scores for probabilities": ("T013", lambda y: y, lambda: network(activation=None)),
    "three units for two": ("T012", lambda y: tf.one_hot(y, 2), lambda: network(3, loss="categorical_crossentropy")),
}


@pytest.mark.parametrize("name", ENCODINGS)
def test_c7_labels_that_do_not_fit_output_and_loss(name: str, path: str) -> None:
    code, change, model = ENCODINGS[name]
    report = rs.diagnose(fed(path, lambda x, y: (x, change(y))), path, model())
    assert codes(report, least="warning") == [code], wrong(report)


def test_c7_probabilities_where_scores_are_taken(path: str) -> None:
    report = rs.diagnose(fed(path), path, network(loss=from_logits()), time_limit=10)
    assert codes(report, least="warning") == ["T013"]


def test_c7_labels_without_signal() -> None:
    random = np.random.default_rng(0)
    table = random.normal(size=(4096, 4)).astype(np.float32)
    learnable = (table[:, 0] > 0).astype(np.int64)
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(8, activation="relu"), keras.layers.Dense(2)])
    report = rs.diagnose(Epochs(table, random.permutation(learnable), size=256), None, model, from_logits())
    assert codes(report, least="warning") == ["T083"]


def test_c7_a_model_that_does_not_look_at_its_input() -> None:
    table = np.random.default_rng(0).normal(size=(64, 4)).astype(np.float32)
    blind = keras.Sequential([keras.Input((4,)), keras.layers.Rescaling(0.0), keras.layers.Dense(2)])
    report = rs.diagnose(Epochs(table, np.arange(64) % 2), None, blind, from_logits())
    assert codes(report, least="warning") == ["T082"]


def test_c7_a_dict_has_no_target_for_keras(path: str) -> None:
    report = rs.diagnose(fed(path).map(lambda x, y: {"image": x, "label": y}), path, network())
    assert codes(report, least="warning") == ["T003"]
    assert 'row["image"], row["label"]' in (report.findings[0].corrected or "")


def test_a_model_without_weights_yet_is_copied_or_left_alone(path: str) -> None:
    model = keras.Sequential([keras.layers.Flatten(), keras.layers.Dense(2, activation="softmax")])
    assert wrong(rs.diagnose(fed(path), path, model, "sparse_categorical_crossentropy", time_limit=8)) == []
    assert not model.built


@pytest.mark.parametrize("several", [False, True])
def test_rows_with_several_classes_for_a_loss_of_one(*, several: bool) -> None:
    rows = np.random.default_rng(3).normal(size=(ROWS, 8)).astype(np.float32)
    tags = (rows[:, :4] > 0).astype(np.float32) if several else np.eye(4, dtype=np.float32)[rows[:, :4].argmax(1)]
    data = tf.data.Dataset.from_tensor_slices((rows, tags)).shuffle(ROWS).batch(32).prefetch(1)
    model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(4, activation="softmax")])
    model.compile("adam", "categorical_crossentropy")
    report = rs.diagnose(data, model=model, progress=False, time_limit=12)
    assert codes(report, least="warning") == (["T101"] if several else []), wrong(report)


class _Squashing(keras.Model):  # type: ignore[name-defined,misc]
    """A model of one's own that has no weights yet, and that says nothing about its last activation."""

    def __init__(self) -> None:
        super().__init__()
        self.inner, self.outer = keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1)

    def call(self, inputs: Any) -> Any:
        return keras.ops.sigmoid(self.outer(self.inner(inputs)))


def test_a_model_of_ones_own_that_gives_probabilities_for_scores() -> None:
    generator = np.random.default_rng(0)
    labels = generator.integers(0, 2, 320).astype("float32")
    inputs = (generator.normal(size=(320, 5)) + labels[:, None]).astype("float32")
    data = tf.data.Dataset.from_tensor_slices((inputs, labels[:, None])).shuffle(320).batch(32)
    model = _Squashing()
    model.compile("adam", keras.losses.BinaryCrossentropy(from_logits=True))
    assert "T013" in [one.code for one in rs.diagnose(data, model=model).findings]
    assert not model.built  # a copy was tried
