"""Several damages at once, wherever they are: what is spared is kept, and nothing is made up."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from recordsmith import encode_example
from recordsmith.repairing.damaged_file import look_at
from tests.made_records import file_bytes
from tests.repairing.damages import Damage, Marked, MemoryFile, check_kept, kept_payloads, payloads_of

SIZES = st.lists(st.integers(0, 60), min_size=1, max_size=12)


def examples(sizes: list[int]) -> list[bytes]:
    """Records as people have them, each different from all others."""
    return [encode_example({"number": number, "data": bytes([number]) * size}) for number, size in enumerate(sizes)]


def opaque(sizes: list[int]) -> list[bytes]:
    """Records that are no Examples."""
    return [number.to_bytes(2, "big") + bytes([255 - number]) * size for number, size in enumerate(sizes)]


def damaged(data: st.DataObject, content: bytes) -> Marked:
    marked = Marked(content)
    for _ in range(data.draw(st.integers(1, 5))):
        size = len(marked.bytes)
        kind = data.draw(st.sampled_from(["flip", "insert", "remove", "zeros", "cut"]))
        at = data.draw(st.integers(0, size))
        count = data.draw(st.integers(1, 60))
        if kind == "cut":
            at = size - min(size, count)
        removed = 0 if kind == "insert" else min(count, size - at)
        put = b""
        if kind == "flip":
            put = bytes(byte ^ 1 << (at + i) % 8 for i, byte in enumerate(marked.bytes[at : at + removed]))
        elif kind == "insert":
            put = data.draw(st.binary(min_size=1, max_size=60))
        elif kind == "zeros":
            put = bytes(removed)
        marked.damage(Damage(kind, at, removed, put))
    return marked


@settings(max_examples=300)
@given(data=st.data(), sizes=SIZES)
def test_examples_survive_several_damages(data: st.DataObject, sizes: list[int]) -> None:
    payloads = examples(sizes)
    marked = damaged(data, file_bytes(payloads))
    path = MemoryFile()
    path.write_bytes(bytes(marked.bytes))
    check_kept(payloads, marked.spared(payloads), kept_payloads(path))


@settings(max_examples=200)
@given(data=st.data(), sizes=SIZES)
def test_other_records_survive_or_are_put_aside(data: st.DataObject, sizes: list[int]) -> None:
    """In payloads without features, stored records cannot always be recognised: then they are put aside."""
    payloads = opaque(sizes)
    marked = damaged(data, file_bytes(payloads))
    path = MemoryFile()
    path.write_bytes(bytes(marked.bytes))
    kept = kept_payloads(path)
    with look_at(str(path)) as file:
        aside = payloads_of(file.suspect_frames())
    spared = {number for number in marked.spared(payloads) if payloads[number] not in aside}
    check_kept(payloads, spared, kept)
