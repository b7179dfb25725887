"""Make, check and load TFRecord datasets.

    import recordsmith as rs

    schema = rs.Schema({"image": rs.Bytes(), "label": rs.Scalar("int64")})
    with rs.RecordWriter("data.tfrecord") as writer:
        writer.write_rows(rows, schema)

    for batch in rs.open("data.tfrecord").batch(256):
        ...

Names are loaded when they are first used, so that `import recordsmith` costs next to nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from recordsmith.viewing import register_viewer

if TYPE_CHECKING:
    from recordsmith import augment
    from recordsmith.checking.check import check
    from recordsmith.columns import ByteColumn, PackedColumn, Ragged, ShapedColumn, SparseColumn
    from recordsmith.comparing.compare import compare
    from recordsmith.copying.copied_dataset import CopiedDataset
    from recordsmith.copying.copy import copy
    from recordsmith.dataset import infer_schema
    from recordsmith.describing.card import card
    from recordsmith.doctor.diagnose.diagnosis import diagnose
    from recordsmith.doctor.lint.lint import lint
    from recordsmith.errors import (
        ChangedFileError,
        CompressionError,
        CorruptRecordError,
        EncodeError,
        MissingExtraError,
        NotTFRecordError,
        PipelineError,
        RecordsmithError,
        SchemaError,
        SchemaMismatchError,
        TruncatedFileError,
    )
    from recordsmith.exporting.export import export
    from recordsmith.exporting.exported_dataset import ExportedDataset
    from recordsmith.loader import Dataset, Loader, PipelineWarning
    from recordsmith.loader import open_dataset as open  # noqa: A004 - read as recordsmith.open
    from recordsmith.loader.verbs.order.mix import mix
    from recordsmith.making import preprocessing, sources
    from recordsmith.making.dataset_writer import DatasetWriter, write
    from recordsmith.making.made_dataset import MadeDataset
    from recordsmith.making.maker import make
    from recordsmith.records.example import (
        decode_example,
        decode_sequence_example,
        encode_example,
        encode_sequence_example,
    )
    from recordsmith.records.reader import RecordReader
    from recordsmith.records.writer import RecordWriter
    from recordsmith.repairing import RepairResult, repair
    from recordsmith.report import Report
    from recordsmith.rules import Configuration, Finding, load_configuration
    from recordsmith.schema import (
        Audio,
        Boxes,
        Bytes,
        Feature,
        Image,
        Label,
        Labels,
        Mask,
        Masks,
        Packed,
        Points,
        Scalar,
        Schema,
        Sequence,
        Sparse,
        Steps,
        Tensor,
        Text,
    )
    from recordsmith.text import Vocabulary

__version__ = "0.2.0"

# The public names, and the modules that they come from; a colon names them differently there,
# or with nothing behind it stands for the module itself.
_SOURCES = {
    "Audio": "schema",
    "Boxes": "schema",
    "ByteColumn": "columns",
    "Bytes": "schema",
    "ChangedFileError": "errors",
    "CompressionError": "errors",
    "Configuration": "rules",
    "CopiedDataset": "copying.copied_dataset",
    "CorruptRecordError": "errors",
    "Dataset": "loader",
    "DatasetWriter": "making.dataset_writer",
    "EncodeError": "errors",
    "ExportedDataset": "exporting.exported_dataset",
    "Feature": "schema",
    "Finding": "rules",
    "Image": "schema",
    "Label": "schema",
    "Labels": "schema",
    "Loader": "loader",
    "MadeDataset": "making.made_dataset",
    "Mask": "schema",
    "Masks": "schema",
    "MissingExtraError": "errors",
    "NotTFRecordError": "errors",
    "Packed": "schema",
    "PackedColumn": "columns",
    "PipelineError": "errors",
    "PipelineWarning": "loader",
    "Points": "schema",
    "Ragged": "columns",
    "RecordReader": "records.reader",
    "RecordWriter": "records.writer",
    "RecordsmithError": "errors",
    "RepairResult": "repairing",
    "Report": "report",
    "Scalar": "schema",
    "Schema": "schema",
    "Sequence": "schema",
    "SchemaError": "errors",
    "SchemaMismatchError": "errors",
    "ShapedColumn": "columns",
    "Sparse": "schema",
    "SparseColumn": "columns",
    "Steps": "schema",
    "Tensor": "schema",
    "Text": "schema",
    "TruncatedFileError": "errors",
    "Vocabulary": "text",
    "augment": "augment:",
    "card": "describing.card",
    "check": "checking.check",
    "compare": "comparing.compare",
    "copy": "copying.copy",
    "decode_example": "records.example",
    "decode_sequence_example": "records.example",
    "diagnose": "doctor.diagnose.diagnosis",
    "encode_example": "records.example",
    "encode_sequence_example": "records.example",
    "export": "exporting.export",
    "infer_schema": "dataset",
    "lint": "doctor.lint.lint",
    "load_configuration": "rules",
    "make": "making.maker",
    "mix": "loader.verbs.order.mix",
    "open": "loader:open_dataset",
    "preprocessing": "making:preprocessing",
    "repair": "repairing",
    "sources": "making:sources",
    "write": "making.dataset_writer",
}

__all__ = [  # noqa: RUF022 - in the order in which people meet them
    "Schema",
    "Scalar",
    "Tensor",
    "Text",
    "Bytes",
    "Label",
    "Image",
    "Boxes",
    "Labels",
    "Points",
    "Mask",
    "Masks",
    "Audio",
    "Packed",
    "Sparse",
    "Sequence",
    "Steps",
    "Feature",
    "infer_schema",
    "make",
    "write",
    "sources",
    "preprocessing",
    "Vocabulary",
    "MadeDataset",
    "DatasetWriter",
    "copy",
    "CopiedDataset",
    "export",
    "ExportedDataset",
    "open",
    "Dataset",
    "Loader",
    "mix",
    "augment",
    "Ragged",
    "ByteColumn",
    "ShapedColumn",
    "SparseColumn",
    "PackedColumn",
    "check",
    "compare",
    "card",
    "repair",
    "RepairResult",
    "lint",
    "diagnose",
    "Report",
    "Finding",
    "load_configuration",
    "Configuration",
    "RecordReader",
    "RecordWriter",
    "decode_example",
    "encode_example",
    "decode_sequence_example",
    "encode_sequence_example",
    "RecordsmithError",
    "CorruptRecordError",
    "TruncatedFileError",
    "ChangedFileError",
    "CompressionError",
    "NotTFRecordError",
    "SchemaError",
    "SchemaMismatchError",
    "EncodeError",
    "PipelineError",
    "PipelineWarning",
    "MissingExtraError",
]


if not TYPE_CHECKING:  # they have the imports above; here every name would exist, misspelt ones too

    def __getattr__(name: str) -> Any:
        source = _SOURCES.get(name)
        if name == "ray":  # not listed: it needs the extra
            return importlib.import_module("recordsmith.ray")
        if source is None:
            raise AttributeError(f"module 'recordsmith' has no attribute {name!r}")
        path, colon, renamed = source.partition(":")
        module = importlib.import_module(f"recordsmith.{path}")
        value = module if colon and not renamed else getattr(module, renamed or name)
        globals()[name] = value
        return value


register_viewer(lambda: importlib.import_module("recordsmith.viewer.notebook"))


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
