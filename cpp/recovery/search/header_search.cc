#include "recovery/search/header_search.h"

#include "base/checksums/crc32c.h"
#include "records/framing/framing.h"

namespace recordsmith {
namespace {

// No record is that large. A lower bound than the cursor's, as a search meets all kinds of bytes.
constexpr std::uint64_t kLargestLength = std::uint64_t{1} << 40;

}  // namespace

// Few lengths are possible, and most of those are zero.
bool is_header(const std::uint8_t* at, std::uint64_t* length) {
  *length = load_u64(at);
  if (*length >= kLargestLength) return false;
  static const std::uint32_t crc_of_zero = [] {
    const std::uint64_t zero = 0;
    return masked_crc32c(&zero, sizeof zero);
  }();
  if (*length == 0) return load_u32(at + 8) == crc_of_zero;
  return read_header(at, length);
}

const std::uint8_t* next_header(const std::uint8_t* at, const std::uint8_t* last, std::uint64_t* length) {
  while (at <= last) {
    // The highest byte of a length is zero, and few bytes of most data are zero.
    const void* const zero = std::memchr(at + 7, 0, static_cast<std::size_t>(last - at) + 1);
    if (zero == nullptr) return nullptr;
    at = static_cast<const std::uint8_t*>(zero) - 7;
    if (is_header(at, length)) return at;
    if (load_u64(at) != 0 || load_u32(at + 8) != 0) {
      ++at;
      continue;
    }
    // Zeros: the twelve bytes of a header are not all zero, so the search continues at the next other byte.
    const std::uint8_t* other = at + kHeaderBytes;
    const std::uint8_t* const end = last + kHeaderBytes;
    while (end - other >= 8 && load_u64(other) == 0) other += 8;
    while (other < end && *other == 0) ++other;
    at = other - (kHeaderBytes - 1);
  }
  return nullptr;
}

bool holds_records(const std::uint8_t* data, std::size_t size) {
  if (size < kFramingBytes) return false;
  std::uint64_t length = 0;
  const std::uint8_t* const last = data + size - kFramingBytes;
  for (const std::uint8_t* at = data; (at = next_header(at, last, &length)) != nullptr; ++at) {
    const std::uint8_t* const inner = at + kHeaderBytes;
    if (length > static_cast<std::size_t>(last - at)) continue;
    if (masked_crc32c(inner, length) == load_u32(inner + length)) return true;
  }
  return false;
}

}  // namespace recordsmith
