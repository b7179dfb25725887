#include "examples/varint_run.h"

#include <algorithm>
#include <cstring>

#if defined(__x86_64__)
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // of what <immintrin.h> leaves undefined on purpose, bug 105593
#endif
#include <immintrin.h>
#endif

namespace recordsmith::wire {
namespace {

// One bit for each of 64 bytes: set where a varint ends.
std::uint64_t end_mask(Bytes at) {
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

// One after the other, as long as they begin before `stop`.
struct Progress {
  Bytes at;  // null: not a varint
  std::size_t count;
};

Progress decode_singly(Progress from, Bytes stop, Bytes end, std::int64_t* out, std::size_t room) {
  while (from.at < stop) {
    std::uint64_t value;
    from.at = read_varint(from.at, end, &value);
    if (from.at == nullptr || from.count == room) return {nullptr, 0};
    out[from.count++] = static_cast<std::int64_t>(value);
  }
  return from;
}

// Whether a value may have more than eight bytes, where `continues` has a bit for each byte that ends none.
bool has_long_run(std::uint64_t continues) {
  std::uint64_t runs = continues & (continues >> 1);
  runs &= runs >> 2;
  return (runs & (runs >> 4)) != 0;
}

#if defined(__x86_64__)

// Of 64 bytes, the first bytes of eight values are brought into words of eight bytes by one permutation. Then each word
// loses what follows its value, and its groups of seven bits are joined in three steps, as in join_groups.
__attribute__((target("avx512f,avx512bw,avx512vbmi,avx512vbmi2,bmi,lzcnt,popcnt"))) std::size_t decode_avx512(
    Bytes at, Bytes end, std::int64_t* out, std::size_t room) {
  const __m512i places =
      _mm512_set_epi64(0x3f3e3d3c3b3a3938, 0x3736353433323130, 0x2f2e2d2c2b2a2928, 0x2726252423222120,
                       0x1f1e1d1c1b1a1918, 0x1716151413121110, 0x0f0e0d0c0b0a0908, 0x0706050403020100);
  const __m512i first_of_word = _mm512_set4_epi32(0x08080808, 0x08080808, 0, 0);
  const __m512i within_word = _mm512_set1_epi64(0x0706050403020100);
  const __m512i high_bits = _mm512_set1_epi8(static_cast<char>(0x80));
  const __m512i low_bits = _mm512_set1_epi8(0x7f);
  std::size_t count = 0;
  while (at < end) {
    const auto left = static_cast<std::size_t>(end - at);
    const std::uint64_t present = left >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << left) - 1;
    const __m512i bytes = _mm512_maskz_loadu_epi8(present, at);
    const std::uint64_t continues = _mm512_movepi8_mask(bytes);
    const std::uint64_t ends = ~continues & present;
    if (ends == 0 || has_long_run(continues)) {  // a value of more than eight bytes, or none at all
      const Progress next = decode_singly({at, count}, at + std::min<std::size_t>(left, 64), end, out, room);
      if (next.at == nullptr) return kNotVarints;
      at = next.at;
      count = next.count;
      continue;
    }
    const auto found = static_cast<std::size_t>(_mm_popcnt_u64(ends));
    if (found > room - count) return kNotVarints;
    alignas(64) std::uint8_t starts[64];
    _mm512_store_si512(starts, _mm512_maskz_compress_epi8(ends << 1 | 1, places));
    for (std::size_t i = 0; i < found; i += 8) {
      const __m128i eight = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(starts + i));
      const __m512i from =
          _mm512_add_epi8(_mm512_shuffle_epi8(_mm512_cvtepu8_epi64(eight), first_of_word), within_word);
      __m512i words = _mm512_permutexvar_epi8(from, bytes);
      const __m512i stops = _mm512_andnot_si512(words, high_bits);
      const __m512i used = _mm512_xor_si512(stops, _mm512_sub_epi64(stops, _mm512_set1_epi64(1)));
      words = _mm512_and_si512(words, _mm512_and_si512(used, low_bits));
      words = _mm512_maddubs_epi16(_mm512_set1_epi16(static_cast<std::int16_t>(0x8001)), words);
      words = _mm512_madd_epi16(words, _mm512_set1_epi32(0x40000001));
      words = _mm512_or_si512(_mm512_and_si512(words, _mm512_set1_epi64(0xffffffff)),
                              _mm512_slli_epi64(_mm512_srli_epi64(words, 32), 28));
      const std::size_t rest = found - i;
      _mm512_mask_storeu_epi64(out + count + i, static_cast<__mmask8>(rest >= 8 ? 0xff : (1u << rest) - 1), words);
    }
    count += found;
    const std::size_t consumed = 64 - static_cast<std::size_t>(_lzcnt_u64(ends));
    if (consumed < left && left <= 64) return kNotVarints;  // the last one is cut off
    at += consumed;
  }
  return count;
}

bool has_avx512() {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512vbmi2");
}

const bool kHasAvx512 = has_avx512();

#endif

}  // namespace

std::size_t count_varints(Bytes at, Bytes end) {
  std::size_t count = 0;
  for (; end - at >= 64; at += 64) count += static_cast<std::size_t>(std::popcount(end_mask(at)));
  for (; at < end; ++at) count += *at < 0x80;
  return count;
}

std::size_t count_sound_varints(Bytes at, Bytes end) {
  std::size_t count = 0;
  while (at < end) {
    const Bytes stop = end - at >= 64 ? at + 64 : end;
    const std::uint64_t ends = end - at >= 64 ? end_mask(at) : 0;
    if (ends != 0 && !has_long_run(~ends)) {
      count += static_cast<std::size_t>(std::popcount(ends));
      at = stop - std::countl_zero(ends);
      continue;
    }
    for (std::uint64_t ignored; at < stop; ++count) {
      at = read_varint(at, end, &ignored);
      if (at == nullptr) return kNotVarints;
    }
  }
  return count;
}

std::size_t decode_varints_portable(Bytes at, Bytes end, std::int64_t* out, std::size_t room) {
  std::size_t count = 0;
  while (end - at >= 72) {  // a mask of 64, and eight bytes readable from each value's start
    std::uint64_t ends = end_mask(at);
    const std::uint64_t continues = ~ends;
    std::uint64_t long_runs = continues & (continues >> 1);
    long_runs &= long_runs >> 2;
    const bool is_usual = ends != 0 && (long_runs & (long_runs >> 4)) == 0;
    if (!is_usual || static_cast<std::size_t>(std::popcount(ends)) > room - count) {
      const Progress next = decode_singly({at, count}, at + 64, end, out, room);
      if (next.at == nullptr) return kNotVarints;
      at = next.at;
      count = next.count;
      continue;
    }
    int start = 0;
    if (long_runs == 0) {
      // No value here is longer than four bytes: words of 32 bits do, which is twice as fast.
      while (ends != 0) {
        const int last = std::countr_zero(ends);
        std::uint32_t word;
        std::memcpy(&word, at + start, sizeof word);
        word &= 0x7f7f7f7fu & (~std::uint32_t{0} >> (8 * (3 - (last - start))));
        word = ((word & 0x7f007f00u) >> 1) | (word & 0x007f007fu);
        out[count++] = static_cast<std::int64_t>(((word >> 2) & 0x0fffc000u) | (word & 0x3fffu));
        start = last + 1;
        ends &= ends - 1;
      }
    }
    while (ends != 0) {
      const int last = std::countr_zero(ends);
      std::uint64_t word;
      std::memcpy(&word, at + start, sizeof word);
      word &= ~std::uint64_t{0} >> (8 * (7 - (last - start)));
      out[count++] = static_cast<std::int64_t>(join_groups(word));
      start = last + 1;
      ends &= ends - 1;
    }
    at += start;
  }
  const Progress done = decode_singly({at, count}, end, end, out, room);
  return at < end && done.at == nullptr ? kNotVarints : done.count;
}

std::size_t decode_varints(Bytes at, Bytes end, std::int64_t* out, std::size_t room) {
#if defined(__x86_64__)
  if (kHasAvx512) return decode_avx512(at, end, out, room);
#endif
  return decode_varints_portable(at, end, out, room);
}

}  // namespace recordsmith::wire
