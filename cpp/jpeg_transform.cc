#include "jpeg_transform.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "vector_clones.h"

namespace recordsmith {
namespace {

static_assert(std::endian::native == std::endian::little, "bytes are put together to words, first to lowest");

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

RECORDSMITH_WITH_AVX2
void transform_block(std::int16_t* block, bool few, std::uint8_t* to, std::size_t stride) {
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
}

void fill_block(std::int16_t mean, std::uint8_t* to, std::size_t stride) {
  const int sample = std::clamp(((mean + 4) >> 3) + 128, 0, 255);
  for (std::size_t i = 0; i < 8; ++i) std::memset(to + i * stride, sample, 8);
}

}  // namespace recordsmith
