"""Sounds decoded, resampled and encoded, compared with soundfile and soxr; damaged ones are said to be so."""

from __future__ import annotations

import struct

import numpy as np
import pytest
import soxr

import recordsmith as rs
from recordsmith.audio import AudioError, check_audio, decode_audio, encode_audio, prepare_audio, read_header
from tests.audio.made_sounds import SUBTYPES, decoded, samples_of, sound


@pytest.mark.parametrize("encoding", SUBTYPES)
def test_headers_and_samples_are_those_of_soundfile(encoding: str):
    data = sound(1, encoding, channels=2)
    header = read_header(data)
    assert (header.format, header.rate, header.channels, header.samples) == (encoding, 8000, 2, 1600)
    assert check_audio(data) == header
    found = decode_audio(data)
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, decoded(data))


@pytest.mark.parametrize("encoding", SUBTYPES)
def test_a_sound_cut_short_at_any_place_is_said_to_be_so(encoding: str):
    data = sound(2, encoding, length=900)
    for end in [*range(0, len(data), max(1, len(data) // 60)), len(data) - 1]:
        with pytest.raises(AudioError):
            check_audio(data[:end])


def test_mixing_and_resampling():
    data = sound(3, channels=2)
    stereo = decoded(data)
    np.testing.assert_array_equal(decode_audio(data, channels=1), stereo.mean(axis=1, keepdims=True, dtype=np.float32))
    np.testing.assert_array_equal(decode_audio(data, rate=16_000), soxr.resample(stereo, 8000, 16_000))
    mono = sound(3)
    np.testing.assert_array_equal(decode_audio(mono, channels=2), np.repeat(decoded(mono), 2, axis=1))
    with pytest.raises(AudioError, match="2 channels and cannot be converted to 3"):
        decode_audio(data, channels=3)


@pytest.mark.parametrize(
    ("dtype", "encoding"), [("int16", "wav"), ("int16", "flac"), ("float32", "wav"), ("int32", "wav")]
)
def test_arrays_are_encoded_without_loss(dtype: str, encoding: str):
    samples = samples_of(4, channels=2).astype(dtype)
    if dtype == "float32":
        samples = samples / np.float32(32768)
    np.testing.assert_array_equal(decoded(encode_audio(samples, 8000, encoding), dtype), samples)


def test_arrays_that_would_lose_something_are_refused():
    for samples, encoding in ((np.zeros(4), "wav"), (np.zeros(4, np.float32), "flac"), (np.zeros(4, np.int16), "ogg")):
        with pytest.raises(AudioError, match="without loss"):
            encode_audio(samples, 8000, encoding)


def test_a_sound_is_stored_anew_only_if_it_has_to_be():
    data = sound(5, "flac")
    assert prepare_audio(data, rate=8000, channels=1, encoding="flac") is data
    anew = prepare_audio(data, rate=None, channels=None, encoding="wav")
    np.testing.assert_array_equal(decoded(anew, "int16"), samples_of(5))
    with pytest.raises(AudioError, match="loses information"):
        prepare_audio(sound(5, "ogg"), rate=4000, channels=None, encoding=None)


def test_headers_that_lie_about_the_length_take_no_memory(monkeypatch: pytest.MonkeyPatch):
    data = bytearray(sound(6, "flac"))
    at = 8 + 13  # the number of samples in STREAMINFO: 36 bits
    data[at : at + 5] = bytes([data[at] | 0x0F, 255, 255, 255, 255])
    with pytest.raises(AudioError, match=r"68,719,476,735 samples\. The limit is 500,000,000"):
        check_audio(bytes(data))
    data[at : at + 5] = bytes([data[at] & 0xF0, *struct.pack(">I", 400_000_000)])
    with pytest.raises(AudioError, match=r"cut short|damaged"):
        check_audio(bytes(data))
    monkeypatch.setenv("RECORDSMITH_MAX_AUDIO_SAMPLES", "100")
    with pytest.raises(AudioError, match="The limit is 100"):
        decode_audio(sound(6))
    monkeypatch.setenv("RECORDSMITH_MAX_AUDIO_SAMPLES", "much")
    with pytest.raises(rs.RecordsmithError, match="RECORDSMITH_MAX_AUDIO_SAMPLES"):
        decode_audio(sound(6))


def test_damage_anywhere_never_crashes():
    rng = np.random.default_rng(0)
    for encoding in SUBTYPES:
        data = sound(7, encoding, length=400)
        for _ in range(40):
            bad = bytearray(data)
            for at in rng.integers(0, len(bad), 3):
                bad[at] = rng.integers(0, 256)
            try:
                found = decode_audio(bytes(bad))
            except AudioError:
                continue
            assert found.ndim == 2
