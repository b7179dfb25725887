"""DICOM, NIfTI and TIFF files, written by their libraries, made into datasets with the exact values."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import nibabel
import numpy as np
import pydicom
import pytest
import tifffile
from pydicom.dataset import FileDataset, FileMetaDataset
from pydicom.uid import CTImageStorage, ExplicitVRLittleEndian, RLELossless, generate_uid

import recordsmith as rs

DICOM_KEPT = "the stored pixels of all frames, the tags that are asked for"
NIFTI_KEPT = "the stored values, affine, spacing, slope and intercept"
TIFF_KEPT = "the pixels of all pages in their dtype, the meaning of the axes"


def write_dicom(path: Path, pixels: Any, *, compressed: bool = False, **tags: Any) -> None:
    meta = FileMetaDataset()
    meta.MediaStorageSOPClassUID = CTImageStorage
    meta.MediaStorageSOPInstanceUID = generate_uid()
    meta.TransferSyntaxUID = ExplicitVRLittleEndian
    dataset = FileDataset(str(path), {}, file_meta=meta, preamble=b"\0" * 128)
    dataset.SOPClassUID, dataset.SOPInstanceUID = meta.MediaStorageSOPClassUID, meta.MediaStorageSOPInstanceUID
    shape = pixels.shape
    colours = pixels.ndim > 2 and shape[-1] == 3
    if pixels.ndim - colours == 3:
        dataset.NumberOfFrames = shape[0]
        shape = shape[1:]
    dataset.Rows, dataset.Columns = shape[:2]
    dataset.SamplesPerPixel = 3 if colours else 1
    dataset.PhotometricInterpretation = "RGB" if colours else "MONOCHROME2"
    if colours:
        dataset.PlanarConfiguration = 0
    dataset.BitsAllocated = dataset.BitsStored = 8 * pixels.dtype.itemsize
    dataset.HighBit = dataset.BitsStored - 1
    dataset.PixelRepresentation = int(pixels.dtype.kind == "i")
    dataset.PixelData = pixels.tobytes()
    for name, value in tags.items():
        setattr(dataset, name, value)
    if compressed:
        dataset.compress(RLELossless)
    dataset.save_as(path, enforce_file_format=True)


def rejects(folder: Path) -> dict[str, str]:
    lines = map(json.loads, (folder / "rejected.jsonl").read_text().splitlines())
    return {Path(reject["source"]).name: reject["reason"] for reject in lines}


def random_pixels(seed: int, shape: tuple[int, ...], dtype: Any = np.int16) -> Any:
    limits = np.iinfo(dtype)
    return np.random.default_rng(seed).integers(limits.min, limits.max, shape, dtype, endpoint=True)


@pytest.mark.source("dicom", keeps=DICOM_KEPT)
def test_dicom(tmp_path: Path):
    tags = {"PatientID": "p1", "RescaleSlope": "2.5", "RescaleIntercept": "-1024", "PixelSpacing": [0.5, 0.25]}
    for n in range(4):
        folder = tmp_path / "scans" / ("sick" if n % 2 else "well")
        folder.mkdir(parents=True, exist_ok=True)
        name = f"{n}.dcm" if n else "IM000"  # files of scanners often have no suffix
        write_dicom(folder / name, random_pixels(n, (6, 5 + n)), compressed=n == 3, InstanceNumber=n, **tags)
    rs.make(rs.sources.dicom(tmp_path / "scans"), tmp_path / "out", shuffle=False)
    ds = rs.open(tmp_path / "out")
    assert ds.schema["pixels"] == rs.Tensor("int16", (6, None))
    assert ds.schema["label"] == rs.Label(["sick", "well"])
    assert len(ds) == 4
    for row in ds:
        n = int(row["InstanceNumber"])
        np.testing.assert_array_equal(row["pixels"], random_pixels(n, (6, 5 + n)))
        assert (row["PatientID"], row["RescaleSlope"], row["RescaleIntercept"]) == ("p1", 2.5, -1024)
        assert row["PixelSpacing"].tolist() == [0.5, 0.25]
        assert row["WindowCenter"] is None
        assert row["label"] == 1 - n % 2


@pytest.mark.source("dicom", keeps=DICOM_KEPT)
def test_dicom_of_several_frames_and_colours(tmp_path: Path):
    for n in range(2):
        write_dicom(tmp_path / f"{n}.dcm", random_pixels(n, (3, 4, 5, 3), np.uint8))
    rs.make(tmp_path / "*.dcm", tmp_path / "out", shuffle=False)
    ds = rs.open(tmp_path / "out")
    assert ds.schema["pixels"] == rs.Tensor("uint8", (3, 4, 5, 3))
    for n, row in enumerate(ds):
        np.testing.assert_array_equal(row["pixels"], random_pixels(n, (3, 4, 5, 3), np.uint8))


def test_dicom_that_is_broken_or_lies_is_a_reject(tmp_path: Path):
    folder = tmp_path / "scans"
    folder.mkdir()
    for n in range(4):
        write_dicom(folder / f"{n}.dcm", random_pixels(n, (6, 5)))
    whole = (folder / "0.dcm").read_bytes()
    (folder / "cut.dcm").write_bytes(whole[:-20])
    (folder / "text.dcm").write_text("no DICOM")
    lying = pydicom.dcmread(folder / "0.dcm")
    lying.Rows = lying.Columns = 65535
    lying.save_as(folder / "large.dcm")
    lying.NumberOfFrames = 10**9
    lying.save_as(folder / "absurd.dcm")
    del lying.Rows
    lying.save_as(folder / "rowless.dcm")
    rs.make(folder, tmp_path / "out", max_rejects=1)
    reasons = rejects(tmp_path / "out")
    assert sorted(reasons) == ["absurd.dcm", "cut.dcm", "large.dcm", "rowless.dcm", "text.dcm"]
    assert "The limit is" in reasons["absurd.dcm"]
    assert "no image" in reasons["rowless.dcm"]
    assert len(rs.open(tmp_path / "out")) == 4


@pytest.mark.source("nifti", keeps=NIFTI_KEPT)
def test_nifti(tmp_path: Path):
    folder = tmp_path / "scans"
    folder.mkdir()
    affine = np.array([[0, 2.0, 0, -5], [1.5, 0, 0, 3], [0, 0, 3, 1], [0, 0, 0, 1]])
    for n in range(3):
        image = nibabel.Nifti1Image(random_pixels(n, (4, 5, 6 + n)), affine)
        if n == 1:
            image.header.set_slope_inter(0.5, 10)
        nibabel.save(image, folder / (f"{n}.nii.gz" if n else "0.nii"))
    rs.make(folder, tmp_path / "out", shuffle=False)
    ds = rs.open(tmp_path / "out")
    assert ds.schema["pixels"] == rs.Tensor("int16", (4, 5, None))
    for n, row in enumerate(ds):
        image = nibabel.load(folder / row["filename"])
        np.testing.assert_array_equal(row["pixels"], image.dataobj.get_unscaled())
        np.testing.assert_allclose(row["slope"] * row["pixels"] + row["intercept"], image.get_fdata())
        np.testing.assert_array_equal(row["affine"], image.affine)
        np.testing.assert_array_equal(row["spacing"], image.header.get_zooms())
        assert row["slope"] == (0.5 if n == 1 else 1.0)


def test_nifti_with_wrong_sizes_or_cut_short_is_a_reject(tmp_path: Path):
    folder = tmp_path / "scans"
    folder.mkdir()
    for n in range(3):
        nibabel.save(nibabel.Nifti1Image(random_pixels(n, (4, 5, 6)), np.eye(4)), folder / f"{n}.nii")
    whole = (folder / "0.nii").read_bytes()
    (folder / "cut.nii").write_bytes(whole[:-10])
    (folder / "cut2.nii.gz").write_bytes(gzip.compress(whole)[:-30])
    for name, sizes in (("large", (32767, 32767, 32767)), ("negative", (4, -5, 6)), ("longer", (4, 5, 60))):
        data = bytearray(whole)
        data[42:48] = np.array(sizes, np.int16).tobytes()
        (folder / f"{name}.nii").write_bytes(data)
    (folder / "text.nii").write_text("no NIfTI")
    rs.make(folder, tmp_path / "out", max_rejects=1)
    reasons = rejects(tmp_path / "out")
    assert sorted(reasons) == [
        *("cut.nii", "cut2.nii.gz", "large.nii", "longer.nii", "negative.nii", "text.nii"),
    ]
    assert "The limit is" in reasons["large.nii"]
    assert len(rs.open(tmp_path / "out")) == 3


@pytest.mark.source("tiff", keeps=TIFF_KEPT)
@pytest.mark.parametrize(
    ("shape", "dtype", "how"),
    [
        ((3, 5, 6), "uint16", {"photometric": "minisblack"}),
        ((5, 6), "uint16", {"compression": "zlib"}),
        ((5, 6, 3), "uint8", {"photometric": "rgb"}),
        ((5, 6), "float32", {}),
        ((5, 6), "int32", {}),
        ((2, 16, 16), "uint16", {"photometric": "minisblack", "tile": (16, 16)}),
    ],
    ids=repr,
)
def test_tiff(shape: tuple[int, ...], dtype: str, how: Any, tmp_path: Path):
    folder = tmp_path / "scans"
    folder.mkdir()
    made = {}
    for n in range(2):
        made[f"{n}.tif"] = random_pixels(n, shape, np.int16 if dtype == "float32" else dtype).astype(dtype)
        tifffile.imwrite(folder / f"{n}.tif", made[f"{n}.tif"], **how)
    rs.make(folder, tmp_path / "out")
    ds = rs.open(tmp_path / "out")
    assert ds.schema["pixels"].dtype == np.dtype(dtype)
    assert len(ds) == 2
    for row in ds:
        np.testing.assert_array_equal(row["pixels"], made[row["filename"]])


@pytest.mark.filterwarnings("ignore")  # tifffile warns of what it cannot read
def test_tiff_that_is_broken_or_lies_is_a_reject(tmp_path: Path):
    folder = tmp_path / "scans"
    folder.mkdir()
    for n in range(3):
        tifffile.imwrite(folder / f"{n}.tif", random_pixels(n, (40, 50), np.uint16), compression="zlib")
    whole = (folder / "0.tif").read_bytes()
    (folder / "cut.tif").write_bytes(whole[:-1500])
    (folder / "text.tif").write_text("no TIFF")
    with tifffile.TiffWriter(folder / "mixed.tif") as writer:
        writer.write(np.zeros((4, 4), np.uint8), photometric="minisblack")
        writer.write(np.zeros((9, 4), np.uint8), photometric="minisblack")
    data = bytearray(whole)
    for tag in (256, 257):  # the width and the height
        with tifffile.TiffFile(folder / "0.tif") as file:
            entry = file.pages[0].tags[tag]
        data[entry.offset : entry.offset + 12] = (
            tag.to_bytes(2, "little")
            + (4).to_bytes(2, "little")
            + (1).to_bytes(4, "little")
            + (2**31).to_bytes(4, "little")
        )
    (folder / "absurd.tif").write_bytes(data)
    rs.make(folder, tmp_path / "out", max_rejects=1)
    reasons = rejects(tmp_path / "out")
    assert sorted(reasons) == ["absurd.tif", "cut.tif", "mixed.tif", "text.tif"]
    assert "The limit is" in reasons["absurd.tif"]
    assert "differ in size" in reasons["mixed.tif"]
    assert len(rs.open(tmp_path / "out")) == 3


def test_wrong_use(tmp_path: Path):
    write_dicom(tmp_path / "a.dcm", random_pixels(1, (4, 4)))
    with pytest.raises(rs.PipelineError, match="Did you mean 'Modality'"):
        rs.sources.dicom(tmp_path, tags=["Modalty"]).schema()
    write_dicom(tmp_path / "b.dcm", random_pixels(1, (2, 4, 4)))
    with pytest.raises(rs.PipelineError, match="different numbers of dimensions"):
        rs.sources.dicom(tmp_path).schema()
    with pytest.raises(rs.PipelineError, match="No NIfTI files"):
        rs.sources.nifti(tmp_path).schema()
