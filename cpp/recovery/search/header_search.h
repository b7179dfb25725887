// Sound record headers among bytes of any kind.
//
// Where the walk from record to record has come to an end, a header may begin at any byte. Few bytes can be one: the
// length is below 2^40, so that its highest byte is zero, and the CRC of the length has to hold. The search looks for
// such zeros, computes a CRC of eight bytes where the length is at all possible, and passes over long runs of zeros.
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

// As read_header, for bytes of which most are no header.
bool is_header(const std::uint8_t* at, std::uint64_t* length);

// The first sound header in [at, last]; null if there is none. The bytes of one at `last` must be readable.
const std::uint8_t* next_header(const std::uint8_t* at, const std::uint8_t* last, std::uint64_t* length);

// Whether a sound record lies somewhere in these bytes.
bool holds_records(const std::uint8_t* data, std::size_t size);

}  // namespace recordsmith
