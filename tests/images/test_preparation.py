"""Images made ready: resized, converted, turned; and left alone where nothing has to change."""

from __future__ import annotations

import io

import cv2
import numpy as np
import pytest
from PIL import Image

from recordsmith.images import ImageError, Preparation, decode_image, encode_image, read_header
from tests.images.made_images import HEIGHT, WIDTH, oriented, pixels, saved, with_alpha
from tests.images.made_images import images as made_images

IMAGES = made_images()


@pytest.mark.parametrize("name", IMAGES)
def test_nothing_asked_nothing_changed(name):
    data, channels = IMAGES[name]
    assert Preparation().prepare(data) is data
    assert Preparation(size=(HEIGHT, WIDTH), encoding=name.split()[0]).prepare(data) is data
    if channels != 2 and name not in {"jpeg cmyk", "bmp palette", "bmp 1 bit"}:
        assert Preparation(channels=channels).prepare(data) is data


@pytest.mark.parametrize("size", [(20, 28), (17, 23), (80, 90), (20, 200)])
@pytest.mark.parametrize("name", IMAGES)
def test_resize(name, size):
    data, channels = IMAGES[name]
    header = read_header(Preparation(size=size).prepare(data))
    assert header is not None
    assert header.format == ("jpeg" if name.startswith("jpeg") else "png")
    assert (header.height, header.width) == size
    assert header.channels == {2: 4}.get(channels, channels)
    assert header.bits == (16 if "16 bits" in name else 8)


def test_shrinking_is_the_mean_of_the_area():
    image = pixels()
    found = decode_image(Preparation(size=(HEIGHT // 4, WIDTH // 4)).prepare(encode_image(image, "png")))
    means = image.reshape(HEIGHT // 4, 4, WIDTH // 4, 4, 3).mean((1, 3))
    assert np.abs(found - means).max() <= 1


@pytest.mark.parametrize("size", [(17, 23), (39, 55), (40, 13), (80, 100), (40, 56), (1, 1), (13, 100), (90, 7)])
@pytest.mark.parametrize("kind", [np.uint8, np.uint16])
def test_resizing_is_opencvs(size, kind):
    image = pixels().astype(kind) * np.iinfo(kind).max // 255
    found = decode_image(Preparation(size=size).prepare(encode_image(image, "png")))
    smaller = (min(size[0], HEIGHT), min(size[1], WIDTH))
    theirs = cv2.resize(image, smaller[::-1], interpolation=cv2.INTER_AREA)
    theirs = cv2.resize(theirs, size[::-1], interpolation=cv2.INTER_LINEAR)
    assert np.abs(found.astype(int) - theirs).max() <= np.iinfo(kind).max // 255


@pytest.mark.parametrize("mode", ["RGB", "L"])
@pytest.mark.parametrize(("orientation", "size"), [(1, (30, 40)), (6, (40, 30)), (1, (60, 80)), (1, (100, 100))])
def test_large_jpegs_may_be_decoded_smaller(mode, orientation, size):
    exif = Image.Exif()
    exif[0x0112] = orientation
    image = Image.fromarray(pixels(3, 480, 640)).convert(mode)
    data = saved(image, "jpeg", quality=95, exif=exif)
    found = decode_image(Preparation(size=size, encoding="png").prepare(data))
    theirs = cv2.resize(decode_image(data), size[::-1], interpolation=cv2.INTER_AREA).reshape(found.shape)
    assert np.abs(found.astype(int) - theirs).mean() < 2


@pytest.mark.parametrize("channels", [1, 3, 4])
@pytest.mark.parametrize("encoding", ["jpeg", "png", "webp", "bmp"])
@pytest.mark.parametrize("name", IMAGES)
def test_every_conversion(name, encoding, channels):
    data, _ = IMAGES[name]
    try:
        preparation = Preparation(channels=channels, encoding=encoding)
    except ValueError as error:
        assert str(error) == f"a {encoding} image cannot have {channels} channels"  # noqa: PT017 - or all is well
        return
    prepared = preparation.prepare(data)
    header = read_header(prepared)
    assert header is not None
    assert (header.format, header.plain) == (encoding, True)
    # Where nothing is transparent, WebP leaves the alpha away.
    assert header.channels == channels or (encoding, channels, header.channels) == ("webp", 4, 3)
    shown = decode_image(data, channels=3)
    if shown.dtype == np.uint16:
        shown = (shown >> 8).astype(np.uint8)
    if channels == 1:
        shown = np.repeat(cv2.cvtColor(shown, cv2.COLOR_RGB2GRAY)[:, :, None], 3, 2)
    found = decode_image(prepared, channels=3)
    found = (found >> 8) if found.dtype == np.uint16 else found
    assert np.abs(found.astype(int) - shown).mean() < {"jpeg": 6, "webp": 6}.get(encoding, 1.5)


@pytest.mark.parametrize("name", ["jpeg grey", "jpeg cmyk", "png palette", "bmp palette", "bmp 1 bit"])
def test_tensorflow_reads_what_was_converted(name):
    tensorflow = pytest.importorskip("tensorflow")
    data, _ = IMAGES[name]
    prepared = Preparation(channels=3).prepare(data)
    theirs = tensorflow.image.decode_image(prepared, channels=3).numpy()
    assert np.abs(decode_image(data, channels=3).astype(int) - theirs).mean() < 6


def test_cmyk_becomes_plain_where_channels_are_asked_for():
    data, _ = IMAGES["jpeg cmyk"]
    assert Preparation().prepare(data) is data
    plain = Preparation(channels=3).prepare(data)
    assert Image.open(io.BytesIO(plain)).mode == "RGB"
    assert np.abs(decode_image(plain).astype(int) - decode_image(data)).mean() < 3


@pytest.mark.parametrize("orientation", range(2, 9))
@pytest.mark.parametrize("size", [None, (30, 20)])
def test_turned_images_need_no_exif_any_more(orientation, size):
    data = oriented(orientation)
    prepared = Preparation(size=size).prepare(data)
    header = read_header(prepared)
    assert header is not None
    assert header.orientation == 1
    upright = decode_image(data)
    if size is None:
        assert (header.height, header.width) == upright.shape[:2]
    else:
        assert (header.height, header.width) == size
        upright = cv2.resize(upright, size[::-1], interpolation=cv2.INTER_AREA)
    assert np.abs(decode_image(prepared).astype(int) - upright).mean() < 6


def test_orientation_can_be_left():
    data = oriented(6)
    assert Preparation(orient=False).prepare(data) is data
    lying = Preparation(orient=False, size=(20, 28)).prepare(data)
    expected = Preparation(size=(20, 28)).prepare(oriented(1))
    assert np.array_equal(decode_image(lying), decode_image(expected))


def test_alpha_goes_where_the_encoding_has_none():
    data = saved(with_alpha(), "png")
    header = read_header(Preparation(encoding="jpeg").prepare(data))
    assert header is not None
    assert header.channels == 3


def test_sixteen_bits_stay_in_png_and_go_in_jpeg():
    data, _ = IMAGES["png 16 bits"]
    assert decode_image(Preparation(channels=3).prepare(data)).dtype == np.uint16
    eight = decode_image(Preparation(encoding="jpeg").prepare(data))
    assert np.abs(eight.astype(int) - (decode_image(data) >> 8)).max() <= 4


def test_gif_is_kept_but_not_made():
    data, _ = IMAGES["gif"]
    assert Preparation(encoding="gif").prepare(data) is data
    with pytest.raises(ImageError, match="gif is not supported"):
        Preparation(encoding="gif").prepare(IMAGES["png"][0])


def test_damage_is_found():
    data, _ = IMAGES["jpeg"]
    with pytest.raises(ImageError, match="cannot be decoded"):
        Preparation(size=(10, 10)).prepare(data[:-40])


def test_the_same_bytes_every_time():
    data, _ = IMAGES["jpeg"]
    assert len({Preparation(size=(20, 30)).prepare(data) for _ in range(3)}) == 1


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"size": (0, 5)}, "size must be"),
        ({"size": (5, 70_000)}, "size must be"),
        ({"size": (5, 5, 3)}, "size must be"),
        ({"channels": 2}, "channels must be 1, 3 or 4"),
        ({"encoding": "tiff"}, "encoding must be one of"),
        ({"encoding": "jpeg", "channels": 4}, "cannot have 4 channels"),
        ({"quality": 0}, "quality must be"),
    ],
)
def test_settings_that_cannot_be(settings, reason):
    with pytest.raises(ValueError, match=reason):
        Preparation(**settings)
