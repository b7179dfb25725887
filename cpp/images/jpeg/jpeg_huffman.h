// The Huffman tables of a JPEG, arranged for looking up codes and values of several bits at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace recordsmith {

// In a pair's run, each of which leads out of any block: the end of the block, and a code that is longer than a lookup.
inline constexpr std::uint32_t kEndOfBlock = 128;
inline constexpr std::uint32_t kLongCode = 192;

// The value that `count` bits stand for: the upper half is positive, the lower half negative.
inline std::int32_t extended(std::int32_t bits, int count) {
  return count == 0 || bits >= 1 << (count - 1) ? bits : bits - (1 << count) + 1;
}

struct JpegHuffmanTable {
  // Looking up this many bits finds most codes together with the bits of their value.
  static constexpr int kLookBits = 12;

  // What the next bits say of a block's coefficients: one of them, and where the lookup has bits enough, the one after
  // it.
  struct Pair {
    std::int16_t value = 0;
    std::int16_t next_value = 0;  // 0 if there is no second one, and at the end of the block
    std::uint8_t bits = 0;        // of both together
    std::uint8_t run = 0;         // zeros before the first one, or where it leads out of the block
    std::uint8_t step = 1;        // from the first to the second one
    std::uint8_t advance = 1;     // from the first to what follows; leads out of the block if that is its end
  };

  bool present = false;
  std::vector<std::int32_t> fast;         // value << 16 | run << 8 | length; 0: longer than the lookup
  std::vector<Pair> pairs;                // the same for two at a time; not for DC
  std::uint8_t made_from[17 + 256] = {};  // images of one source share their tables, which then need not be built
  std::uint8_t symbols[256] = {};
  std::int32_t largest[18] = {};  // the largest code of each length, shifted to 16 bits, or -1
  std::int32_t offset[17] = {};   // from a code to its symbol
  bool build(const std::uint8_t* counts, const std::uint8_t* values, std::size_t count, bool dc);
  void build_pairs();
};

}  // namespace recordsmith
