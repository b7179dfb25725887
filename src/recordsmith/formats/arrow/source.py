"""Arrow tables, DataFrames, datasets of Hugging Face, and files of Arrow record batches as a source."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any, ClassVar, Unpack

from recordsmith.formats.arrow.ipc_files import readers_of_files
from recordsmith.formats.arrow.memory_tables import is_table, readers_of
from recordsmith.formats.files.source_files import PathLike
from recordsmith.formats.tables.batch_source import BatchSource
from recordsmith.formats.tables.options import ColumnOptions, column_options

__all__ = ["ArrowSource", "arrow"]


def arrow(data: PathLike | Iterable[PathLike] | Any, **columns: Unpack[ColumnOptions]) -> ArrowSource:
    """Return the rows of a table or of Arrow files as a source for `make`.

    Nothing is decoded: images and sounds of Hugging Face's datasets are stored byte for byte. Class names become a
    Label. A mapping of tables by name (a `DatasetDict`) has these splits.

    Args:
        data: a DataFrame (pandas, polars), an Arrow table, a dataset of Hugging Face, or any object with
            `__arrow_c_stream__`; a mapping of split names to these; or the paths of Arrow or Feather files, or of a
            folder that `save_to_disk` wrote.
        columns: options for the columns, as in `rs.sources.parquet`: label, text, images, columns, types,
            schema, floats, size, channels, image_encoding, quality, strip.

    >>> import recordsmith as rs, pandas
    >>> frame = pandas.DataFrame({"length": [5.1, 4.9], "species": ["setosa", "virginica"]})
    >>> rs.sources.arrow(frame, label="species").schema()
    Schema({
        'length':  Scalar('float32'),
        'species': Label(['setosa', 'virginica']),
    })
    """
    options = column_options(columns)
    if is_table(data) and not isinstance(data, (str, os.PathLike)):
        return ArrowSource(readers_of(data), options)
    return ArrowSource(readers_of_files(data), options)


class ArrowSource(BatchSource):
    """The rows of Arrow tables. Made by `rs.sources.arrow`."""

    kind: ClassVar[str] = "arrow"
