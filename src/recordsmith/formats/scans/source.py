"""DICOM, NIfTI and TIFF files in folders as the rows of a dataset: one array for each file, and facts next to it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Protocol

import numpy as np

from recordsmith.errors import PipelineError, list_names
from recordsmith.formats.files.labelled_files import LabelledFileSource, folder_settings, paths_of, spread
from recordsmith.formats.files.source_files import PathLike
from recordsmith.formats.images.folder_layout import LayoutName
from recordsmith.formats.images.listing import readable_name
from recordsmith.formats.scans.dicom import TAGS, DicomReader
from recordsmith.formats.scans.nifti import NiftiReader
from recordsmith.formats.scans.scan import Scan, ScanError, ScanShape
from recordsmith.formats.scans.tiff import TiffReader
from recordsmith.schema import Feature, Tensor

__all__ = ["dicom", "nifti", "tiff"]

_MOST_HEADERS = 256  # that are read to learn what the files are
_PREAMBLE = 128  # bytes of a DICOM file before its signature


def dicom(
    folder: PathLike | Iterable[PathLike],
    *,
    tags: Sequence[str] = TAGS,
    labels: PathLike | None = None,
    classes: Sequence[str] | None = None,
    layout: LayoutName = "auto",
    pixels: str = "pixels",
    label: str | None = "label",
    filename: str | None = "filename",
) -> ScanSource:
    """Read DICOM files: the stored pixels as an array, and some tags. Needs the extra "medical".

    Values are those that are stored: multiply by RescaleSlope and add RescaleIntercept for the real ones. Files with
    several frames have a first axis for them.

    Args:
        folder: a folder whose subfolders are classes, or splits that contain classes; or files and globs.
        tags: the keywords of the tags to keep. PatientID is one of them, for splits with group="PatientID"; leave it
            out if it must not be stored.
        labels: a CSV file with the columns `filename` and `label`, instead of class folders.
        classes: the class names in the order of their numbers; None uses the names that were found, sorted.
        layout: what folders mean: "classes", "splits", or "flat" for nothing; "auto" detects it from their names.
        pixels: the name of the feature with the array.
        label: the name of the feature with the label; None leaves it out.
        filename: the name of the feature with the path relative to the folder; None leaves it out.
    """
    folders = folder_settings([pixels], labels=labels, classes=classes, layout=layout, label=label, filename=filename)
    return DicomSource(paths_of(folder), folders, PixelReader(pixels, DicomReader(tuple(tags))))


def nifti(
    folder: PathLike | Iterable[PathLike],
    *,
    labels: PathLike | None = None,
    classes: Sequence[str] | None = None,
    layout: LayoutName = "auto",
    pixels: str = "pixels",
    label: str | None = "label",
    filename: str | None = "filename",
) -> ScanSource:
    """Read NIfTI files: the stored values as an array, with affine, spacing, slope and intercept.

    Needs the extra "medical". The arguments are those of `dicom`.
    """
    folders = folder_settings([pixels], labels=labels, classes=classes, layout=layout, label=label, filename=filename)
    return NiftiSource(paths_of(folder), folders, PixelReader(pixels, NiftiReader()))


def tiff(
    folder: PathLike | Iterable[PathLike],
    *,
    labels: PathLike | None = None,
    classes: Sequence[str] | None = None,
    layout: LayoutName = "auto",
    pixels: str = "pixels",
    label: str | None = "label",
    filename: str | None = "filename",
) -> ScanSource:
    """Read TIFF files of any type and number of pages, as arrays. Needs the extra "medical".

    Several pages have a first axis for them. The arguments are those of `dicom`.
    """
    folders = folder_settings([pixels], labels=labels, classes=classes, layout=layout, label=label, filename=filename)
    return TiffSource(paths_of(folder), folders, PixelReader(pixels, TiffReader()))


class ScanReader(Protocol):
    """Reads the files of one format."""

    def facts(self) -> dict[str, Feature]:
        """Return the features next to the pixels."""

    def shape(self, path: str) -> ScanShape:
        """Return what the header says of the pixels."""

    def read(self, path: str) -> Scan:
        """Return the content."""


@dataclass(frozen=True, slots=True)
class PixelReader:
    """Reads one file as a row."""

    feature: str
    files: ScanReader

    @property
    def errors(self) -> tuple[type[Exception], ...]:
        """What is raised about a file that cannot be read."""
        return (ScanError,)

    def read(self, path: str) -> dict[str, Any]:
        """Return the pixels and what else is known."""
        scan = self.files.read(path)
        return {**scan.facts, self.feature: scan.pixels}


class ScanSource(LabelledFileSource):
    """What the functions return. Headers are read for the schema."""

    _reader: PixelReader

    def _features(self) -> dict[str, Feature]:
        shapes = {found.shape for found in self._headers}
        if len({len(shape) for shape in shapes}) > 1:
            raise PipelineError(
                "The files have arrays of different numbers of dimensions.",
                path=self._listing.root,
                found=list_names([str(shape) for shape in sorted(shapes, key=len)], 4),
                advice="Make a dataset of each kind, for example from a glob of its files.",
            )
        sizes = [set(size) for size in zip(*shapes, strict=True)]
        shape = tuple(one.pop() if len(one) == 1 else None for one in sizes)
        # The narrowest type that has all values of all files.
        dtype = np.result_type(*{found.dtype for found in self._headers})
        facts = self._reader.files.facts()
        if self._reader.feature in facts or {self._folder.label, self._folder.filename} & set(facts):
            raise PipelineError("Two features have the same name.", found=list_names([self._reader.feature, *facts]))
        return {self._reader.feature: Tensor(dtype, shape), **facts}

    def _settings(self) -> dict[str, Any]:
        return {"features": [self._reader.feature, *self._reader.files.facts()]}

    @cached_property
    def _headers(self) -> set[ScanShape]:
        files = self._listing.files
        found = set()
        for file in spread(files, _MOST_HEADERS):
            try:
                found.add(self._reader.files.shape(file.path))
            except (ScanError, OSError):
                continue  # it is rejected where it is loaded
        if not found:
            raise PipelineError(
                f"None of the files is one of the {self.what} that can be read.",
                path=self._listing.root,
                found=list_names([readable_name(file.name) for file in files[:4]]),
            )
        return found


class DicomSource(ScanSource):
    """DICOM files, which often have no suffix."""

    kind: ClassVar[str] = "dicom"
    what: ClassVar[str] = "DICOM files"
    suffixes: ClassVar[tuple[str, ...]] = (".dcm", ".dicom", ".ima")

    def _wanted(self, entry: os.DirEntry[str]) -> bool:
        if super()._wanted(entry):
            return True
        try:
            if "." in entry.name.strip(".") and not entry.name.rpartition(".")[2].isdecimal():
                return False
            with open(entry.path, "rb") as file:
                return file.read(_PREAMBLE + 4)[_PREAMBLE:] == b"DICM"
        except OSError:
            return False


class NiftiSource(ScanSource):
    """NIfTI files."""

    kind: ClassVar[str] = "nifti"
    what: ClassVar[str] = "NIfTI files"
    suffixes: ClassVar[tuple[str, ...]] = (".nii", ".nii.gz")


class TiffSource(ScanSource):
    """TIFF files."""

    kind: ClassVar[str] = "tiff"
    what: ClassVar[str] = "TIFF files"
    suffixes: ClassVar[tuple[str, ...]] = (".tif", ".tiff")
