"""The header of a sound: its format, its sample rate, its channels and its length.

The format is known by the first bytes. Everything else is read by libsndfile, through the package soundfile.
"""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import Any, BinaryIO

from recordsmith.audio.audio_error import AudioError
from recordsmith.errors import import_extra

__all__ = ["FORMATS", "AudioHeader", "audio_format", "read_header", "reason_in_words", "soundfile"]

FORMATS = ("wav", "flac", "ogg", "mp3")
_MPEG_LAYERS = (0x02, 0x04, 0x06)  # the bits of layers III, II and I in the second byte of a frame


@dataclass(frozen=True, slots=True)
class AudioHeader:
    """What the header of a sound says.

    Attributes:
        format: "wav", "flac", "ogg" or "mp3".
        rate: samples per second, of each channel.
        channels: the number of channels.
        samples: the number of samples of each channel.
        subtype: how samples are stored, in libsndfile's words: "PCM_16", "VORBIS" ...
    """

    format: str
    rate: int
    channels: int
    samples: int
    subtype: str = ""

    @property
    def title(self) -> str:
        """The sound in a few words.

        >>> AudioHeader("wav", 16_000, 1, 24_000).title
        'WAV of 1.5 seconds, 16,000 Hz, 1 channel'
        """
        channels = f"{self.channels} channel{'s' if self.channels != 1 else ''}"
        return f"{self.format.upper()} of {self.samples / self.rate:.4g} seconds, {self.rate:,} Hz, {channels}"


def soundfile(purpose: str = "Reading sound") -> Any:
    """Import soundfile, or say how to install it."""
    return import_extra("soundfile", "audio", purpose=purpose)


def audio_format(data: bytes) -> str | None:
    r"""Say which format the first bytes of a sound have; None if it is none of those that are read.

    >>> audio_format(b"RIFF\x24\x00\x00\x00WAVEfmt "), audio_format(b"fLaC"), audio_format(b"plain text")
    ('wav', 'flac', None)
    """
    if data[:4] in (b"RIFF", b"RF64") and data[8:12] == b"WAVE":
        return "wav"
    if data[:4] in (b"fLaC", b"OggS"):
        return "flac" if data[:4] == b"fLaC" else "ogg"
    is_frame = len(data) > 1 and data[0] == 0xFF and data[1] & 0xE0 == 0xE0 and data[1] & 0x06 in _MPEG_LAYERS
    return "mp3" if data[:3] == b"ID3" or is_frame else None


def read_header(sound: bytes | BinaryIO) -> AudioHeader:
    """Read the header of an encoded sound, or of an opened file, or raise an AudioError that says what is wrong."""
    file = io.BytesIO(sound) if isinstance(sound, bytes) else sound
    start = file.read(16)
    file.seek(0)
    found = audio_format(start)
    if found is None:
        begin = f"it starts with {start[:12]!r}" if start else "it is empty"
        raise AudioError(f"It is not a WAV, FLAC, Ogg or MP3 file: {begin}.")
    library = soundfile()
    try:
        info = library.info(file)
    except (library.SoundFileError, RuntimeError, ValueError, OSError) as error:
        raise AudioError(f"The {found.upper()} cannot be read: {reason_in_words(error)}") from None
    if info.samplerate < 1 or info.channels < 1:
        raise AudioError(f"The {found.upper()} has no sample rate or no channels.")
    return AudioHeader(found, int(info.samplerate), int(info.channels), int(info.frames), str(info.subtype))


def reason_in_words(error: Exception) -> str:
    """Return what the library says, without the object that it read from."""
    text = str(error).splitlines()[0] if str(error) else type(error).__name__
    text = text.partition(">: ")[2] or text
    return text.rstrip(".") + "."
