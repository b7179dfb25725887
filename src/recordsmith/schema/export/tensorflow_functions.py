"""Restores dtypes and shapes inside TensorFlow from the parsed tensors of a batch.

Every function takes what tf.io.parse_example gave for n rows, and returns n rows. They know TensorFlow alone, so that
their source can be handed to people as it is (see tensorflow_code), and nothing in them is recordsmith's. `one` says
that there is one row only, and that sizes which vary from row to row need not make it ragged.

This module imports TensorFlow: import it only where TensorFlow was asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from math import prod
from typing import Any

import tensorflow as tf

__all__ = [
    "decoded_images",
    "first_row",
    "free_numbers",
    "free_numbers_of_bytes",
    "numbers",
    "numbers_of_bytes",
    "packed_fields",
    "present_rows",
    "shaped_numbers",
    "shaped_numbers_of_bytes",
    "sparse_rows",
    "stacked_numbers",
    "step_rows",
]


def checked(values: Any, fits: Any, message: str) -> Any:
    """Return values, or fail with a message unless all of `fits` holds."""
    # The bare operation: tf.debugging.Assert wraps it into a branch, which costs more than what is checked.
    with tf.control_dependencies([tf.raw_ops.Assert(condition=tf.reduce_all(fits), data=[message])]):
        return tf.identity(values)


def numbers(values: Any, *, name: str, dtype: Any) -> Any:
    """Return numbers from a list of int64 or float32 in their own dtype; what it does not hold is an error.

    >>> numbers(tf.constant([[0, 255]], tf.int64), name="x", dtype=tf.uint8).dtype
    tf.uint8
    """
    if values.dtype == dtype:
        return values
    narrow = tf.cast(values, dtype)
    if dtype.is_floating:
        fits = tf.math.is_finite(narrow) | ~tf.math.is_finite(values)
    else:
        fits = tf.cast(narrow, values.dtype) == values
        if dtype.is_unsigned:
            fits &= values >= 0
    return checked(narrow, fits, f"Feature {name!r} contains a value outside {dtype.name}.")


def raw_numbers(strings: Any, *, name: str, dtype: Any) -> Any:
    """Return the numbers whose little-endian bytes the strings are, in one more dimension.

    >>> raw_numbers(tf.constant([b"abcd"]), name="x", dtype=tf.uint32).numpy().tolist()
    [[1684234849]]
    """
    # tf.io.decode_raw knows no uint32 and uint64, and takes any byte for a bool.
    read_as = {tf.uint32: tf.int32, tf.uint64: tf.int64, tf.bool: tf.uint8}.get(dtype, dtype)
    values = tf.io.decode_raw(strings, read_as, little_endian=True)
    if dtype == tf.bool:
        return numbers(values, name=name, dtype=tf.bool)
    return values if read_as == dtype else tf.bitcast(values, dtype)


def numbers_of_bytes(strings: Any, *, name: str, dtype: Any, shape: Sequence[int]) -> Any:
    """Return numbers of one shape from one string of raw bytes a row.

    >>> numbers_of_bytes(tf.constant([b"abcd"]), name="x", dtype=tf.uint8, shape=(2, 2)).shape
    TensorShape([1, 2, 2])
    """
    size = prod(shape) * dtype.size
    message = f"Feature {name!r} does not contain the {size} bytes of {dtype.name} of shape {tuple(shape)}."
    strings = checked(strings, tf.strings.length(strings) == size, message)
    values = raw_numbers(strings, name=name, dtype=dtype)
    rows = tf.reshape(values, tf.concat([tf.shape(strings), tf.constant(shape, tf.int32)], axis=0))
    rows.set_shape([strings.shape[0], *shape])
    return rows


def free_numbers(values: Any, *, name: str, dtype: Any, shape: Sequence[int | None], one: bool) -> Any:
    """Return numbers from lists of different length, which the one free size of the shape follows from.

    >>> lists = tf.ragged.constant([[1, 2], [3, 4, 5, 6]], tf.int64)
    >>> free_numbers(lists, name="x", dtype=tf.int64, shape=(None, 2), one=False).to_list()
    [[[1, 2]], [[3, 4], [5, 6]]]
    """
    flat = numbers(values.flat_values, name=name, dtype=dtype)
    return with_free_size(flat, values.row_lengths(), name=name, shape=shape, one=one)


def free_numbers_of_bytes(strings: Any, *, name: str, dtype: Any, shape: Sequence[int | None], one: bool) -> Any:
    """Return numbers from strings of different length, which the one free size of the shape follows from.

    >>> free_numbers_of_bytes(tf.constant([b"", b"ab"]), name="x", dtype=tf.uint8, shape=(None,), one=False).to_list()
    [[], [97, 98]]
    """
    flat, counts = joined_numbers(strings, name=name, dtype=dtype)
    return with_free_size(flat, counts, name=name, shape=shape, one=one)


def stacked_numbers(*lists: Any, name: str, shape: Sequence[int | None], one: bool) -> Any:
    """Return numbers from several lists of the same lengths, each of which is one entry of the last axis.

    >>> down, right = tf.ragged.constant([[0.5], []], tf.float32), tf.ragged.constant([[1.0], []], tf.float32)
    >>> stacked_numbers(down, right, name="x", shape=(None, 2), one=False).to_list()
    [[[0.5, 1.0]], []]
    """
    counts = lists[0].row_lengths()
    fits = tf.stack([tf.reduce_all(one_list.row_lengths() == counts) for one_list in lists])
    message = f"Feature {name!r} has different numbers of coordinates."
    columns = [checked(one_list.flat_values, fits, message) for one_list in lists]
    flat = tf.reshape(tf.stack(columns, axis=1), [-1])
    return with_free_size(flat, counts * len(lists), name=name, shape=shape, one=one)


def shaped_numbers(values: Any, sizes: Any, *, name: str, dtype: Any, shape: Sequence[int | None], one: bool) -> Any:
    """Return numbers from lists, each with its shape in `sizes`.

    >>> lists, sizes = tf.ragged.constant([[1, 2], [3]], tf.int64), tf.constant([[1, 2], [1, 1]], tf.int64)
    >>> shaped_numbers(lists, sizes, name="x", dtype=tf.int64, shape=(None, None), one=False).to_list()
    [[[1, 2]], [[3]]]
    """
    flat = numbers(values.flat_values, name=name, dtype=dtype)
    return with_sizes(flat, values.row_lengths(), sizes, name=name, shape=shape, one=one)


def shaped_numbers_of_bytes(
    strings: Any, sizes: Any, *, name: str, dtype: Any, shape: Sequence[int | None], one: bool
) -> Any:
    """Return numbers from strings of raw bytes, each with its shape in `sizes`.

    >>> strings, sizes = tf.constant([b"ab", b"c"]), tf.constant([[1, 2], [1, 1]], tf.int64)
    >>> shaped_numbers_of_bytes(strings, sizes, name="x", dtype=tf.uint8, shape=(None, None), one=False).to_list()
    [[[97, 98]], [[99]]]
    """
    flat, counts = joined_numbers(strings, name=name, dtype=dtype)
    return with_sizes(flat, counts, sizes, name=name, shape=shape, one=one)


def joined_numbers(strings: Any, *, name: str, dtype: Any) -> tuple[Any, Any]:
    """Return the numbers of all strings in one row, and how many come from each.

    >>> flat, counts = joined_numbers(tf.constant([b"abcd", b"", b"ef"]), name="x", dtype=tf.int16)
    >>> flat.shape, counts.numpy().tolist()
    (TensorShape([3]), [2, 0, 1])
    """
    lengths = tf.cast(tf.strings.length(strings), tf.int64)
    message = f"Feature {name!r} has a number of bytes that is not a multiple of the size of {dtype.name}."
    strings = checked(strings, lengths % dtype.size == 0, message)
    return raw_numbers(tf.strings.reduce_join(strings), name=name, dtype=dtype), lengths // dtype.size


def with_free_size(flat: Any, counts: Any, *, name: str, shape: Sequence[int | None], one: bool) -> Any:
    """Cut numbers into rows of a shape with one free size, `counts` numbers each.

    >>> rows = with_free_size(tf.range(6), tf.constant([2, 4], tf.int64), name="x", shape=(2, None), one=False)
    >>> rows.to_list()
    [[[0], [1]], [[2, 3], [4, 5]]]
    """
    unit = prod(size for size in shape if size is not None)
    message = f"Feature {name!r} has a number of values that does not fill the shape {tuple(shape)}."
    free = checked(counts, counts % unit == 0, message) // unit
    sizes = [free if size is None else tf.fill(tf.shape(free), tf.constant(size, tf.int64)) for size in shape]
    return shaped_rows(flat, tf.stack(sizes, axis=1), shape=shape, one=one)


def with_sizes(flat: Any, counts: Any, sizes: Any, *, name: str, shape: Sequence[int | None], one: bool) -> Any:
    """Cut numbers into rows of the sizes that are stored next to them, after checking these.

    >>> counts, sizes = tf.constant([2, 4], tf.int64), tf.constant([[1, 2], [2, 2]], tf.int64)
    >>> with_sizes(tf.range(6), counts, sizes, name="x", shape=(None, 2), one=False).to_list()
    [[[0, 1]], [[2, 3], [4, 5]]]
    """
    known = [(axis, size) for axis, size in enumerate(shape) if size is not None]
    fits = tf.reduce_all(sizes >= 0, axis=1) & (tf.reduce_prod(sizes, axis=1) == counts)
    for axis, size in known:
        fits &= sizes[:, axis] == size
    message = f"Feature {name!r} has a stored shape that does not fit {tuple(shape)} or its number of values."
    return shaped_rows(flat, checked(sizes, fits, message), shape=shape, one=one)


def shaped_rows(flat: Any, sizes: Any, *, shape: Sequence[int | None], one: bool) -> Any:
    """Cut numbers into rows, the n-th of the shape `sizes[n]`: a RaggedTensor, or for one row a dense tensor.

    >>> shaped_rows(tf.range(3), tf.constant([[1, 3]]), shape=(None, None), one=True).shape
    TensorShape([1, 1, 3])
    """
    if one:
        row = tf.reshape(flat, tf.concat([tf.ones_like(sizes[0, :1]), sizes[0]], axis=0))
        row.set_shape([1, *shape])
        return row
    last = max(axis for axis, size in enumerate(shape) if size is None)
    rows = tf.reshape(flat, [-1, *shape[last + 1 :]])
    for axis in range(last, -1, -1):
        if shape[axis] is None:
            lengths = sizes[:, axis]
            if axis > 0:
                lengths = tf.repeat(lengths, tf.reduce_prod(sizes[:, :axis], axis=1))
            above = [size for size in shape[:axis] if size is not None]
            if sizes.shape[0] is not None and len(above) == axis:
                lengths.set_shape([sizes.shape[0] * prod(above)])
            rows = tf.RaggedTensor.from_row_lengths(rows, lengths)
        else:
            rows = tf.RaggedTensor.from_uniform_row_length(rows, shape[axis])
    return rows


def present_rows(values: Any, *, name: str, shape: Sequence[int], restore: Callable[[Any], Any] | None) -> Any:
    """Return optional rows in a ragged dimension of their own: one entry where a row is there, none where it is not.

    >>> present_rows(tf.ragged.constant([[5], []], tf.int64), name="x", shape=(), restore=None).to_list()
    [[5], []]
    """
    count = prod(shape)
    lengths = values.row_lengths()
    message = f"Feature {name!r} must have no value or {count} values."
    lengths = checked(lengths, (lengths == 0) | (lengths == count), message)
    rows = tf.reshape(values.flat_values, [-1, *shape])
    return in_ragged_dimension(restore(rows) if restore else rows, lengths // count)


def in_ragged_dimension(rows: Any, lengths: Any) -> Any:
    """Gather rows into a RaggedTensor; of a dict of rows, each."""
    if isinstance(rows, dict):
        return {key: in_ragged_dimension(entry, lengths) for key, entry in rows.items()}
    return tf.RaggedTensor.from_row_lengths(rows, lengths)


def step_rows(values: Any, lengths: Any, *, restore: Callable[[Any], Any] | None) -> Any:
    """Return the steps of each record as the rows of a RaggedTensor.

    >>> step_rows(tf.constant([[1, 0], [2, 3]]), tf.constant([1, 2], tf.int64), restore=None).to_list()
    [[1], [2, 3]]
    """
    ragged = isinstance(values, tf.RaggedTensor)
    steps = values if ragged else tf.RaggedTensor.from_tensor(values, lengths=lengths)
    return in_ragged_dimension(restore(steps.values) if restore else steps.values, steps.row_lengths())


def packed_fields(strings: Any, *, name: str, fields: Mapping[str, tuple[Any, Sequence[int]]]) -> dict[str, Any]:
    """Take strings apart into fields of numbers, which follow each other without gaps.

    >>> fields = {"a": (tf.uint8, (2,)), "b": (tf.int16, ())}
    >>> packed_fields(tf.constant([bytes([1, 2, 3, 0])]), name="x", fields=fields)["b"].numpy().tolist()
    [3]
    """
    total = sum(prod(shape) * dtype.size for dtype, shape in fields.values())
    message = f"Feature {name!r} does not contain {total} bytes."
    strings = checked(strings, tf.strings.length(strings) == total, message)
    found, start = {}, 0
    for field, (dtype, shape) in fields.items():
        size = prod(shape) * dtype.size
        part = tf.strings.substr(strings, start, size)
        found[field] = numbers_of_bytes(part, name=f"{name}, {field}", dtype=dtype, shape=shape)
        start += size
    return found


def sparse_rows(indices: Any, values: Any, *, name: str, size: int) -> Any:
    """Return lists of positions and of values as a SparseTensor of `size` columns.

    >>> indices, values = tf.ragged.constant([[0, 7]], tf.int64), tf.ragged.constant([[0.5, 1.5]])
    >>> sparse_rows(indices, values, name="x", size=8).shape
    TensorShape([1, 8])
    """
    columns, row_ids = indices.flat_values, indices.value_rowids()
    counts = checked(
        indices.row_lengths(),
        indices.row_lengths() == tf.cast(values.row_lengths(), indices.row_splits.dtype),
        f"Feature {name!r} has different numbers of values and indices.",
    )
    rising = (columns[1:] > columns[:-1]) | (row_ids[1:] > row_ids[:-1])
    columns = checked(
        columns,
        tf.reduce_all((columns >= 0) & (columns < size)) & tf.reduce_all(rising),
        f"Feature {name!r} has indices that are not sorted, not unique, or not below {size}.",
    )
    rows = tf.shape(counts, out_type=tf.int64)[0]
    return tf.SparseTensor(tf.stack([row_ids, columns], axis=1), values.flat_values, tf.stack([rows, size]))


def decoded_images(strings: Any, *, shape: Sequence[int | None], one: bool) -> Any:
    """Decode images: a dense tensor where their size is known or there is one only, else a RaggedTensor.

    >>> png = tf.io.encode_png(tf.zeros((4, 6, 3), tf.uint8))
    >>> decoded_images(tf.stack([png]), shape=(None, None, 3), one=True).shape
    TensorShape([1, 4, 6, 3])
    """
    decode = partial(tf.io.decode_image, channels=shape[2] or 0, expand_animations=False)
    if one:
        image = decode(strings[0])[tf.newaxis]
        return tf.ensure_shape(image, [1, *shape])
    if None not in shape[:2]:
        signature = tf.TensorSpec(shape, tf.uint8)
        return tf.map_fn(lambda data: tf.ensure_shape(decode(data), shape), strings, fn_output_signature=signature)
    # tf.map_fn cannot make a ragged result of no images at all: one more is put in, and taken out again.
    height, width, channels = (size or 1 for size in shape)
    one_more = tf.io.encode_png(tf.zeros([height, width, channels], tf.uint8))
    rows = tf.map_fn(
        lambda data: tf.RaggedTensor.from_tensor(tf.ensure_shape(decode(data), shape)),
        tf.concat([strings, [one_more]], axis=0),
        fn_output_signature=tf.RaggedTensorSpec(shape, tf.uint8, ragged_rank=1, row_splits_dtype=tf.int64),
    )
    return rows[:-1]


def first_row(rows: Any) -> Any:
    """Return the only row of a batch of one; of a dict of batches, of each."""
    if isinstance(rows, dict):
        return {key: first_row(entry) for key, entry in rows.items()}
    if isinstance(rows, tf.SparseTensor):
        return tf.SparseTensor(rows.indices[:, 1:], rows.values, rows.shape[1:])
    return rows[0]
