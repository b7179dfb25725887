#include "images/area_resize.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "tests/check.h"

namespace recordsmith::testing {
namespace {

using Pixels = std::vector<std::uint8_t>;

Pixels noise(std::size_t count) {
  std::mt19937 generator(7);
  Pixels pixels(count);
  for (std::uint8_t& value : pixels) value = static_cast<std::uint8_t>(generator());
  return pixels;
}

Pixels shrunk(const Pixels& source, ImageSize size, std::size_t channels, ImageSize wanted) {
  Pixels target(wanted.height * wanted.width * channels);
  shrink_by_area(source.data(), size, channels, target.data(), wanted);
  return target;
}

// How much of [first, first + 1) is in [begin, end).
double overlap(double first, double begin, double end) {
  return std::max(0.0, std::min(end, first + 1) - std::max(begin, first));
}

// The mean of the area that a pixel covers, straight from the definition.
double mean(const Pixels& source, ImageSize size, std::size_t channels, ImageSize wanted, std::size_t y, std::size_t x,
            std::size_t channel) {
  const double high = static_cast<double>(size.height) / static_cast<double>(wanted.height);
  const double wide = static_cast<double>(size.width) / static_cast<double>(wanted.width);
  double sum = 0;
  for (std::size_t row = 0; row < size.height; ++row) {
    const double rows =
        overlap(static_cast<double>(row), static_cast<double>(y) * high, static_cast<double>(y + 1) * high);
    if (rows <= 0) continue;
    for (std::size_t column = 0; column < size.width; ++column) {
      const double columns =
          overlap(static_cast<double>(column), static_cast<double>(x) * wide, static_cast<double>(x + 1) * wide);
      sum += rows * columns * source[(row * size.width + column) * channels + channel];
    }
  }
  return sum / (high * wide);
}

TEST(every_pixel_is_the_mean_of_its_area) {
  for (const ImageSize size : {ImageSize{1, 1}, {2, 3}, {13, 17}, {40, 31}}) {
    for (const ImageSize wanted : {ImageSize{1, 1}, {2, 3}, {7, 5}, {13, 4}, {13, 17}}) {
      if (wanted.height > size.height || wanted.width > size.width) continue;
      for (const std::size_t channels : {1u, 2u, 3u, 4u}) {
        const Pixels source = noise(size.height * size.width * channels);
        const Pixels target = shrunk(source, size, channels, wanted);
        for (std::size_t i = 0; i < target.size(); ++i) {
          const std::size_t y = i / (wanted.width * channels), x = i / channels % wanted.width;
          const double expected = mean(source, size, channels, wanted, y, x, i % channels);
          CHECK(std::abs(target[i] - expected) < 0.501);  // rounded to the nearest
        }
      }
    }
  }
}

TEST(the_same_size_changes_nothing) {
  const Pixels source = noise(37 * 23 * 3);
  CHECK(shrunk(source, {37, 23}, 3, {37, 23}) == source);
}

TEST(white_stays_white_and_black_black) {
  for (const int value : {0, 255}) {
    const Pixels source(375 * 500 * 3, static_cast<std::uint8_t>(value));
    for (const std::uint8_t pixel : shrunk(source, {375, 500}, 3, {224, 224})) CHECK_EQUAL(int{pixel}, value);
  }
}

}  // namespace
}  // namespace recordsmith::testing
