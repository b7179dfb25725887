"""Augmentations one by one: equal to tf.image where it has them, in range, and drawn as they say."""

import dataclasses
import json

import numpy as np
import pytest

import recordsmith as rs
from recordsmith import augment
from recordsmith.augment import RandomStream, random_keys

ALL = [
    augment.flip_left_right(),
    augment.flip_up_down(),
    augment.brightness(0.3),
    augment.contrast(0.5, 1.5),
    augment.saturation(0.5, 1.5),
    augment.crop(0.3, 0.9),
    augment.rotation(30),
]


def made_image(height=37, width=50, channels=3, seed=0):
    return np.random.default_rng(seed).integers(0, 256, (height, width, channels), dtype=np.uint8)


def as_floats(pixels):
    return pixels.astype(np.float32) / np.float32(255)


@pytest.mark.parametrize("delta", [-0.4, -0.05, 0.0, 0.1, 0.5])
def test_brightness_is_tensorflows(delta):
    tf = pytest.importorskip("tensorflow")
    floats = as_floats(made_image())
    theirs = np.clip(tf.image.adjust_brightness(floats, delta).numpy(), 0, 1)
    np.testing.assert_allclose(augment.brightness().change(floats, delta), theirs, atol=1e-6)
    in_bytes = tf.image.adjust_brightness(made_image(), delta).numpy().astype(int)
    assert np.abs(augment.brightness().change(made_image(), delta) - in_bytes).max() <= 1


@pytest.mark.parametrize("factor", [0.0, 0.5, 1.0, 1.7])
@pytest.mark.parametrize("channels", [1, 3])
def test_contrast_is_tensorflows(factor, channels):
    tf = pytest.importorskip("tensorflow")
    floats = as_floats(made_image(channels=channels))
    theirs = np.clip(tf.image.adjust_contrast(floats, factor).numpy(), 0, 1)
    np.testing.assert_allclose(augment.contrast().change(floats, factor), theirs, atol=1e-5)


@pytest.mark.parametrize("factor", [0.0, 0.5, 1.0, 1.7, 50.0])
def test_saturation_is_tensorflows(factor):
    tf = pytest.importorskip("tensorflow")
    floats = as_floats(made_image())
    floats[0] = 0  # black, grey and white have no hue
    floats[1] = 0.5
    floats[2] = 1
    theirs = tf.image.adjust_saturation(floats, factor).numpy()
    np.testing.assert_allclose(augment.saturation().change(floats, factor), theirs, atol=1e-5)


def test_saturation_leaves_grey_images():
    grey = made_image(channels=1)
    assert (augment.saturation().change(grey, 0.2) == grey).all()


def test_flips_are_mirrors():
    pixels = made_image()
    assert (augment.flip_left_right(p=1).apply(pixels, RandomStream(0)) == pixels[:, ::-1]).all()
    assert (augment.flip_up_down(p=1).apply(pixels, RandomStream(0)) == pixels[::-1]).all()
    assert (augment.flip_left_right(p=0).apply(pixels, RandomStream(0)) == pixels).all()


@pytest.mark.parametrize("turns", [1, 2, 3])
def test_a_quarter_turn_is_exact(turns):
    square = made_image(24, 24)
    turned = augment.rotation(180).change(square, 90.0 * turns)
    assert np.abs(turned.astype(int) - np.rot90(square, turns)).max() <= 1


@pytest.mark.parametrize(("border", "corner"), [("black", 0), ("edge", 200), ("reflect", 200)])
def test_what_a_rotation_brings_in(border, corner):
    flat = np.full((20, 20, 3), 200, np.uint8)
    assert augment.rotation(45, border=border).change(flat, 45.0)[0, 0].tolist() == [corner] * 3


@pytest.mark.parametrize("change", ALL, ids=lambda change: change.name)
def test_kinds_and_ranges_are_kept(change):
    rng = np.random.default_rng(0)
    for pixels in (made_image(), as_floats(made_image()), as_floats(made_image()).astype(np.float16)):
        before = pixels.copy()
        after = change.apply(pixels, rng)
        assert after.dtype == pixels.dtype
        assert after.ndim == 3
        assert after.min() >= 0
        assert after.max() <= (255 if pixels.dtype == np.uint8 else 1)
        assert (pixels == before).all()  # the one given stays


@pytest.mark.parametrize("change", ALL, ids=lambda change: change.name)
def test_they_are_frozen_and_json_ready(change):
    assert json.loads(json.dumps(change.settings()))["name"] == change.name
    assert getattr(augment, change.name) is type(change)
    field = dataclasses.fields(change)[0].name
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(change, field, 0.1)


def test_crops_are_inside_and_as_large_as_they_say():
    crop = augment.crop(0.3, 0.6, stretch=1.5)
    shares, corners = [], set()
    for key in range(400):
        top, left, height, width = crop.window(200, 400, crop.draw(RandomStream(key)))
        assert 0 <= top <= 200 - height
        assert 0 <= left <= 400 - width
        shares.append(height * width / (200 * 400))
        corners |= {(top == 0, left == 0), (top + height == 200, left + width == 400)}
        assert 1 / 1.53 <= (height / width) / (200 / 400) <= 1.53
    assert min(shares) == pytest.approx(0.3, abs=0.02)
    assert max(shares) == pytest.approx(0.6, abs=0.02)


def test_a_crop_of_everything_is_the_image():
    crop = augment.crop(1, 1)
    assert all(crop.window(33, 47, crop.draw(RandomStream(key))) == (0, 0, 33, 47) for key in range(20))


def test_draws_are_uniform():
    draws = np.array([augment.brightness(0.2).draw(RandomStream(key)) for key in random_keys_of(4000)])
    assert -0.2 <= draws.min() < -0.19 < 0.19 < draws.max() <= 0.2
    assert abs(draws.mean()) < 0.01
    flips = [augment.flip_left_right(p=0.25).draw(RandomStream(key)) for key in random_keys_of(4000)]
    assert 0.22 < np.mean(flips) < 0.28
    counts = np.histogram([RandomStream(key).random() for key in random_keys_of(4000)], 10, (0, 1))[0]
    assert ((counts - 400) ** 2 / 400).sum() < 30  # chi-square of 9 degrees: once in 2,000


def random_keys_of(count):
    return random_keys(0, "test", records=np.arange(count), epochs=np.zeros(count, np.int64)).tolist()


def test_random_numbers_of_known_keys():
    # The numbers that trained models depend on: they must not change from version to version.
    stream = RandomStream(7)
    assert [stream.random(), stream.random()] == PINNED_STREAM
    keys = random_keys(3, "images/image/0/crop", records=np.array([0, 1, 10**12]), epochs=np.array([0, 1, 5]))
    assert keys.tolist() == PINNED_KEYS


PINNED_STREAM = [0.3898297483912715, 0.01678829452815611]
PINNED_KEYS = [16811193615011591313, 5102869183782925202, 13042107385214618932]


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: augment.flip_left_right(p=1.5),
        lambda: augment.flip_up_down(p="often"),  # type: ignore[arg-type]
        lambda: augment.brightness(-0.1),
        lambda: augment.brightness(50),  # of 255: the range is 0 to 1
        lambda: augment.contrast(1.2, 0.8),
        lambda: augment.saturation(-1, 1),
        lambda: augment.crop(0),
        lambda: augment.crop(0.9, 0.5),
        lambda: augment.crop(stretch=0.5),
        lambda: augment.rotation(-10),
        lambda: augment.rotation(10, border="mirror"),
    ],
)
def test_settings_without_meaning_are_refused(wrong):
    with pytest.raises(rs.PipelineError):
        wrong()
