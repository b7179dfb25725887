// The inverse cosine transform of JPEG: 8x8 coefficients to 8x8 samples, with the sums and roundings of libjpeg's
// accurate integer method, so that its results are met to the bit.
#pragma once

#include <cstddef>
#include <cstdint>

namespace recordsmith {

// `block` has 64 dequantized coefficients, row by row, and is cleared; `to` is the first of 8 rows of samples. With
// `few`, only the first four of the first four rows are other than 0.
void transform_block(std::int16_t* block, bool few, std::uint8_t* to, std::size_t stride);

// The same for a block that has nothing but its mean.
void fill_block(std::int16_t mean, std::uint8_t* to, std::size_t stride);

}  // namespace recordsmith
