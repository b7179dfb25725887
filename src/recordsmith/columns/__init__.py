"""What a batch is made of where a rectangle of numbers does not fit: byte strings, and rows of different length.

    ByteColumn   data     c a t d o g s b e e     no Python object per value until one is asked for
                 offsets  0     3       7     10  row i is data[offsets[i] : offsets[i + 1]]

    Ragged       values   1 2 3 4 5               an array, a ByteColumn, or another Ragged
                 offsets  0     3 3 5             row i is values[offsets[i] : offsets[i + 1]]

Both are read like a list and share memory with their slices. `present` says which rows hold a value at all (None:
every row does); an absent row has length 0 and reads as None.
"""

from recordsmith.columns.byte_column import ByteColumn
from recordsmith.columns.ragged import Ragged

__all__ = ["ByteColumn", "Ragged"]
