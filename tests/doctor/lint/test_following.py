"""What the interpreter knows about datasets: through names, functions, branches, classes, loops and files."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from recordsmith.doctor.lint.program import Program, analyse
from recordsmith.doctor.lint.source_files import SourceFile

HEAD = "import tensorflow as tf\nfiles = ['a.tfrecord']\n"


def follow(text: str, folder: Path | None = None) -> Program:
    source = SourceFile.parse("program.py", HEAD + text)
    return analyse(source, folder=None if folder is None else str(folder))


def stages(text: str, folder: Path | None = None) -> set[str]:
    """The finished datasets, each as the names of its stages."""
    return {" ".join(stage.name for stage in one.stages) for one in follow(text, folder).finished}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ds = tf.data.TFRecordDataset(files).shuffle(9).batch(2)", {"shuffle batch"}),
        ("from tensorflow.data import Dataset as D\nds = D.range(9).batch(2)", {"batch"}),
        ("import tensorflow.compat.v1 as t\nds = t.data.TFRecordDataset(files).batch(2)", {"batch"}),
        ("make = tf.data.TFRecordDataset\nds = make(files)\nds = ds.repeat()\nds = ds.batch(2)", {"repeat batch"}),
        ("def f(n, g=3):\n    return tf.data.Dataset.range(n).batch(g)\nds = f(9).prefetch(1)", {"batch prefetch"}),
        (
            (
                "def f(train):\n    d = tf.data.TFRecordDataset(files)\n    if train:\n        d = d.shuffle(9)\n"
                "    return d.batch(2)\na = f(True)\nb = f(train=False)"
            ),
            {"shuffle batch", "batch"},
        ),
        (
            (
                "def f(d, train):\n    if not train:\n        return d.batch(1)\n    return d.shuffle(9).batch(2)\n"
                "a = f(tf.data.Dataset.range(3), True)"
            ),
            {"shuffle batch"},
        ),
        (
            (
                "def f(flag):\n    d = tf.data.Dataset.range(3)\n    if flag:\n        d = d.shuffle(3)\n"
                "    d = d.batch(2)\n    if flag:\n        d = d.repeat()\n    return d"
            ),
            {"shuffle batch repeat", "batch"},
        ),
        (
            (
                "class P:\n    def __init__(self, n):\n        self.n = n\n        self.d = tf.data.Dataset.range(n)\n"
                "    def build(self):\n        return self.d.batch(self.n)\nds = P(4).build()"
            ),
            {"batch"},
        ),
        ("a, b = [tf.data.Dataset.range(3), tf.data.Dataset.range(4).batch(2)]", {"", "batch"}),
        ("d = {'train': tf.data.Dataset.range(3)}\nd['train'] = d['train'].batch(2)", {"batch"}),
        ("ds = tf.data.Dataset.range(3)\nfor step in ('x', 'y'):\n    ds = ds.map(lambda e: e)", {"map map"}),
        ("d = {n: tf.data.Dataset.range(3).batch(n) for n in (1, 2)}\nds = d[2].cache()", {"batch", "batch cache"}),
        ("a, b = (tf.data.Dataset.range(n) for n in (1, 2))\na = a.batch(2)", {"batch", ""}),
        ("with tf.device('cpu'):\n    ds = tf.data.Dataset.range(3).cache()", {"cache"}),
        ("ds = tf.data.Dataset.range(3).apply(lambda d: d.shuffle(3).batch(2))", {"shuffle batch"}),
        ("ds = tf.data.Dataset.range(3).apply(tf.data.experimental.shuffle_and_repeat(9))", {"shuffle repeat"}),
        ("ds = unknown_library.load().batch(2)", {"batch"}),
        ("ds = tf.data.Dataset.range(3).batch(2)\nfor x in ds.take(1):\n    print(x)", {"batch"}),
    ],
)
def test_datasets_are_followed(text: str, expected: set[str]) -> None:
    assert stages(text) == expected


def test_constants_are_computed() -> None:
    program = follow("A = 8\nB = A * 4\ndef f(n=B):\n    return tf.data.Dataset.range(9).batch(n)\nds = f()")
    assert program.finished[0].stages[0].constant(0, "batch_size") == 32


def test_a_list_that_grows_has_no_known_length() -> None:
    text = "x = []\nfor f in many:\n    x.append(f)\ny = []\nfor f in many:\n    y += [f]\n"
    program = follow(text + "ds = tf.data.Dataset.range(9).shuffle(len(x)).shuffle(len(y))")
    assert [stage.constant(0, "buffer_size") for stage in program.finished[0].stages] == [None, None]


@pytest.mark.parametrize(
    ("text", "roles"),
    [
        ("model.fit(ds)", {"training"}),
        ("model.fit(other, validation_data=ds)", {"validation"}),
        ("model.evaluate(ds)", {"validation"}),
        ("for x in ds:\n    with tf.GradientTape() as tape:\n        pass", {"training"}),
        ("def step(x):\n    optimizer.apply_gradients(x)\nfor i, x in enumerate(ds):\n    step(x)", {"training"}),
        ("def train(data):\n    for x in data:\n        model.train_on_batch(x)\ntrain(ds)", {"training"}),
        ("for x in ds:\n    print(x)", {"loop"}),
    ],
)
def test_what_a_dataset_is_used_for(text: str, roles: set[str]) -> None:
    program = follow("ds = tf.data.Dataset.range(9).batch(2)\n" + text)
    assert program.roles(program.finished[0]) == roles


def test_modules_beside_it_are_followed(tmp_path: Path) -> None:
    (tmp_path / "data.py").write_text("import tensorflow as tf\ndef make(n):\n    return tf.data.Dataset.range(n)\n")
    assert stages("from data import make\nds = make(9).batch(3)", tmp_path) == {"batch"}
    assert stages("import data\nds = data.make(9).shuffle(3)", tmp_path) == {"shuffle"}


@pytest.mark.parametrize(
    "text",
    [
        "def f():\n    return f()\nf()",
        "def f(x):\n    return g(x)\ndef g(x):\n    return f(x)\nf(1)",
        "x = [x for x in x]\nx.y.z = 3\nx[0][1] = 2\ndel x",
        "class A(A):\n    def __init__(self):\n        self.a = A()\nA()",
        "match files:\n    case [x, *rest]:\n        ds = x\n    case _:\n        pass",
        "a = b = c = 10 ** 10 ** 10\nd = 'x' * 10 ** 9",
        "async def f():\n    async for x in y:\n        await x\n    async with z as w:\n        yield w",
        "try:\n    import a\nexcept ImportError as e:\n    a = None\nelse:\n    pass\nfinally:\n    b = 1",
        "f = lambda *a, **k: f(*a, **k)\nf(1, *files, x=2, **files)",
        "global x\nx = 1\nnonlocal_ = (yield_ := 3)",
        "while True:\n    if files:\n        break\nelse:\n    pass",
    ],
)
def test_nothing_makes_it_fail_or_hang(text: str) -> None:
    follow(text)


def test_a_changed_module_is_read_again(tmp_path: Path) -> None:
    module = tmp_path / "data.py"
    pipeline = "import tensorflow as tf\nds = tf.data.Dataset.range(9)"
    module.write_text(f"{pipeline}.batch(2)\n")
    status = module.stat()
    assert stages("from data import ds", tmp_path) == {"batch"}
    module.write_text(f"{pipeline}.batch(2).repeat()\n")
    os.utime(module, ns=(status.st_atime_ns, status.st_mtime_ns))  # as copying tools leave it
    assert stages("from data import ds", tmp_path) == {"batch repeat"}


_STEP = """
train = tf.data.TFRecordDataset(files).shuffle(9).batch(2)
test = tf.data.TFRecordDataset(files).batch(2)
def step(x, y, training):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(x) - y) ** 2)
    if training:
        optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
"""


@pytest.mark.parametrize(
    "loops",
    [
        "for x, y in train:\n    step(x, y, True)\nfor x, y in test:\n    step(x, y, False)",
        (
            "def run(data, training):\n    for x, y in data:\n        step(x, y, training)\n"
            "run(train, True)\nrun(test, training=False)"
        ),
    ],
)
def test_a_step_that_an_argument_keeps_from_training_does_not_train(loops):
    roles = {use.pipeline.all_names[0]: use.role for use in follow(_STEP + loops).uses}
    assert roles == {"train": "training", "test": "validation"}
