"""Rules on bytes that are read in another form than they were written: encoded or raw, and the shape of arrays."""

from __future__ import annotations

import math
from collections.abc import Iterator

from recordsmith.doctor.lint.interpreter.values import Call, Group, Item, Literal, Value, walk
from recordsmith.doctor.lint.libraries.arrays import dtype_named, dtype_of
from recordsmith.doctor.lint.libraries.image_shapes import array_shape
from recordsmith.doctor.lint.libraries.scaling import is_decoder
from recordsmith.doctor.lint.libraries.tensorflow.parse_specs import parse_specs
from recordsmith.doctor.lint.libraries.tensorflow.record_paths import paths_meet, read_paths
from recordsmith.doctor.lint.libraries.tensorflow.written_features import WrittenExample, WrittenFeature, features_of
from recordsmith.doctor.lint.program import Program
from recordsmith.rules import Finding, Severity, rule

__all__ = ["STORED_FORM_RULES"]

_RAW = "tensorflow.io.decode_raw"
_TENSOR = "tensorflow.io.parse_tensor"
_SAME_COUNT = {"tensorflow.cast", "tensorflow.identity", "tensorflow.image.convert_image_dtype", _RAW}
_EXAMPLE_PARSERS = {"tensorflow.io.parse_single_example", "tensorflow.io.parse_example"}


def _read_features(program: Program, value: Value | None) -> tuple[str, list[WrittenExample]] | None:
    """The name of a parsed feature, and the Examples of the program that it is read from."""
    parser = value.base if isinstance(value, Item) else None
    if not isinstance(parser, Call) or not isinstance(value, Item) or not isinstance(value.index, Literal):
        return None
    serialized = parser.argument(0, "serialized")
    names = [feature for spec in parse_specs([parser]) for feature in spec.features]
    examples = features_of(serialized) or program.written_for(serialized, names or [str(value.index.value)])
    return str(value.index.value), examples


def _written(program: Program, value: Value | None) -> tuple[str, list[WrittenFeature]]:
    found = _read_features(program, value)
    if found is None:
        return "", []
    name, examples = found
    return name, [one.features[name] for one in examples if name in one.features]


@rule("P279", "read-in-another-form", Severity.ERROR)
def read_in_another_form(program: Program) -> Iterator[Finding]:
    """Bytes are written in one form and read in another: an encoded image, raw numbers, or a serialized tensor.

    Why it matters:
        An image file is compressed: `decode_raw` takes its bytes for pixels and gives noise, or a size that fits
        nothing. Raw pixels have no header: `decode_jpeg` refuses them. A serialized tensor has a header that only
        `parse_tensor` knows.

    Example:
        Written with `open("a.jpg", "rb").read()`, read with `tf.io.decode_raw(x, tf.uint8)`.

    Fix:
        Read encoded images with `tf.io.decode_image` or `decode_jpeg`, the bytes of `array.tobytes()` with `decode_raw`
        and the array's dtype, and what `serialize_tensor` wrote with `parse_tensor`.
    """
    for call in program.calls:
        if call.name not in (_RAW, _TENSOR) and not is_decoder(call):
            continue
        name, features = _written(program, call.argument(0, "input_bytes", "contents", "serialized", "bytes"))
        forms = {_form(one) for one in features}
        stored = forms.pop() if len(forms) == 1 else ""
        reads = {_RAW: "raw", _TENSOR: "tensor"}.get(call.name, "encoded")
        if (stored, reads) in (("text", "raw"), ("text", "tensor")):
            continue  # bytes of characters, or base64
        if not stored or stored == reads or (stored, reads) == ("tensor", "raw"):  # the last is P017's
            continue
        reader = call.name.rpartition(".")[2]
        yield program.finding(
            read_in_another_form,
            call.expression,
            f"{name!r} is written as {_FORMS[stored]}, and `{reader}` reads {_FORMS[reads]}: "
            f"{_EFFECTS[stored, reads]}.",
            advice=_ADVICE[stored],
            feature=name,
        )
    yield from _files_taken_for_pixels(program)
    yield from _raw_files(program)


_FORMS = {
    "encoded": "an encoded image",
    "raw": "raw numbers (`tobytes`)",
    "tensor": "a serialized tensor",
    "text": "a text",
}
_EFFECTS = {
    ("encoded", "raw"): "the compressed bytes are read as pixels, and the image is noise or does not fit its shape",
    ("encoded", "tensor"): "reading fails",
    ("raw", "encoded"): "reading fails, because raw pixels are no image file",
    ("raw", "tensor"): "reading fails, because raw numbers have no header",
    ("text", "encoded"): "reading fails, because a text, such as the path of a file, is no image file",
    ("tensor", "encoded"): "reading fails, because a serialized tensor is no image file",
}
_ADVICE = {
    "encoded": "Read it with `tf.io.decode_image(x, channels=3, expand_animations=False)` or `tf.io.decode_jpeg`.",
    "raw": "Read it with `tf.io.decode_raw` and the dtype of the array, then `tf.reshape`; or write the encoded image.",
    "text": "Write the bytes of the file: `open(path, 'rb').read()`.",
    "tensor": "Read it with `tf.io.parse_tensor` and the dtype of the tensor.",
}


def _form(feature: WrittenFeature) -> str:
    if feature.kind != "bytes":
        return ""
    if feature.is_encoded_image:
        return "encoded"
    if feature.is_serialized_tensor:
        return "tensor"
    if isinstance(feature.single, Call) and feature.single.name == ".encode":
        return "text"
    return "raw" if feature.raw_array is not None and feature.raw_dtype is not None else ""


def _files_taken_for_pixels(program: Program) -> Iterator[Finding]:
    """`tf.io.decode_raw(tf.io.read_file("a.png"), tf.uint8)`."""
    for call in program.calls:
        content = call.argument(0, "input_bytes") if call.name == _RAW else None
        if isinstance(content, Call) and WrittenFeature("", "bytes", Group((content,)), None).is_encoded_image:
            yield program.finding(
                read_in_another_form,
                call.expression,
                f"This is an encoded image file, and `decode_raw` reads raw numbers: {_EFFECTS['encoded', 'raw']}.",
                advice=_ADVICE["encoded"],
            )


def _raw_files(program: Program) -> Iterator[Finding]:
    """`array.astype("int16").tofile(path)`, and `np.fromfile(path, dtype="uint8")` or a memmap of the same files."""
    written: list[tuple[str, str]] = []
    for call in program.calls:
        array, place = (call.receiver, call.argument(0)) if call.name == ".tofile" else (None, None)
        if call.name == ".write" and call.args and isinstance(call.args[0], Call) and call.args[0].name == ".tobytes":
            array, place = call.args[0].receiver, _opened(call.receiver)
        dtype, suffix = dtype_of(array), _suffix(place)
        if dtype is not None and suffix:
            written.append((suffix, dtype))
    for call in program.calls:
        place = call.argument(0) if call.name in ("numpy.fromfile", "numpy.memmap") else None
        if (
            call.name == "numpy.frombuffer"
            and isinstance(content := call.argument(0), Call)
            and content.name == ".read"
        ):
            place = _opened(content.receiver)
        dtype = dtype_named(call.argument(1, "dtype") or Literal("float64")) if place is not None else None
        stored = {one for suffix, one in written if suffix == _suffix(place)}
        if dtype is not None and stored and dtype not in stored:
            yield program.finding(
                read_in_another_form,
                call.expression,
                f"These files are written as {min(stored)} and read as {dtype}: the bytes are read as other numbers.",
                advice=f'Read them with `dtype="{min(stored)}"`, or store the dtype too, with `np.save`.',
            )


def _opened(value: Value | None) -> Value | None:
    return value.argument(0) if isinstance(value, Call) and value.name in ("builtins.open", ".open") else None


def _suffix(value: Value | None) -> str:
    """How the names of files end, ".raw", where the source says it."""
    texts = [one.value for one in walk(value, 30) if isinstance(one, Literal) and isinstance(one.value, str)]
    return next((text[text.rindex(".") :] for text in reversed(texts) if "." in text.rpartition("/")[2]), "")


@rule("P280", "reshaped-otherwise-than-written", Severity.ERROR)
def reshaped_otherwise_than_written(program: Program) -> Iterator[Finding]:
    """An array is written in one shape, and its numbers are put into another when it is read.

    Why it matters:
        `tobytes` keeps no shape. With width and height swapped, or channels first instead of last, the count still
        fits and no error is raised, but the image is cut into lines of another length: it is noise.

    Example:
        Written from `cv2.resize(image, (640, 480))`, which has 480 rows, and read with
        `tf.reshape(pixels, [640, 480, 3])`.

    Fix:
        Use the shape of the array that was written: height, width, channels. OpenCV and Pillow take (width, height).
    """
    for call in program.calls:
        if call.name != "tensorflow.reshape" or len(call.args) < 2:
            continue
        value: Value | None = call.args[0]
        while isinstance(value, Call) and value.name in _SAME_COUNT:
            value = value.argument(0, "input_bytes", "bytes")
        found = _read_features(program, value)
        sizes = call.args[1].members if isinstance(call.args[1], Group) else ()
        if found is None or not sizes:
            continue
        name, examples = found
        arrays = [one.features[name].raw_array for one in examples if name in one.features]
        shapes = {array_shape(one) for one in arrays}
        shape = shapes.pop() if len(shapes) == 1 else None
        wanted = [one.value for one in sizes if isinstance(one, Literal) and isinstance(one.value, int)]
        if shape is not None and len(wanted) == len(sizes):
            yield from _against_shape(program, call, name, shape, tuple(wanted))
        elif len(arrays) == 1 and arrays[0] is not None:
            yield from _against_sizes(program, call, name, arrays[0], sizes)


def _against_shape(
    program: Program, call: Call, name: str, shape: tuple[int, ...], wanted: tuple[int, ...]
) -> Iterator[Finding]:
    count = math.prod(shape)
    if -1 in wanted or wanted == shape:
        return
    without = [tuple(one for one in side if one != 1) for side in (shape, wanted)]
    if math.prod(wanted) != count:
        yield program.finding(
            reshaped_otherwise_than_written,
            call.expression,
            f"{name!r} is written from an array of {_times(shape)}, {count:,} values, and {list(wanted)} needs "
            f"{math.prod(wanted):,}: reading fails.",
            feature=name,
        )
    elif without[0] != without[1] and sorted(without[0]) == sorted(without[1]):
        yield program.finding(
            reshaped_otherwise_than_written,
            call.expression,
            f"{name!r} is written from an array of {_times(shape)}, and read as {_times(wanted)}: the values are put "
            "into other places, and what comes out is noise.",
            feature=name,
        )


def _times(shape: tuple[int, ...]) -> str:
    return " × ".join(map(str, shape))


def _against_sizes(
    program: Program, call: Call, name: str, array: Value, sizes: tuple[Value, ...]
) -> Iterator[Finding]:
    """The sizes are features too, `[parsed["width"], parsed["height"], 3]`, written from the array's own shape."""
    axes: list[int | None] = []
    for size in sizes:
        while isinstance(size, Call) and size.name == "tensorflow.cast":
            size = size.args[0]  # noqa: PLW2901 - the number itself
        _, features = _written(program, size)
        found = {_axis(one.single, array) for one in features}
        axes += found if len(found) == 1 else [None]
    known = [one for one in axes if one is not None]
    if len(known) > 1 and known != sorted(known):
        yield program.finding(
            reshaped_otherwise_than_written,
            call.expression,
            f"{name!r} is read with its sizes in another order than it was written with: the values are put into other "
            "places, and what comes out is noise.",
            advice="Use the order of the array that was written: height, width, channels.",
            feature=name,
        )


def _axis(value: Value | None, array: Value) -> int | None:
    """Which size of an array a number is: 0 for `array.shape[0]`."""
    match value:
        case Item(base=Item(base=of, index=Literal(value="shape")), index=Literal(value=int() as axis)):
            return axis if of is array or any(one is of for one in walk(array, 40)) else None
    return None


@rule("P281", "sequence-examples-parsed-as-examples", Severity.ERROR)
def sequence_examples_parsed_as_examples(program: Program) -> Iterator[Finding]:
    """SequenceExamples are written, and parsed as Examples; or the other way round.

    Why it matters:
        The two kinds of records keep their features in different places. A parser for Examples does not see the
        feature lists of a SequenceExample: required features are "required but could not be found", and optional ones
        come out empty in every record.

    Example:
        Written with `tf.train.SequenceExample`, parsed with `tf.io.parse_single_example`.

    Fix:
        Parse SequenceExamples with `tf.io.parse_single_sequence_example`, with `context_features` and
        `sequence_features`.
    """
    written: dict[str, list[Value]] = {"SequenceExample": [], "Example": []}
    for call in program.calls:
        writer = call.receiver
        if call.name != ".write" or not isinstance(writer, Call) or writer.name != "tensorflow.io.TFRecordWriter":
            continue
        path = writer.argument(0, "path")
        kinds = {one.name.rpartition(".")[2] for one in walk(call.args[0]) if isinstance(one, Call)} & set(written)
        if path is not None and len(kinds) == 1:
            written[kinds.pop()].append(path)
    for call in program.calls:
        sequence = "sequence_example" in call.name
        if call.name not in _EXAMPLE_PARSERS and not (sequence and call.name.startswith("tensorflow.io.parse_")):
            continue
        read = list(read_paths(call.argument(0, "serialized")))
        wanted, other = ("SequenceExample", "Example") if sequence else ("Example", "SequenceExample")
        if paths_meet(read, written[other]) and not paths_meet(read, written[wanted]):
            parser = "parse_single_example" if sequence else "parse_single_sequence_example"
            yield program.finding(
                sequence_examples_parsed_as_examples,
                call.expression,
                f"These records are written as {other}s, and `{call.name.rpartition('.')[2]}` parses {wanted}s: the "
                "features are not found, or come out empty.",
                advice=f"Parse them with `tf.io.{parser}`.",
            )


STORED_FORM_RULES = [read_in_another_form, reshaped_otherwise_than_written, sequence_examples_parsed_as_examples]
