"""Converts failures of the native core to exceptions with a readable message.

The core reports a code and facts; here they become one of the exceptions of `recordsmith.errors`, with advice. Called
by the native module alone.
"""

from __future__ import annotations

import errno
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from recordsmith.errors import (
    ChangedFileError,
    CompressionError,
    CorruptRecordError,
    EncodeError,
    NotTFRecordError,
    RecordsmithError,
    SchemaError,
    SchemaMismatchError,
    TruncatedFileError,
    did_you_mean,
    list_names,
)
from recordsmith.records.file_signatures import describe_content

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Failure", "StaleIndexError", "exception_for"]


class StaleIndexError(ChangedFileError):
    """The index of a file does not fit it, although the file has not changed."""


@dataclass(frozen=True, slots=True)
class Failure:
    """The facts of one failure, in the order in which the core gives them; see cpp/base/status.h."""

    code: str
    path: str = ""
    offset: int | None = None
    record: int | None = None
    feature: str = ""
    found: str = ""
    expected: str = ""
    detail: str = ""
    names: tuple[str, ...] = ()
    system_error: int = 0

    @property
    def place(self) -> dict[str, Any]:
        """Where it is, as errors take it."""
        return {"path": self.path or None, "record": self.record, "offset": self.offset}

    @property
    def at_step(self) -> str:
        """Which step of a feature list it is, as the end of a sentence."""
        return f", at {self.detail}" if self.detail else ""


def exception_for(*facts: Any) -> BaseException:
    """Build the exception for one failure of the core, given the fields of a Failure.

    >>> print(exception_for("truncated", "a.tfrecord", 40, 2, "", "7", "12", "", [], 0))
    The file ends inside record 2: it was cut short, or is still being written.
      where:    a.tfrecord, record 2, byte 40
      found:    7 bytes until the end of the file
      expected: at least 12 bytes
      to do:    Copy or write the file again, or keep the records before it with `recordsmith repair FILE -o NEW`.
    """
    failure = Failure(*facts)
    return _EXPLANATIONS[failure.code](failure)


def _corrupt_length(failure: Failure) -> RecordsmithError:
    if failure.offset == 0:
        content = describe_content(failure.path)
        return NotTFRecordError(
            f"This is not a TFRecord file: it {content.looks_like}.",
            path=failure.path or None,
            found=content.found,
            expected="a record header: eight bytes of length and their CRC-32C",
            advice=content.advice,
        )
    return CorruptRecordError(
        f"The length of record {failure.record} does not match its checksum, so the next record cannot be found.",
        **failure.place,
        found=f"a length of {failure.found} bytes with a different checksum",
        advice="Copy the file again from its source, or save every undamaged record, including those after it, with "
        "`recordsmith repair FILE -o NEW`.",
    )


def _corrupt_data(failure: Failure) -> RecordsmithError:
    return CorruptRecordError(
        f"The data of record {failure.record} does not match its checksum: it was changed after it was written.",
        **failure.place,
        found=f"data with masked CRC-32C {failure.found}",
        expected=f"the stored {failure.expected}",
        advice="Copy the file again from its source, or leave this record out with `recordsmith repair FILE -o NEW`. "
        "verify=False reads all records, including this one as it is.",
    )


def _truncated(failure: Failure) -> RecordsmithError:
    return TruncatedFileError(
        f"The file ends inside record {failure.record}: it was cut short, or is still being written.",
        **failure.place,
        found=f"{failure.found} bytes until the end of the file",
        expected=f"at least {failure.expected} bytes",
        advice="Copy or write the file again, or keep the records before it with `recordsmith repair FILE -o NEW`.",
    )


def _too_large(failure: Failure) -> RecordsmithError:
    if failure.detail == "message":
        return EncodeError(
            "The row is too large for one record: a protobuf message is limited to 2 GiB.",
            row=failure.record,
            feature=failure.feature or None,
            found=f"{failure.found} bytes",
            expected=f"at most {failure.expected} bytes",
            advice="Store large data in pieces, or in separate files with their names in the record.",
        )
    return CorruptRecordError(
        f"Record {failure.record} has an impossible length, although the checksum of the length matches.",
        **failure.place,
        found=f"{failure.found} bytes",
        advice="The file was written by broken software or with bad intent. Do not trust it.",
    )


def _compression(failure: Failure) -> RecordsmithError:
    content = describe_content(failure.path)
    advice = "Copy the file again from its source, or save what can be decompressed: `recordsmith repair FILE -o NEW`."
    if content.format == "tfrecord":
        advice = "The file is not compressed. Leave compression at 'auto', or pass compression=None."
    elif content.compression not in (None, failure.expected):
        advice = f"The file is {content.compression}. Leave compression at 'auto', or name it."
    return CompressionError(
        f"The {failure.expected} data cannot be decompressed: {failure.detail}.",
        path=failure.path or None,
        record=failure.record,
        found=None if failure.offset is None else f"damage at or before byte {failure.offset} of the compressed file",
        expected=f"complete {failure.expected} streams and nothing else",
        advice=advice,
    )


def _malformed(failure: Failure) -> RecordsmithError:
    return CorruptRecordError(
        f"The payload of the record cannot be parsed: {failure.detail}.",
        **failure.place,
        feature=failure.feature or None,
        advice="If the records are something else, read their bytes with RecordReader or Dataset.raw. With "
        "verify=False, the record may also be damaged.",
    )


def _missing_feature(failure: Failure) -> RecordsmithError:
    return SchemaMismatchError(
        f"Feature {failure.feature!r} is missing.{did_you_mean(failure.feature, failure.names)}",
        **failure.place,
        feature=failure.feature,
        found=f"features {list_names(failure.names)}" if failure.names else "a record without features",
        expected=_list_of(failure.expected),
        advice="Correct the name in the schema, or declare the feature with optional=True or a default.",
    )


def _list_of(kind: str) -> str:
    return f"{'an' if kind == 'int64' else 'a'} {kind} list"


def _wrong_kind(failure: Failure) -> RecordsmithError:
    return SchemaMismatchError(
        f"Feature {failure.feature!r} contains a different kind of value than the schema declares{failure.at_step}.",
        **failure.place,
        feature=failure.feature,
        found="no list" if failure.found == "nothing" else _list_of(failure.found),
        expected=_list_of(failure.expected),
        advice="Change the feature's type in the schema, or write the data again.",
    )


def _wrong_count(failure: Failure) -> RecordsmithError:
    return SchemaMismatchError(
        f"Feature {failure.feature!r} has a different number of values than the schema declares{failure.at_step}.",
        **failure.place,
        feature=failure.feature,
        found=f"{failure.found} values",
        expected=f"{failure.expected} values",
        advice="Declare a dimension that varies as None, as in Tensor('float32', (None,)), or correct the shape.",
    )


def _wrong_byte_length(failure: Failure) -> RecordsmithError:
    return SchemaMismatchError(
        f"Feature {failure.feature!r} has a different size in bytes than its dtype and shape require{failure.at_step}.",
        **failure.place,
        feature=failure.feature,
        found=f"{failure.found} bytes",
        expected=f"{failure.expected} bytes",
        advice="Correct the dtype or the shape in the schema, or declare the feature as Bytes.",
    )


def _changed(failure: Failure) -> RecordsmithError:
    happened = "replaced by another file" if failure.detail == "replaced" else "changed"
    return ChangedFileError(
        f"The file was {happened} while it was in use.",
        **failure.place,
        found=f"{failure.found} bytes" if failure.found else None,
        expected=f"the {failure.expected} bytes that it had at first, unchanged" if failure.expected else None,
        advice="Wait until no program writes to it, then open it again. To replace data that is in use, write the new "
        "files to another folder.",
    )


def _stale_index(failure: Failure) -> RecordsmithError:
    return StaleIndexError(
        "The index does not match its file: it was made for another file, or some records are missing from it.",
        **failure.place,
        advice="Open the dataset again to rebuild the index.",
    )


_HINTS = {
    errno.ENOSPC: "Free some space, or write elsewhere. The output file was not created.",
    errno.EDQUOT: "Free some space, or write elsewhere. The output file was not created.",
    errno.EFBIG: "The file reached the largest size allowed here (ulimit -f). Write more and smaller shards.",
    errno.EMFILE: "Too many files are open in this process (ulimit -n). Close some, or raise the limit.",
}


def _system(failure: Failure) -> OSError | MemoryError:
    if failure.system_error == errno.ENOMEM and not failure.path:
        return MemoryError(f"Not enough memory to {failure.detail}.")
    error = OSError(failure.system_error, os.strerror(failure.system_error), failure.path)
    hint = _HINTS.get(failure.system_error)
    if hint is not None:
        error.add_note(hint)
    return error


def _invalid_argument(failure: Failure) -> RecordsmithError:
    sentence = f"{failure.detail[:1].upper()}{failure.detail[1:]}."
    return SchemaError(sentence, path=failure.path or None, feature=failure.feature or None)


_EXPLANATIONS: dict[str, Callable[[Failure], BaseException]] = {
    "corrupt_length": _corrupt_length,
    "corrupt_data": _corrupt_data,
    "truncated": _truncated,
    "too_large": _too_large,
    "compression": _compression,
    "malformed": _malformed,
    "missing_feature": _missing_feature,
    "wrong_kind": _wrong_kind,
    "wrong_count": _wrong_count,
    "wrong_byte_length": _wrong_byte_length,
    "changed": _changed,
    "stale_index": _stale_index,
    "system": _system,
    "invalid_argument": _invalid_argument,
}
