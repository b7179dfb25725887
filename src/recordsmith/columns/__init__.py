"""The columns of a batch that do not fit into a numpy array: byte strings, and rows of different length or shape.

    ByteColumn   data     c a t d o g s b e e     no Python object per value until one is asked for
                 offsets  0     3       7     10  row i is data[offsets[i] : offsets[i + 1]]

    Ragged       values   1 2 3 4 5               an array, a ByteColumn, or another Ragged
                 offsets  0     3 3 5             row i is values[offsets[i] : offsets[i + 1]]

    ShapedColumn   values, offsets, and the shape of every row
    SparseColumn   places and values of a vector's entries, cut by one set of offsets
    PackedColumn   several arrays a row, by name, in one piece of memory

All are read like a list and share memory with their slices. `present` says which rows hold a value at all (None:
every row does); an absent row has length 0 and reads as None.
"""

from recordsmith.columns.byte_column import ByteColumn
from recordsmith.columns.packed_column import PackedColumn
from recordsmith.columns.ragged import Ragged
from recordsmith.columns.shaped_column import ShapedColumn
from recordsmith.columns.sparse_column import SparseColumn, SparseRow

__all__ = ["ByteColumn", "PackedColumn", "Ragged", "ShapedColumn", "SparseColumn", "SparseRow"]
