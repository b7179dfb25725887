"""Rules on features that are bytes: slicing them, and reading numbers out of them."""

from __future__ import annotations

import math
from collections.abc import Iterator

from recordsmith.doctor.lint.edits import Edit
from recordsmith.doctor.lint.interpreter.values import Call, Element, Group, Item, Literal, Slice, Value, options_of
from recordsmith.doctor.lint.libraries.arrays import dtype_named
from recordsmith.doctor.lint.libraries.tensorflow.parse_specs import parse_specs, parsed_feature_of
from recordsmith.doctor.lint.libraries.tensorflow.written_features import WrittenFeature, features_of
from recordsmith.doctor.lint.program import Program
from recordsmith.rules import Finding, Severity, rule

__all__ = ["RAW_BYTES_RULES"]

_SIZES = {"uint8": 1, "int8": 1, "bool": 1, "uint16": 2, "int16": 2, "float16": 2, "bfloat16": 2, "int32": 4,
          "uint32": 4, "float32": 4, "int64": 8, "uint64": 8, "float64": 8}  # fmt: skip
_DECODES = {"tensorflow.io.decode_raw"}
_SAME_COUNT = {"tensorflow.cast", "tensorflow.identity", "tensorflow.image.convert_image_dtype"}


@rule("P015", "scalar-string-sliced", Severity.ERROR)
def scalar_string_sliced(program: Program) -> Iterator[Finding]:
    """A string tensor is sliced as if it were Python bytes.

    Why it matters:
        A scalar string tensor is one value, not a sequence of bytes. TensorFlow refuses:
        "Attempting to slice scalar input."

    Example:
        `parsed["blob"][:512]`

    Fix:
        `tf.strings.substr(parsed["blob"], 0, 512)`; or decode first, and slice the numbers.
    """
    for item in program.items:
        if not isinstance(item, Item) or item.attribute or not isinstance(item.index, Slice | Literal):
            continue
        if item.node is None or not _is_scalar_string(item.base):
            continue
        base = program.text(item.node.value)  # type: ignore[attr-defined]
        new = _substr(program, base, item.index)
        begin, end = getattr(item.node, "source", program.source).span(item.node)
        yield program.finding(
            scalar_string_sliced,
            item.node,
            f"`{base}` is one string, not a row of bytes, and cannot be sliced: TensorFlow raises "
            '"Attempting to slice scalar input".',
            edits=None if new is None else [Edit(begin, end, new)],
            certain=new is not None,
        )


def _is_scalar_string(value: Value) -> bool:
    feature = parsed_feature_of(value)
    if feature is not None:
        return feature.form == "fixed" and feature.shape == () and feature.dtype == "string"
    if isinstance(value, Element):
        return value.kind in ("record", "path", "line") and not value.batched
    return isinstance(value, Call) and value.name == "tensorflow.io.read_file"


def _substr(program: Program, base: str, index: Value) -> str | None:
    substr = program.alias("tensorflow.strings.substr")
    if not isinstance(index, Slice) or index.step is not None:
        return None
    lower = 0 if index.lower is None else _whole(index.lower)
    upper = _whole(index.upper)
    if lower is None or (index.upper is not None and upper is None):
        return None
    if upper is not None:
        return f"{substr}({base}, {lower}, {upper - lower})"
    length = program.alias("tensorflow.strings.length")
    return f"{substr}({base}, {lower}, {length}({base}) - {lower})"


def _whole(bound: Value | None) -> int | None:
    return bound.value if isinstance(bound, Literal) and isinstance(bound.value, int) and bound.value >= 0 else None


@rule("P016", "decode-raw-to-string", Severity.ERROR)
def decode_raw_to_string(program: Program) -> Iterator[Finding]:
    """`decode_raw` is asked for strings.

    Why it matters:
        `decode_raw` turns bytes into numbers; for strings it fails. Text that was parsed as tf.string needs no
        decoding.

    Example:
        `tf.io.decode_raw(example["name"], tf.string)`

    Fix:
        Use the parsed feature as it is: `example["name"]`. In eager Python, `.numpy().decode()` makes a str of it.
    """
    for call in program.calls:
        if call.name not in _DECODES or dtype_named(call.argument(1, "out_type")) != "string":
            continue
        node = call.expression
        edits = None
        if node.args:
            begin, end = getattr(node, "source", program.source).span(node)
            edits = [Edit(begin, end, program.text(node.args[0]))]
        yield program.finding(
            decode_raw_to_string,
            node,
            "`decode_raw` cannot make strings: it turns bytes into numbers, and raises for tf.string. The parsed "
            "feature already is the string.",
            edits=edits,
            certain=edits is not None,
        )


@rule("P017", "decode-raw-other-dtype", Severity.ERROR)
def decode_raw_other_dtype(program: Program) -> Iterator[Finding]:
    """Bytes are decoded as another dtype than they were written from.

    What was written is known from the code that writes, or from the size of the stored values.

    Why it matters:
        Bytes do not say what they are. Eight bytes of one float64 read as float32 are two meaningless numbers; no error
        is raised as long as the count happens to fit, and the model is trained on noise.

    Example:
        Written with `(image / 255.0).tobytes()`, which is float64, and read with `tf.io.decode_raw(x, tf.float32)`.

    Fix:
        Decode with the dtype that was written, and cast afterwards; or write `array.astype("float32").tobytes()`.
    """
    for call in program.calls:
        if call.name not in _DECODES:
            continue
        wanted = dtype_named(call.argument(1, "out_type"))
        name = _feature_name(call.argument(0, "input_bytes", "bytes"))
        if wanted is None or wanted == "string" or name is None:
            continue
        yield from _against_code(program, call, name, wanted)
    yield from _parsed_otherwise(program)
    if program.data is not None:
        for call in program.calls:
            if call.name == "tensorflow.reshape":
                yield from _against_sizes(program, call)


def _parsed_otherwise(program: Program) -> Iterator[Finding]:
    """`parse_tensor` with another type than `serialize_tensor` was given: it raises."""
    for call in program.calls:
        name = _feature_name(call.argument(0, "serialized")) if call.name == "tensorflow.io.parse_tensor" else None
        wanted = dtype_named(call.argument(1, "out_type"))
        if name is None or wanted is None:
            continue
        stored = {feature.tensor_dtype for feature in _written(program, call, name)}
        if len(stored) == 1 and (dtype := stored.pop()) is not None and dtype != wanted:
            yield program.finding(
                decode_raw_other_dtype,
                call.expression,
                f"{name!r} is written by `serialize_tensor` as {dtype} and parsed as {wanted}: `parse_tensor` raises "
                "an error for each record.",
                evidence={"written": dtype, "read": wanted},
                feature=name,
            )


def _against_code(program: Program, call: Call, name: str, wanted: str) -> Iterator[Finding]:
    features = _written(program, call, name)
    if features and all(feature.is_serialized_tensor for feature in features):
        yield program.finding(
            decode_raw_other_dtype,
            call.expression,
            f"{name!r} is written with `tf.io.serialize_tensor`, which adds a header: `decode_raw` reads header and "
            "values as numbers.",
            advice=f"Read it with `tf.io.parse_tensor(x, tf.{wanted})`.",
            feature=name,
        )
        return
    dtypes = {feature.raw_dtype for feature in features}
    if len(dtypes) != 1:
        return
    (stored,) = dtypes
    if stored is None or stored == wanted or stored not in _SIZES or {stored, wanted} <= {"uint8", "bool"}:
        return
    node = call.expression
    place = node.args[1] if len(node.args) > 1 else next(one.value for one in node.keywords if one.arg == "out_type")
    begin, end = getattr(node, "source", program.source).span(place)
    yield program.finding(
        decode_raw_other_dtype,
        node,
        f"{name!r} is written as {stored} and decoded as {wanted}: the numbers that come out are meaningless, and "
        f"there are {_times(_SIZES[stored], _SIZES[wanted])} as many of them.",
        edits=[Edit(begin, end, program.alias(f"tensorflow.{stored}"))],
        certain=False,
        evidence={"written": stored, "read": wanted},
        feature=name,
    )


def _times(stored: int, read: int) -> str:
    return f"{stored // read} times" if stored > read else "just" if stored == read else f"1/{read // stored}"


def _written(program: Program, call: Call, name: str) -> list[WrittenFeature]:
    value = call.argument(0, "input_bytes", "bytes", "serialized")
    parser = value.base if isinstance(value, Item) else None
    serialized = parser.argument(0, "serialized") if isinstance(parser, Call) else None
    names = [feature for spec in parse_specs([parser]) for feature in spec.features] if isinstance(parser, Call) else []
    examples = features_of(serialized) or program.written_for(serialized, names or [name])
    return [one.features[name] for one in examples if name in one.features]


def _feature_name(value: Value | None) -> str | None:
    if isinstance(value, Item) and isinstance(value.index, Literal) and isinstance(value.index.value, str):
        return value.index.value
    return None


def _against_sizes(program: Program, reshape: Call) -> Iterator[Finding]:
    shape = _constant_shape(reshape.argument(1, "shape"))
    decode = reshape.argument(0, "tensor")
    while isinstance(decode, Call) and decode.name in _SAME_COUNT:
        decode = decode.argument(0)
    if shape is None or not isinstance(decode, Call) or decode.name not in _DECODES or program.data is None:
        return
    wanted = dtype_named(decode.argument(1, "out_type"))
    name = _feature_name(decode.argument(0, "input_bytes", "bytes"))
    facts = None if name is None else program.data.feature(name)
    if wanted not in _SIZES or facts is None or facts.strings is None or not facts.strings.lengths.fixed:
        return
    count, stored = math.prod(shape), facts.strings.lengths.min
    if count * _SIZES[wanted] == stored or count == 0:
        return
    fitting = [dtype for dtype in ("uint8", "float16", "float32", "float64") if count * _SIZES[dtype] == stored]
    hint = f" {stored:,} bytes are {count:,} values of {fitting[0]}." if fitting else ""
    yield program.finding(
        decode_raw_other_dtype,
        decode.expression,
        f"{name!r} holds {stored:,} bytes in each record, but {list(shape)} of {wanted} needs "
        f"{count * _SIZES[wanted]:,}.{hint}",
        evidence={"bytes": stored, "needed": count * _SIZES[wanted]},
        feature=name,
    )


def _constant_shape(value: Value | None) -> tuple[int, ...] | None:
    for one in options_of(value):
        if isinstance(one, Group):
            sizes = [member.value for member in one.members if isinstance(member, Literal)]
            if len(sizes) == len(one.members) and all(isinstance(size, int) and size > 0 for size in sizes):
                return tuple(sizes)
    return None


RAW_BYTES_RULES = [scalar_string_sliced, decode_raw_to_string, decode_raw_other_dtype]
