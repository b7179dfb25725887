// Rows of different lengths as one rectangle.
//
//   values  a b c d e f      offsets  0 2 3 6          a b 0
//                                                      c 0 0
//                                                      d e f
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace recordsmith {

// Copies the rows, each `offsets[i + 1] - offsets[i]` items of `item` bytes, to the starts of rows of `length` items,
// and fills these up with the item `padding`. Longer rows are cut. The offsets do not decrease and are inside the
// values.
void pad_rows(const std::uint8_t* values, std::span<const std::int64_t> offsets, std::size_t item, std::size_t length,
              const std::uint8_t* padding, std::uint8_t* to);

}  // namespace recordsmith
