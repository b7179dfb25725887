// The protobuf wire format: varints, tags, sizes, and fields to skip.
//
// Every function takes the position and the end, reads nothing at or past the end, and returns null for bytes that no
// protobuf parser would accept. The limits are those of protobuf's own parser: ten bytes to a varint, five to a tag or
// a size, sizes below 2 GiB, a hundred levels of nesting.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace recordsmith::wire {

using Bytes = const std::uint8_t*;

inline constexpr std::uint32_t kVarint = 0;
inline constexpr std::uint32_t kFixed64 = 1;
inline constexpr std::uint32_t kDelimited = 2;
inline constexpr std::uint32_t kGroupStart = 3;
inline constexpr std::uint32_t kGroupEnd = 4;
inline constexpr std::uint32_t kFixed32 = 5;

inline constexpr int kMaxDepth = 100;

constexpr std::uint32_t tag_of(std::uint32_t field, std::uint32_t type) { return field << 3 | type; }

inline Bytes read_long_varint(Bytes at, Bytes end, std::uint64_t* value, int max_bytes) {
  std::uint64_t result = 0;
  for (int i = 0; i < max_bytes; ++i) {
    if (at == end) return nullptr;
    const std::uint64_t byte = *at++;
    if (i < 10) result |= (byte & 0x7f) << (7 * i);
    if (byte < 0x80) {
      *value = result;
      return at;
    }
  }
  return nullptr;
}

inline Bytes read_varint(Bytes at, Bytes end, std::uint64_t* value) {
  if (at < end && *at < 0x80) [[likely]] {
    *value = *at;
    return at + 1;
  }
  return read_long_varint(at, end, value, 10);
}

inline Bytes read_any_tag(Bytes at, Bytes end, std::uint32_t* tag) {
  std::uint64_t value;
  if (at < end && *at < 0x80) [[likely]] {
    value = *at++;
  } else {
    at = read_long_varint(at, end, &value, 5);
    if (at == nullptr || value > 0xffffffffu) return nullptr;
  }
  *tag = static_cast<std::uint32_t>(value);
  return at;
}

// There is no field number 0; but Python's protobuf does not check this inside an unknown group, and neither do we.
inline Bytes read_tag(Bytes at, Bytes end, std::uint32_t* tag) {
  at = read_any_tag(at, end, tag);
  return at == nullptr || *tag >> 3 == 0 ? nullptr : at;
}

// A size, checked against what is left.
inline Bytes read_size(Bytes at, Bytes end, std::size_t* size) {
  std::uint64_t value;
  if (at < end && *at < 0x80) [[likely]] {
    value = *at++;
  } else {
    at = read_long_varint(at, end, &value, 5);
    if (at == nullptr || value > 0x7fffffffu) return nullptr;
  }
  if (value > static_cast<std::uint64_t>(end - at)) return nullptr;
  *size = static_cast<std::size_t>(value);
  return at;
}

Bytes skip_group(Bytes at, Bytes end, std::uint32_t start_tag, int depth);

// Skips the value of a field whose tag was just read. `depth` is how many more levels may be opened.
inline Bytes skip_value(Bytes at, Bytes end, std::uint32_t tag, int depth) {
  switch (tag & 7) {
    case kVarint: {
      std::uint64_t ignored;
      return read_varint(at, end, &ignored);
    }
    case kFixed64:
      return end - at >= 8 ? at + 8 : nullptr;
    case kDelimited: {
      std::size_t size;
      at = read_size(at, end, &size);
      return at == nullptr ? nullptr : at + size;
    }
    case kGroupStart:
      return skip_group(at, end, tag, depth);
    case kFixed32:
      return end - at >= 4 ? at + 4 : nullptr;
    default:
      return nullptr;  // an end without a start, or a type that does not exist
  }
}

inline Bytes skip_group(Bytes at, Bytes end, std::uint32_t start_tag, int depth) {
  if (depth <= 0) return nullptr;
  for (;;) {
    std::uint32_t tag = 0;
    at = read_any_tag(at, end, &tag);
    if (at == nullptr) return nullptr;
    if ((tag & 7) == kGroupEnd) return tag >> 3 == start_tag >> 3 ? at : nullptr;
    at = skip_value(at, end, tag, depth - 1);
    if (at == nullptr) return nullptr;
  }
}

}  // namespace recordsmith::wire
