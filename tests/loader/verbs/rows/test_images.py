"""The verb images: equal to OpenCV and TensorFlow, repeatable, checked when the chain is built."""

import io
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image

import recordsmith as rs
from recordsmith import _core, augment
from recordsmith.images import decode_image, encode_image
from recordsmith.loader.engine.image_work import ImageWork
from tests.images.made_images import oriented

SCHEMA = rs.Schema({"image": rs.Image(), "label": rs.Scalar("int64")})


def textured(height, width, seed=0, *, grain=12.0):
    """Colours that run into each other, with grain: what a photograph is to a decoder."""
    rng = np.random.default_rng(seed)
    coarse = Image.fromarray(rng.integers(0, 256, (5, 6, 3), np.uint8))
    smooth = np.asarray(coarse.resize((width, height), Image.Resampling.BICUBIC), np.float32)
    return np.clip(smooth + rng.normal(0, grain, (height, width, 1)), 0, 255).astype(np.uint8)


def saved(pixels, kind="jpeg", **options):
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, kind, **options)
    return file.getvalue()


def written(path, images, schema=SCHEMA):
    with rs.RecordWriter(path) as writer:
        writer.write_columns({"image": images, "label": range(len(images))}, schema)
    return rs.open(path, schema=schema)


@pytest.fixture(scope="module")
def ds(tmp_path_factory):
    sizes = [(60, 80), (80, 60), (101, 67), (48, 48), (75, 131)]
    images = [saved(textured(*sizes[n % 5], seed=n), quality=70 + n) for n in range(23)]
    images[7] = saved(textured(64, 90, 7), "png")
    images[11] = saved(textured(64, 90, 11), progressive=True)
    return written(tmp_path_factory.mktemp("images") / "a.tfrecord", images)


def one(data, **settings):
    """What becomes of one image."""
    work = ImageWork(**settings)
    return work.column([data], records=np.zeros(1, np.int64), epochs=np.zeros(1, np.int64), feature="image")[0]


FORMS: dict[str, dict[str, Any]] = {
    "4:2:0": {"subsampling": 2},
    "4:2:2": {"subsampling": 1},
    "4:4:4": {"subsampling": 0},
    "coarse": {"quality": 15},
    "fine": {"quality": 100, "subsampling": 0},
    "own tables": {"optimize": True},
    "restarts": {"restart_marker_blocks": 3},
    "restarts in rows": {"restart_marker_rows": 1, "subsampling": 1},
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("size", [(8, 8), (9, 17), (16, 16), (33, 50), (64, 63), (120, 161)])
def test_the_decoder_equals_opencvs_to_the_bit(form, size):
    data = saved(textured(*size, grain=25), **FORMS[form])
    decoder = _core.JpegDecoder()
    assert decoder.open(np.frombuffer(data, np.uint8)) == 0
    assert (decoder.height, decoder.width) == size
    found = np.empty((*size, 3), np.uint8)
    assert decoder.fill(found, part=(0, 0, *size), planar=False, flips=(False, False), added=0.0, scale=1.0)
    assert (found == decode_image(data, channels=3)).all()


def by_both(data, monkeypatch):
    """The pixels, or None if they are refused, from our decoder and from the library alone."""
    found = []
    for choice in ("", "library"):
        monkeypatch.setenv("RECORDSMITH_JPEG", choice)
        try:
            found.append(one(data))
        except rs.PipelineError:
            found.append(None)
    return found


def equal(ours, theirs):
    return theirs is None if ours is None else theirs is not None and (ours == theirs).all()


@st.composite
def jpegs(draw):
    """JPEGs of every form, of noise, flat colours and anything between."""
    size = draw(st.integers(1, 80)), draw(st.integers(1, 80))
    pixels = textured(*size, seed=draw(st.integers(0, 99)), grain=draw(st.sampled_from([0.0, 5.0, 40.0, 300.0])))
    grey = draw(st.booleans())
    options = {"quality": draw(st.integers(1, 100)), "optimize": draw(st.booleans())}
    if not grey:
        options["subsampling"] = draw(st.sampled_from([0, 1, 2]))
    restarts = draw(st.integers(0, 5))
    if restarts:
        options["restart_marker_blocks"] = restarts
    return saved(pixels[:, :, 0] if grey else pixels, **options, progressive=draw(st.integers(0, 9)) == 0)


@given(data=jpegs())
@settings(max_examples=400, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_jpeg_is_what_opencv_makes_of_it(data, monkeypatch):
    ours, theirs = by_both(data, monkeypatch)
    assert theirs is not None
    assert equal(ours, theirs)


@given(data=jpegs(), flips=st.lists(st.tuples(st.floats(0, 1), st.integers(0, 7)), max_size=4), kept=st.floats(0, 1.5))
@settings(max_examples=400, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_damage_ends_as_with_opencv(data, flips, kept, monkeypatch):
    damaged = bytearray(data)
    for place, bit in flips:
        damaged[2 + int(place * (len(data) - 3))] ^= 1 << bit
    del damaged[max(2, int(kept * len(data))) :]
    assert equal(*by_both(bytes(damaged), monkeypatch))


def test_the_decoder_can_be_left_out(monkeypatch):
    def never():
        raise AssertionError("the decoder was asked for")

    monkeypatch.setattr("recordsmith.loader.engine.image_work._decoder", never)
    monkeypatch.setenv("RECORDSMITH_JPEG", "library")
    data = saved(textured(40, 50))
    assert (one(data) == decode_image(data)).all()
    monkeypatch.delenv("RECORDSMITH_JPEG")
    with pytest.raises(AssertionError):
        one(data)


def test_grey_jpegs_are_decoded_too():
    data = saved(textured(40, 50)[:, :, 0], quality=90)
    assert _core.JpegDecoder().open(np.frombuffer(data, np.uint8)) == 0
    assert (one(data) == decode_image(data, channels=3)).all()


@pytest.mark.parametrize("channels", [1, 3, 4])
@pytest.mark.parametrize("kind", ["jpeg", "png", "webp", "bmp", "gif"])
def test_every_format_and_number_of_channels(kind, channels):
    data = saved(textured(40, 56), kind)
    assert (one(data, channels=channels) == decode_image(data, channels=channels)).all()


@pytest.mark.parametrize("what", ["jpeg", "progressive", "png", "grey"])
@pytest.mark.parametrize(
    ("source", "size"),
    [((120, 160), (64, 64)), ((375, 500), (224, 224)), ((1200, 1600), (224, 224)), ((90, 70), (90, 70))],
)
def test_resizing_is_tensorflows(what, source, size):
    tf = pytest.importorskip("tensorflow")
    pixels = textured(*source)
    data = {
        "jpeg": lambda: saved(pixels),
        "progressive": lambda: saved(pixels, progressive=True),
        "png": lambda: saved(pixels, "png", compress_level=1),
        "grey": lambda: saved(pixels[:, :, 0]),
    }[what]()
    if what == "png":
        decoded = tf.io.decode_png(data, channels=3)
    else:
        decoded = tf.io.decode_jpeg(data, channels=3, dct_method="INTEGER_ACCURATE")
    theirs = tf.image.resize(decoded, size).numpy()
    for dtype, most in (("float32", 0.02), ("uint8", 0.52)):
        difference = np.abs(one(data, size=size, dtype=np.dtype(dtype)).astype(np.float64) - theirs)
        assert difference.max() <= most  # of 255; 3 would do
        assert difference.mean() <= most / 2


def test_enlarging_is_tensorflows():
    tf = pytest.importorskip("tensorflow")
    pixels = textured(20, 30)
    theirs = tf.image.resize(pixels, (50, 97)).numpy()
    ours = one(encode_image(pixels, "png"), size=(50, 97), dtype=np.dtype("float32"))
    np.testing.assert_allclose(ours, theirs, atol=0.01)


@pytest.mark.parametrize("dtype", ["uint8", "float32"])
@pytest.mark.parametrize("size", [None, (31, 45)])
def test_planar_is_the_same_in_another_order(size, dtype):
    for data in (saved(textured(64, 90)), saved(textured(64, 90), "png")):
        settings = {"size": size, "dtype": np.dtype(dtype), "scale": 0.5 if dtype == "float32" else None}
        last, first = one(data, **settings), one(data, planar=True, **settings)
        assert (first == last.transpose(2, 0, 1)).all()
        assert first.flags.c_contiguous


def test_parts_and_flips_of_jpegs_are_those_of_their_pixels():
    """Leaving out what is not wanted changes nothing of what is."""
    data = saved(textured(123, 211))
    pixels = decode_image(data)
    decoder = _core.JpegDecoder()
    rng = np.random.default_rng(0)
    for _ in range(60):
        height, width = rng.integers(1, 124), rng.integers(1, 212)
        part = (int(rng.integers(0, 124 - height)), int(rng.integers(0, 212 - width)), int(height), int(width))
        how: dict[str, Any] = {
            "part": part,
            "planar": bool(rng.integers(2)),
            "flips": (bool(rng.integers(2)), bool(rng.integers(2))),
            "added": float(rng.uniform(-60, 60)),
            "scale": float(rng.uniform(0.1, 2)),
        }
        size = tuple(rng.integers(1, 60, 2).tolist())
        shape = (3, *size) if how["planar"] else (*size, 3)
        ours, theirs = np.empty(shape, np.float32), np.empty(shape, np.float32)
        decoder.open(np.frombuffer(data, np.uint8))
        assert decoder.fill(ours, **how)
        _core.fill_image(pixels, theirs, **how)
        assert (ours == theirs).all()


def test_damaged_jpegs_are_left_to_opencv():
    """Whatever OpenCV makes of them, we make the same, or it is an error for both."""
    whole = saved(textured(48, 64), quality=85, restart_marker_blocks=4)
    rng = np.random.default_rng(1)
    ends = {"same": 0, "refused": 0}
    for _ in range(300):
        data = bytearray(whole)
        for _ in range(rng.integers(1, 4)):
            data[rng.integers(2, len(data))] = rng.integers(256)
        if rng.random() < 0.2:
            del data[rng.integers(2, len(data)) :]
        try:
            theirs = decode_image(bytes(data), channels=3)
        except ValueError:
            with pytest.raises(rs.PipelineError):
                one(bytes(data))
            ends["refused"] += 1
        else:
            assert (one(bytes(data)) == theirs).all()
            ends["same"] += 1
    assert min(ends.values()) > 30


@pytest.mark.parametrize("orientation", range(1, 9))
def test_images_are_the_way_up_that_exif_says(orientation):
    data = oriented(orientation)
    assert (one(data) == decode_image(data)).all()


def test_16_bits_become_8():
    pixels = np.arange(0, 65536, 64, dtype=np.uint16).reshape(32, 32)
    grey = one(encode_image(pixels, "png"), channels=1)
    assert np.abs(grey[:, :, 0] - pixels / 257).max() <= 0.5


def test_flips_and_brightness_in_one_go_are_those_done_one_by_one():
    data = saved(textured(70, 90))
    plain = one(data, size=(32, 40), scale=1 / 255, dtype=np.dtype("float32"))
    both = (augment.flip_left_right(p=1), augment.brightness(0.3), augment.flip_up_down(p=1))
    # A contrast of 1 changes nothing, and keeps the core from doing all at once.
    settings = {"size": (32, 40), "scale": 1 / 255, "dtype": np.dtype("float32"), "seed": 5}
    at_once, by_steps = (
        one(data, augment=both, **settings),
        one(data, augment=(*both, augment.contrast(1, 1)), **settings),
    )
    np.testing.assert_allclose(at_once, by_steps, atol=1e-6)
    added = at_once - plain[::-1, ::-1]
    inside = (at_once > 0) & (at_once < 1)
    assert np.ptp(added[inside]) < 1e-6
    assert 0 < abs(added[inside][0]) <= 0.3
    in_bytes = one(data, size=(32, 40), seed=5, augment=both)
    assert np.abs(in_bytes - by_steps * 255).max() <= 0.51


AUGMENT = [
    augment.crop(0.5),
    augment.flip_left_right(),
    augment.rotation(15),
    augment.brightness(0.2),
    augment.contrast(),
    augment.saturation(),
]


def test_random_changes_are_the_same_whatever_the_threads_and_batches(ds):
    def fed(n, threads):
        chain = ds.images((24, 24), scale=1 / 255, augment=AUGMENT, seed=3)
        return np.concatenate([batch["image"] for batch in chain.batch(n, threads=threads)])

    first = fed(4, 0)
    assert first.shape == (23, 24, 24, 3)
    assert all((fed(n, threads) == first).all() for n, threads in ((4, 1), (4, 4), (7, 2), (23, 0)))
    shuffled = list(ds.shuffle(seed=1).images((24, 24), scale=1 / 255, augment=AUGMENT, seed=3).batch(5))
    labels = np.concatenate([batch["label"] for batch in shuffled])
    assert (np.concatenate([batch["image"] for batch in shuffled]) == first[labels]).all()


def test_epochs_and_seeds_differ_and_repeat(ds):
    def epochs(seed, count=2):
        loader = ds.images((16, 16), augment=[augment.flip_left_right(), augment.brightness()], seed=seed).batch(23)
        return [next(iter(loader))["image"] for _ in range(count)]

    one_run, another = epochs(0), epochs(0)
    assert all((a == b).all() for a, b in zip(one_run, another, strict=True))
    assert (one_run[0] != one_run[1]).any()
    assert (epochs(1)[0] != one_run[0]).any()


def test_pinned_result(ds):
    """Another version of recordsmith feeds the same images from the same seed."""
    chain = ds.images((8, 8), augment=[augment.flip_left_right(), augment.brightness(0.2)], seed=9)
    means = next(iter(chain.batch(6)))["image"].mean((1, 2, 3))
    np.testing.assert_allclose(means, PINNED_MEANS, atol=0.05)


PINNED_MEANS = [95.78125, 117.125, 121.484375, 149.671875, 113.114583, 82.927083]


def test_other_features_stay_and_pairs_hold(ds):
    for batch in ds.shuffle(seed=2).images((16, 16)).batch(5):
        assert list(batch) == ["image", "label"]
        for pixels, label in zip(batch["image"], batch["label"], strict=True):
            assert (pixels == one(ds[int(label)]["image"], size=(16, 16))).all()


def test_without_a_size_there_is_a_list(ds):
    batch = next(iter(ds.images(scale=1 / 255).batch(4)))
    assert [image.shape for image in batch["image"]] == [(60, 80, 3), (80, 60, 3), (101, 67, 3), (48, 48, 3)]
    assert batch["image"][0].dtype == np.float32
    rows = list(ds.images().take(3))
    assert rows[2]["image"].shape == (101, 67, 3)
    assert len(next(iter(ds.images().filter(lambda row: row["image"].shape[0] == 48).batch(2)))["image"]) == 2


def test_declared_sizes_make_one_array(tmp_path):
    schema = rs.Schema({"image": rs.Image(20, 30, channels=1), "label": rs.Scalar("int64")})
    images = [saved(textured(20, 30, n)[:, :, 0], "png") for n in range(4)]
    loader = written(tmp_path / "a.tfrecord", images, schema).images().batch(3)
    assert next(iter(loader))["image"].shape == (3, 20, 30, 1)


@pytest.mark.parametrize(
    ("asked", "feature"),
    [
        ({"size": (16, 24)}, rs.Tensor("uint8", (16, 24, 3))),
        ({"size": (16, 24), "scale": 1 / 255, "layout": "NCHW"}, rs.Tensor("float32", (3, 16, 24))),
        ({"dtype": "float32", "channels": 1}, rs.Tensor("float32", (None, None, 1))),
    ],
)
def test_the_chain_knows_what_images_become(ds, asked, feature):
    assert ds.images(**asked).plan.features["image"] == feature


def test_batches_in_use_are_not_written_over(ds):
    """The memory of batches is used again, but not while somebody holds it."""
    held = [batch["image"] for batch in ds.images((24, 24)).batch(4)]
    copies = [batch["image"].copy() for batch in ds.images((24, 24)).batch(4)]
    assert all((a == b).all() for a, b in zip(held, copies, strict=True))


def test_a_image_that_cannot_be_decoded(tmp_path):
    good = saved(textured(20, 30))
    schema = rs.Schema({"image": rs.Bytes(), "label": rs.Scalar("int64")})
    ds = written(tmp_path / "a.tfrecord", [good, good, good[:-200], b"no image", good], schema)
    chain = ds.images((8, 8), feature="image")
    with pytest.raises(rs.PipelineError, match="incomplete or damaged") as raised:
        list(chain.batch(5))
    assert raised.value.feature == "image"
    assert "record" in f"{raised.value}{getattr(raised.value, '__notes__', '')}"
    assert str(tmp_path / "a.tfrecord") in f"{raised.value}{getattr(raised.value, '__notes__', '')}"
    loader = chain.batch(5, on_error="skip")
    assert [batch["label"].tolist() for batch in loader] == [[0, 1, 4]]
    assert loader.skipped.count == 2


def test_an_absent_image(tmp_path):
    schema = rs.Schema({"image": rs.Image(optional=True), "label": rs.Scalar("int64")})
    ds = written(tmp_path / "a.tfrecord", [saved(textured(20, 30)), None], schema)
    with pytest.raises(rs.PipelineError, match="no image"):
        list(ds.images((8, 8)).batch(2))
    kept = ds.filter(lambda row: row["image"] is not None).images((8, 8)).batch(2)
    assert [batch["label"].tolist() for batch in kept] == [[0]]


@pytest.mark.parametrize(
    ("chain", "message"),
    [
        (lambda ds: ds.images(feature="imgae"), "Did you mean 'image'"),
        (lambda ds: ds.images(feature="label"), "has none"),
        (lambda ds: ds.select("label").images(), "no image feature"),
        (lambda ds: ds.images(224), "a height and a width"),
        (lambda ds: ds.images((224, 0)), "integer of at least 1"),
        (lambda ds: ds.images((224, 224.5)), "integer of at least 1"),
        (lambda ds: ds.images((224, 224, 3)), "a height and a width"),
        (lambda ds: ds.images(augment=["flip"]), "rs.augment"),
        (lambda ds: ds.images(augment=[augment.flip_left_right]), "parentheses"),
        (lambda ds: ds.images(layout="NHCW"), "Unknown layout"),
        (lambda ds: ds.images(channels=2), "1, 3 or 4"),
        (lambda ds: ds.images(dtype="float64"), "uint8 or float32"),
        (lambda ds: ds.images(dtype="uint8", scale=1 / 255), "do not fit"),
        (lambda ds: ds.images(scale="1/255"), "scale must be a number"),
        (lambda ds: ds.images(seed=0.5), "seed must be an integer"),
        (lambda ds: ds.images().images(), "decoded already"),
        (lambda ds: ds.images().images(feature="image"), "decoded already"),
        (lambda ds: ds.batch(4).images(), "images after batching"),
        (lambda ds: ds.map(dict).images(), "not known"),
    ],
)
def test_chains_without_meaning_are_refused(ds, chain, message):
    with pytest.raises(rs.PipelineError, match=message):
        chain(ds)


def test_after_map_the_feature_is_named(ds):
    chain = ds.map(lambda row: {"photo": row["image"], "n": row["label"]}).images((8, 8), feature="photo")
    assert next(iter(chain.batch(4)))["photo"].shape == (4, 8, 8, 3)


def test_several_image_features(tmp_path):
    schema = rs.Schema({"left": rs.Image(), "right": rs.Image()})
    with rs.RecordWriter(tmp_path / "a.tfrecord") as writer:
        writer.write_columns({"left": [saved(textured(20, 30))] * 2, "right": [saved(textured(20, 30))] * 2}, schema)
    both = rs.open(tmp_path / "a.tfrecord", schema=schema)
    with pytest.raises(rs.PipelineError, match="several image features"):
        both.images()
    chain = both.images((8, 8), feature="left").images((16, 8), feature="right")
    batch = next(iter(chain.batch(2)))
    assert (batch["left"].shape, batch["right"].shape) == ((2, 8, 8, 3), (2, 16, 8, 3))
