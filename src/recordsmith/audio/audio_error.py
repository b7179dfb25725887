"""The error about a sound that cannot be used."""

from __future__ import annotations

__all__ = ["AudioError"]


class AudioError(Exception):
    """What is wrong with a sound, in one sentence; who knows the file or the record adds where it is."""
