"""What the interpreter knows besides datasets: settings, annotations, dicts that change, generators, packages."""

from __future__ import annotations

from pathlib import Path

import pytest

import recordsmith as rs
from recordsmith.doctor.lint.interpreter.values import Call, Item, Literal, Many, Parameter, Table, Value
from recordsmith.doctor.lint.program import analyse
from recordsmith.doctor.lint.source_files import SourceFile

HEAD = "import tensorflow as tf\n"
SPEC = "F = {'a': tf.io.FixedLenFeature([], tf.string), 'b': tf.io.FixedLenFeature([], tf.int64)}\n"
PARSED = SPEC + "def parse(row):\n    p = tf.io.parse_single_example(row, F)\n    CHANGE\n"


def probed(text: str) -> Value:
    """What the program gives to a function called `probe`."""
    program = analyse(SourceFile.parse("program.py", HEAD + text))
    return next(call for call in program.calls if call.receiver is not None and _is_probe(call.receiver)).args[0]


def _is_probe(value: Value) -> bool:
    return isinstance(value, Parameter) and value.name == "probe"


def codes(text: str) -> list[str]:
    return [one.code for one in rs.lint(source=HEAD + text).findings if one.severity.value != "info"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (("import argparse\np = argparse.ArgumentParser()\np.add_argument('--batch-size', type=int, default=8)\n"
         "args = p.parse_args()\nprobe(args.batch_size)"), 8),
        (("import argparse\np = argparse.ArgumentParser()\ng = p.add_argument_group('x')\n"
         "g.add_argument('-n', '--number', default=3)\nargs, rest = p.parse_known_args()\nprobe(args.number)"), 3),
        (("from absl import flags\nflags.DEFINE_integer('size', 4, 'x')\nFLAGS = flags.FLAGS\n"
         "def f():\n    probe(FLAGS.size)"), 4),
        ("from absl import flags\nSIZE = flags.DEFINE_integer('size', 4, 'x')\nprobe(SIZE.value)", 4),
        ("import click\n@click.command()\n@click.option('--size', default=5)\ndef f(size):\n    probe(size)\nf()", 5),
        ("import typer\ndef f(size: int = typer.Option(6)):\n    probe(size)", 6),
        ("import dataclasses as d\n@d.dataclass\nclass C:\n    n: int = d.field(default=7)\nprobe(C().n)", 7),
        ("from dataclasses import dataclass\n@dataclass\nclass C:\n    m: str\n    n: int = 1\nprobe(C('a', 9).n)", 9),
        ("def f(size=10):\n    probe(size)", 10),
        ("from types import SimpleNamespace\nc = SimpleNamespace(n=11)\nprobe(c.n)", 11),
        ("import ml_collections\nc = ml_collections.ConfigDict()\nc.n = 12\nprobe(c.n)", 12),
        ("c = {'model': {'n': 13}}\nprobe(c['model']['n'])", 13),
        ("c = dict(zip(['a', 'b'], [1, 14]))\nprobe(c['b'])", 14),
        ("a = {'n': 1}\na |= {'n': 15}\nprobe(a['n'])", 15),
        ("a = {'n': 16}\nb = dict(a, m=1)\nprobe(b.pop('n'))", 16),
        (("class A:\n    def __init__(self):\n        self.n = 17\nclass B(A):\n    def __init__(self):\n"
         "        super().__init__()\n        self.m = 1\nprobe(B().n)"), 17),
        ("class A:\n    def __init__(self, n=18):\n        self.n = n\n    def f(self):\n        probe(self.n)", 18),
        ("import os\nprobe(os.path.join('data', 'a.tfrecord'))", "data/a.tfrecord"),
        ("probe('part-{}'.format(3))", "part-3"),
    ],
)  # fmt: skip
def test_values_are_known(text: str, expected: object) -> None:
    value = probed(text)
    assert isinstance(value, Literal)
    assert value.value == expected


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("def f(name: str):\n    probe(name)", "str"),
        ("def f(names: list[str]):\n    for name in names:\n        probe(name)", "str"),
        ("def f(mode='train'):\n    probe(mode)", "str"),
        ("def f(name: str = None):\n    probe(name)", None),
        ("def f(name):\n    probe(name)", None),
        ("import argparse\np = argparse.ArgumentParser()\np.add_argument('path')\nprobe(p.parse_args().path)", "str"),
    ],
)
def test_annotations_and_defaults_say_the_type(text: str, kind: str | None) -> None:
    value = probed(text)
    assert isinstance(value, Parameter)
    assert value.annotation == kind


@pytest.mark.parametrize(
    "change",
    [
        "p['c'] = 1\n    return p['c']",
        "p.update(c=1)\n    return p['c']",
        "p.update({'c': 1})\n    return p['c']",
        "p = p | {'c': 1}\n    return p['c']",
        "p |= {'c': 1}\n    return p['c']",
        "p = {**p, 'c': 1}\n    return p['c']",
        "p.setdefault('c', 1)\n    return p['c']",
        "p = dict(p, c=1)\n    return p['c']",
        "p[name] = 1\n    return p['c']",
        "for k in ('c', 'd'):\n        p[k] = 1\n    return p['c']",
        "if 'c' in p:\n        return p['c']",
        "if flag:\n        p['c'] = 1\n    return p['c']",
        "if flag:\n        del p['a']\n    return p['c']",
        "add(p)\n    return p['c']\ndef add(p):\n    p['c'] = 1",
    ],
)
def test_keys_that_the_program_adds_are_known(change: str) -> None:
    assert "P033" not in codes(PARSED.replace("CHANGE", change) + "\nds = tf.data.TFRecordDataset('x').map(parse)")


@pytest.mark.parametrize(
    "change",
    [
        "return p['c']",
        "p.pop('a')\n    return p['a']",
        "del p['a']\n    return p['a']",
        "q = p.copy()\n    return q['c']",
    ],
)
def test_a_key_that_nobody_parses_or_adds_is_named(change: str) -> None:
    found = rs.lint(
        source=HEAD + PARSED.replace("CHANGE", change) + "\nds = tf.data.TFRecordDataset('x').map(parse)"
    ).findings
    missing = [one for one in found if one.code == "P033"]
    assert bool(missing) == ("['c']" in change)  # a removed one is no mistake in the name


def test_generators_give_what_they_yield() -> None:
    value = probed("def rows():\n    yield 1\nprobe(rows())")
    assert isinstance(value, Many)
    assert isinstance(value.member, Literal)
    text = "def rows():\n    yield {'x': 2}\nfor row in tf.data.Dataset.from_generator(rows):\n    probe(row['x'])"
    assert isinstance(probed(text), Literal)


def test_a_change_that_a_random_number_decides_on_is_random() -> None:
    text = (
        "def load(path):\n    x = tf.io.decode_jpeg(tf.io.read_file(path))\n"
        "    if tf.random.uniform(()) > 0.5:\n        x = tf.image.flip_left_right(x)\n    return x\n"
        "train = tf.data.Dataset.list_files('*').map(load).cache().shuffle(1000).batch(8)\n"
    )
    assert codes(text) == ["P011"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("f = tf.train.Feature()\nf.bytes_list.value.append('cat')", ["P040"]),
        ("e = tf.train.Example()\ne.features.feature['x'].bytes_list.value.extend(['cat'])", ["P040"]),
        ("f = tf.train.Feature()\nf.bytes_list.value[:] = ['cat']", ["P040"]),
        ("f = tf.train.Feature()\nf.bytes_list.value.append(b'cat')", []),
        ("f = tf.train.Feature()\nf.int64_list.value.append(3)", []),
        ("def f(name: str):\n    return tf.train.BytesList(value=[name])", ["P040"]),
        ("def f(names: list[str]):\n    return tf.train.BytesList(value=[n for n in names])", ["P040"]),
        ("def f(name: bytes):\n    return tf.train.BytesList(value=[name])", []),
        (
            "import csv\nfor r in csv.DictReader(f):\n    for k, v in r.items():\n        g.bytes_list.value.append(v)",
            ["P040"],
        ),
        ("import csv\nfor row in csv.reader(f):\n    tf.train.BytesList(value=[row[1]])", ["P040"]),
        ("for line in open('x'):\n    tf.train.BytesList(value=[line.strip().split(',')[0]])", ["P040"]),
        ("for line in open('x', 'rb'):\n    tf.train.BytesList(value=[line])", []),
        ("with open('x', 'rb') as f:\n    tf.train.BytesList(value=[f.read()])", []),
        ("with open('x') as f:\n    tf.train.BytesList(value=[f.read()])", ["P040"]),
        (
            "import os\nfor name in os.listdir('x'):\n    tf.train.BytesList(value=[os.path.splitext(name)[0]])",
            ["P040"],
        ),
    ],
)
def test_text_in_protos_is_named_however_they_are_filled(text: str, expected: list[str]) -> None:
    assert codes(text) == expected


def test_what_a_parser_returns_is_a_dict_of_its_features() -> None:
    value = probed(SPEC + "p = tf.io.parse_single_example(row, F)\nprobe(p)")
    assert isinstance(value, Table)
    assert value.complete
    assert isinstance(value.entries["a"], Item)
    assert isinstance(value.made_by, Call)


@pytest.mark.parametrize("given", [".", "pkg", "pkg/train"])
def test_imports_of_a_package_are_followed_whatever_folder_is_given(
    given: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "pyproject.toml").write_text("")
    for folder in ("pkg", "pkg/data", "pkg/train"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "__init__.py").write_text("")
    (tmp_path / "pkg/data/reading.py").write_text(
        "import tensorflow as tf\ndef make():\n    return tf.data.TFRecordDataset('a').map(p, num_parallel_calls=4)\n"
    )
    uses = "\nmodel.fit(make().batch(8).prefetch(1))\n"
    (tmp_path / "pkg/train/one.py").write_text("from ..data.reading import make" + uses)
    (tmp_path / "pkg/train/two.py").write_text("from pkg.data.reading import make" + uses)
    (tmp_path / "pkg/train/three.py").write_text("from pkg.data import reading\nmake = reading.make" + uses)
    (tmp_path / "pkg/train/four.py").write_text("import pkg.data.reading\nmake = pkg.data.reading.make" + uses)
    (tmp_path / "pkg/train/five.py").write_text("from ..data.reading import *" + uses)
    monkeypatch.chdir(tmp_path)
    found = [Path(str(one.location.path)).name for one in rs.lint(given).findings if one.code == "P003"]
    assert sorted(found) == ["five.py", "four.py", "one.py", "three.py", "two.py"]
