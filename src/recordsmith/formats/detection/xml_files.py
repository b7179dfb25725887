"""XML annotations, read without entities and document types: an XML bomb is refused before it grows."""

from __future__ import annotations

from typing import Any
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

from recordsmith.formats.detection.objects import AnnotationError

__all__ = ["parse_xml"]

_MOST_BYTES = 32 << 20


def parse_xml(data: bytes) -> Element:
    """Return the root of an XML document, or raise an AnnotationError.

    >>> parse_xml(b"<a><b>1</b></a>").findtext("b")
    '1'
    >>> parse_xml(b'<!DOCTYPE a [<!ENTITY b "b">]><a>&b;</a>')
    Traceback (most recent call last):
    recordsmith.formats.detection.objects.AnnotationError: The XML has a DOCTYPE, which is not supported.
    """
    if len(data) > _MOST_BYTES:
        raise AnnotationError(f"The XML is larger than {_MOST_BYTES >> 20} MB.")
    builder = TreeBuilder()
    parser = expat.ParserCreate()
    parser.StartDoctypeDeclHandler = _refuse
    parser.StartElementHandler = builder.start
    parser.EndElementHandler = builder.end
    parser.CharacterDataHandler = builder.data
    try:
        parser.Parse(data, True)
        return builder.close()
    except (expat.ExpatError, AssertionError, ValueError, LookupError) as error:
        if isinstance(error, AnnotationError):
            raise
        raise AnnotationError(f"It is not valid XML: {error}.") from None


def _refuse(*_: Any) -> None:
    raise AnnotationError("The XML has a DOCTYPE, which is not supported.")
