"""Classes have the same colours everywhere, and different ones as long as there are few."""

from __future__ import annotations

import re
from importlib.resources import files

import numpy as np
import pytest

import recordsmith as rs
from recordsmith.images import encode_image
from recordsmith.viewer.data.class_colours import PALETTE, ClassColours


def test_the_style_has_the_colours_that_masks_have():
    style = files("recordsmith.viewer").joinpath("viewer.css").read_text()
    found = {int(number): colour for number, colour in re.findall(r"\.c(\d+) \{ --c: #(\w{6}); \}", style)}
    assert found == {number: f"{red:02x}{green:02x}{blue:02x}" for number, (red, green, blue) in enumerate(PALETTE)}
    assert len(set(PALETTE)) == len(PALETTE) == 12


@pytest.mark.parametrize("declared", [True, False])
def test_the_first_classes_differ_and_then_colours_repeat(declared):
    names = [f"class {number}" for number in range(30)]
    colours = ClassColours(lambda _: names if declared else ())
    assert colours.of("other", "3") == 3  # a number has the colour of its own
    assert [colours.of("label", name) for name in names] == [number % 12 for number in range(30)]
    assert [colours.of("label", name) for name in names] == [number % 12 for number in range(30)]  # and stay


def test_a_text_has_the_colour_of_the_class_of_that_name():
    names = ("circle", "square")
    colours = ClassColours(lambda feature: names if feature == "label" else (), lambda: names)
    assert [colours.of("objects/name", one) for one in ("star", "square", "circle", "cross")] == [2, 1, 0, 3]
    assert colours.of("class/text", "star") == 2  # in all features
    assert [colours.of("label", one) for one in names] == [0, 1]


def test_a_million_classes_take_little_memory():
    colours = ClassColours(lambda _: [str(number) for number in range(1_000_000)])
    assert colours.of("label", "999999") == 999_999 % 12
    undeclared = ClassColours(lambda _: ())
    for number in range(30_000):
        undeclared.of("label", f"class {number}")
    assert sum(map(len, undeclared._numbers.values())) <= 10_000


def test_boxes_bars_and_chips_of_a_class_agree(viewing, tmp_path):
    image = encode_image(np.zeros((8, 8, 3), np.uint8), "png")
    with rs.RecordWriter(str(tmp_path / "a.tfrecord")) as writer:
        for number in range(8):
            sides = {f"image/object/bbox/{side}": [0.1, 0.2] for side in ("xmin", "ymin", "xmax", "ymax")}
            label = {"image/object/class/text": ["circle", "square"] if number % 2 else ["square", "circle"]}
            writer.write_example({"image/encoded": image, **sides, **label})
    client = viewing(tmp_path / "a.tfrecord")
    client.wait("/d/0/status", lambda status: status["findings"] is not None)
    page = client.get("/d/0/").text
    found = dict(re.findall(r'class="box (c\d+)"><title>(\w+)<', page))
    assert len(found) == 2
    bars = re.findall(r'class="choice (c\d+)"[^>]*title="(\w+):', page)
    assert dict(bars) == found
