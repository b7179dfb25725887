"""Audio: what is taken, what is refused, and what the header must agree with."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import recordsmith as rs
from tests.audio.made_sounds import decoded, samples_of, sound


def stored(feature: rs.Audio, value: Any) -> bytes:
    return bytes(feature.value_to_canonical(value))


def test_encoded_sounds_are_stored_unchanged(tmp_path: Path):
    feature = rs.Audio(rate=8000, channels=1)
    data = sound(1, "flac")
    (tmp_path / "a.flac").write_bytes(data)
    assert stored(feature, data) == stored(feature, tmp_path / "a.flac") == stored(feature, memoryview(data)) == data


def test_arrays_are_encoded():
    feature = rs.Audio(rate=8000)
    np.testing.assert_array_equal(decoded(stored(feature, samples_of(2)[:, 0]), "int16"), samples_of(2))
    given = {"array": samples_of(3), "sampling_rate": 8000}
    np.testing.assert_array_equal(decoded(stored(rs.Audio(encoding="flac"), given), "int16"), samples_of(3))


@pytest.mark.parametrize(
    ("feature", "value", "words"),
    [
        (rs.Audio(), samples_of(1), "sample rate is not known"),
        (rs.Audio(rate=8000, channels=2), samples_of(1), "wrong shape"),
        (rs.Audio(rate=8000), samples_of(1).astype(np.float64), "without loss"),
        (rs.Audio(rate=8000), "a.wav", "not a sound"),
        (rs.Audio(rate=16_000), sound(1), "does not match"),
        (rs.Audio(channels=2), sound(1), "does not match"),
        (rs.Audio(encoding="ogg"), sound(1), "does not match"),
        (rs.Audio(), b"no sound", "does not match"),
        (rs.Audio(), Path("/no/such.wav"), "cannot be read"),
    ],
)
def test_what_does_not_fit_is_refused(feature: rs.Audio, value: Any, words: str):
    with pytest.raises(rs.EncodeError, match=words):
        stored(feature, value)


def test_wrong_declarations():
    for wrong in ({"rate": 0}, {"rate": 1.5}, {"channels": 10**6}, {"encoding": "m4a"}):
        with pytest.raises(rs.SchemaError):
            rs.Audio(**wrong)


def test_the_declaration_goes_to_json_and_back():
    schema = rs.Schema({"a": rs.Audio(rate=8000, channels=2, encoding="wav", default=sound(1, channels=2))})
    assert rs.Schema.from_json(schema.to_json()) == schema
    assert rs.Schema.from_tfmd(schema.to_tfmd()) == schema
    assert "rate may differ" in str(rs.Schema({"a": rs.Audio()}).diff(rs.Schema({"a": rs.Audio(rate=8000)})))


def test_without_the_library_formats_are_still_checked(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "soundfile", None)
    feature = rs.Audio(rate=16_000, encoding="wav")
    with pytest.raises(rs.MissingExtraError, match=r"pip install .soundfile"):
        stored(feature, b"RIFF\0\0\0\0WAVEfmt ")
    assert [one.row for one in feature.violations([b"RIFF\0\0\0\0WAVEfmt ", b"fLaC"])] == [1]


def test_tensorflow_gives_the_bytes():
    pytest.importorskip("tensorflow")
    schema = rs.Schema({"a": rs.Audio(), "many": rs.Sequence(rs.Text())})
    row = schema.parse_tf([rs.encode_example({"a": sound(1), "many": ["x", "y"]})])
    assert row["a"].numpy().tolist() == [sound(1)]
    assert row["many"].to_list() == [[b"x", b"y"]]
