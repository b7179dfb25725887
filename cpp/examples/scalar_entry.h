// The map entry of a feature with one value, written from a prepared head.
//
//   0a E  0a K key  12 V  kind L  0a S  value        every length in one byte
//
// With S bytes of value, L = S + 2, V = S + 4 and E = K + S + 8: so the head is copied whole and four bytes of it are
// set. That takes a fraction of the time of measuring and writing the messages from the inside out, and most features
// of most datasets are like this. Only keys and values short enough for lengths below 128 qualify.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "examples/example_wire.h"

namespace recordsmith {

class ScalarEntry {
 public:
  static constexpr std::size_t kLongestKey = 36;
  static constexpr std::size_t kHeadBytes = 48;  // the size of the copy, whatever the length of the head
  // Space for one entry, including bytes that are written beyond its end and overwritten later.
  static constexpr std::size_t kMostBytes = 2 + 127 + kHeadBytes;

  static bool fits(std::string_view key) { return key.size() <= kLongestKey; }

  ScalarEntry() = default;  // not prepared
  ScalarEntry(std::string_view key, Kind kind) : key_size_(key.size()) {
    constexpr std::uint8_t kFieldOne = 1 << 3 | 2;
    constexpr std::uint8_t kFieldTwo = 2 << 3 | 2;
    head_[0] = kFieldOne;
    head_[2] = kFieldOne;
    head_[3] = static_cast<std::uint8_t>(key.size());
    std::memcpy(head_.data() + 4, key.data(), key.size());
    head_[key_size_ + 4] = kFieldTwo;
    head_[key_size_ + 6] = static_cast<std::uint8_t>(static_cast<unsigned>(kind) << 3 | 2);
    head_[key_size_ + 8] = kFieldOne;
  }

  bool is_prepared() const { return head_[0] != 0; }

  // The largest value that leaves every length below 128.
  std::size_t most_value_bytes() const { return 127 - 8 - key_size_; }

  // Writes the head for a value of `size` bytes, and returns where the value goes. Touches kHeadBytes bytes.
  std::uint8_t* write_head(std::uint8_t* to, std::size_t size) const {
    std::memcpy(to, head_.data(), kHeadBytes);
    const auto bytes = static_cast<std::uint8_t>(size);
    to[1] = static_cast<std::uint8_t>(key_size_ + 8 + bytes);
    to[key_size_ + 5] = static_cast<std::uint8_t>(bytes + 4);
    to[key_size_ + 7] = static_cast<std::uint8_t>(bytes + 2);
    to[key_size_ + 9] = bytes;
    return to + key_size_ + 10;
  }

 private:
  std::array<std::uint8_t, kHeadBytes> head_{};
  std::size_t key_size_ = 0;
};

}  // namespace recordsmith
