// From the planes of a JPEG to colours: chroma at the size of luma, and YCbCr to RGB, with the roundings of libjpeg.
#pragma once

#include <cstddef>
#include <cstdint>

namespace recordsmith {

// Three parts of one row and one of another.
void sum_rows_3_to_1(const std::uint8_t* near, const std::uint8_t* far, std::size_t count, std::int16_t* sums);

// Twice as many samples, each three parts of the nearer neighbour and one of the other: of such sums, and of samples.
// `from` has a copy of its first and last entries beyond its ends.
void spread_sums(const std::int16_t* from, std::size_t count, std::uint8_t* to);
void spread_samples(const std::int16_t* from, std::size_t count, std::uint8_t* to);

// Four bytes a pixel, of which the last one says nothing.
void colours_to_rgbx(const std::uint8_t* y, const std::uint8_t* cb, const std::uint8_t* cr, std::size_t count,
                     std::uint8_t* rgbx);

}  // namespace recordsmith
