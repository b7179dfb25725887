"""Sounds for tests, written by soundfile."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import soundfile

SUBTYPES = {"wav": "PCM_16", "flac": "PCM_16", "ogg": "VORBIS", "mp3": "MPEG_LAYER_III"}


def samples_of(number: int, length: int = 1600, channels: int = 1) -> npt.NDArray[np.int16]:
    """Return noise under a tone, different for each number."""
    rng = np.random.default_rng(number)
    tone = 8000 * np.sin(np.arange(length)[:, None] * (0.05 + 0.01 * number))
    made: npt.NDArray[np.int16] = (tone + rng.normal(size=(length, channels)) * 1000).astype(np.int16)
    return made


def sound(number: int, encoding: str = "wav", *, rate: int = 8000, length: int = 1600, channels: int = 1) -> bytes:
    """Return an encoded sound."""
    buffer = io.BytesIO()
    made = samples_of(number, length, channels)
    soundfile.write(buffer, made, rate, format=encoding.upper(), subtype=SUBTYPES[encoding])
    return buffer.getvalue()


def decoded(data: bytes, dtype: Any = "float32") -> npt.NDArray[Any]:
    """Return what soundfile itself decodes, of shape (samples, channels)."""
    # soundfile.read() seeks first, and an MP3 decoder that has sought rounds a little differently.
    with soundfile.SoundFile(io.BytesIO(data)) as file:
        found: npt.NDArray[Any] = file.read(dtype=dtype, always_2d=True)
        return found


def made_folder(folder: Path, *, encodings: tuple[str, ...] = ("wav",), per_class: int = 3, **how: Any) -> Path:
    """Write sounds into class folders, and return the folder."""
    for place, word in enumerate(("no", "yes")):
        (folder / word).mkdir(parents=True)
        for number in range(per_class):
            encoding = encodings[number % len(encodings)]
            (folder / word / f"{number}.{encoding}").write_bytes(sound(10 * place + number, encoding, **how))
    return folder
