"""`recordsmith doctor` and `rs.lint`: what they take, what they say, and how they end."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import recordsmith as rs
from recordsmith.cli import main

BROKEN = "import tensorflow as tf\nds = tf.data.TFRecordDataset('a').batch(8).shuffle(99)\n"
SOUND = "import tensorflow as tf\nds = tf.data.TFRecordDataset('a').shuffle(999).batch(8)\n"


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, ["doctor", *map(str, arguments)])


@pytest.fixture
def broken(tmp_path: Path) -> Path:
    path = tmp_path / "train.py"
    path.write_text(BROKEN)
    return path


def test_exit_codes(broken: Path, tmp_path: Path) -> None:
    sound = tmp_path / "sound.py"
    sound.write_text(SOUND)
    assert run(sound).exit_code == 0
    assert run(broken).exit_code == 1
    assert run(broken, "--fail-on", "error").exit_code == 0
    assert run(broken, "--ignore", "batch-before-shuffle").exit_code == 0
    assert run(tmp_path / "missing.py").exit_code == 2
    assert run(broken, "--select", "P999").exit_code == 2


def test_the_text_shows_the_line_and_the_corrected_line(broken: Path) -> None:
    output = run(broken).output
    assert "P001 batch-before-shuffle" in output
    assert "train.py:2:34" in output.replace("\n", "")
    assert ".shuffle(99).batch(8)" in output


def test_json_sarif_and_github(broken: Path) -> None:
    found = json.loads(run(broken, "--format", "json").output)["findings"]
    assert [one["code"] for one in found][:1] == ["P001"]
    assert found[0]["location"]["line"] == 2
    sarif = json.loads(run(broken, "--format", "sarif").output)
    assert sarif["runs"][0]["results"][0]["ruleId"] == "P001"
    assert run(broken, "--format", "github").output.startswith("::warning file=")


def test_fix_says_what_it_did(broken: Path) -> None:
    result = run(broken, "--fix")
    assert "1 finding fixed (P001)" in result.output
    assert ".shuffle(99).batch(8)" in broken.read_text()


def test_a_folder_with_notebooks_and_a_broken_file(tmp_path: Path, broken: Path) -> None:
    (tmp_path / "old.py").write_text("print 'Python 2'\n")
    (tmp_path / ".hidden").mkdir()
    (tmp_path / ".hidden" / "other.py").write_text(BROKEN)
    cell = {"cell_type": "code", "source": BROKEN, "metadata": {}}
    (tmp_path / "book.ipynb").write_text(json.dumps({"cells": [cell], "nbformat": 4}))
    report = rs.lint(tmp_path)
    assert "old.py" in str(report.sections)
    found = [one for one in report.findings if one.code == "P001"]
    assert {Path(one.location.path or "").name for one in found} == {"train.py", "book.ipynb"}


def test_what_is_not_python_is_refused_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "old.py"
    path.write_text("x = 1\nprint 'Python 2'\n")
    result = run(path)
    assert result.exit_code == 2
    with pytest.raises(rs.RecordsmithError, match="line 2"):
        rs.lint(path)


def test_records_written_in_one_module_and_read_in_another(tmp_path: Path) -> None:
    (tmp_path / "write.py").write_text(
        "import tensorflow as tf\n"
        "feature = {'image': tf.train.Feature(bytes_list=tf.train.BytesList(value=[b'x'])),\n"
        "           'label': tf.train.Feature(int64_list=tf.train.Int64List(value=[1]))}\n"
        "example = tf.train.Example(features=tf.train.Features(feature=feature))\n"
        "with tf.io.TFRecordWriter('birds.tfrecord') as writer:\n    writer.write(example.SerializeToString())\n"
    )
    (tmp_path / "read.py").write_text(
        "import tensorflow as tf\n"
        "spec = {'image': tf.io.FixedLenFeature([], tf.string), 'lable': tf.io.VarLenFeature(tf.int64)}\n"
        "ds = tf.data.TFRecordDataset('birds.tfrecord').map(lambda s: tf.io.parse_single_example(s, spec))\n"
    )
    found = rs.lint(tmp_path).findings[0]
    assert (found.code, found.location.feature, found.evidence["nearest"]) == ("P020", "lable", "label")


@pytest.mark.parametrize(("buffer", "codes"), [(50, ["P004"]), (5000, [])])
def test_the_buffer_is_compared_with_the_runs_of_labels(buffer: int, codes: list[str], tmp_path: Path) -> None:
    with rs.RecordWriter(tmp_path / "rows.tfrecord") as writer:
        for number in range(1000):
            writer.write_example({"label": number // 250, "x": float(number)})
    text = f"import tensorflow as tf\nds = tf.data.TFRecordDataset('rows.tfrecord').shuffle({buffer})\n"
    report = rs.lint(source=text, data=tmp_path / "rows.tfrecord")
    assert [one.code for one in report.findings] == codes
    assert not codes or report.findings[0].evidence["longest_run"] == 250


def test_compression_is_compared_with_the_files(tmp_path: Path) -> None:
    path = tmp_path / "rows.tfrecord.gz"
    with rs.RecordWriter(path, compression="gzip") as writer:
        writer.write_example({"x": 1})
    code = tmp_path / "read.py"
    code.write_text("import tensorflow as tf\nds = tf.data.TFRecordDataset(files)\n")
    assert run(code, "--data", path, "--fix").exit_code == 0
    assert 'TFRecordDataset(files, compression_type="GZIP")' in code.read_text()


def test_the_configuration_and_a_baseline_count(broken: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(broken.parent)
    Path("recordsmith.toml").write_text('ignore = ["P001", "D003"]')
    assert run(broken).exit_code == 0
    Path("recordsmith.toml").write_text('select = ["V", "D"]')  # rules on data: those on code all stay
    assert run(broken).exit_code == 1
    assert run(broken, "--write-baseline", "--baseline", "known.json").exit_code == 0
    assert run(broken, "--baseline", "known.json").exit_code == 0
    Path("recordsmith.toml").write_text('baseline = "known.json"')
    assert run(broken).exit_code == 0
    assert run(broken, "--write-baseline").exit_code == 0
    assert run(broken).exit_code == 0
    Path("recordsmith.toml").write_text('ignore = ["no-such-rule"]')
    assert run(broken).exit_code == 2
