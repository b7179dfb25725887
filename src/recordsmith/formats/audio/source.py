"""Sounds in folders as the rows of a dataset."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Literal

from recordsmith.audio import FORMATS, AudioError, AudioHeader, check_audio, prepare_audio, read_header
from recordsmith.errors import PipelineError, did_you_mean, list_names
from recordsmith.formats.files.labelled_files import LabelledFileSource, folder_settings, paths_of, spread
from recordsmith.formats.files.source_files import PathLike
from recordsmith.formats.images.annotated_folders import unread_texts
from recordsmith.formats.images.folder_layout import LayoutName
from recordsmith.formats.images.listing import FoundFile, readable_name
from recordsmith.schema import Audio, Feature

__all__ = ["SUFFIXES", "AudioReader", "audio", "headers_of", "sound_feature"]

_SUFFIXES = (".wav", ".wave", ".flac", ".ogg", ".oga", ".opus", ".mp3")
_OTHERS = (".m4a", ".aac", ".aif", ".aiff", ".wma", ".amr")  # meant to be sounds, and rejected with the reason
SUFFIXES = (*_SUFFIXES, *_OTHERS)
_MOST_HEADERS = 1024  # that are read to learn what the sounds are


def audio(  # noqa: PLR0913 - each is a setting of its own
    folder: PathLike | Iterable[PathLike],
    *,
    labels: PathLike | None = None,
    classes: Sequence[str] | None = None,
    rate: int | None = None,
    channels: int | None = None,
    encoding: Literal["wav", "flac"] | None = None,
    check: Literal["decode", "header"] = "decode",
    layout: LayoutName = "auto",
    audio: str = "audio",
    label: str | None = "label",
    filename: str | None = "filename",
) -> AudioSource:
    """Read the sounds of a folder: WAV, FLAC, Ogg and MP3. Needs the extra "audio".

    Sounds are stored unchanged unless an option asks for a conversion. Sounds that cannot be decoded, or that end
    before their header says, are rejected with the reason. Files without the suffix of a sound are left out.

    Args:
        folder: a folder whose subfolders are classes, or splits that contain classes; or files and globs.
        labels: a CSV file with the columns `filename` and `label`, instead of class folders.
        classes: the class names in the order of their numbers; None uses the names that were found, sorted.
        rate: resample sounds of another rate to this one. They are encoded again, with 16 bits per sample.
        channels: 1 mixes all channels to one, 2 repeats a single one. The sounds are encoded again in the same way.
        encoding: "wav" or "flac": convert sounds of other formats to this one.
        check: "decode" decodes every sound; "header" reads only headers, which is fast and misses most damage.
        layout: what folders mean: "classes", "splits", or "flat" for nothing; "auto" detects it from their names.
        audio: the name of the feature with the sound.
        label: the name of the feature with the label; None leaves it out.
        filename: the name of the feature with the path relative to the folder; None leaves it out.

    >>> import numpy, os, recordsmith, soundfile, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for word in ("no", "yes"):
    ...         os.mkdir(f"{folder}/{word}")
    ...         soundfile.write(f"{folder}/{word}/1.wav", numpy.zeros(800), 8000)
    ...     schema = recordsmith.sources.audio(folder).schema()
    >>> schema["audio"], schema["label"]
    (Audio(rate=8000, channels=1, encoding='wav'), Label(['no', 'yes']))
    """
    if check not in ("decode", "header"):
        raise PipelineError("Unknown check.", found=repr(check), expected="'decode' or 'header'")
    if encoding not in (None, "wav", "flac"):
        raise PipelineError(
            f"Sounds can be encoded only as WAV or FLAC, which are lossless.{did_you_mean(encoding, FORMATS)}",
            found=repr(encoding),
            expected="'wav', 'flac' or None",
        )
    Audio(rate=rate, channels=channels)  # which checks them
    folders = folder_settings([audio], labels=labels, classes=classes, layout=layout, label=label, filename=filename)
    return AudioSource(paths_of(folder), folders, AudioReader(audio, rate, channels, encoding, check == "decode"))


@dataclass(frozen=True, slots=True)
class AudioReader:
    """Reads, checks and converts one sound."""

    feature: str
    rate: int | None = None
    channels: int | None = None
    encoding: str | None = None
    decode: bool = True

    @property
    def errors(self) -> tuple[type[Exception], ...]:
        """What is raised about a sound that cannot be read."""
        return (AudioError,)

    def read(self, path: str) -> dict[str, Any]:
        """Return the sound as it is to be stored."""
        with open(path, "rb", buffering=0) as file:
            data = file.read()
        prepared = prepare_audio(data, rate=self.rate, channels=self.channels, encoding=self.encoding)
        if prepared is data and self.decode:
            check_audio(data)
        return {self.feature: prepared}


class AudioSource(LabelledFileSource):
    """What `audio` returns. Headers are read for the schema."""

    kind: ClassVar[str] = "audio"
    what: ClassVar[str] = "sounds"
    suffixes: ClassVar[tuple[str, ...]] = SUFFIXES

    _reader: AudioReader

    def _features(self) -> dict[str, Feature]:
        return {self._reader.feature: sound_feature(self._headers, self._reader)}

    def _settings(self) -> dict[str, Any]:
        asked = self._reader
        return {
            "audio": asked.feature,
            "rate": asked.rate,
            "channels": asked.channels,
            "encoding": asked.encoding,
            "check": "decode" if asked.decode else "header",
        }

    @property
    def warnings(self) -> tuple[str, ...]:
        """Which files are left out or not read."""
        return (*super().warnings, *unread_texts(self._listing, "sounds"))

    @cached_property
    def _headers(self) -> set[AudioHeader]:
        return headers_of(self._listing.files, self._listing.root)


def sound_feature(headers: set[AudioHeader], asked: AudioReader) -> Audio:
    """Return the feature of sounds: what was asked for, or else what all of them have."""

    def common(given: Any, found: set[Any]) -> Any:
        return given if given is not None else found.pop() if len(found) == 1 else None

    return Audio(
        rate=common(asked.rate, {header.rate for header in headers}),
        channels=common(asked.channels, {header.channels for header in headers}),
        encoding=common(asked.encoding, {header.format for header in headers}),
    )


def headers_of(files: Sequence[FoundFile], root: str) -> set[AudioHeader]:
    """Return the headers of all sounds, or of some spread over the whole, without their lengths."""
    found = set()
    for file in spread(files, _MOST_HEADERS):
        try:
            with open(file.path, "rb") as opened:
                found.add(replace(read_header(opened), samples=0, subtype=""))
        except (AudioError, OSError):
            continue  # it is rejected where it is loaded
    if not found:
        raise PipelineError(
            "None of the files is a sound that can be read.",
            path=root,
            found=list_names([readable_name(file.name) for file in files[:4]]),
            expected="WAV, FLAC, Ogg or MP3",
            advice="Convert other formats first, for example with `ffmpeg -i sound.m4a sound.flac`.",
        )
    return found
