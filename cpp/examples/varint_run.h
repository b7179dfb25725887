// Packed varints, many at once.
//
// Branching on each value's length mispredicts at random data. So the lengths come from a bit mask with one bit for
// each byte that ends a value, 64 bytes at a time. The values of a mask do not depend on each other: a processor with
// AVX-512 decodes eight of them in one step, and others overlap their loads and shifts. The processor is asked once, at
// run time. Both ways give the same values and refuse the same bytes.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "examples/wire.h"

namespace recordsmith::wire {

// What decode_varints returns if the bytes are not whole varints, or there are more of them than there is room for.
inline constexpr std::size_t kNotVarints = ~std::size_t{0};

// How many values the bytes hold. Does not check that they are well formed.
std::size_t count_varints(Bytes at, Bytes end);

// The same, or kNotVarints if they are not.
std::size_t count_sound_varints(Bytes at, Bytes end);

// Decodes all varints of [at, end) to `out`, which has room for that many, and returns their number. Writes nothing
// beyond the room.
std::size_t decode_varints(Bytes at, Bytes end, std::int64_t* out, std::size_t room);

// The form that every machine has; public so that tests can compare the fast form with it.
std::size_t decode_varints_portable(Bytes at, Bytes end, std::int64_t* out, std::size_t room);

// Joins the seven-bit groups of up to eight bytes.
inline std::uint64_t join_groups(std::uint64_t bytes) {
  bytes = ((bytes & 0x7f007f007f007f00u) >> 1) | (bytes & 0x007f007f007f007fu);
  bytes = ((bytes & 0x3fff00003fff0000u) >> 2) | (bytes & 0x00003fff00003fffu);
  return ((bytes & 0x0fffffff00000000u) >> 4) | (bytes & 0x000000000fffffffu);
}

}  // namespace recordsmith::wire
