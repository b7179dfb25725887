"""Message types from the file that `protoc --descriptor_set_out` writes."""

from __future__ import annotations

from typing import Any

from recordsmith.errors import SchemaError, did_you_mean, import_extra, list_names

__all__ = ["message_class"]

_MOST_BYTES = 64 << 20
_PURPOSE = "Reading protobuf messages"
_ADVICE = "Write it with `protoc --include_imports --descriptor_set_out=types.pb types.proto`."


def message_class(content: bytes, name: str, path: str) -> Any:
    """Return the class of a message type.

    Args:
        content: a serialized FileDescriptorSet, or a single FileDescriptorProto.
        name: the full name of the type, such as "waymo.open_dataset.Frame".
        path: where the content comes from, for messages.
    """
    if len(content) > _MOST_BYTES:
        raise SchemaError("The descriptor file is too large.", path=path, expected=f"at most {_MOST_BYTES:,} bytes")
    pools = import_extra("google.protobuf.descriptor_pool", "protobuf", purpose=_PURPOSE)
    factory = import_extra("google.protobuf.message_factory", "protobuf", purpose=_PURPOSE)
    files = {file.name: file for file in _files(content, path)}
    pool = pools.DescriptorPool()
    for file in _in_order(files, path):
        try:
            pool.AddSerializedFile(file.SerializeToString())
        except (TypeError, ValueError) as error:
            raise SchemaError(
                "The descriptor file contradicts itself.",
                path=path,
                found=f"{file.name}: {str(error)[:200]}",
                advice=_ADVICE,
            ) from None
    try:
        return factory.GetMessageClass(pool.FindMessageTypeByName(name))
    except KeyError:
        known = sorted(known for file in files.values() for known in _names(file.message_type, file.package))
        short = {full.rpartition(".")[2]: full for full in reversed(known)}
        meant = f" Did you mean {short[name]!r}?" if name in short else did_you_mean(name, known)
        raise SchemaError(
            f"The descriptor file has no message type {name!r}.{meant}", path=path, expected=list_names(known, 16)
        ) from None


def _files(content: bytes, path: str) -> list[Any]:
    """Return the descriptions of .proto files."""
    types = import_extra("google.protobuf.descriptor_pb2", "protobuf", purpose=_PURPOSE)
    errors = import_extra("google.protobuf.message", "protobuf", purpose=_PURPOSE)
    for kind in (types.FileDescriptorSet, types.FileDescriptorProto):
        try:
            parsed: Any = kind.FromString(content)
        except errors.DecodeError:
            continue
        found = list(parsed.file) if kind is types.FileDescriptorSet else [parsed]
        if found and all(file.name and (file.message_type or file.dependency or file.enum_type) for file in found):
            return found
    raise SchemaError("This is not a descriptor file of protobuf.", path=path, advice=_ADVICE)


def _in_order(files: dict[str, Any], path: str) -> list[Any]:
    """Return files after those that they import; those of protobuf itself are known."""
    left = dict(files)
    for name in [needed for file in files.values() for needed in file.dependency if needed not in files]:
        known = _well_known(name)
        if known is None:
            raise SchemaError(f"The descriptor file lacks {name!r}, which it imports.", path=path, advice=_ADVICE)
        left[name] = known
    done: dict[str, Any] = {}
    while left:
        ready = [file for file in left.values() if all(needed in done for needed in file.dependency)]
        if not ready:
            raise SchemaError("The descriptor file has files that import each other.", path=path, found=min(left))
        for file in ready:
            done[file.name] = left.pop(file.name)
    return list(done.values())


def _well_known(name: str) -> Any:
    """Return the description of a file that comes with protobuf; None if it does not."""
    if not name.startswith("google/protobuf/"):
        return None
    types = import_extra("google.protobuf.descriptor_pb2", "protobuf", purpose=_PURPOSE)
    module = name.removesuffix(".proto").replace("/", ".") + "_pb2"
    try:
        known = import_extra(module, "protobuf", purpose=_PURPOSE)
    except ImportError:
        return None
    found = types.FileDescriptorProto()
    known.DESCRIPTOR.CopyToProto(found)
    return found


def _names(messages: Any, package: str) -> list[str]:
    found = []
    for message in messages:
        name = f"{package}.{message.name}" if package else message.name
        found += [name, *_names(message.nested_type, name)]
    return found
