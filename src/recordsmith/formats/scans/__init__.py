"""Medical and scientific images: DICOM, NIfTI and TIFF, as arrays with the values that are stored."""
