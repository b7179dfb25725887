"""Image: encoded images, files, pixels and PIL images."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image as Pil

import recordsmith as rs
from recordsmith.errors import EncodeError, SchemaError
from recordsmith.images import decode_image, encode_image, read_header

PIXELS = np.arange(4 * 5 * 3, dtype=np.uint8).reshape(4, 5, 3)
PNG = encode_image(PIXELS, "png")
JPEG = encode_image(PIXELS, "jpeg")


def stored(feature: rs.Image, value: Any, **settings: Any) -> bytes:
    data: bytes = feature.value_to_canonical(value, **settings)
    column = feature.column_to_parts([value], 1, **settings)[0]
    assert bytes(column[0][0] if column[1] is None else column[0]) == data
    return data


@pytest.mark.parametrize("value", [PNG, bytearray(PNG), memoryview(PNG), np.array(PNG, object)], ids=type)
def test_encoded_bytes_stay_as_they_are(value: Any) -> None:
    assert stored(rs.Image(), value) == PNG


def test_a_list_of_bytes_is_passed_on_itself() -> None:
    images = [PNG, JPEG]
    values, offsets, present = rs.Image(4, 5).column_to_parts(images)[0][:3]
    assert all(a is b for a, b in zip(values, images, strict=True))
    assert offsets is None
    assert present is None


def test_a_path_is_read(tmp_path: Path) -> None:
    (tmp_path / "a.jpg").write_bytes(PNG)  # detected by its content
    assert stored(rs.Image(encoding="png"), tmp_path / "a.jpg") == PNG
    with pytest.raises(EncodeError, match="cannot be read") as caught:
        rs.Image().column_to_parts([PNG, tmp_path / "b.jpg"])
    assert caught.value.row == 1
    assert "b.jpg: No such file" in str(caught.value.found)


@pytest.mark.parametrize("encoding", ["png", "bmp", None])
def test_pixels_are_encoded(encoding: str | None) -> None:
    data = stored(rs.Image(encoding=encoding), PIXELS)
    header = read_header(data)
    assert header is not None
    assert header.format == (encoding or "png")
    assert np.array_equal(decode_image(data), PIXELS)


@pytest.mark.parametrize(
    "layout",
    [PIXELS[::-1, ::-1], np.asfortranarray(PIXELS), PIXELS.astype(">u1")],
    ids=["reversed", "fortran", "big-endian"],
)
def test_pixels_of_any_layout(layout: Any) -> None:
    assert np.array_equal(decode_image(stored(rs.Image(), layout)), layout)


def test_columns_of_pixels() -> None:
    batch = np.stack([PIXELS, PIXELS[::-1]])
    values = rs.Image(4, 5).column_to_parts(batch, 2)[0][0]
    assert [decode_image(data).tolist() for data in values] == batch.tolist()


def test_grey_pixels_need_a_grey_image() -> None:
    grey = PIXELS[:, :, 0]
    assert decode_image(stored(rs.Image(channels=1), grey)).shape == (4, 5, 1)
    assert decode_image(stored(rs.Image(channels=None), grey[:, :, None])).shape == (4, 5, 1)
    with pytest.raises(EncodeError, match="wrong shape") as caught:
        rs.Image().value_to_canonical(grey)
    assert "channels=1" in str(caught.value.advice)


def test_png_keeps_sixteen_bits() -> None:
    deep = PIXELS.astype(np.uint16) * 256
    assert np.array_equal(decode_image(stored(rs.Image(encoding="png"), deep)), deep)
    with pytest.raises(EncodeError, match="JPEG"):
        rs.Image(encoding="jpeg").value_to_canonical(deep)


@pytest.mark.parametrize(
    ("value", "advice"),
    [
        (PIXELS.astype(np.float32), "round"),
        (PIXELS.astype(np.int64), "astype"),
        (PIXELS.transpose(2, 0, 1), "transpose"),
        (PIXELS[0, 0], "shape"),
        (np.zeros((0, 5, 3), np.uint8), "hold"),
        ("cat.jpg", "pathlib.Path"),
        (5, "encoded bytes"),
        ([1, 2], "encoded bytes"),
        (None, "optional=True"),
        (b"text", "Convert"),
        (b"", "Convert"),
    ],
    ids=repr,
)
def test_what_is_no_image_is_refused(value: Any, advice: str) -> None:
    for column in ([PNG, value], np.array([PNG, value, 0], object)[:2]):
        with pytest.raises(EncodeError) as caught:
            rs.Image().column_to_parts(column)
        assert caught.value.row == 1
        assert advice in str(caught.value.advice)
    with pytest.raises(EncodeError):
        rs.Image().value_to_canonical(value)


@pytest.mark.parametrize(
    ("feature", "found", "expected"),
    [
        (rs.Image(encoding="jpeg"), "PNG of 5×4", "JPEG"),
        (rs.Image(5, 4), "PNG of 5×4", "4×5 pixels"),
        (rs.Image(width=4), "PNG of 5×4", "4×any"),
        (rs.Image(height=5), "PNG of 5×4", "any×5"),
    ],
)
def test_the_header_must_agree(feature: rs.Image, found: str, expected: str) -> None:
    with pytest.raises(EncodeError, match="not match the declared feature") as caught:
        feature.column_to_parts([PNG])
    assert found in str(caught.value.found)
    assert expected in str(caught.value.expected)
    column = rs.ByteColumn(PNG + JPEG, [0, len(PNG), len(PNG), len(PNG + JPEG)], present=[True, False, True])
    rows = [violation.row for violation in feature.violations(column)]
    assert rows == ([0] if feature.encoding else [0, 2])


def test_channels_are_those_of_decoding() -> None:
    grey = encode_image(PIXELS[:, :, 0], "jpeg")
    assert stored(rs.Image(channels=3), grey) == grey


@pytest.mark.parametrize(
    ("mode", "channels", "shape"),
    [
        ("RGB", 3, (4, 5, 3)),
        ("RGB", None, (4, 5, 3)),
        ("L", 1, (4, 5, 1)),
        ("L", None, (4, 5, 1)),
        ("L", 3, (4, 5, 3)),
        ("1", 1, (4, 5, 1)),
        ("P", 3, (4, 5, 3)),
        ("P", None, (4, 5, 3)),
        ("RGBA", 4, (4, 5, 4)),
        ("RGBA", None, (4, 5, 4)),
        ("LA", None, (4, 5, 4)),
        ("RGB", 4, (4, 5, 4)),
    ],
)
def test_pil_images(mode: str, channels: int | None, shape: tuple[int, ...]) -> None:
    image = Pil.fromarray(PIXELS).convert(mode)
    pixels = decode_image(stored(rs.Image(channels=channels), image))
    assert pixels.shape == shape
    expected = np.asarray(image.convert({1: "L", 3: "RGB", 4: "RGBA"}[shape[2]])).reshape(shape)
    assert np.array_equal(pixels, expected)


@pytest.mark.parametrize(("mode", "channels"), [("RGBA", 3), ("RGB", 1), ("CMYK", None), ("LA", 1), ("F", None)])
def test_pil_images_that_would_lose_something_need_a_cast(mode: str, channels: int | None) -> None:
    image = Pil.fromarray(PIXELS).convert("L" if mode == "F" else "RGB").convert(mode)
    with pytest.raises(EncodeError, match="lose") as caught:
        rs.Image(channels=channels).value_to_canonical(image)
    assert "cast=True" in str(caught.value.advice)
    assert read_header(stored(rs.Image(channels=channels), image, cast=True)) is not None


def test_a_transparent_palette_is_not_dropped() -> None:
    image = Pil.fromarray(PIXELS).convert("P")
    image.info["transparency"] = 0
    assert decode_image(stored(rs.Image(channels=None), image)).shape == (4, 5, 4)
    with pytest.raises(EncodeError, match="lose"):
        rs.Image(channels=3).value_to_canonical(image)


def test_deep_pil_images() -> None:
    image = Pil.fromarray(PIXELS[:, :, 0].astype(np.uint16) * 300)
    assert decode_image(stored(rs.Image(channels=1), image)).dtype == np.uint16


@pytest.mark.parametrize(
    "settings",
    [
        {"height": 0},
        {"width": -1},
        {"height": 1.5},
        {"height": True},
        {"channels": 2},
        {"encoding": "tiff"},
        {"encoding": "JPEG"},
        {"default": b"text"},
        {"default": PNG, "encoding": "jpeg"},
    ],
    ids=str,
)
def test_declarations_that_cannot_work(settings: dict[str, Any]) -> None:
    with pytest.raises(SchemaError):
        rs.Image(**settings)


def test_optional_and_default(through_core: Any) -> None:
    optional = rs.Image(optional=True)
    column = optional.assemble(through_core(optional, optional.column_to_parts([PNG, None])))
    assert [optional.row(column, 0), optional.row(column, 1)] == [PNG, None]
    default = rs.Image(default=PIXELS, encoding="png")
    assert default.default == PNG
    assert rs.Schema.from_json(rs.Schema({"x": default}).to_json())["x"] == default
    column = default.assemble(through_core(default, default.column_to_parts([JPEG and PNG, None])))
    assert column.to_list() == [PNG, PNG]
    with pytest.raises(SchemaError, match="base64"):
        rs.Image.from_json({"default": "?"})


def test_through_a_file(tmp_path: Path) -> None:
    schema = rs.Schema({"image": rs.Image(encoding="png"), "frames": rs.Steps(rs.Image(encoding="jpeg"))})
    buffer = io.BytesIO()
    Pil.fromarray(PIXELS).save(buffer, "jpeg")
    with rs.RecordWriter(tmp_path / "data.tfrecord") as writer:
        writer.write_rows(
            [{"image": PIXELS, "frames": [JPEG, buffer.getvalue()]}, {"image": PNG, "frames": []}], schema
        )
        with pytest.raises(EncodeError, match="Step 1") as caught:
            writer.write_rows([{"image": PNG, "frames": [JPEG, PNG]}], schema)
        assert (caught.value.row, caught.value.feature) == (0, "frames")
        writer.write_columns({"image": [PNG], "frames": [[JPEG]]}, schema)
    rows = list(rs.open(tmp_path / "data.tfrecord", schema=schema))
    assert [row["image"] for row in rows] == [PNG, PNG, PNG]
    assert [row["frames"] for row in rows] == [[JPEG, buffer.getvalue()], [], [JPEG]]
