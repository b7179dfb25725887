// Writing the protobuf wire format: varints, and fields with a size. The caller provides enough space: see the sizes.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace recordsmith::wire {

inline std::size_t varint_size(std::uint64_t value) {
  return (static_cast<std::size_t>(std::bit_width(value | 1)) * 9 + 64) / 64;
}

// Of a field with a size, whose tag takes one byte.
inline std::size_t delimited_size(std::size_t size) { return 1 + varint_size(size) + size; }

inline std::uint8_t* put_varint(std::uint8_t* to, std::uint64_t value) {
  while (value >= 0x80) {
    *to++ = static_cast<std::uint8_t>(value | 0x80);
    value >>= 7;
  }
  *to++ = static_cast<std::uint8_t>(value);
  return to;
}

inline std::uint8_t* put_delimited(std::uint8_t* to, std::uint8_t tag, std::size_t size) {
  *to++ = tag;
  if (size < 0x80) [[likely]] {
    *to++ = static_cast<std::uint8_t>(size);
    return to;
  }
  return put_varint(to, size);
}

inline std::uint8_t* put_bytes(std::uint8_t* to, const void* from, std::size_t size) {
  const auto* bytes = static_cast<const std::uint8_t*>(from);
  if (size >= 8 && size <= 16) {  // most names and values are short: two moves beat a call
    std::memcpy(to, bytes, 8);
    std::memcpy(to + size - 8, bytes + size - 8, 8);
  } else if (size < 8) {
    for (std::size_t i = 0; i < size; ++i) to[i] = bytes[i];
  } else {
    std::memcpy(to, bytes, size);
  }
  return to + size;
}

}  // namespace recordsmith::wire
