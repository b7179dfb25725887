// Sorting of some hundred or thousand unsigned numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

namespace recordsmith::survey {

// Sorts fewer than 65,536 numbers by one byte after the other, leaving out those that all have in common. Returns where
// the result is.
template <typename Bits>
Bits* radix_sort(Bits* from, Bits* to, std::size_t count) {
  Bits varying = 0;
  for (std::size_t i = 1; i < count; ++i) varying |= from[i] ^ from[0];
  for (unsigned shift = 0; shift < 8 * sizeof(Bits); shift += 8) {
    if ((varying >> shift & 0xff) == 0) continue;
    std::uint16_t places[256] = {};
    for (std::size_t i = 0; i < count; ++i) ++places[from[i] >> shift & 0xff];
    std::uint16_t next = 0;
    for (std::uint16_t& place : places) next = static_cast<std::uint16_t>(next + std::exchange(place, next));
    for (std::size_t i = 0; i < count; ++i) to[places[from[i] >> shift & 0xff]++] = from[i];
    std::swap(from, to);
  }
  return from;
}

}  // namespace recordsmith::survey
