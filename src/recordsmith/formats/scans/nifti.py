"""Reads NIfTI files through nibabel: the stored values, how they are scaled, and where they are in space."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import Any

import numpy as np

from recordsmith.errors import import_extra
from recordsmith.formats.scans.scan import Scan, ScanError, ScanShape, check_size
from recordsmith.schema import Feature, Scalar, Tensor

__all__ = ["NiftiReader"]


@dataclass(frozen=True, slots=True)
class NiftiReader:
    """Reads one NIfTI file."""

    def facts(self) -> dict[str, Feature]:
        """Return the features next to the values."""
        return {
            "affine": Tensor("float64", (4, 4), description="from places in the array to millimetres"),
            "spacing": Tensor("float32", (None,), description="the size of a voxel along each axis"),
            "slope": Scalar("float64", description="the real value is slope × the stored value + intercept"),
            "intercept": Scalar("float64"),
        }

    def shape(self, path: str) -> ScanShape:
        """Return what the header says of the values."""
        return _shape(_opened(path))

    def read(self, path: str) -> Scan:
        """Return the stored values and what the header says of them."""
        image = _opened(path)
        claimed = _shape(image)
        try:
            pixels = np.ascontiguousarray(image.dataobj.get_unscaled())
            slope, intercept = image.dataobj.slope, image.dataobj.inter
            facts = {
                "affine": np.asarray(image.affine, np.float64),
                "spacing": np.asarray(image.header.get_zooms(), np.float32),
                "slope": 1.0 if slope is None else float(slope),
                "intercept": 0.0 if intercept is None else float(intercept),
            }
        except (ValueError, TypeError, EOFError, OverflowError, zlib.error, OSError) as error:
            if isinstance(error, OSError) and error.errno is not None:
                raise
            raise ScanError(f"The file is cut short or damaged: {_words(error)}") from None
        pixels = pixels.astype(pixels.dtype.newbyteorder("="), copy=False)
        if pixels.shape != claimed.shape:
            raise ScanError(f"It has values of shape {pixels.shape}, and its header says {claimed.shape}.")
        return Scan(pixels, facts)


def _opened(path: str) -> Any:
    nibabel = import_extra("nibabel", "medical", purpose="Reading NIfTI")
    try:
        image = nibabel.load(path)
    except (FileNotFoundError, PermissionError):
        raise
    except Exception as error:  # noqa: BLE001 - it raises what it likes about bad bytes
        raise ScanError(f"It cannot be read as NIfTI: {_words(error)}") from None
    if not isinstance(image, nibabel.Nifti1Pair):
        raise ScanError("It is not a NIfTI file.")
    return image


def _shape(image: Any) -> ScanShape:
    try:
        shape, dtype = tuple(int(size) for size in image.shape), np.dtype(image.get_data_dtype())
    except Exception as error:  # noqa: BLE001 - see above
        raise ScanError(f"Its header is wrong: {_words(error)}") from None
    return check_size(shape, dtype)


def _words(error: BaseException) -> str:
    text = " ".join(str(error).split()) or type(error).__name__
    return text[:200].rstrip(".") + "."
