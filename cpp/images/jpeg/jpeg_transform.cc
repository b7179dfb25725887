#include "images/jpeg/jpeg_transform.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace recordsmith {
namespace {

static_assert(std::endian::native == std::endian::little, "bytes are put together to words, first to lowest");

// Up to this sum of all coefficients' sizes, no step of the transform leaves 16 bits, beyond which libjpeg-turbo's
// vectors saturate: times 4 (how they are scaled) and 1.39 (the largest factor) it makes 32,767. Damage exceeds it, and
// so does noise of pure black and white.
constexpr std::int32_t kLargestSum = 5900;

// As in libjpeg-turbo, a product too large for 16 bits loses its upper ones.
std::int16_t scaled(std::int16_t coefficient, std::int16_t scale) {
  return static_cast<std::int16_t>(std::int32_t{coefficient} * scale);
}

typedef std::int32_t Ints8 __attribute__((vector_size(32)));
typedef std::int16_t Shorts8 __attribute__((vector_size(16)));

#define RECORDSMITH_INLINE inline __attribute__((always_inline))

// One pass over eight columns at once; v[i] is row i. Constants are multiples of 1/8192.
template <int shift>
RECORDSMITH_INLINE void pass(Ints8 (&v)[8]) {
  // even rows
  const Ints8 even = (v[2] + v[6]) * 4433;
  const Ints8 e2 = even - v[6] * 15137;
  const Ints8 e3 = even + v[2] * 6270;
  const Ints8 e0 = (v[0] + v[4]) << 13;
  const Ints8 e1 = (v[0] - v[4]) << 13;
  const Ints8 t10 = e0 + e3;
  const Ints8 t13 = e0 - e3;
  const Ints8 t11 = e1 + e2;
  const Ints8 t12 = e1 - e2;
  // odd rows
  const Ints8 z5 = (v[7] + v[3] + v[5] + v[1]) * 9633;
  const Ints8 z1 = (v[7] + v[1]) * -7373;
  const Ints8 z2 = (v[5] + v[3]) * -20995;
  const Ints8 z3 = (v[7] + v[3]) * -16069 + z5;
  const Ints8 z4 = (v[5] + v[1]) * -3196 + z5;
  const Ints8 o0 = v[7] * 2446 + z1 + z3;
  const Ints8 o1 = v[5] * 16819 + z2 + z4;
  const Ints8 o2 = v[3] * 25172 + z2 + z3;
  const Ints8 o3 = v[1] * 12299 + z1 + z4;
  constexpr int half = 1 << (shift - 1);
  v[0] = (t10 + o3 + half) >> shift;
  v[7] = (t10 - o3 + half) >> shift;
  v[1] = (t11 + o2 + half) >> shift;
  v[6] = (t11 - o2 + half) >> shift;
  v[2] = (t12 + o1 + half) >> shift;
  v[5] = (t12 - o1 + half) >> shift;
  v[3] = (t13 + o0 + half) >> shift;
  v[4] = (t13 - o0 + half) >> shift;
}

RECORDSMITH_INLINE void transpose(Ints8 (&v)[8]) {
  Ints8 a[8];
  for (int i = 0; i < 4; ++i) {
    a[2 * i] = __builtin_shufflevector(v[2 * i], v[2 * i + 1], 0, 8, 1, 9, 4, 12, 5, 13);
    a[2 * i + 1] = __builtin_shufflevector(v[2 * i], v[2 * i + 1], 2, 10, 3, 11, 6, 14, 7, 15);
  }
  Ints8 b[8];
  for (int i = 0; i < 2; ++i) {
    b[4 * i] = __builtin_shufflevector(a[4 * i], a[4 * i + 2], 0, 1, 8, 9, 4, 5, 12, 13);
    b[4 * i + 1] = __builtin_shufflevector(a[4 * i], a[4 * i + 2], 2, 3, 10, 11, 6, 7, 14, 15);
    b[4 * i + 2] = __builtin_shufflevector(a[4 * i + 1], a[4 * i + 3], 0, 1, 8, 9, 4, 5, 12, 13);
    b[4 * i + 3] = __builtin_shufflevector(a[4 * i + 1], a[4 * i + 3], 2, 3, 10, 11, 6, 7, 14, 15);
  }
  for (int i = 0; i < 4; ++i) {
    v[i] = __builtin_shufflevector(b[i], b[i + 4], 0, 1, 2, 3, 8, 9, 10, 11);
    v[i + 4] = __builtin_shufflevector(b[i], b[i + 4], 4, 5, 6, 7, 12, 13, 14, 15);
  }
}

}  // namespace

bool transform_block_portable(std::int16_t* block, const std::int16_t* scales, bool few, std::uint8_t* to,
                              std::size_t stride) {
  std::int32_t size_of_all = 0;
  for (int i = 0; i < 64; ++i) {
    block[i] = scaled(block[i], scales[i]);
    size_of_all += std::abs(std::int32_t{block[i]});
  }
  if (size_of_all > kLargestSum) return false;
  Ints8 v[8];
  for (int i = 0; i < 8; ++i) {
    Shorts8 row;
    std::memcpy(&row, block + 8 * i, sizeof row);
    v[i] = __builtin_convertvector(row, Ints8);
    row = Shorts8{};
    std::memcpy(block + 8 * i, &row, sizeof row);
  }
  if (few) {
    // What is known to be zero drops out of the sums at compile time.
    for (int i = 4; i < 8; ++i) v[i] = Ints8{};
    pass<11>(v);
    transpose(v);
    for (int i = 4; i < 8; ++i) v[i] = Ints8{};
    pass<18>(v);
  } else {
    pass<11>(v);
    transpose(v);
    pass<18>(v);
  }
  // Now v[i] is column i of the result. Its bytes fit beside those of three others.
  for (Ints8& column : v) {
    column += 128;
    column = column < 0 ? Ints8{} : column;
    column = column > 255 ? Ints8{} + 255 : column;
  }
  const Ints8 left = v[0] | v[1] << 8 | v[2] << 16 | v[3] << 24;
  const Ints8 right = v[4] | v[5] << 8 | v[6] << 16 | v[7] << 24;
  // Rows 0, 1, 4, 5 and rows 2, 3, 6, 7
  const Ints8 outer = __builtin_shufflevector(left, right, 0, 8, 1, 9, 4, 12, 5, 13);
  const Ints8 inner = __builtin_shufflevector(left, right, 2, 10, 3, 11, 6, 14, 7, 15);
  std::uint64_t rows[8];
  std::memcpy(rows, &outer, sizeof outer);
  std::memcpy(rows + 4, &inner, sizeof inner);
  constexpr int place[8] = {0, 1, 4, 5, 2, 3, 6, 7};
  for (int i = 0; i < 8; ++i) std::memcpy(to + static_cast<std::size_t>(place[i]) * stride, rows + i, 8);
  return true;
}

#if defined(__x86_64__)

namespace {

#define RECORDSMITH_AVX2 __attribute__((target("avx2"), always_inline)) inline

// Sums of two products need 16 bits of each factor and give 32: one instruction for what takes three otherwise. So the
// values stay in 16 bits between the passes, and sums that several products share are multiplied out.

// Columns 0 to 7 of two rows in turns.
RECORDSMITH_AVX2 __m256i in_turns(__m128i one, __m128i other) {
  return _mm256_set_m128i(_mm_unpackhi_epi16(one, other), _mm_unpacklo_epi16(one, other));
}

// A pair of factors for rows in turns.
RECORDSMITH_AVX2 __m256i factors(int one, int other) {
  return _mm256_set1_epi32(
      static_cast<int>(static_cast<unsigned>(other) << 16 | (static_cast<unsigned>(one) & 0xFFFF)));
}

// The last step of a pass: t are the sums of the even rows, o those of the odd ones.
template <int shift>
RECORDSMITH_AVX2 void sum_up(const __m256i (&t)[4], const __m256i (&o)[4], __m256i (&v)[8]) {
  const __m256i half = _mm256_set1_epi32(1 << (shift - 1));
  for (int i = 0; i < 4; ++i) {
    const __m256i rounded = _mm256_add_epi32(t[i], half);
    v[i] = _mm256_srai_epi32(_mm256_add_epi32(rounded, o[i]), shift);
    v[7 - i] = _mm256_srai_epi32(_mm256_sub_epi32(rounded, o[i]), shift);
  }
}

template <int shift>
RECORDSMITH_AVX2 void pass_avx2(const __m128i (&r)[8], __m256i (&v)[8]) {
  const __m256i outer = in_turns(r[0], r[4]);
  const __m256i inner = in_turns(r[2], r[6]);
  const __m256i e0 = _mm256_madd_epi16(outer, factors(8192, 8192));
  const __m256i e1 = _mm256_madd_epi16(outer, factors(8192, -8192));
  const __m256i e2 = _mm256_madd_epi16(inner, factors(4433, 4433 - 15137));
  const __m256i e3 = _mm256_madd_epi16(inner, factors(4433 + 6270, 4433));
  const __m256i even[4] = {_mm256_add_epi32(e0, e3), _mm256_add_epi32(e1, e2), _mm256_sub_epi32(e1, e2),
                           _mm256_sub_epi32(e0, e3)};
  const __m256i sums = in_turns(_mm_add_epi16(r[7], r[3]), _mm_add_epi16(r[5], r[1]));
  const __m256i z3 = _mm256_madd_epi16(sums, factors(9633 - 16069, 9633));
  const __m256i z4 = _mm256_madd_epi16(sums, factors(9633, 9633 - 3196));
  const __m256i seven_one = in_turns(r[7], r[1]);
  const __m256i five_three = in_turns(r[5], r[3]);
  const __m256i odd[4] = {
      _mm256_add_epi32(_mm256_madd_epi16(seven_one, factors(-7373, 12299 - 7373)), z4),
      _mm256_add_epi32(_mm256_madd_epi16(five_three, factors(-20995, 25172 - 20995)), z3),
      _mm256_add_epi32(_mm256_madd_epi16(five_three, factors(16819 - 20995, -20995)), z4),
      _mm256_add_epi32(_mm256_madd_epi16(seven_one, factors(2446 - 7373, -7373)), z3),
  };
  sum_up<shift>(even, odd, v);
}

// The same if rows 4 to 7 are 0.
template <int shift>
RECORDSMITH_AVX2 void pass_few_avx2(const __m128i (&r)[4], __m256i (&v)[8]) {
  const __m256i zero_two = in_turns(r[0], r[2]);
  const __m256i one_three = in_turns(r[1], r[3]);
  const __m256i even[4] = {
      _mm256_madd_epi16(zero_two, factors(8192, 4433 + 6270)),
      _mm256_madd_epi16(zero_two, factors(8192, 4433)),
      _mm256_madd_epi16(zero_two, factors(8192, -4433)),
      _mm256_madd_epi16(zero_two, factors(8192, -4433 - 6270)),
  };
  const __m256i odd[4] = {
      _mm256_madd_epi16(one_three, factors(12299 - 7373 + 9633 - 3196, 9633)),
      _mm256_madd_epi16(one_three, factors(9633, 25172 - 20995 + 9633 - 16069)),
      _mm256_madd_epi16(one_three, factors(9633 - 3196, 9633 - 20995)),
      _mm256_madd_epi16(one_three, factors(9633 - 7373, 9633 - 16069)),
  };
  sum_up<shift>(even, odd, v);
}

// Eight rows of eight become eight columns in 16 bits: columns 0 and 4, 1 and 5, 2 and 6, 3 and 7.
RECORDSMITH_AVX2 void transpose_avx2(const __m256i (&v)[8], __m256i (&columns)[4]) {
  const __m256i r04 = _mm256_packs_epi32(v[0], v[4]);
  const __m256i r15 = _mm256_packs_epi32(v[1], v[5]);
  const __m256i r26 = _mm256_packs_epi32(v[2], v[6]);
  const __m256i r37 = _mm256_packs_epi32(v[3], v[7]);
  const __m256i r01 = _mm256_unpacklo_epi16(r04, r15);
  const __m256i r45 = _mm256_unpackhi_epi16(r04, r15);
  const __m256i r23 = _mm256_unpacklo_epi16(r26, r37);
  const __m256i r67 = _mm256_unpackhi_epi16(r26, r37);
  const __m256i top01 = _mm256_unpacklo_epi32(r01, r23);
  const __m256i top23 = _mm256_unpackhi_epi32(r01, r23);
  const __m256i bottom01 = _mm256_unpacklo_epi32(r45, r67);
  const __m256i bottom23 = _mm256_unpackhi_epi32(r45, r67);
  columns[0] = _mm256_unpacklo_epi64(top01, bottom01);
  columns[1] = _mm256_unpackhi_epi64(top01, bottom01);
  columns[2] = _mm256_unpacklo_epi64(top23, bottom23);
  columns[3] = _mm256_unpackhi_epi64(top23, bottom23);
}

RECORDSMITH_AVX2 std::int32_t sum_of_lanes(__m256i values) {
  __m128i sums = _mm_add_epi32(_mm256_castsi256_si128(values), _mm256_extracti128_si256(values, 1));
  sums = _mm_add_epi32(sums, _mm_shuffle_epi32(sums, 0b01'00'11'10));
  sums = _mm_add_epi32(sums, _mm_shuffle_epi32(sums, 0b10'11'00'01));
  return _mm_cvtsi128_si32(sums);
}

// Takes rows 2 * i and 2 * i + 1 of a block together, multiplied by their scales, and clears them. False if they are
// too large.
RECORDSMITH_AVX2 bool take_rows(std::int16_t* block, const std::int16_t* scales, int count, __m256i (&pairs)[4]) {
  __m256i sizes = _mm256_setzero_si256();
  auto* const words = reinterpret_cast<__m256i*>(block);
  for (int i = 0; i < count; ++i) {
    pairs[i] = _mm256_mullo_epi16(_mm256_loadu_si256(words + i),
                                  _mm256_loadu_si256(reinterpret_cast<const __m256i*>(scales) + i));
    sizes = _mm256_adds_epu16(sizes, _mm256_abs_epi16(pairs[i]));
    _mm256_storeu_si256(words + i, _mm256_setzero_si256());
  }
  sizes = _mm256_min_epu16(sizes, _mm256_set1_epi16(0x7FFF));
  return sum_of_lanes(_mm256_madd_epi16(sizes, _mm256_set1_epi16(1))) <= kLargestSum;
}

__attribute__((target("avx2"))) bool transform_block_avx2(std::int16_t* block, const std::int16_t* scales, bool few,
                                                          std::uint8_t* to, std::size_t stride) {
  __m256i pairs[4];
  if (!take_rows(block, scales, few ? 2 : 4, pairs)) return false;
  __m256i v[8];
  __m256i halves[4];
  if (few) {
    const __m128i rows[4] = {_mm256_castsi256_si128(pairs[0]), _mm256_extracti128_si256(pairs[0], 1),
                             _mm256_castsi256_si128(pairs[1]), _mm256_extracti128_si256(pairs[1], 1)};
    pass_few_avx2<11>(rows, v);
    transpose_avx2(v, halves);
    const __m128i columns[4] = {_mm256_castsi256_si128(halves[0]), _mm256_castsi256_si128(halves[1]),
                                _mm256_castsi256_si128(halves[2]), _mm256_castsi256_si128(halves[3])};
    pass_few_avx2<18>(columns, v);
  } else {
    __m128i rows[8];
    for (int i = 0; i < 4; ++i) {
      rows[2 * i] = _mm256_castsi256_si128(pairs[i]);
      rows[2 * i + 1] = _mm256_extracti128_si256(pairs[i], 1);
    }
    pass_avx2<11>(rows, v);
    transpose_avx2(v, halves);
    for (int i = 0; i < 4; ++i) {
      rows[i] = _mm256_castsi256_si128(halves[i]);
      rows[i + 4] = _mm256_extracti128_si256(halves[i], 1);
    }
    pass_avx2<18>(rows, v);
  }
  // Now v[i] is column i of the result.
  transpose_avx2(v, halves);
  const __m256i middle = _mm256_set1_epi8(static_cast<char>(0x80));
  for (int i = 0; i < 4; i += 2) {
    // Rows i, i + 1, i + 4 and i + 5
    const __m256i bytes = _mm256_xor_si256(_mm256_packs_epi16(halves[i], halves[i + 1]), middle);
    const __m128i upper = _mm256_castsi256_si128(bytes);
    const __m128i lower = _mm256_extracti128_si256(bytes, 1);
    std::uint8_t* const at = to + static_cast<std::size_t>(i) * stride;
    _mm_storel_epi64(reinterpret_cast<__m128i*>(at), upper);
    _mm_storeh_pd(reinterpret_cast<double*>(at + stride), _mm_castsi128_pd(upper));
    _mm_storel_epi64(reinterpret_cast<__m128i*>(at + 4 * stride), lower);
    _mm_storeh_pd(reinterpret_cast<double*>(at + 5 * stride), _mm_castsi128_pd(lower));
  }
  return true;
}

// What each row or column of the result takes of those of the source: a pass, multiplied out.
constexpr std::int16_t kFactors[8][8] = {
    {8192, 11363, 10703, 9633, 8192, 6437, 4433, 2260},     {8192, 9633, 4433, -2259, -8192, -11362, -10704, -6436},
    {8192, 6437, -4433, -11362, -8192, 2261, 10704, 9633},  {8192, 2260, -10703, -6436, 8192, 9633, -4433, -11363},
    {8192, -2260, -10703, 6436, 8192, -9633, -4433, 11363}, {8192, -6437, -4433, 11362, -8192, -2261, 10704, -9633},
    {8192, -9633, 4433, 2259, -8192, 11362, -10704, 6436},  {8192, -11363, 10703, -9633, 8192, -6437, 4433, -2260},
};

// The factors of two neighbouring columns: for values 0 to 3 of a row, and then for 4 to 7.
struct PairFactors {
  alignas(32) std::int16_t of[7][16];
  constexpr PairFactors() : of() {
    for (std::size_t first = 0; first < 7; ++first) {
      for (std::size_t i = 0; i < 16; ++i) of[first][i] = kFactors[first + i / 4 % 2][i % 4 + i / 8 * 4];
    }
  }
};
constexpr PairFactors kPairFactors;

__attribute__((target("avx2"))) bool transform_samples_avx2(std::int16_t* block, const std::int16_t* scales,
                                                            const BlockRows& rows, const BlockPairs& pairs,
                                                            std::uint8_t* to, std::size_t stride) {
  __m256i taken[4];
  if (!take_rows(block, scales, 4, taken)) return false;
  // The columns of both rows in turns: 0 to 3, and 4 to 7.
  const __m256i turns = _mm256_setr_epi8(0, 1, 8, 9, 2, 3, 10, 11, 4, 5, 12, 13, 6, 7, 14, 15, 0, 1, 8, 9, 2, 3, 10, 11,
                                         4, 5, 12, 13, 6, 7, 14, 15);
  for (__m256i& both : taken) both = _mm256_shuffle_epi8(_mm256_permute4x64_epi64(both, 0b11'01'10'00), turns);
  __m256i made[4];  // the wanted rows in 16 bits: columns 0 to 3 twice, and 4 to 7 twice
  for (int i = 0; i < 4; ++i) {
    std::int32_t factors_of_row[4];
    std::memcpy(factors_of_row, kFactors[rows.rows[i]], sizeof factors_of_row);
    __m256i sum = _mm256_set1_epi32(1 << 10);
    for (int k = 0; k < 4; ++k) {
      sum = _mm256_add_epi32(sum, _mm256_madd_epi16(taken[k], _mm256_set1_epi32(factors_of_row[k])));
    }
    sum = _mm256_srai_epi32(sum, 11);
    made[i] = _mm256_packs_epi32(sum, sum);
  }
  const __m128i half = _mm_set1_epi32(1 << 17);
  for (std::size_t i = 0; i < pairs.count; ++i) {
    const std::size_t first = pairs.firsts[i];
    const __m256i wanted = _mm256_load_si256(reinterpret_cast<const __m256i*>(kPairFactors.of[first]));
    const __m256i upper = _mm256_hadd_epi32(_mm256_madd_epi16(made[0], wanted), _mm256_madd_epi16(made[1], wanted));
    const __m256i lower = _mm256_hadd_epi32(_mm256_madd_epi16(made[2], wanted), _mm256_madd_epi16(made[3], wanted));
    const __m128i rows01 = _mm_add_epi32(_mm256_castsi256_si128(upper), _mm256_extracti128_si256(upper, 1));
    const __m128i rows23 = _mm_add_epi32(_mm256_castsi256_si128(lower), _mm256_extracti128_si256(lower, 1));
    const __m128i words = _mm_packs_epi32(_mm_srai_epi32(_mm_add_epi32(rows01, half), 18),
                                          _mm_srai_epi32(_mm_add_epi32(rows23, half), 18));
    const auto bytes =
        static_cast<std::uint64_t>(_mm_cvtsi128_si64(_mm_packs_epi16(words, words))) ^ 0x8080808080808080u;
    for (int row = 0; row < 4; ++row) {
      const auto samples = static_cast<std::uint16_t>(bytes >> (16 * row));
      std::memcpy(to + rows.rows[row] * stride + first, &samples, sizeof samples);
    }
  }
  return true;
}

}  // namespace

#endif

BlockTransform block_transform() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) return transform_block_avx2;
#endif
  return transform_block_portable;
}

SampleTransform sample_transform() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) return transform_samples_avx2;
#endif
  return nullptr;
}

bool fill_block(std::int16_t mean, std::int16_t scale, std::uint8_t* to, std::size_t stride) {
  const std::int32_t value = scaled(mean, scale);
  if (std::abs(value) > kLargestSum) return false;
  const int sample = std::clamp(((value + 4) >> 3) + 128, 0, 255);
  for (std::size_t i = 0; i < 8; ++i) std::memset(to + i * stride, sample, 8);
  return true;
}

}  // namespace recordsmith
