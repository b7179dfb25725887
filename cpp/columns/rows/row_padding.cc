#include "columns/rows/row_padding.h"

#include <algorithm>
#include <cstring>

namespace recordsmith {

void pad_rows(const std::uint8_t* values, std::span<const std::int64_t> offsets, std::size_t item, std::size_t length,
              const std::uint8_t* padding, std::uint8_t* to) {
  const bool zeros = std::all_of(padding, padding + item, [](std::uint8_t byte) { return byte == 0; });
  for (std::size_t row = 0; row + 1 < offsets.size(); ++row, to += length * item) {
    const auto count = static_cast<std::size_t>(offsets[row + 1] - offsets[row]);
    const std::size_t filled = std::min(count, length) * item;
    if (filled > 0) std::memcpy(to, values + static_cast<std::size_t>(offsets[row]) * item, filled);
    const std::size_t rest = length * item - filled;
    if (zeros) {
      if (rest > 0) std::memset(to + filled, 0, rest);
      continue;
    }
    // The first one, and then as much again as there is already.
    for (std::size_t done = 0; done < rest;) {
      const std::size_t next = done == 0 ? item : std::min(done, rest - done);
      std::memcpy(to + filled + done, done == 0 ? padding : to + filled, next);
      done += next;
    }
  }
}

}  // namespace recordsmith
