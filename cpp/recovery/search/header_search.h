// Searches for sound record headers among any bytes.
//
// Where the walk from record to record fails, a header may begin at any byte. Few bytes can be one: the
// length is below 2^40, so that its highest byte is zero, and the CRC of the length has to hold. The search looks for
// such zeros, computes a CRC of eight bytes where the length is at all possible, and skips long runs of zeros.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace recordsmith {

inline std::uint64_t load_u64(const std::uint8_t* at) {
  std::uint64_t value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

// The same as read_header, but fast for bytes that are mostly not headers.
bool is_header(const std::uint8_t* at, std::uint64_t* length);

// The first sound header in [at, last]; null if there is none. The bytes of one at `last` must be readable.
const std::uint8_t* next_header(const std::uint8_t* at, const std::uint8_t* last, std::uint64_t* length);

// Whether these bytes contain a sound record.
bool holds_records(const std::uint8_t* data, std::size_t size);

}  // namespace recordsmith
