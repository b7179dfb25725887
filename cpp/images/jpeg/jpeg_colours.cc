#include "images/jpeg/jpeg_colours.h"

#include <algorithm>
#include <cstring>

#include "base/vector_clones.h"

namespace recordsmith {

RECORDSMITH_WITH_AVX2
void sum_rows_3_to_1(const std::uint8_t* near, const std::uint8_t* far, std::size_t count,
                     std::int16_t* __restrict sums) {
  for (std::size_t i = 0; i < count; ++i) sums[i] = static_cast<std::int16_t>(3 * near[i] + far[i]);
}

RECORDSMITH_WITH_AVX2
void spread_sums(const std::int16_t* from, std::size_t count, std::uint8_t* __restrict to) {
  for (std::size_t i = 0; i < count; ++i) {
    to[2 * i] = static_cast<std::uint8_t>((3 * from[i] + from[static_cast<std::ptrdiff_t>(i) - 1] + 8) >> 4);
    to[2 * i + 1] = static_cast<std::uint8_t>((3 * from[i] + from[i + 1] + 7) >> 4);
  }
}

RECORDSMITH_WITH_AVX2
void spread_samples(const std::int16_t* from, std::size_t count, std::uint8_t* __restrict to) {
  for (std::size_t i = 0; i < count; ++i) {
    to[2 * i] = static_cast<std::uint8_t>((3 * from[i] + from[static_cast<std::ptrdiff_t>(i) - 1] + 1) >> 2);
    to[2 * i + 1] = static_cast<std::uint8_t>((3 * from[i] + from[i + 1] + 2) >> 2);
  }
}

RECORDSMITH_WITH_AVX2
void colours_to_rgbx(const std::uint8_t* y, const std::uint8_t* cb, const std::uint8_t* cr, std::size_t count,
                     std::uint8_t* __restrict rgbx) {
  for (std::size_t i = 0; i < count; ++i) {
    const std::int32_t luma = y[i];
    const std::int32_t blue = cb[i] - 128;
    const std::int32_t red = cr[i] - 128;
    // 1.402, 1.772, 0.344136 and 0.714136 in 16 bits, as libjpeg rounds them
    std::int32_t r = luma + ((91881 * red + 32768) >> 16);
    std::int32_t g = luma + ((-22554 * blue - 46802 * red + 32768) >> 16);
    std::int32_t b = luma + ((116130 * blue + 32768) >> 16);
    r = std::min(std::max(r, 0), 255);
    g = std::min(std::max(g, 0), 255);
    b = std::min(std::max(b, 0), 255);
    const std::uint32_t pixel = static_cast<std::uint32_t>(r | g << 8 | b << 16);
    std::memcpy(rgbx + 4 * i, &pixel, 4);
  }
}

}  // namespace recordsmith
