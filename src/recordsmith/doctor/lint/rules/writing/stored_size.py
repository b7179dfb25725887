"""Rules on files that become far larger than they need to be."""

from __future__ import annotations

import re
from collections.abc import Iterator

from recordsmith.doctor.lint.interpreter.values import Call, Value, walk
from recordsmith.doctor.lint.program import Program
from recordsmith.rules import Finding, Severity, rule

__all__ = ["STORED_SIZE_RULES"]

_IMAGE = re.compile(
    r"cv2\.(imread|imdecode)|PIL\.Image\.open|imageio.*imread|keras\.utils\.(load_img|img_to_array)|skimage\.io\.imread|matplotlib.*imread"
)
_SPARSE = re.compile(r"\.(fit_transform|transform)|scipy\.sparse\.\w+")
_SPARSE_MAKERS = re.compile(
    r"sklearn\.feature_extraction\.\w*\.?(text\.)?(Tfidf|Count|Hashing|Dict)\w*|sklearn\.feature_extraction\.(DictVectorizer|FeatureHasher)"
    r"|sklearn\.preprocessing\.OneHotEncoder"
)


@rule("P043", "raw-pixels", Severity.INFO)
def raw_pixels(program: Program) -> Iterator[Finding]:
    """Arrays are written as raw bytes, which take far more space than necessary.

    Why it matters:
        An image that was scaled with `/ 255.0` is float64: 8 bytes for each channel of each pixel, against about half
        a byte in the JPEG that it came from. Files become up to a hundred times as large, and take longer to read.

    Example:
        `(cv2.imread(path) / 255.0).tobytes()`

    Fix:
        Store the encoded image, `open(path, "rb").read()` or `tf.io.encode_jpeg(image)`, and scale when reading.
        Other arrays: `array.astype("float32")` at most.
    """
    for example in program.examples:
        for feature in example.features.values():
            one = feature.single
            if not isinstance(one, Call) or one.name not in (".tobytes", ".tostring"):
                continue
            picture = any(isinstance(value, Call) and _IMAGE.fullmatch(value.name) for value in walk(one))
            dtype = feature.raw_dtype
            if dtype == "float64" and picture:
                words = "an image is written as raw float64: 8 bytes for each channel of each pixel"
            elif dtype == "float64":
                words = "the array is written as float64: 8 bytes a value, where float32 is what models use"
            elif picture:
                words = "an image is written as raw pixels, several times the size of its file"
            else:
                continue
            yield program.finding(
                raw_pixels,
                one.expression,
                f"{feature.name!r}: {words}.",
                severity=Severity.WARNING if dtype == "float64" and picture else Severity.INFO,
                feature=feature.name,
                evidence={"dtype": dtype or "unknown"},
            )


@rule("P044", "sparse-made-dense", Severity.WARNING)
def sparse_made_dense(program: Program) -> Iterator[Finding]:
    """A sparse matrix is written as dense rows.

    Why it matters:
        A row of TF-IDF has perhaps a hundred nonzero numbers out of tens of thousands. In dense rows all zeros are
        stored too, 4 bytes each, and the file can become a hundred times as large.

    Example:
        `tf.train.FloatList(value=row.toarray().flatten())` for each row of a TfidfVectorizer's result.

    Fix:
        Store the indices and values of the nonzero numbers (`row.indices`, `row.data`), and read them with
        `tf.io.SparseFeature`; or `rs.Sparse`.
    """
    for call in program.calls:
        if call.name != "tensorflow.train.FloatList":
            continue
        dense = next((one for one in walk(call) if _is_densified(one)), None)
        if isinstance(dense, Call):
            yield program.finding(
                sparse_made_dense,
                dense.expression,
                "Each row of a sparse matrix is made dense before it is written: nearly all that is stored is zeros.",
            )


def _is_densified(value: Value) -> bool:
    if not isinstance(value, Call) or value.name not in (".toarray", ".todense"):
        return False
    for one in walk(value.receiver):
        if isinstance(one, Call) and one.name.startswith("scipy.sparse."):
            return True
        made = one.receiver if isinstance(one, Call) and _SPARSE.fullmatch(one.name) else None
        if isinstance(made, Call) and _SPARSE_MAKERS.fullmatch(made.name):
            return True
    return False


STORED_SIZE_RULES = [raw_pixels, sparse_made_dense]
