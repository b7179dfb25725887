"""Sound as bytes: the headers of WAV, FLAC, Ogg and MP3 files, and decoding, encoding and resampling of them."""

from recordsmith.audio.audio_error import AudioError
from recordsmith.audio.codec import check_audio, decode_audio, encode_audio, prepare_audio
from recordsmith.audio.header import FORMATS, AudioHeader, audio_format, read_header

__all__ = [
    "FORMATS",
    "AudioError",
    "AudioHeader",
    "audio_format",
    "check_audio",
    "decode_audio",
    "encode_audio",
    "prepare_audio",
    "read_header",
]
