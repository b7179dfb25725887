"""Datasets that are read as streams: of Hugging Face with `streaming=True`, and of WebDataset."""

from __future__ import annotations

from collections.abc import Iterator

from recordsmith.doctor.lint.interpreter.values import Call, Item, Literal, Value

__all__ = ["stream_buffers"]


def stream_buffers(calls: list[Call]) -> Iterator[tuple[Call, int]]:
    """Yield what shuffles a stream, with the size of its buffer, where that is written down.

    >>> stream = Call("webdataset.WebDataset", None)
    >>> [size for _, size in stream_buffers([Call(".shuffle", stream, (Literal(10),))])]
    [10]
    """
    for call in calls:
        kind = _kind(call.receiver) if call.name == ".shuffle" else ""
        size = call.argument(0 if kind == "webdataset" else 1, "buffer_size", "bufsize") if kind else None
        if isinstance(size, Literal) and type(size.value) is int:
            yield call, size.value


def _kind(value: Value | None) -> str:
    for _ in range(20):
        match value:
            case Call(name="datasets.load_dataset"):
                streaming = value.argument(None, "streaming")
                return "huggingface" if isinstance(streaming, Literal) and streaming.value is True else ""
            case Call(name="webdataset.WebDataset"):
                return "webdataset"
            case Call(name=name, receiver=inner) if name.startswith(".") and inner is not None:
                value = inner
            case Item(base=base):
                value = base
            case _:
                return ""
    return ""
