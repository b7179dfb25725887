// Searches in the text of tables that numpy would need several passes for.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/buffer_pool.h"
#include "columns/column_batch.h"

namespace recordsmith {

// Puts the places of a byte into `places` and returns how many there are.
std::size_t find_byte(const std::uint8_t* text, std::size_t size, std::uint8_t byte, PooledArray<std::int64_t>* places);

// Whether some cell begins with a zero that another digit or an x follows, as in a postcode or 0x1F: as a number it
// would not be what was written. A cell begins with the text and behind each of the four separators.
bool has_leading_zeros(const std::uint8_t* text, std::size_t size, const std::uint8_t separators[4]);

// How deep the lists and objects of a JSON text are nested, as far as a parser would read it. Parsers recurse: what is
// nested too deep must be known before one sees it. A line end closes a string, because no parser reads on behind it.
std::size_t json_depth(const std::uint8_t* text, std::size_t size);

}  // namespace recordsmith
