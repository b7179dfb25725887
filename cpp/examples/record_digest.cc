#include "examples/record_digest.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <vector>

#include "examples/wire.h"

namespace recordsmith {
namespace {

using wire::Bytes;

// The key of a map entry; the last one counts, and an entry without any has the key "".
bool read_key(Bytes at, Bytes end, std::string_view* key) {
  *key = {};
  while (at < end) {
    std::uint32_t tag = 0;
    at = wire::read_tag(at, end, &tag);
    if (at == nullptr) return false;
    if (tag == wire::tag_of(1, wire::kDelimited)) {
      std::size_t size = 0;
      at = wire::read_size(at, end, &size);
      if (at == nullptr) return false;
      *key = {reinterpret_cast<const char*>(at), size};
      at += size;
    } else {
      at = wire::skip_value(at, end, tag, wire::kMaxDepth);
      if (at == nullptr) return false;
    }
  }
  return true;
}

// Digests the entries of Features or FeatureLists but for the ignored ones. Entry by entry, so that the place of
// an ignored one does not matter.
bool digest_entries(Bytes at, Bytes end, std::span<const std::string_view> ignored, std::uint64_t* digest) {
  while (at < end) {
    std::uint32_t tag = 0;
    at = wire::read_tag(at, end, &tag);
    if (at == nullptr || tag != wire::tag_of(1, wire::kDelimited)) return false;
    std::size_t size = 0;
    at = wire::read_size(at, end, &size);
    std::string_view key;
    if (at == nullptr || !read_key(at, at + size, &key)) return false;
    if (std::find(ignored.begin(), ignored.end(), key) == ignored.end())
      *digest = XXH3_64bits_withSeed(at, size, *digest);
    at += size;
  }
  return true;
}

bool digest_without(const std::uint8_t* payload, std::size_t size, std::span<const std::string_view> ignored,
                    std::uint64_t* digest) {
  const Bytes end = payload + size;
  for (Bytes at = payload; at < end;) {
    std::uint32_t tag = 0;
    at = wire::read_tag(at, end, &tag);
    if (at == nullptr) return false;
    if (tag != wire::tag_of(1, wire::kDelimited) && tag != wire::tag_of(2, wire::kDelimited)) return false;
    std::size_t length = 0;
    at = wire::read_size(at, end, &length);
    if (at == nullptr || !digest_entries(at, at + length, ignored, digest)) return false;
    at += length;
  }
  return true;
}

}  // namespace

std::uint64_t digest_record(const std::uint8_t* payload, std::size_t size, std::span<const std::string_view> ignored) {
  std::uint64_t digest = 0;
  if (!ignored.empty() && digest_without(payload, size, ignored, &digest)) return digest;
  return XXH3_64bits(payload, size);
}

}  // namespace recordsmith
