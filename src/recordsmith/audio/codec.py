"""Decodes sounds to float32 arrays, encodes arrays, and resamples, through soundfile and soxr.

A sound that ends before its header says is an error: libsndfile itself gives what there is of it without a word.
"""

from __future__ import annotations

import io
import os
from typing import Any

import numpy as np
import numpy.typing as npt

from recordsmith.audio.audio_error import AudioError
from recordsmith.audio.header import AudioHeader, read_header, reason_in_words, soundfile
from recordsmith.errors import RecordsmithError, import_extra

__all__ = ["check_audio", "decode_audio", "encode_audio", "most_samples", "prepare_audio"]

Samples = npt.NDArray[Any]

_SETTING = "RECORDSMITH_MAX_AUDIO_SAMPLES"
_USUAL_SAMPLES = 500_000_000  # three hours of mono at 44.1 kHz; 4 bytes each
_LARGEST_LIMIT = 1 << 40
_BLOCK = 1 << 20  # samples of a channel that are decoded at a time
_UNKNOWN_LENGTHS = (0, 0xFFFFFFFF)  # what programs write that could not go back to the header
_LAST_PAGE = 4  # the flag of an Ogg stream's last page
_ENCODED_AS = {"int16": "PCM_16", "int32": "PCM_32", "float32": "FLOAT", "uint8": "PCM_U8"}


def most_samples() -> int:
    """Return how many samples a sound may have: 500 million, or what RECORDSMITH_MAX_AUDIO_SAMPLES says."""
    setting = os.environ.get(_SETTING)
    if setting is None:
        return _USUAL_SAMPLES
    if not setting.isdecimal() or not 1 <= int(setting) <= _LARGEST_LIMIT:
        raise RecordsmithError(
            f"The environment variable {_SETTING} must be a number of samples.",
            found=repr(setting),
            expected=f"an integer from 1 to {_LARGEST_LIMIT:,}",
        )
    return int(setting)


def check_audio(data: bytes) -> AudioHeader:
    """Decode a sound, without keeping it, and raise an AudioError if it is damaged or incomplete.

    >>> check_audio(encode_audio(np.zeros(800, np.int16), 8000, "flac")).title
    'FLAC of 0.1 seconds, 8,000 Hz, 1 channel'
    """
    header = _checked_header(data)
    for _ in _blocks(data, header):
        pass
    return header


def decode_audio(data: bytes, *, rate: int | None = None, channels: int | None = None) -> Samples:
    """Return the samples of a sound as float32 from -1 to 1, of shape (samples, channels).

    Args:
        data: an encoded WAV, FLAC, Ogg or MP3.
        rate: resample to this rate; None keeps that of the sound.
        channels: 1 averages all channels, another number repeats the only one; None keeps those of the sound.

    >>> decode_audio(encode_audio(np.array([[16384, -16384]], np.int16), 8000)).tolist()
    [[0.5, -0.5]]
    """
    header = _checked_header(data)
    blocks = list(_blocks(data, header))
    samples = np.concatenate(blocks) if len(blocks) != 1 else blocks[0]
    samples = _with_channels(samples, channels)
    if rate is not None and rate != header.rate:
        limit = most_samples()
        if len(samples) * rate / header.rate * samples.shape[1] > limit:
            raise AudioError(f"After resampling to {rate:,} Hz, it has more than {limit:,} samples. {_way_out()}")
        soxr = import_extra("soxr", "audio", purpose="Resampling sound")
        samples = soxr.resample(samples, header.rate, rate)
    return np.ascontiguousarray(samples, np.float32)


def encode_audio(samples: Samples, rate: int, encoding: str = "wav") -> bytes:
    """Encode an array of shape (samples,) or (samples, channels) without loss, as WAV or FLAC.

    >>> encode_audio(np.zeros(8, np.int16), 8000)[:4]
    b'RIFF'
    """
    subtype = _ENCODED_AS.get(samples.dtype.name)
    if encoding == "flac" and subtype not in ("PCM_16", None):
        subtype = None
    if encoding not in ("wav", "flac") or subtype is None or samples.ndim not in (1, 2):
        raise AudioError(
            f"An array of {samples.dtype} with {samples.ndim} dimensions cannot be encoded as {encoding.upper()} "
            "without loss."
        )
    library = soundfile("Encoding sound")
    buffer = io.BytesIO()
    # Bytes of 8 bits are unsigned in a WAV, and soundfile takes none: they are the upper bits of 16.
    given = (samples.astype(np.int16) - 128) << 8 if samples.dtype == np.uint8 else samples
    try:
        library.write(buffer, given, rate, format=encoding.upper(), subtype=subtype)
    except (library.SoundFileError, RuntimeError, ValueError, OverflowError) as error:
        raise AudioError(f"The samples cannot be encoded as {encoding.upper()}: {reason_in_words(error)}") from None
    return buffer.getvalue()


def prepare_audio(data: bytes, *, rate: int | None, channels: int | None, encoding: str | None) -> bytes:
    """Return a sound as it is to be stored: unchanged if it is so already, else resampled, mixed and encoded anew.

    What is encoded anew has 16 bits a sample, with the nearest value for each, as WAV or FLAC.
    """
    header = read_header(data)
    wanted = encoding or header.format
    if rate in (None, header.rate) and channels in (None, header.channels) and wanted == header.format:
        return data
    if wanted not in ("wav", "flac"):
        raise AudioError(f"It would have to be encoded as {wanted.upper()}, which loses information.")
    samples = decode_audio(data, rate=rate, channels=channels)
    whole = np.clip(np.rint(samples * np.float32(32768)), -32768, 32767).astype(np.int16)
    return encode_audio(whole, rate or header.rate, wanted)


def _checked_header(data: bytes) -> AudioHeader:
    header = read_header(data)
    limit = most_samples()
    if header.samples * header.channels > limit:
        raise AudioError(
            f"The {header.format.upper()} says that it has {header.samples * header.channels:,} samples. The limit is "
            f"{limit:,}. {_way_out()}"
        )
    if header.format == "wav" and data[:4] == b"RIFF":
        said = int.from_bytes(data[4:8], "little")
        if said not in _UNKNOWN_LENGTHS and said + 8 > len(data):
            raise AudioError(f"The WAV is cut short: it has {len(data):,} bytes, and its header says {said + 8:,}.")
    if header.format == "ogg" and not _has_last_page(data):
        raise AudioError("The Ogg file is cut short: its last page is missing or incomplete.")
    return header


def _way_out() -> str:
    return f"Set {_SETTING} to allow more."


def _blocks(data: bytes, header: AudioHeader) -> Any:
    """Give the samples in blocks: a header that lies about the length takes no memory."""
    library = soundfile()
    found = 0
    limit = most_samples()
    try:
        with library.SoundFile(io.BytesIO(data)) as file:
            while True:
                block = file.read(_BLOCK, dtype="float32", always_2d=True)
                found += len(block)
                if len(block) or not found:
                    yield block
                if found * header.channels > limit:
                    raise AudioError(f"The {header.format.upper()} has more than {limit:,} samples. {_way_out()}")
                if len(block) < _BLOCK:
                    break
    except (library.SoundFileError, RuntimeError, ValueError, OSError) as error:
        words = f"The {header.format.upper()} is damaged after {found:,} samples: {reason_in_words(error)}"
        raise AudioError(words) from None
    if found != header.samples:
        raise AudioError(
            f"The {header.format.upper()} is cut short: it has {found:,} samples, and its header says "
            f"{header.samples:,}."
        )


def _has_last_page(data: bytes) -> bool:
    """Say whether the last page of an Ogg file is whole and is the last one of its stream."""
    at = data.rfind(b"OggS")
    if at < 0 or len(data) < at + 27 or not data[at + 5] & _LAST_PAGE:
        return False
    table = data[at + 27 : at + 27 + data[at + 26]]
    return len(table) == data[at + 26] and at + 27 + len(table) + sum(table) <= len(data)


def _with_channels(samples: Samples, channels: int | None) -> Samples:
    has = samples.shape[1]
    if channels in (None, has):
        return samples
    if channels == 1:
        mixed: Samples = samples.mean(axis=1, keepdims=True, dtype=np.float32)
        return mixed
    if has == 1:
        return np.repeat(samples, channels, axis=1)
    raise AudioError(f"It has {has} channels and cannot be converted to {channels}, only to 1.")
