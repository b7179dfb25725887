"""Decoding and encoding, against Pillow and TensorFlow."""

from __future__ import annotations

import contextlib
import io
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from recordsmith.images import ImageError, Preparation, check_image, codec, decode_image, encode_image, read_header
from tests.images.made_images import (
    HEIGHT,
    WIDTH,
    as_pillow_shows_it,
    colour,
    oriented,
    pixels,
    saved,
    with_alpha,
)
from tests.images.made_images import (
    images as made_images,
)

IMAGES = made_images()


def difference(one, other):
    return int(np.abs(one.astype(int) - other.astype(int)).max())


@pytest.mark.parametrize("name", IMAGES)
def test_colour_is_what_pillow_shows(name):
    data, _ = IMAGES[name]
    found = decode_image(data, channels=3)
    if found.dtype == np.uint16:
        found = found >> 8
    assert found.shape == (HEIGHT, WIDTH, 3)
    # Decoders may round differently; CMYK and the upsampling of colour leave the most room for it.
    assert difference(found, as_pillow_shows_it(data)) <= (2 if "cmyk" in name else 1)


@pytest.mark.parametrize("name", IMAGES)
def test_grey_is_what_pillow_shows(name):
    data, _ = IMAGES[name]
    found = decode_image(data, channels=1)
    if found.dtype == np.uint16:
        found = found >> 8
    assert found.shape == (HEIGHT, WIDTH, 1)
    assert difference(found[:, :, 0], as_pillow_shows_it(data, "L")) <= 2


@pytest.mark.parametrize("name", IMAGES)
def test_its_own_channels(name):
    data, channels = IMAGES[name]
    assert decode_image(data).shape == (HEIGHT, WIDTH, channels)
    alpha = decode_image(data, channels=4)
    assert alpha.shape == (HEIGHT, WIDTH, 4)
    if channels in (1, 3):
        assert (alpha[:, :, 3] == np.iinfo(alpha.dtype).max).all()


@pytest.mark.parametrize("mode", ["RGBA", "LA"])
def test_alpha_is_kept(mode):
    image = with_alpha().convert(mode)
    assert np.array_equal(decode_image(saved(image, "png")), np.array(image))


def test_transparent_parts_are_white_whatever_they_hide():
    hidden = np.zeros((2, 2, 4), np.uint8)
    hidden[:, :, 0] = 200  # red, and nowhere to be seen
    assert (decode_image(encode_image(hidden, "png"), channels=3) == 255).all()
    assert (decode_image(encode_image(hidden, "png"), channels=1) == 255).all()


@pytest.mark.parametrize("name", ["jpeg", "png", "webp"])
@pytest.mark.parametrize("orientation", range(1, 9))
def test_orientation(orientation, name):
    data = oriented(orientation, name)
    assert difference(decode_image(data), as_pillow_shows_it(data)) <= 1
    assert np.array_equal(decode_image(data, orient=False), decode_image(oriented(1, name)))


@pytest.mark.parametrize("mode", ["L", "RGB"])
def test_a_colour_that_is_called_transparent_stays(mode):
    image = colour().convert(mode)
    first = image.getpixel((0, 0))
    data = saved(image, "png", transparency=first)
    assert b"tRNS" in data
    assert np.array_equal(decode_image(data, channels=3), np.array(image.convert("RGB")))


def test_sixteen_bits_are_kept():
    values = np.arange(24 * 3, dtype=np.uint16).reshape(4, 6, 3) * 900
    data = encode_image(values, "png")
    assert np.array_equal(decode_image(data), values)
    assert np.array_equal(decode_image(encode_image(values[:, :, :1], "png"))[:, :, 0], values[:, :, 0])


@pytest.mark.parametrize("name", ["jpeg", "jpeg progressive", "jpeg grey", "png", "png palette", "bmp", "gif"])
def test_tensorflow_decodes_the_same(name):
    tensorflow = pytest.importorskip("tensorflow")
    data, _ = IMAGES[name]
    theirs = tensorflow.image.decode_image(data, channels=3, expand_animations=False).numpy()
    # TensorFlow's default for JPEG is the fast and less exact transform, and its colour is upsampled plainly.
    assert np.abs(decode_image(data, channels=3).astype(int) - theirs).mean() < 1.5


@pytest.mark.parametrize("name", IMAGES)
def test_cut_images_are_found(name):
    data, _ = IMAGES[name]
    check_image(data)
    for length in (len(data) // 3, len(data) * 2 // 3, len(data) - 30, len(data) - 3):
        if name == "gif animated" and length > len(data) // 2:
            continue  # the first frame, which is the one that counts, is whole
        with pytest.raises(ImageError):
            check_image(data[:length])
        with pytest.raises(ImageError):
            decode_image(data[:length])


@pytest.mark.parametrize("name", ["png", "png palette", "png 16 bits"])
def test_changed_bytes_are_found_where_the_format_has_checksums(name):
    data = bytearray(IMAGES[name][0])
    data[len(data) // 2 : len(data) // 2 + 8] = b"\xff\x00" * 4
    with pytest.raises(ImageError, match="cannot be decoded"):
        check_image(bytes(data))


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "no bytes"),
        (b"%PDF-1.7 ...", "not a JPEG, PNG, WebP, BMP or GIF image: it starts with b'%PDF-1.7"),
        (b"GIF89a" + bytes(20), "has no pixels"),
        (b"GIF89a\xff\xff\xff\xff" + bytes(20), "The limit is 100,000,000"),
    ],
)
def test_what_is_no_image(data, reason):
    for function in (check_image, decode_image):
        with pytest.raises(ImageError, match=reason):
            function(data)


@pytest.mark.parametrize("channels", [0, 5, "3"])
def test_a_senseless_number_of_channels(channels):
    with pytest.raises(ValueError, match="channels must be"):
        decode_image(IMAGES["png"][0], channels=channels)


@pytest.mark.parametrize(
    ("encoding", "channels"),
    [
        (encoding, channels)
        for encoding in ("jpeg", "webp", "png", "bmp")
        for channels in (1, 3, 4)
        if (encoding, channels) not in {("jpeg", 4), ("webp", 1)}
    ],
)
def test_encoding(encoding, channels):
    array = {1: pixels()[:, :, :1], 3: pixels(), 4: np.array(with_alpha())}[channels]
    data = encode_image(array, encoding)
    header = read_header(data)
    assert header is not None
    assert (header.format, header.height, header.width, header.channels) == (encoding, HEIGHT, WIDTH, channels)
    if encoding in ("png", "bmp"):
        assert np.array_equal(decode_image(data), array)
    else:
        assert np.abs(decode_image(data).astype(int) - array).mean() < 6
    assert encode_image(array, encoding) == data
    if channels == 1:
        assert encode_image(array[:, :, 0], encoding) == data


def test_quality_counts():
    low, high = (encode_image(pixels(), "jpeg", quality=quality) for quality in (30, 95))
    assert len(low) < len(high)
    assert Image.open(io.BytesIO(high)).mode == "RGB"


def test_a_view_of_an_array_is_encoded_as_it_looks():
    array = pixels()
    assert encode_image(array[::-1, ::2], "png") == encode_image(array[::-1, ::2].copy(), "png")


@pytest.mark.parametrize(
    ("array", "encoding", "reason"),
    [
        (np.zeros((2, 2, 3), np.float32), "png", "uint8 or uint16 pixels, not float32"),
        (np.zeros((2, 2, 3), np.uint16), "jpeg", "needs uint8 pixels, not uint16"),
        (np.zeros((2, 2, 2), np.uint8), "png", "1 or 3 or 4 channels, not 2"),
        (np.zeros((2, 2, 4), np.uint8), "jpeg", "1 or 3 channels, not 4"),
        (np.zeros((2, 2, 1), np.uint8), "webp", "3 or 4 channels, not 1"),
        (np.zeros((2, 2, 3), np.uint8), "gif", "Encoding as gif is not supported"),
        (np.zeros((0, 2, 3), np.uint8), "png", "height, width, channels"),
        (np.zeros(3, np.uint8), "png", "height, width, channels"),
        (np.zeros((2, 2), np.uint8), "tiff", "Unknown encoding 'tiff'"),
    ],
)
def test_what_cannot_be_encoded(array, encoding, reason):
    with pytest.raises(ImageError, match=reason):
        encode_image(array, encoding)


def test_decoding_in_threads_gives_the_same():
    data = [entry[0] for entry in IMAGES.values()]
    expected = [decode_image(one) for one in data]
    wrong: list[int] = []

    def work():
        for _ in range(5):
            wrong.extend(
                number for number, one in enumerate(data) if not np.array_equal(decode_image(one), expected[number])
            )

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_large_images_wait_for_each_other(monkeypatch):
    monkeypatch.setattr(codec, "_MANY_PIXELS", 0)
    inside = []
    most = []
    real = codec.opencv().imdecode

    def watched(*args):
        inside.append(1)
        most.append(len(inside))
        time.sleep(0.01)
        pixels = real(*args)
        inside.pop()
        return pixels

    monkeypatch.setattr(codec.opencv(), "imdecode", watched)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(Preparation(size=(8, 8)).prepare, [IMAGES["jpeg"][0]] * 8))
    assert max(most) == 1


@given(st.sampled_from(sorted(IMAGES)), st.data())
@settings(max_examples=120)
def test_damage_is_an_image_error_or_nothing(name, data):
    image = bytearray(IMAGES[name][0])
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, min(len(image) - 1, data.draw(st.sampled_from([40, 400, 100_000])))))
        image[at] = data.draw(st.integers(0, 255))
    damaged = bytes(image[: data.draw(st.integers(0, len(image)) | st.just(len(image)))])
    header = read_header(damaged)
    if header is not None and header.height * header.width > 4_000_000:
        return  # sound, but slow
    for function in (check_image, decode_image, Preparation(size=(8, 8), channels=3, encoding="jpeg").prepare):
        with contextlib.suppress(ImageError):
            function(damaged)


def test_opencv_is_quiet_and_loaded_late():
    program = (
        "import sys, recordsmith.images as images\n"
        "assert 'cv2' not in sys.modules\n"
        "data = images.encode_image(__import__('numpy').zeros((9, 9, 3), 'uint8'), 'bmp')\n"
        "try:\n    images.decode_image(data[:100])\n"
        "except images.ImageError as error:\n    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "The BMP of 9×9 cannot be decoded: it is incomplete or damaged.\n"
    assert done.stderr == ""
