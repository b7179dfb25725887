// Searches in text: that of tables, and columns of text. numpy would need several passes for each.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/buffer_pool.h"
#include "columns/column_batch.h"

namespace recordsmith {

// Writes the positions of a byte to `places` and returns how many there are.
std::size_t find_byte(const std::uint8_t* text, std::size_t size, std::uint8_t byte, PooledArray<std::int64_t>* places);

// Whether some cell begins with a zero that another digit or an x follows, as in a postcode or 0x1F: as a number it
// would not be what was written. A cell begins with the text and behind each of the four separators.
bool has_leading_zeros(const std::uint8_t* text, std::size_t size, const std::uint8_t separators[4]);

// How deeply the lists and objects of a JSON text are nested, up to where a parser would stop. Parsers recurse, so text
// that is nested too deeply must be refused before parsing. A line end closes a string, because no parser reads past
// it.
std::size_t json_depth(const std::uint8_t* text, std::size_t size);

// Finds one word in many texts, in Horspool's way. Not thread-safe to build, safe to use from many threads.
class WordFinder {
 public:
  // With `any_case`, ASCII letters match in either case. The word must outlive the finder.
  WordFinder(const std::uint8_t* word, std::size_t size, bool any_case);

  bool is_in(const std::uint8_t* text, std::size_t size) const;

 private:
  const std::uint8_t* word_;
  std::size_t size_;
  std::array<std::uint8_t, 256> folded_;
  std::array<std::size_t, 256> skips_;  // how far the word may be moved, by the byte under its end
};

}  // namespace recordsmith
