"""Records that are no Examples as rows: their bytes as they are, or the fields of protobuf messages."""

from __future__ import annotations

import os
from typing import Any, Protocol

import numpy as np

from recordsmith.columns import ByteColumn
from recordsmith.columns.offset_column import offsets_of
from recordsmith.errors import PipelineError, SchemaError
from recordsmith.formats.protobuf.messages import ProtobufMessages
from recordsmith.schema import Bytes, Schema

__all__ = ["PAYLOAD", "PayloadDecoder", "RawPayloads", "payload_decoder"]

PAYLOAD = "payload"
"""The only feature of records that are read raw."""


class PayloadDecoder(Protocol):
    """Decodes payloads to columns. It is pickled to where they are decoded."""

    @property
    def schema(self) -> Schema:
        """What the columns are."""

    def columns(self, payloads: list[bytes], schema: Schema) -> dict[str, Any]:
        """Decode payloads to the columns of a part of the schema; an error says which of them it is about."""


class RawPayloads:
    """Gives the bytes of each record."""

    schema = Schema({PAYLOAD: Bytes(description="the record as it is stored")})

    def columns(self, payloads: list[bytes], schema: Schema) -> dict[str, Any]:
        """Return one column of bytes."""
        data = np.frombuffer(b"".join(payloads), np.uint8)
        column = ByteColumn.unchecked(data, offsets_of([len(payload) for payload in payloads]))
        return dict.fromkeys(schema, column)


def payload_decoder(
    schema: Schema | None, *, raw: bool, descriptor: str | os.PathLike[str] | None, message: str | None
) -> PayloadDecoder | None:
    """Return the decoder that was asked for; None for Examples."""
    if not isinstance(schema, Schema | None):
        raise SchemaError(
            "schema must be an rs.Schema.",
            found=repr(schema),
            advice="Write rs.Schema({...}), or read a saved one with rs.Schema.load(path).",
        )
    if (descriptor is None) != (message is None):
        raise PipelineError(
            "descriptor and message must be given together.",
            found=f"descriptor={descriptor!r}, message={message!r}",
            advice="Give the file of `protoc --descriptor_set_out`, and the full name of the type in it.",
        )
    asked = [
        name for name, given in (("schema", schema is not None), ("raw", raw), ("descriptor", descriptor)) if given
    ]
    if len(asked) > 1:
        raise PipelineError("schema, raw and descriptor cannot be used together.", found=" and ".join(asked))
    if descriptor is not None and message is not None:
        return ProtobufMessages(descriptor, message)
    return RawPayloads() if raw else None
