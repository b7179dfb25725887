// Offsets of rows in memory. Those from a caller must be checked before they are followed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace recordsmith {

// Whether there is at least one offset, none is negative, they do not decrease, and the last is at most `limit`.
inline bool offsets_fit(std::span<const std::int64_t> offsets, std::size_t limit) {
  if (offsets.empty() || offsets[0] < 0) return false;
  for (std::size_t i = 1; i < offsets.size(); ++i) {
    if (offsets[i - 1] > offsets[i]) return false;
  }
  return static_cast<std::uint64_t>(offsets.back()) <= limit;
}

}  // namespace recordsmith
