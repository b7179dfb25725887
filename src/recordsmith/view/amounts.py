"""Numbers as people read them; `recordsmith.amounts` has them, because reports write them too."""

from recordsmith.amounts import bytes_text, count_text, number_text

__all__ = ["bytes_text", "count_text", "number_text"]
