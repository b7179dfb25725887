"""What records are called, by the kind of their payload."""

from __future__ import annotations

__all__ = ["payload_name", "payload_note"]

_NAMES = {
    "example": "tf.train.Example",
    "sequence_example": "tf.train.SequenceExample",
    "example_list": "ExampleListWithContext (ELWC)",
    "event": "TensorBoard events",
    "text": "plain text",
    "empty": "empty payloads",
    "unknown": "unknown",
}
_NOTES = {
    "example_list": "Records of learning to rank; parse them with TensorFlow Ranking.",
    "event": "Logs of TensorBoard; read them with its EventAccumulator.",
    "text": "The records are not tf.train.Example messages: their payloads are shown as text.",
    "unknown": "The records are of an unknown kind: their payloads are shown as bytes.",
}


def payload_name(kind: str) -> str:
    """Name a kind of payload."""
    return _NAMES.get(kind, kind)


def payload_note(kind: str) -> str | None:
    """Say what can be done with payloads that have no features; None for those that have."""
    return _NOTES.get(kind)
