"""The rows of an Excel sheet as a source, read one after the other."""

from __future__ import annotations

import os
import re
import warnings
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from itertools import islice
from typing import Any, ClassVar, Unpack

from recordsmith.errors import CorruptRecordError, RecordsmithError, advise, did_you_mean, import_extra, list_names
from recordsmith.formats.files.source_files import PathLike, SourceFile, find_files, opened
from recordsmith.formats.tables.batch_source import Batch, BatchReader, BatchSource
from recordsmith.formats.tables.options import ColumnOptions, column_options
from recordsmith.formats.tables.value_rows import CellError, value_batches
from recordsmith.records.shards import split_in_name
from recordsmith.wording.numbers import count_text

__all__ = ["ExcelSource", "excel"]

SUFFIXES = (".xlsx", ".xlsm")
MOST_BYTES = 2 << 30  # of a workbook, decompressed
MOST_STRINGS = 256 << 20  # bytes of its texts, which are in memory
_LOOKED_AT = 65_536  # bytes of each file in it
# What may be before the first element, in UTF-8: no DOCTYPE, and so no entities that multiply.
_PROLOG = re.compile(rb"(?:\xef\xbb\xbf)?\s*(?:<\?[^>]*\?>\s*|<!--.*?-->\s*)*<[A-Za-z]", re.DOTALL)
_FORMULA = re.compile(rb"<(?:\w+:)?f[ />]")
_READ_AT_ONCE = 1 << 20
_NOT_COUNTED = ", empty rows not counted"


def excel(
    paths: PathLike | Iterable[PathLike], *, sheet: str | None = None, **columns: Unpack[ColumnOptions]
) -> ExcelSource:
    """Return the rows of an Excel sheet as a source for `make`.

    The first row has the names of the columns; one without a name is called after its number, such as column_1. Empty
    rows are skipped. A formula has the value that Excel saved. Cells of dates and times are read as such. A row
    with an error, such as #DIV/0!, is rejected.

    Args:
        paths: a workbook (.xlsx, .xlsm), or several with the same columns.
        sheet: the name of the sheet; None: the only one with cells, or sheets named like splits.
        columns: options for the columns, as in `rs.sources.parquet`: label, text, images, columns, types,
            schema, floats, size, channels, image_encoding, quality, strip.

    >>> import recordsmith as rs, tempfile, openpyxl
    >>> path = tempfile.mkdtemp() + "/irises.xlsx"
    >>> book = openpyxl.Workbook()
    >>> for row in (["length", "species"], [5.1, "setosa"], [4.9, "virginica"]): book.active.append(row)
    >>> book.save(path)
    >>> rs.sources.excel(path, label="species").schema()
    Schema({
        'length':  Scalar('float32'),
        'species': Label(['setosa', 'virginica']),
    })
    """
    options = column_options(columns)
    files = find_files(paths, SUFFIXES, kind="Excel")
    readers = [reader for file in files for reader in _sheets(file, sheet, options.text)]
    return ExcelSource(readers, options, {} if sheet is None else {"sheet": sheet})


_NAMES_ELSEWHERE = (
    "Write the names into the first row, or read it with pandas.read_excel(..., header=...) and pass the DataFrame."
)


class ExcelSource(BatchSource):
    """The rows of Excel sheets. Made by `rs.sources.excel`."""

    kind: ClassVar[str] = "excel"


class SheetReader(BatchReader):
    """One sheet."""

    first = 2  # as Excel counts, below the names

    def __init__(self, file: SourceFile, sheet: str, text: Sequence[str], split: str | None) -> None:
        self.file = self._file = file
        self.name = f"{file.path}, sheet {sheet!r}"
        self.folder = os.path.dirname(file.path) or "."
        self.split = split
        self._sheet, self._text = sheet, set(text)

    def batches(self, fields: Any) -> Iterator[Batch]:
        """Give the rows below the names."""
        if fields is None:
            self._check_formulas()
        with _workbook(self._file) as book:
            rows = _rows(book[self._sheet])
            names = self._names([cell.value for cell in next(rows, ())])
            width = len(names)
            values = (tuple(map(_value, row)) for row in rows)
            filled = ((*row, *[None] * (width - len(row)))[:width] for row in self._not_empty(values, width))
            yield from value_batches(filled, names, fields, self._text)

    def _check_formulas(self) -> None:
        """Raise if a formula was saved without its value, as all programs do that do not calculate."""
        without, total = "", 0
        with _workbook(self._file) as book:
            if not _has_formulas(self._file):
                return
            with _workbook(self._file, formulas=True) as written:
                for values, formulas in zip(_rows(book[self._sheet]), _rows(written[self._sheet]), strict=True):
                    for value, formula in zip(values, formulas, strict=True):
                        # An empty text is a value: its cell is of another type.
                        if formula.data_type == "f" and value.value is None and value.data_type != "str":
                            without = without or f"{formula.coordinate}: {formula.value}"
                            total += 1
        if total:
            raise RecordsmithError(
                "The workbook has formulas without their values: the program that wrote it did not calculate them.",
                path=self.name,
                found=f"{count_text(total, 'formula')} without a value, the first in {without}",
                advice="Open the workbook in Excel or LibreOffice, and save it.",
            )

    def _not_empty(self, rows: Iterable[Sequence[Any]], width: int) -> Iterator[Sequence[Any]]:
        empty = False
        for row in rows:
            if all(cell is None for cell in row):
                empty = True
                continue
            if any(cell is not None for cell in row[width:]):
                raise RecordsmithError(
                    "The first row of the sheet has fewer names than another row has cells.",
                    path=self.name,
                    found=list_names(map(str, row)),
                    expected=f"{count_text(width, 'cell')}, one for each name",
                    advice=_NAMES_ELSEWHERE,
                )
            if empty and not self.name.endswith(_NOT_COUNTED):
                self.name += _NOT_COUNTED
            yield row

    def describe(self) -> Any:
        """Return the name: the source describes files."""
        return self.name

    def _names(self, cells: Sequence[Any]) -> list[str]:
        names = ["" if cell is None else str(cell).strip() for cell in cells]
        while names and not names[-1]:
            names.pop()
        names = [name or f"column_{number}" for number, name in enumerate(names, 1)]
        twice = sorted({name for name in names if names.count(name) > 1})
        if not names or twice:
            raise RecordsmithError(
                "The first row of the sheet must have a different name for each column.",
                path=self.name,
                found=f"{list_names(twice)} twice" if twice else "an empty row",
                advice=_NAMES_ELSEWHERE,
            )
        return names


def _sheets(file: SourceFile, wanted: str | None, text: Sequence[str]) -> list[SheetReader]:
    with _workbook(file) as book:
        every = [sheet.title for sheet in book.worksheets]
        found = [sheet.title for sheet in book.worksheets if _has_cells(sheet)]
    if wanted is not None:
        if wanted not in every:
            raise RecordsmithError(
                f"There is no sheet {wanted!r}.{did_you_mean(wanted, every)}", path=file.path, found=list_names(every)
            )
        found = [wanted]
    splits = [split_in_name(name) for name in found]
    if len(found) > 1 and None not in splits and len(set(splits)) == len(splits):
        return [SheetReader(file, name, text, split) for name, split in zip(found, splits, strict=True)]
    if len(found) != 1:
        raise RecordsmithError(
            "The workbook has several sheets." if found else "The workbook has no cells.",
            path=file.path,
            found=list_names(found),
            advice=advise("Choose one with {sheet}.", sheet=("sheet='name'", "--sheet NAME")) if found else None,
        )
    return [SheetReader(file, found[0], text, None)]


def _has_cells(sheet: Any) -> bool:
    return any(cell.value is not None for row in islice(_rows(sheet), 100) for cell in row)


def _rows(sheet: Any) -> Iterator[Sequence[Any]]:
    """Give the cells of each row, also of those outside of the range that the sheet says it has."""
    sheet.reset_dimensions()
    return iter(sheet.iter_rows())


def _value(cell: Any) -> Any:
    return CellError(cell.value) if cell.data_type == "e" else cell.value


def _has_formulas(file: SourceFile) -> bool:
    """Say whether a sheet of a workbook has a formula."""
    with opened(file) as stream, zipfile.ZipFile(stream) as archive:
        for name in archive.namelist():
            if name.startswith("xl/worksheets/"):
                with archive.open(name) as member:
                    end = b""
                    while part := member.read(_READ_AT_ONCE):
                        if _FORMULA.search(end + part):
                            return True
                        end = part[-16:]
    return False


@contextmanager
def _workbook(file: SourceFile, *, formulas: bool = False) -> Iterator[Any]:
    """Open a workbook to be read row by row; what is wrong with it is an error that names it."""
    openpyxl = import_extra("openpyxl", "excel", purpose="Reading Excel workbooks")
    with opened(file) as stream:
        try:
            _check_sizes(stream, file.path)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # about styles and the like, which are not read
                with closing(openpyxl.load_workbook(stream, read_only=True, data_only=not formulas)) as book:
                    yield book
        except RecordsmithError:
            raise
        except Exception as error:  # noqa: BLE001 - openpyxl raises whatever a damaged file leads it to
            raise CorruptRecordError(
                "This is not a complete Excel workbook.",
                path=file.path,
                found=str(error).partition("\n")[0] or type(error).__name__,
                advice="Save it again as .xlsx.",
            ) from None


def _check_sizes(stream: Any, path: str) -> None:
    """Refuse a workbook that is small only while it is compressed. No more is read than its list of files says."""
    archive = zipfile.ZipFile(stream)
    sizes = {entry.filename: entry.file_size for entry in archive.infolist()}
    for name in sizes:
        with archive.open(name) as member:
            if name.endswith((".xml", ".rels")) and not _PROLOG.match(member.read(_LOOKED_AT)):
                raise RecordsmithError(
                    "The XML of the workbook does not begin as Excel writes it: it may have a DOCTYPE.",
                    path=path,
                    found=name,
                )
    stream.seek(0)
    strings = sum(size for name, size in sizes.items() if not name.startswith("xl/worksheets/"))
    if sum(sizes.values()) > MOST_BYTES or strings > MOST_STRINGS:
        raise RecordsmithError(
            "The workbook is too large.",
            path=path,
            found=f"{sum(sizes.values())} bytes decompressed, {strings} of them texts and styles",
            expected=f"at most {MOST_BYTES >> 30} GB, and {MOST_STRINGS >> 20} MB",
            advice="Save the sheet as CSV.",
        )
