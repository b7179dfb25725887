// The inverse cosine transform of JPEG: 8x8 coefficients to 8x8 samples, with the sums and roundings of libjpeg's
// accurate integer method, so that the results are equal to the bit.
#pragma once

#include <cstddef>
#include <cstdint>

namespace recordsmith {

// `block` has the 64 coefficients of the file, row by row, and is cleared; `scales` has the factor of each of them.
// `to` is the first of 8 rows of samples. With `few`, only the first four of the first four rows are other than 0.
// False if the coefficients are larger than those of any image.
using BlockTransform = bool (*)(std::int16_t* block, const std::int16_t* scales, bool few, std::uint8_t* to,
                                std::size_t stride);

// The fastest form that this machine has. All give the same.
BlockTransform block_transform();
// The form for every machine.
bool transform_block_portable(std::int16_t* block, const std::int16_t* scales, bool few, std::uint8_t* to,
                              std::size_t stride);

// Some of a block's samples: up to four rows, and up to two pairs of neighbouring columns, of which the first ones are
// given. Rows may occur twice.
struct BlockRows {
  bool are_few = false;
  std::uint8_t rows[4] = {};
};
struct BlockPairs {
  std::size_t count = 0;  // 0: more than these
  std::uint8_t firsts[2] = {};
};

// The same for those samples only, as for an image that becomes much smaller: half the work.
using SampleTransform = bool (*)(std::int16_t* block, const std::int16_t* scales, const BlockRows& rows,
                                 const BlockPairs& pairs, std::uint8_t* to, std::size_t stride);
// Null if this machine has none.
SampleTransform sample_transform();

// Clears 64 coefficients, without the call that compilers make of it.
inline void clear_block(std::int16_t* block) {
  typedef std::int16_t Row __attribute__((vector_size(16)));
  const Row zeros{};
  for (int i = 0; i < 8; ++i) __builtin_memcpy(block + 8 * i, &zeros, sizeof zeros);
}

// The same for a block that has nothing but its mean.
bool fill_block(std::int16_t mean, std::int16_t scale, std::uint8_t* to, std::size_t stride);

}  // namespace recordsmith
