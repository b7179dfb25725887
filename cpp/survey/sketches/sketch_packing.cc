#include "survey/sketches/sketch_packing.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace recordsmith::survey {
namespace {

template <typename T>
T read_at(std::string_view bytes, std::size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

std::uint8_t byte_at(std::string_view bytes, std::size_t offset) { return static_cast<std::uint8_t>(bytes[offset]); }

bool begins_with(std::string_view bytes, std::uint8_t preamble, std::uint8_t version, std::uint8_t family) {
  return byte_at(bytes, 0) == preamble && byte_at(bytes, 1) == version && byte_at(bytes, 2) == family;
}

constexpr std::size_t kHeader = 8;

}  // namespace

// Byte 3: the logarithm of the most slots, 4: of the slots, 5: flags, 8: the number of items.
bool is_sound_frequent(std::string_view bytes, std::uint8_t bits) {
  constexpr std::uint8_t kVersion = 1;
  constexpr std::uint8_t kFamily = 10;
  constexpr std::size_t kBegin = 32;
  if (bytes.size() < kHeader || byte_at(bytes, 3) != bits) return false;
  const std::uint8_t slot_bits = byte_at(bytes, 4);
  if (slot_bits < 3 || slot_bits > bits) return false;
  if (byte_at(bytes, 5) == 1) return begins_with(bytes, 1, kVersion, kFamily) && bytes.size() == kHeader;
  if (byte_at(bytes, 5) != 0 || !begins_with(bytes, 4, kVersion, kFamily) || bytes.size() < kBegin) return false;
  const std::size_t count = read_at<std::uint32_t>(bytes, 8);
  return count > 0 && count <= (std::size_t{1} << slot_bits) * 3 / 4 &&
         bytes.size() == kBegin + count * 2 * sizeof(std::uint64_t);
}

// Byte 3: flags, 4: k, 6: m, 8: the number of values, 16: the smallest k, 18: the number of levels; then where each
// level begins, the smallest and the largest value, and the values.
template <typename T>
bool is_sound_quantiles(std::string_view bytes, std::uint16_t items, std::uint64_t most_values) {
  constexpr std::uint8_t kFamily = 15;
  constexpr std::uint8_t kM = 8;
  constexpr std::size_t kMostLevels = 60;
  constexpr std::size_t kLevels = 20;
  if (bytes.size() < kHeader || read_at<std::uint16_t>(bytes, 4) != items || byte_at(bytes, 6) != kM) return false;
  const int flags = byte_at(bytes, 3) & ~2;  // 2: the lowest level is sorted
  std::size_t begin = kHeader;
  if (flags == 1) return begins_with(bytes, 2, 1, kFamily) && bytes.size() == begin;  // empty
  if (flags == 4) {                                                                   // one value
    if (!begins_with(bytes, 2, 2, kFamily) || bytes.size() != begin + sizeof(T) || most_values < 1) return false;
  } else {
    if (flags != 0 || !begins_with(bytes, 5, 1, kFamily) || bytes.size() < kLevels) return false;
    const std::size_t levels = byte_at(bytes, 18);
    begin = kLevels + 4 * levels;
    if (read_at<std::uint16_t>(bytes, 16) != items || levels < 1 || levels > kMostLevels) return false;
    if (bytes.size() < begin + 2 * sizeof(T)) return false;
    const std::uint32_t capacity =
        datasketches::kll_helper::compute_total_capacity(items, kM, static_cast<std::uint8_t>(levels));
    std::uint64_t values = 0;
    for (std::size_t level = 0; level < levels; ++level) {
      const auto first = read_at<std::uint32_t>(bytes, kLevels + 4 * level);
      const auto end = level + 1 < levels ? read_at<std::uint32_t>(bytes, kLevels + 4 * level + 4) : capacity;
      if (first > end || end > capacity) return false;
      values += std::uint64_t{end - first} << level;
    }
    const std::size_t held = capacity - read_at<std::uint32_t>(bytes, kLevels);
    if (values < 2 || values > most_values || values != read_at<std::uint64_t>(bytes, 8)) return false;
    if (bytes.size() != begin + (2 + held) * sizeof(T)) return false;
  }
  if constexpr (std::is_floating_point_v<T>) {
    for (; begin < bytes.size(); begin += sizeof(T)) {
      if (!std::isfinite(read_at<T>(bytes, begin))) return false;
    }
  }
  return true;
}

template bool is_sound_quantiles<float>(std::string_view, std::uint16_t, std::uint64_t);
template bool is_sound_quantiles<double>(std::string_view, std::uint16_t, std::uint64_t);
template bool is_sound_quantiles<std::int64_t>(std::string_view, std::uint16_t, std::uint64_t);
template bool is_sound_quantiles<std::uint64_t>(std::string_view, std::uint16_t, std::uint64_t);

}  // namespace recordsmith::survey
