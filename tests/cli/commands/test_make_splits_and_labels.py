"""`recordsmith make` with sources that have splits, odd labels or other forms, in the words of the command line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import click.testing
import pytest

Run = Callable[..., click.testing.Result]


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for split, lines in {"train": "1,cat\n2,dog\n3,cat\n", "test": "4,dog\n5,cat\n"}.items():
        Path(f"in-{split}.csv").write_text(f"x,pet\n{lines}")


def said(result: click.testing.Result) -> str:
    return " ".join((result.stdout + result.stderr).split())


def test_splits_are_kept_and_it_is_said(run: Run) -> None:
    result = run("make", "in-train.csv", "in-test.csv", "-o", "out", "--label", "pet")
    assert result.exit_code == 0, result.output
    assert "splits: kept as the source has them: train, test" in said(result)
    again = run("make", "out", "-o", "again", "--format", "json")
    document = json.loads(again.stdout)
    assert {name: split["rows"] for name, split in document["splits"].items()} == {"train": 3, "test": 2}
    assert document["splits_kept"]


def test_dividing_anew_names_the_options_of_the_command_line(run: Run) -> None:
    asked = ("make", "in-*.csv", "-o", "out", "--split", "train=3,val=2")
    result = run(*asked)
    assert result.exit_code == 2
    assert "Leave --split out to keep them, or combine the splits with --merge-splits." in said(result)
    assert not Path("out").exists()
    assert run(*asked, "--merge-splits").exit_code == 0


def test_messages_never_speak_of_python(run: Run) -> None:
    run("make", "in-train.csv", "-o", "out")
    for command in (
        ("make", "in-train.csv", "-o", "out"),
        ("copy", "in-train.csv", "-o", "out"),
        ("export", "out", "-o", "in-train.csv"),
    ):
        result = run(*command)
        assert result.exit_code == 2
        assert "=True" not in said(result)
    assert "or give --overwrite to replace it" in said(run("make", "in-train.csv", "-o", "out"))


def test_white_space_around_labels(run: Run) -> None:
    Path("pets.csv").write_text("x,pet\n1,cat\n2,cat \n")
    result = run("make", "pets.csv", "-o", "out", "--label", "pet")
    assert result.exit_code == 2
    assert "'cat ' in pets.csv, line 3" in said(result)
    assert "--strip" in said(result)
    result = run("make", "pets.csv", "-o", "out", "--label", "pet", "--strip", "--format", "json")
    assert json.loads(result.stdout)["splits"]["train"]["classes"] == {"cat": 2}


def test_rows_without_a_label(run: Run) -> None:
    Path("pets.csv").write_text("x,pet\n1,cat\n2,\n")
    kept = run("make", "pets.csv", "-o", "kept", "--label", "pet")
    assert "1 row without a 'pet', such as pets.csv, line 3" in said(kept)
    result = run("make", "pets.csv", "-o", "out", "--label", "pet", "--drop-unlabelled")
    assert result.exit_code == 0
    assert "unlabelled: 1 row without a label, left out" in said(result)


def test_a_folder_of_another_form(run: Run) -> None:
    from tests.formats.images.test_folder_layouts import CVAT, numbered, put

    put(Path("cvat"), *numbered("images"), **{"annotations.xml": CVAT})
    result = run("make", "cvat", "-o", "out")
    assert result.exit_code == 2
    assert "This looks like a CVAT dataset" in said(result)
    assert "--layout flat" in said(result)
    assert run("make", "cvat", "-o", "out", "--layout", "flat").exit_code == 0


def test_boxes_without_an_option_or_as_images(run: Run) -> None:
    from tests.formats.images.test_folder_layouts import annotated, numbered, put

    boxes = annotated(numbered("images"), "labels", ".txt", b"0 0.5 0.5 0.25 0.25\n0 0.9 0.5 0.5 0.25\n")
    put(Path("yolo"), *numbered("images"), **boxes)
    assert run("make", "yolo", "-o", "rejected").exit_code == 2
    assert run("make", "yolo", "-o", "out", "--clip", "--feature-names", "tfds").exit_code == 0
    assert "objects/bbox" in said(run("show", "out"))
    assert run("make", "yolo", "-o", "flat", "--layout", "flat").exit_code == 0
    assert "bbox" not in said(run("show", "flat"))


def test_an_option_of_another_kind_is_known_by_its_own_name(run: Run) -> None:
    result = run("make", "in-train.csv", "-o", "out", "--layout", "flat")
    assert result.exit_code == 2
    assert "A source of kind 'csv' has no option --layout. It is an option of images, text" in said(result)
