"""What the native core's failures mean, in words.

The core reports a code and facts; here they become one of the exceptions of `recordsmith.errors`, with advice. Called
by the native module alone.
"""

from __future__ import annotations

import errno
import os

from recordsmith.errors import (
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
from recordsmith.file_signatures import describe_content

__all__ = ["StaleIndexError", "exception_for"]


class StaleIndexError(RecordsmithError):
    """The file is not the one that was indexed: the caller builds the index anew and tries once more.

    >>> print(StaleIndexError("The file changed.", path="a.tfrecord"))
    The file changed.
      where:    a.tfrecord
    """


def exception_for(
    code: str,
    path: str,
    offset: int | None,
    record: int | None,
    feature: str,
    found: str,
    expected: str,
    detail: str,
    names: list[str],
    system_error: int,
) -> BaseException:
    """Build the exception for one failure of the core.

    >>> print(exception_for("truncated", "a.tfrecord", 40, 2, "", "7", "12", "", [], 0))
    The file ends inside record 2: it was cut short, or is still being written.
      where:    a.tfrecord, record 2, byte 40
      found:    7 bytes from there to the end
      expected: at least 12 bytes
      to do:    The records before it can be read. Copy or write the file again if they are not enough.
    """
    place = {"path": path or None, "record": record, "offset": offset}
    match code:
        case "corrupt_length":
            return _corrupt_length(path, offset, record, found)
        case "corrupt_data":
            return CorruptRecordError(
                f"The data of record {record} does not match its checksum: it was changed after it was written.",
                **place,
                found=f"data with masked CRC-32C {found}",
                expected=f"the stored {expected}",
                advice="Copy the file again from its source. The records before and after this one may be sound; "
                "verify=False reads them all, this one as it is.",
            )
        case "truncated":
            return TruncatedFileError(
                f"The file ends inside record {record}: it was cut short, or is still being written.",
                **place,
                found=f"{found} bytes from there to the end",
                expected=f"at least {expected} bytes",
                advice="The records before it can be read. Copy or write the file again if they are not enough.",
            )
        case "too_large" if detail == "message":
            return EncodeError(
                "The row is too large for one record: protobuf messages end at 2 GiB.",
                row=record,
                feature=feature or None,
                found=f"{found} bytes",
                expected=f"at most {expected} bytes",
                advice="Store large data in pieces, or as files of their own with their names in the record.",
            )
        case "too_large":
            return CorruptRecordError(
                f"Record {record} claims a length that no file can have, although the length's checksum holds.",
                **place,
                found=f"{found} bytes",
                advice="The file was made to mislead, or by broken software. Do not trust it.",
            )
        case "compression":
            return CompressionError(
                f"The {expected} data cannot be read on: {detail}.",
                path=path or None,
                record=record,
                found=None if offset is None else f"damage at or before byte {offset} of the compressed file",
                expected=f"whole {expected} streams, one after the other, and nothing else",
                advice=_compression_advice(path, expected),
            )
        case "malformed":
            return CorruptRecordError(
                f"The record's payload is not a valid tf.train.Example: {detail}.",
                **place,
                feature=feature or None,
                advice="Its checksum holds or was not asked for, so it was written this way. If it holds something else, "
                "read it with RecordReader or Dataset.raw.",
            )
        case "missing_feature":
            return SchemaMismatchError(
                f"Feature {feature!r} is missing.{did_you_mean(feature, names)}",
                **place,
                feature=feature,
                found=f"features {list_names(names)}" if names else "a record without features",
                expected=f"a {expected} list",
                advice="Correct the name in the schema, or declare the feature with optional=True or a default.",
            )
        case "wrong_kind":
            return SchemaMismatchError(
                f"Feature {feature!r} holds another kind of value than the schema says{_at_step(detail)}.",
                **place,
                feature=feature,
                found=f"a {found} list" if found != "nothing" else "no list at all",
                expected=f"a {expected} list",
                advice="Change the feature's type in the schema, or write the data again.",
            )
        case "wrong_count":
            return SchemaMismatchError(
                f"Feature {feature!r} has another number of values than the schema says{_at_step(detail)}.",
                **place,
                feature=feature,
                found=f"{found} values",
                expected=f"{expected} values",
                advice="Declare a dimension that varies as None, as in Tensor('float32', (None,)), "
                "or correct the shape.",
            )
        case "wrong_byte_length":
            return SchemaMismatchError(
                f"Feature {feature!r} has another size in bytes than its dtype and shape take{_at_step(detail)}.",
                **place,
                feature=feature,
                found=f"{found} bytes",
                expected=f"{expected} bytes",
                advice="Correct the dtype or the shape in the schema, or declare the feature as Bytes.",
            )
        case "changed":
            return StaleIndexError("The file is not the one that was indexed: it has changed since.", **place)
        case "system":
            return _system_error(path, detail, system_error)
        case _:
            return SchemaError(f"{detail[:1].upper()}{detail[1:]}.", path=path or None, feature=feature or None)


def _at_step(detail: str) -> str:
    return f", at {detail}" if detail else ""


def _corrupt_length(path: str, offset: int | None, record: int | None, found: str) -> RecordsmithError:
    if offset == 0:
        content = describe_content(path)
        return NotTFRecordError(
            f"This is not a TFRecord file: it {content.looks_like}.",
            path=path or None,
            found=content.found,
            expected="a record header: eight bytes of length and their CRC-32C",
            advice=content.advice,
        )
    return CorruptRecordError(
        f"The length of record {record} does not match its checksum, so it is not known where the next record begins.",
        path=path or None,
        record=record,
        offset=offset,
        found=f"a length of {found} bytes with another checksum",
        advice="The records before it can be read. Copy the file again from its source.",
    )


def _compression_advice(path: str, expected: str) -> str:
    content = describe_content(path)
    if content.is_plain_tfrecord:
        return "The file is not compressed. Leave compression at 'auto', or pass compression=None."
    if content.compression not in (None, expected):
        return f"The file is {content.compression}. Leave compression at 'auto', or name it."
    return "The records before the damage can be read. Copy the file again from its source."


_HINTS = {
    errno.ENOSPC: "Free some space, or write elsewhere. Nothing was left under the final name.",
    errno.EDQUOT: "Free some space, or write elsewhere. Nothing was left under the final name.",
    errno.EFBIG: "The file reached the largest size allowed here (ulimit -f). Write more and smaller shards.",
    errno.EMFILE: "Too many files are open in this process (ulimit -n). Close some, or raise the limit.",
}


def _system_error(path: str, action: str, number: int) -> OSError:
    if number == errno.ENOMEM and not path:
        return MemoryError(f"Not enough memory to {action}.")  # type: ignore[return-value]
    error = OSError(number, os.strerror(number), path)
    hint = _HINTS.get(number)
    if hint is not None:
        error.add_note(hint)
    return error
