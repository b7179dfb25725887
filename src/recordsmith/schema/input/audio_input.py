"""Converts columns of sounds of any kind to encoded bytes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from recordsmith.audio import AudioError, encode_audio
from recordsmith.errors import EncodeError
from recordsmith.schema.input.casting import describe_value
from recordsmith.schema.input.encoded_input import NOT_ENCODED, encoded_rows, stored_bytes, wrong_value

__all__ = ["encoded_sounds"]


def encoded_sounds(values: Any, *, rate: int | None, channels: int | None, encoding: str | None) -> Any:
    """Return a column of sounds as encoded bytes, with None for absent rows; bytes are not looked at."""
    return encoded_rows(values, lambda value, row: _encoded(value, row, rate, channels, encoding), _not_a_sound)


def _encoded(value: Any, row: int, rate: int | None, channels: int | None, encoding: str | None) -> Any:
    if isinstance(value, Mapping) and "array" in value and "sampling_rate" in value:  # as Hugging Face decodes them
        value, rate = np.asarray(value["array"]), rate or int(value["sampling_rate"])
    stored = stored_bytes(value, row, "A sound")
    if stored is not NOT_ENCODED:
        return stored
    if not hasattr(value, "__array__") or isinstance(value, np.generic):
        raise _not_a_sound(value, row)
    samples = np.asarray(value)
    found = 1 if samples.ndim == 1 else samples.shape[-1] if samples.ndim == 2 else 0
    if rate is None or channels not in (None, found) or samples.ndim not in (1, 2):
        raise EncodeError(
            "The sample rate is not known." if rate is None else "The samples have the wrong shape.",
            row=row,
            found=describe_value(samples),
            expected=f"(samples,) or (samples, channels), with {channels or 'any number of'} channels",
            advice="Declare the rate of the samples: rs.Audio(rate=16_000)." if rate is None else None,
        )
    try:
        return encode_audio(samples, rate, encoding or "wav")
    except AudioError as error:
        raise EncodeError(
            str(error),
            row=row,
            found=describe_value(samples),
            expected="int16 samples for WAV or FLAC; float32, int32 or uint8 samples for WAV",
            advice="Convert the samples, or encode them yourself and give the bytes.",
        ) from None


def _not_a_sound(value: Any, row: int) -> EncodeError:
    return wrong_value(
        value,
        row,
        medium="a sound",
        expected="encoded bytes, a path, or an array of samples",
        advice="Give encoded bytes, a pathlib.Path of a file, or an array of int16 or float32 samples.",
    )
