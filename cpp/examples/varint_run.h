// Packed varints, many at once.
//
// Branching on each value's length mispredicts at random data, so lengths come from a bit mask instead: one bit for
// each byte that ends a value, 64 bytes at a time. The loads and shifts of neighbouring values then do not depend on
// each other, and the processor overlaps them.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "examples/wire.h"

namespace recordsmith::wire {

// One bit for each of 64 bytes: set where a varint ends.
inline std::uint64_t end_mask(Bytes at) {
#if defined(__SSE2__)
  std::uint64_t continues = 0;
  for (int part = 0; part < 4; ++part) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at + 16 * part));
    continues |= static_cast<std::uint64_t>(static_cast<std::uint32_t>(_mm_movemask_epi8(bytes))) << (16 * part);
  }
  return ~continues;
#else
  std::uint64_t ends = 0;
  for (int part = 0; part < 8; ++part) {
    std::uint64_t word;
    std::memcpy(&word, at + 8 * part, sizeof word);
    const std::uint64_t high = (~word & 0x8080808080808080u) >> 7;
    ends |= ((high * 0x0102040810204080u) >> 56) << (8 * part);
  }
  return ends;
#endif
}

// How many values the bytes hold. Does not check that they are well formed.
inline std::size_t count_varints(Bytes at, Bytes end) {
  std::size_t count = 0;
  for (; end - at >= 64; at += 64) count += static_cast<std::size_t>(std::popcount(end_mask(at)));
  for (; at < end; ++at) count += *at < 0x80;
  return count;
}

// Joins the seven-bit groups of up to eight bytes.
inline std::uint64_t join_groups(std::uint64_t bytes) {
  bytes = ((bytes & 0x7f007f007f007f00u) >> 1) | (bytes & 0x007f007f007f007fu);
  bytes = ((bytes & 0x3fff00003fff0000u) >> 2) | (bytes & 0x00003fff00003fffu);
  return ((bytes & 0x0fffffff00000000u) >> 4) | (bytes & 0x000000000fffffffu);
}

// Decodes all varints of [at, end) to `out`, which has room for count_varints of them. False if one is longer than ten
// bytes or the last one is cut off.
inline bool decode_varints(Bytes at, Bytes end, std::int64_t* out) {
  while (end - at >= 72) {  // a mask of 64, and eight bytes readable from each value's start
    std::uint64_t ends = end_mask(at);
    if (ends == ~std::uint64_t{0}) {  // 64 values below 128
      for (int i = 0; i < 64; ++i) out[i] = at[i];
      out += 64;
      at += 64;
      continue;
    }
    int start = 0;
    const std::uint64_t continues = ~ends;
    if ((continues & (continues >> 1) & (continues >> 2) & (continues >> 3)) == 0) {
      // No value here is longer than four bytes: words of 32 bits do, which is twice as fast.
      while (ends != 0) {
        const int last = std::countr_zero(ends);
        std::uint32_t word;
        std::memcpy(&word, at + start, sizeof word);
        word &= 0x7f7f7f7fu & (~std::uint32_t{0} >> (8 * (3 - (last - start))));
        word = ((word & 0x7f007f00u) >> 1) | (word & 0x007f007fu);
        *out++ = static_cast<std::int64_t>(((word >> 2) & 0x0fffc000u) | (word & 0x3fffu));
        start = last + 1;
        ends &= ends - 1;
      }
    }
    while (ends != 0) {
      const int last = std::countr_zero(ends);
      const int bytes = last - start + 1;
      if (bytes > 8) [[unlikely]] {
        std::uint64_t value;
        if (read_long_varint(at + start, end, &value, 10) == nullptr) return false;
        *out++ = static_cast<std::int64_t>(value);
      } else {
        std::uint64_t word;
        std::memcpy(&word, at + start, sizeof word);
        *out++ = static_cast<std::int64_t>(join_groups(word & (~std::uint64_t{0} >> (64 - 8 * bytes))));
      }
      start = last + 1;
      ends &= ends - 1;
    }
    if (start == 0) return false;  // 64 bytes and no end
    at += start;
  }
  while (at < end) {
    std::uint64_t value;
    at = read_varint(at, end, &value);
    if (at == nullptr) return false;
    *out++ = static_cast<std::int64_t>(value);
  }
  return true;
}

}  // namespace recordsmith::wire
