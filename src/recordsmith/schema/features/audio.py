"""Audio: one encoded sound per record, stored unchanged or encoded from samples."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from recordsmith.audio import FORMATS, AudioError, audio_format, read_header
from recordsmith.errors import MissingExtraError, SchemaError
from recordsmith.schema.features.constraints import Violation
from recordsmith.schema.features.encoded import EncodedFeature
from recordsmith.schema.input.audio_input import encoded_sounds

__all__ = ["Audio"]

_FASTEST = 10_000_000  # samples a second: far beyond what sounds have
_MOST_CHANNELS = 1024  # as libsndfile has it


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Audio(EncodedFeature):
    """A sound, stored encoded and read as its bytes. `.audio()` of a loader decodes it.

    Write the bytes of an encoded sound or the path of a file, which are stored unchanged, or an array of int16 or
    float32 samples, which is encoded. The header of encoded bytes must match `rate`, `channels` and `encoding`; reading
    rate and channels needs the extra "audio".

    Args:
        rate: samples per second; None if it varies.
        channels: the number of channels; None if it varies.
        encoding: "wav", "flac", "ogg" or "mp3"; None allows all of them, and encodes arrays as WAV.
        optional: records may lack it; absent rows are read as None.
        default: the bytes for records without it.
        description: a sentence for readers of the schema.

    >>> Audio(rate=16_000, channels=1)
    Audio(rate=16000, channels=1)
    """

    type_name: ClassVar[str] = "audio"
    medium: ClassVar[str] = "audio"

    rate: int | None = field(default=None, kw_only=True)
    channels: int | None = field(default=None, kw_only=True)
    encoding: str | None = field(default=None, kw_only=True)

    def __init__(
        self,
        *,
        rate: int | None = None,
        channels: int | None = None,
        encoding: str | None = None,
        optional: bool = False,
        default: Any = None,
        description: str = "",
    ) -> None:
        for name, number, most in (("rate", rate, _FASTEST), ("channels", channels, _MOST_CHANNELS)):
            whole = number is None or (hasattr(number, "__index__") and not isinstance(number, bool))
            if not whole or (number is not None and not 1 <= number.__index__() <= most):
                raise SchemaError(
                    f"The {name} of a sound must be an integer from 1 to {most:,}, or None if it varies.", found=number
                )
        if encoding is not None and encoding not in FORMATS:
            raise SchemaError("Unknown audio encoding.", found=encoding, expected=f"{', '.join(FORMATS)} or None")
        self._set(
            rate=None if rate is None else rate.__index__(),
            channels=None if channels is None else channels.__index__(),
            encoding=encoding,
        )
        self._set_common(optional=optional, default=default, description=description)

    def mismatch(self, data: bytes) -> tuple[str, str] | None:
        """Compare a sound's header with the declaration: (found, expected), or None if they agree.

        >>> Audio(encoding="wav").mismatch(b"fLaC")
        ('a FLAC', 'a WAV')
        >>> Audio().mismatch(b"plain text")
        ("not a sound: it starts with b'plain text'", 'an encoded WAV, FLAC, OGG or MP3')
        """
        found = audio_format(data)
        if found is None:
            known = self.encoding.upper() if self.encoding else "WAV, FLAC, OGG or MP3"
            begin = f"it starts with {bytes(data[:12])!r}" if data else "it is empty"
            return f"not a sound: {begin}", f"an encoded {known}"
        if self.encoding not in (None, found):
            return f"a {found.upper()}", f"a {str(self.encoding).upper()}"
        if self.rate is None and self.channels is None:
            return None
        try:
            header = read_header(data)
        except AudioError as error:
            return str(error), "a sound that can be read"
        if self.rate not in (None, header.rate) or self.channels not in (None, header.channels):
            asked = [f"{self.rate:,} Hz"] if self.rate else []
            asked += [f"{self.channels} channel{'s' if self.channels > 1 else ''}"] if self.channels else []
            return f"a {header.title}", ", ".join(asked)
        return None

    def violations(self, column: Any) -> list[Violation]:
        """List the rows whose headers disagree with the declaration; without the extra "audio", only by format."""
        try:
            return super().violations(column)
        except MissingExtraError:
            return Audio(encoding=self.encoding).violations(column)

    def _encoded(self, values: Any, *, cast: bool) -> Any:  # noqa: ARG002 - samples are never cast
        return encoded_sounds(values, rate=self.rate, channels=self.channels, encoding=self.encoding)
