"""Reads TIFF files through tifffile: all pages, with the stored values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from recordsmith.errors import import_extra
from recordsmith.formats.scans.scan import Scan, ScanError, ScanShape, check_size
from recordsmith.schema import Feature, Text

__all__ = ["TiffReader"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class TiffReader:
    """Reads one TIFF file."""

    def facts(self) -> dict[str, Feature]:
        """Return the features next to the pixels."""
        return {"axes": Text(description="what each axis is: Y, X, S for colours, Z, T, C, or Q if it is not known")}

    def shape(self, path: str) -> ScanShape:
        """Return what the header says of the pixels."""
        return _with_file(path, lambda file: _series(file)[1])

    def read(self, path: str) -> Scan:
        """Return the pixels of all pages; several have a first axis of their own."""

        def pixels(file: Any) -> Scan:
            series, claimed = _series(file)
            found = np.ascontiguousarray(series.asarray())
            if found.shape != claimed.shape:
                raise ScanError(f"It has pixels of shape {found.shape}, and its header says {claimed.shape}.")
            return Scan(found.astype(claimed.dtype, copy=False), {"axes": str(series.axes)})

        return _with_file(path, pixels)


def _with_file(path: str, use: Callable[[Any], T]) -> T:
    tifffile = import_extra("tifffile", "medical", purpose="Reading TIFF")
    try:
        with tifffile.TiffFile(path) as file:
            return use(file)
    except (ScanError, FileNotFoundError, PermissionError):
        raise
    except Exception as error:  # noqa: BLE001 - it and its decoders raise what they like about bad bytes
        text = " ".join(str(error).split()) or type(error).__name__
        raise ScanError(f"It cannot be read as TIFF: {text[:200].rstrip('.')}.") from None


def _series(file: Any) -> tuple[Any, ScanShape]:
    """Return the pages of one size and type, and what they claim to be."""
    found = list(file.series)
    if not found:
        raise ScanError("It has no pages.")
    if len(found) > 1:
        shapes = ", ".join("×".join(map(str, one.shape)) for one in found[:4])
        raise ScanError(f"Its pages differ in size or type: {shapes}. Save them as separate files.")
    series = found[0]
    if series.dtype is None:
        raise ScanError("Its pixels have no type that is known.")
    return series, check_size(tuple(series.shape), np.dtype(series.dtype))
