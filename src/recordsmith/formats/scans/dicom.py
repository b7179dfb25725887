"""Reads DICOM files through pydicom: the stored pixels, and some tags."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from recordsmith.errors import PipelineError, did_you_mean, import_extra
from recordsmith.formats.scans.scan import Scan, ScanError, ScanShape, check_size
from recordsmith.schema import Feature, Scalar, Tensor, Text

__all__ = ["TAGS", "DicomReader"]

# The tags that are kept unless others are asked for, by their keywords in the standard.
TAGS = (
    *("PatientID", "StudyInstanceUID", "SeriesInstanceUID", "SOPInstanceUID", "InstanceNumber", "Modality"),
    *("PhotometricInterpretation", "RescaleSlope", "RescaleIntercept", "WindowCenter", "WindowWidth"),
    *("PixelSpacing", "SliceThickness", "ImagePositionPatient", "ImageOrientationPatient"),
)
_INTEGERS = ("IS", "US", "SS", "UL", "SL", "SV", "UV")
_FLOATS = ("DS", "FL", "FD")
_BITS = (8, 16, 32)


@dataclass(frozen=True, slots=True)
class DicomReader:
    """Reads one DICOM file."""

    tags: Sequence[str] = TAGS

    def facts(self) -> dict[str, Feature]:
        """Return the features of the tags."""
        names = import_extra("pydicom.datadict", "medical", purpose="Reading DICOM")
        found: dict[str, Feature] = {}
        for tag in self.tags:
            number = names.tag_for_keyword(tag)
            if number is None:
                known = [entry[4] for entry in names.DicomDictionary.values()]
                raise PipelineError(
                    f"There is no DICOM tag {tag!r}.{did_you_mean(tag, known)}",
                    expected="a keyword of the standard, such as 'Modality'",
                )
            kind, several = names.dictionary_VR(number), names.dictionary_VM(number) != "1"
            dtype: Any = "int64" if kind in _INTEGERS else "float64" if kind in _FLOATS else None
            if dtype is None:
                found[tag] = Text((None,), optional=True) if several else Text(optional=True)
            else:
                found[tag] = Tensor(dtype, (None,), optional=True) if several else Scalar(dtype, optional=True)
        return found

    def shape(self, path: str) -> ScanShape:
        """Return what the header says of the pixels."""
        return _shape(_opened(path, pixels=False))

    def read(self, path: str) -> Scan:
        """Return the pixels and the tags."""
        dataset = _opened(path, pixels=True)
        claimed = _shape(dataset)
        try:
            pixels = dataset.pixel_array
        except Exception as error:  # noqa: BLE001 - pydicom and its decoders raise what they like about bad pixels
            raise ScanError(f"The pixels cannot be decoded: {_words(error)}") from None
        pixels = np.ascontiguousarray(pixels, pixels.dtype.newbyteorder("="))
        if pixels.shape != claimed.shape:
            raise ScanError(f"It has pixels of shape {pixels.shape}, and its header says {claimed.shape}.")
        return Scan(pixels, {tag: _value(dataset, tag, feature) for tag, feature in self.facts().items()})


def _opened(path: str, *, pixels: bool) -> Any:
    pydicom = import_extra("pydicom", "medical", purpose="Reading DICOM")
    try:
        return pydicom.dcmread(path, stop_before_pixels=not pixels)
    except OSError:
        raise
    except Exception as error:  # noqa: BLE001 - it raises what it likes about bad bytes
        raise ScanError(f"It cannot be read as DICOM: {_words(error)}") from None


def _shape(dataset: Any) -> ScanShape:
    try:
        rows, columns = int(dataset.Rows), int(dataset.Columns)
        frames = int(dataset.get("NumberOfFrames") or 1)
        samples = int(dataset.get("SamplesPerPixel") or 1)
        bits, signed = int(dataset.BitsAllocated), bool(dataset.get("PixelRepresentation"))
    except (AttributeError, TypeError, ValueError) as error:
        raise ScanError(f"It has no image: {_words(error)}") from None
    if bits not in _BITS:
        raise ScanError(f"Its pixels have {bits} bits.")
    if "FloatPixelData" in dataset or "DoubleFloatPixelData" in dataset:
        dtype = np.dtype("float32" if "FloatPixelData" in dataset else "float64")
    else:
        dtype = np.dtype(f"{'i' if signed else 'u'}{bits // 8}")
    shape = (*((frames,) if frames != 1 else ()), rows, columns, *((samples,) if samples != 1 else ()))
    return check_size(shape, dtype)


def _value(dataset: Any, tag: str, feature: Feature) -> Any:
    """Return the value of a tag in the form of its feature; None if the file does not have it so."""
    try:
        value = dataset.get(tag)
        if value is None or value == "":
            return None
        several = not isinstance(value, (str, bytes)) and hasattr(value, "__iter__") and hasattr(value, "__len__")
        values = list(value) if several else [value]
        if isinstance(feature, Text):
            texts = [str(one) for one in values]
            return texts if feature.shape else "\\".join(texts)
        numbers = [int(one) if feature.dtype.kind == "i" else float(one) for one in values]
        return numbers if isinstance(feature, Tensor) else numbers[0] if len(numbers) == 1 else None
    except Exception:  # noqa: BLE001 - a damaged tag is no reason to lose the image, and pydicom raises what it likes
        return None


def _words(error: BaseException) -> str:
    text = " ".join(str(error).split()) or type(error).__name__
    return text[:200].rstrip(".") + "."
