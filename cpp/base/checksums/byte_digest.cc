#include "base/checksums/byte_digest.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstring>

namespace recordsmith {

std::array<std::uint8_t, 16> digest_bytes(const void* data, std::size_t size) {
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, XXH3_128bits(data, size));
  std::array<std::uint8_t, 16> digest;
  std::memcpy(digest.data(), canonical.digest, digest.size());
  return digest;
}

}  // namespace recordsmith
