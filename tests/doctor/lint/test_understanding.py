"""What the doctor says about how far it followed a file: never silence about what it did not see."""

from __future__ import annotations

from pathlib import Path

import pytest

import recordsmith as rs
from recordsmith.doctor.lint.interpreter import machine

TRAINS = (
    "import tensorflow as tf\nds = tf.data.TFRecordDataset('a').shuffle(9999).batch(8).prefetch(1)\nmodel.fit(ds)\n"
)
UNKNOWN = "from mylib import load_data\nmodel = f()\nmodel.fit(load_data('x'))\n"


def files(path: Path) -> list[dict[str, object]]:
    facts = rs.lint(path).to_json()["facts"]
    assert isinstance(facts, dict)
    return list(facts["files"])


def test_what_was_followed_is_counted(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(TRAINS)
    (one,) = files(tmp_path / "train.py")
    assert (one["datasets"], one["trained_on"], one["models"], one["not_understood"]) == (1, 1, 1, [])
    assert (
        str(rs.lint(tmp_path / "train.py")).splitlines()[1] == "Understood: 1 dataset followed, 1 trained on, 1 model"
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (UNKNOWN, "`load_data()` from `mylib`"),
        ("def train(model, ds):\n    model.fit(ds)\n", "`ds`, which is given by a caller"),
        (
            "import company.input_pipeline as i\nds = i.make_dataset()\n",
            "`make_dataset()` from `company.input_pipeline`",
        ),
    ],
)
def test_what_was_not_understood_is_named(text: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(text)
    (one,) = files(tmp_path / "train.py")
    assert said in str(one["words"])


@pytest.mark.parametrize(
    "text", ["x = 1\n", "import tensorflow as tf\nprint(tf.constant(1))\n", UNKNOWN.replace(".fit", ".go")]
)
def test_a_file_of_which_nothing_was_followed_is_not_praised(text: str, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(text)
    report = rs.lint(tmp_path / "a.py")
    assert [(one.code, one.severity.value) for one in report.findings] == [("P099", "info")]
    assert report.ok


def test_in_a_folder_only_files_that_train_or_read_are_named(tmp_path: Path) -> None:
    (tmp_path / "names.py").write_text("CLASSES = ['a', 'b']\n")
    (tmp_path / "model.py").write_text("import torch\nx = torch.zeros(3)\n")
    (tmp_path / "train.py").write_text(TRAINS)
    report = rs.lint(tmp_path)
    assert [Path(one.location.path or "").name for one in report.findings if one.code == "P099"] == ["model.py"]
    assert "2 files without a dataset, model, reader or writer" in str(report)


def test_the_limit_of_steps_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "_MOST_STEPS", 10)
    (tmp_path / "a.py").write_text(TRAINS * 9)
    report = rs.lint(tmp_path / "a.py")
    assert "too large" in next(one.message for one in report.findings if one.code == "P099")
    assert "too large" in str(report)
