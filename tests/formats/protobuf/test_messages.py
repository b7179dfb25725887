"""TFRecords of protobuf messages of any type: every field as a column, compared with what protobuf itself parses."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import click.testing
import numpy as np
import pytest

import recordsmith as rs
from recordsmith.cli import main
from tests.made_records import file_bytes

pb = pytest.importorskip("google.protobuf.descriptor_pb2")
from google.protobuf import descriptor_pool, message_factory  # noqa: E402 - after the check that it is installed

_TYPES = {name.removeprefix("TYPE_").lower(): number for name, number in pb.FieldDescriptorProto.Type.items()}


def field(name: str, number: int, kind: str, *, repeated: bool = False, **more: Any) -> Any:
    label = pb.FieldDescriptorProto.LABEL_REPEATED if repeated else pb.FieldDescriptorProto.LABEL_OPTIONAL
    if "." in kind:
        more["type_name"], kind = kind.partition(" ")[2], kind.partition(" ")[0]
    return pb.FieldDescriptorProto(name=name, number=number, type=_TYPES[kind], label=label, **more)


def descriptor() -> Any:
    numbers = ["double", "float", "int32", "int64", "uint32", "uint64", "sint32", "sint64", "fixed32", "fixed64"]
    numbers += ["sfixed32", "sfixed64", "bool", "string", "bytes"]
    box = pb.DescriptorProto(
        name="Box",
        field=[
            field("x", 1, "double"),
            field("name", 2, "string"),
            field("kind", 3, "enum .zoo.Kind"),
            field("points", 4, "float", repeated=True),
            field("when", 5, "message .google.protobuf.Timestamp"),
        ],
    )
    entry = pb.DescriptorProto(
        name="CountsEntry",
        field=[field("key", 1, "string"), field("value", 2, "int32")],
        options=pb.MessageOptions(map_entry=True),
    )
    frame = pb.DescriptorProto(
        name="Frame",
        field=[
            *(field(f"one_{kind}", 1 + place, kind) for place, kind in enumerate(numbers)),
            *(field(f"many_{kind}", 21 + place, kind, repeated=True) for place, kind in enumerate(numbers)),
            field("kind", 41, "enum .zoo.Kind"),
            field("level", 42, "enum .zoo.Level"),
            field("maybe", 43, "int64", proto3_optional=True, oneof_index=0),
            field("box", 44, "message .zoo.Box"),
            field("boxes", 45, "message .zoo.Box", repeated=True),
            field("parent", 46, "message .zoo.Frame"),
            field("counts", 47, "message .zoo.Frame.CountsEntry", repeated=True),
        ],
        nested_type=[entry],
        oneof_decl=[pb.OneofDescriptorProto(name="_maybe")],
    )
    kinds = pb.EnumDescriptorProto(name="Kind")
    levels = pb.EnumDescriptorProto(name="Level")
    for enum, values in ((kinds, {"CAT": 0, "DOG": 1}), (levels, {"LOW": 0, "HIGH": 10})):
        for name, number in values.items():
            enum.value.add(name=name, number=number)
    return pb.FileDescriptorProto(
        name="zoo.proto",
        package="zoo",
        syntax="proto3",
        message_type=[frame, box],
        enum_type=[kinds, levels],
        dependency=["google/protobuf/timestamp.proto"],
    )


def frame_class() -> Any:
    from google.protobuf import timestamp_pb2

    pool = descriptor_pool.DescriptorPool()
    pool.AddSerializedFile(timestamp_pb2.DESCRIPTOR.serialized_pb)
    pool.AddSerializedFile(descriptor().SerializeToString())
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("zoo.Frame"))


LIMITS: dict[str, Any] = {
    "double": [0.1, -1e300],
    "float": [0.5, -2.25],
    "bool": [True, False],
    "string": ["é", ""],
    "bytes": [b"\xff\x00", b""],
    **{name: [-(2**31), 2**31 - 1] for name in ("int32", "sint32", "sfixed32")},
    **{name: [-(2**63), 2**63 - 1] for name in ("int64", "sint64", "sfixed64")},
    **{name: [0, 2**32 - 1] for name in ("uint32", "fixed32")},
    **{name: [1, 2**64 - 1] for name in ("uint64", "fixed64")},
}


def frames(count: int) -> list[Any]:
    kind = frame_class()
    made = []
    for n in range(count):
        frame = kind(kind=n % 2, level=10 * (n % 2))
        for name, values in LIMITS.items():
            setattr(frame, f"one_{name}", values[n % 2])
            getattr(frame, f"many_{name}").extend((values * 3)[: n % 5])
        if n % 2:
            frame.maybe = n
            frame.box.x = n / 3
            frame.box.when.seconds = 10**9 + n
            frame.parent.maybe = 7
        for number in range(n % 4):
            box = frame.boxes.add(x=number, name=f"box {number}", kind=number % 2)
            box.points.extend(range(number))
        frame.counts.update({"b": n, "a": -n})
        made.append(frame)
    return made


@pytest.fixture
def types(tmp_path: Path) -> Path:
    path = tmp_path / "types.pb"
    path.write_bytes(pb.FileDescriptorSet(file=[descriptor()]).SerializeToString())
    return path


def check(row: Any, frame: Any) -> None:
    for name in LIMITS:
        found, wanted = row[f"one_{name}"], getattr(frame, f"one_{name}")
        assert (found.item() if isinstance(found, np.generic) else found) == wanted
        many = row[f"many_{name}"]
        assert (many.tolist() if isinstance(many, np.ndarray) else many) == list(getattr(frame, f"many_{name}"))
    assert (row["kind"], row["level"]) == (frame.kind, frame.level)
    assert row["maybe"] == (frame.maybe if frame.HasField("maybe") else None)
    assert row["box/x"] == (frame.box.x if frame.HasField("box") else None)
    assert row["box/when/seconds"] == (frame.box.when.seconds if frame.box.HasField("when") else None)
    assert row["parent"] == (frame.parent.SerializeToString() if frame.HasField("parent") else None)
    assert row["boxes/x"].tolist() == [box.x for box in frame.boxes]
    assert row["boxes/name"] == [box.name for box in frame.boxes]
    assert row["boxes/kind"].tolist() == [box.kind for box in frame.boxes]
    assert [points.tolist() for points in row["boxes/points"]] == [list(box.points) for box in frame.boxes]
    assert (row["counts/key"], row["counts/value"].tolist()) == (["a", "b"], [frame.counts["a"], frame.counts["b"]])


@pytest.mark.source("protobuf", keeps="every field: numbers, text, bytes, enums, nested and repeated messages, maps")
def test_every_field_is_a_column(types: Path, tmp_path: Path):
    made = frames(40)
    (tmp_path / "a.tfrecord").write_bytes(file_bytes([frame.SerializeToString() for frame in made]))
    ds = rs.open(tmp_path / "a.tfrecord", descriptor=types, message="zoo.Frame")
    assert ds.schema["kind"] == rs.Label(["CAT", "DOG"])
    assert ds.schema["level"] == rs.Scalar("int64", description="0 LOW, 10 HIGH")
    assert ds.schema["boxes/points"] == rs.Sequence(rs.Sequence(rs.Scalar("float32")))
    assert len(ds) == 40
    for row, frame in zip(ds, made, strict=True):
        check(row, frame)
    check(pickle.loads(pickle.dumps(ds))[33], made[33])
    some = ds.select("one_double", "boxes/points")
    assert list(some[3]) == ["one_double", "boxes/points"]
    seen = [n for batch in ds.select("one_int64", "maybe").shuffle(seed=1).batch(7) for n in batch["maybe"].tolist()]
    assert sorted(n for n in seen if n is not None) == list(range(1, 40, 2))


@pytest.mark.source("protobuf", keeps="every field: numbers, text, bytes, enums, nested and repeated messages, maps")
def test_made_into_a_dataset_by_the_command(types: Path, tmp_path: Path):
    made = frames(30)
    (tmp_path / "a.tfrecord").write_bytes(file_bytes([frame.SerializeToString() for frame in made]))
    arguments = ["make", str(tmp_path / "a.tfrecord"), "-o", str(tmp_path / "out"), "--no-shuffle"]
    result = click.testing.CliRunner().invoke(
        main, [*arguments, "--descriptor", str(types), "--message", "zoo.Frame"], catch_exceptions=False
    )
    assert result.exit_code == 0, result.output
    ds = rs.open(tmp_path / "out")
    for row, frame in zip(ds, made, strict=True):
        check(row, frame)


def test_unknown_types_and_other_files(types: Path, tmp_path: Path):
    data = tmp_path / "a.tfrecord"
    data.write_bytes(file_bytes([frames(1)[0].SerializeToString()]))
    for name in ("Frame", "zoo.Frme"):
        with pytest.raises(rs.SchemaError, match=r"Did you mean 'zoo\.Frame'"):
            rs.open(data, descriptor=types, message=name)
    (tmp_path / "text.pb").write_text("syntax = 'proto3';")
    with pytest.raises(rs.SchemaError, match="not a descriptor file"):
        rs.open(data, descriptor=tmp_path / "text.pb", message="zoo.Frame")
    with pytest.raises(FileNotFoundError):
        rs.open(data, descriptor=tmp_path / "none.pb", message="zoo.Frame")


def test_descriptors_that_lie(types: Path, tmp_path: Path):
    data = tmp_path / "a.tfrecord"
    data.write_bytes(file_bytes([frames(1)[0].SerializeToString()]))
    lies: dict[str, Any] = {"lacks": descriptor(), "contradicts": descriptor(), "import each other": descriptor()}
    lies["lacks"].dependency.append("missing.proto")
    lies["contradicts"].message_type[0].field[0].CopyFrom(field("x", 1, "message .zoo.Nowhere"))
    lies["import each other"].dependency.append("zoo.proto")
    for words, lie in lies.items():
        types.write_bytes(pb.FileDescriptorSet(file=[lie]).SerializeToString())
        with pytest.raises(rs.SchemaError, match=words):
            rs.open(data, descriptor=types, message="zoo.Frame")
    other = pb.FileDescriptorProto(name="o.proto", syntax="proto3")
    other.message_type.add(name="Other").field.append(field("x", 500, "int64"))
    types.write_bytes(pb.FileDescriptorSet(file=[other]).SerializeToString())
    with pytest.raises(rs.SchemaMismatchError, match="not a message of the type 'Other'") as caught:
        _ = rs.open(data, descriptor=types, message="Other")[0]
    assert (caught.value.path, caught.value.record) == (str(data), 0)


def test_records_that_are_no_messages_are_rejects(types: Path, tmp_path: Path):
    payloads = [frame.SerializeToString() for frame in frames(10)]
    payloads[4] = b"\xff\xff\xff"
    (tmp_path / "a.tfrecord").write_bytes(file_bytes(payloads))
    source = rs.sources.tfrecords(tmp_path / "a.tfrecord", descriptor=types, message="zoo.Frame")
    made = rs.make(source, tmp_path / "out", shuffle=False)
    assert (made.rejects, len(rs.open(tmp_path / "out"))) == (1, 9)
    assert "record 4" in (tmp_path / "out" / "rejected.jsonl").read_text()


def test_extensions_are_columns(tmp_path: Path):
    base = pb.DescriptorProto(name="Base", field=[field("n", 1, "int32")])
    base.extension_range.add(start=100, end=200)
    extensions = [
        field("color", 101, "string", extendee=".ext.Base"),
        field("sizes", 100, "int32", repeated=True, extendee=".ext.Base"),
    ]
    file = pb.FileDescriptorProto(
        name="ext.proto", package="ext", syntax="proto2", message_type=[base], extension=extensions
    )
    (tmp_path / "types.pb").write_bytes(pb.FileDescriptorSet(file=[file]).SerializeToString())
    pool = descriptor_pool.DescriptorPool()
    pool.AddSerializedFile(file.SerializeToString())
    kind = message_factory.GetMessageClass(pool.FindMessageTypeByName("ext.Base"))
    first, second = kind(n=1), kind(n=2)
    first.Extensions[pool.FindExtensionByName("ext.color")] = "red"
    first.Extensions[pool.FindExtensionByName("ext.sizes")].extend([3, 4])
    records = [first.SerializeToString(), second.SerializeToString()]
    (tmp_path / "a.tfrecord").write_bytes(file_bytes(records))
    ds = rs.open(tmp_path / "a.tfrecord", descriptor=tmp_path / "types.pb", message="ext.Base")
    assert list(ds.schema) == ["n", "[ext.sizes]", "[ext.color]"]
    assert [(row["n"], row["[ext.sizes]"].tolist(), row["[ext.color]"]) for row in ds] == [
        (1, [3, 4], "red"),
        (2, [], None),
    ]
