#include "images/jpeg/jpeg_huffman.h"

#include <cstring>

namespace recordsmith {
bool JpegHuffmanTable::build(const std::uint8_t* counts, const std::uint8_t* values, std::size_t count, bool dc) {
  std::uint8_t source[sizeof made_from] = {};
  source[0] = dc ? 1 : 2;
  std::memcpy(source + 1, counts, 16);
  std::memcpy(source + 17, values, count);
  if (std::memcmp(source, made_from, sizeof source) == 0) {
    present = true;
    return true;
  }
  made_from[0] = 0;  // until it is built
  std::memset(symbols, 0, sizeof symbols);
  std::memcpy(symbols, values, count);
  fast.assign(std::size_t{1} << kLookBits, 0);
  std::int32_t code = 0;
  std::int32_t symbol = 0;
  for (int length = 1; length <= 16; ++length) {
    offset[length] = symbol - code;
    for (int i = 0; i < counts[length - 1]; ++i, ++code, ++symbol) {
      const int run = dc ? 0 : symbols[symbol] >> 4;
      const int size = dc ? symbols[symbol] : symbols[symbol] & 15;
      if (dc && size > 11) return false;
      const int total = length + size;
      if (code >= 1 << length) return false;
      if (total > kLookBits) continue;
      const bool ends = !dc && size == 0 && run != 15;
      if (ends && run != 0) continue;  // only in progressive images: the slow path refuses it
      for (std::int32_t bits = 0; bits < 1 << size; ++bits) {
        const std::uint32_t value = static_cast<std::uint32_t>(extended(bits, size)) << 16;
        const std::uint32_t entry =
            value | static_cast<std::uint32_t>(ends ? kEndOfBlock : run) << 8 | static_cast<std::uint32_t>(total);
        const std::size_t first = static_cast<std::size_t>(code << size | bits) << (kLookBits - total);
        const std::size_t last = first + (std::size_t{1} << (kLookBits - total));
        for (std::size_t i2 = first; i2 < last; ++i2) fast[i2] = static_cast<std::int32_t>(entry);
      }
    }
    largest[length] = counts[length - 1] == 0 ? -1 : (code << (16 - length)) - 1;
    code <<= 1;
  }
  largest[17] = 1 << 16;
  if (!dc) build_pairs();
  std::memcpy(made_from, source, sizeof source);
  present = true;
  return true;
}

void JpegHuffmanTable::build_pairs() {
  pairs.assign(fast.size(), Pair{});
  for (std::size_t code = 0; code < fast.size(); ++code) {
    const std::int32_t first = fast[code];
    Pair& pair = pairs[code];
    if (first == 0) {
      pair.run = kLongCode;
      continue;
    }
    pair.value = static_cast<std::int16_t>(first >> 16);
    pair.run = static_cast<std::uint8_t>(first >> 8);
    pair.bits = static_cast<std::uint8_t>(first);
    if (pair.run == kEndOfBlock) continue;
    const std::int32_t second = fast[code << pair.bits & (fast.size() - 1)];
    const int both = pair.bits + (second & 0xFF);
    if (second == 0 || both > kLookBits) continue;
    const std::uint32_t run = static_cast<std::uint32_t>(second) >> 8 & 0xFF;
    pair.bits = static_cast<std::uint8_t>(both);
    pair.next_value = static_cast<std::int16_t>(second >> 16);
    if (run == kEndOfBlock) {
      pair.advance = kEndOfBlock - 1;  // there is a coefficient before, at 1 or later
    } else {
      pair.step = static_cast<std::uint8_t>(run + 1);
      pair.advance = static_cast<std::uint8_t>(run + 2);
    }
  }
}

}  // namespace recordsmith
