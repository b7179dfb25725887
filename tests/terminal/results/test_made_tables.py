"""What `recordsmith make` prints, where it is not the usual."""

from __future__ import annotations

import io
from typing import Any

import pytest
from rich.console import Console

from recordsmith.making.made_dataset import MadeDataset
from recordsmith.run.publishing.written_dataset import MadeSplit
from recordsmith.run.staging.reject_reasons import RejectReason
from recordsmith.terminal.results.made_tables import made_json, made_renderable


def printed(made: MadeDataset, width: int = 100, folder: str = "data") -> str:
    console = Console(width=width, file=io.StringIO(), highlight=False, emoji=False, markup=False)
    console.print(made_renderable(made, folder=folder, width=width))
    output = console.file
    assert isinstance(output, io.StringIO)
    return output.getvalue()


def dataset(**facts: Any) -> MadeDataset:
    classes = {f"class {n}": 1000 - n for n in range(40)}
    splits = {"train": MadeSplit(900, 12_345, 2, classes), "test": MadeSplit(100, 1_234, 1, dict.fromkeys(classes, 0))}
    weights = {name: 1 / count for name, count in classes.items()}
    return MadeDataset("/tmp/data", "x", splits, label="kind", class_weights=weights, **facts)


def test_of_many_classes_the_commonest_and_the_rarest():
    lines = [" ".join(line.split()) for line in printed(dataset()).splitlines()]
    assert "class 0 1,000 0 0.001" in lines
    assert "class 39 961 0 0.001041" in lines
    assert "... 24 more" in lines
    assert sum(line.startswith("class ") for line in lines) == 16


@pytest.mark.parametrize("width", [40, 60, 80, 120])
def test_it_fits_the_terminal(width):
    reason = RejectReason(3, "image", "The JPEG of 320x240 cannot be decoded: it is cut short.", "photos/cat/0001.jpg")
    made = dataset(
        source_rows=1003,
        rejects=3,
        reasons=(reason,),
        dropped=1,
        unassigned=2,
        left_out=tuple(f"column {n}" for n in range(12)),
        warnings=("The split 'test' has 100 rows instead of 200: rows of one group stay together.",),
    )
    said = printed(made, width)
    assert max(map(len, said.splitlines())) <= width
    words = " ".join(said.split())
    assert "rejected: 3 of 1,003 rows were left out" in words
    assert "3 x The JPEG of 320x240 cannot be decoded: it is cut short (image), as in" in words
    assert "dropped: 1 row," in words
    assert "not asked for: 2 rows," in words
    assert "column 7 and 4 more" in words
    assert "warning: The split 'test' has 100 rows instead of 200" in words


def test_names_cannot_play_with_the_terminal():
    classes = {"\x1b[31mred": 1}
    made = MadeDataset(
        "/d", "x", {"train": MadeSplit(1, 10, 1, classes)}, label="a\nb", class_weights=dict.fromkeys(classes, 1.0)
    )
    said = printed(made, folder="my data")
    assert "\x1b" not in said
    assert "recordsmith show 'my data'" in said
    assert 'rs.open("my data", split="train")' in said


def test_the_json_has_the_reasons():
    reason = RejectReason(3, None, "The line has 2 cells.", "a.csv, line 7")
    document = made_json(dataset(rejects=3, reasons=(reason,)))
    assert document["ok"] is False
    assert document["reasons"] == [
        {"count": 3, "feature": None, "reason": "The line has 2 cells.", "example": "a.csv, line 7"}
    ]
