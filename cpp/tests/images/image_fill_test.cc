#include "images/image_fill.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "images/image_colour.h"
#include "tests/check.h"

namespace recordsmith {
namespace {

std::vector<std::uint8_t> noise(std::size_t count) {
  std::vector<std::uint8_t> values(count);
  std::uint32_t state = 7;
  for (std::uint8_t& value : values) {
    state = state * 1664525u + 1013904223u;
    value = static_cast<std::uint8_t>(state >> 24);
  }
  return values;
}

// The definition, one value at a time.
double resized(const std::vector<std::uint8_t>& pixels, std::size_t width, const ImagePart& part,
               const FillSettings& settings, std::size_t y, std::size_t x, std::size_t channel) {
  const double down =
      (static_cast<double>(y) + 0.5) * static_cast<double>(part.height) / static_cast<double>(settings.height) - 0.5;
  const double right =
      (static_cast<double>(x) + 0.5) * static_cast<double>(part.width) / static_cast<double>(settings.width) - 0.5;
  const auto at = [&](double row, double column) {
    const auto i = static_cast<std::size_t>(std::clamp(row, 0.0, static_cast<double>(part.height - 1)));
    const auto j = static_cast<std::size_t>(std::clamp(column, 0.0, static_cast<double>(part.width - 1)));
    return static_cast<double>(pixels[((part.top + i) * width + part.left + j) * settings.channels + channel]);
  };
  const double top = std::floor(down);
  const double left = std::floor(right);
  const double upper = at(top, left) + (at(top, left + 1) - at(top, left)) * (right - left);
  const double lower = at(top + 1, left) + (at(top + 1, left + 1) - at(top + 1, left)) * (right - left);
  return upper + (lower - upper) * (down - top);
}

void check_size(std::size_t channels, bool planar, const ImagePart& part, std::size_t height, std::size_t width) {
  constexpr std::size_t kHeight = 23;
  constexpr std::size_t kWidth = 31;
  const std::vector<std::uint8_t> pixels = noise(kHeight * kWidth * channels);
  FillSettings settings;
  settings.height = height;
  settings.width = width;
  settings.channels = channels;
  settings.planar = planar;
  settings.flip_left_right = planar;
  settings.flip_up_down = channels == 3;
  settings.added = channels == 4 ? 30.0f : 0.0f;
  settings.scale = 0.5f;
  std::vector<float> floats(height * width * channels, -1.0f);
  std::vector<std::uint8_t> bytes(height * width * channels);
  fill_from_pixels(pixels.data(), kWidth, part, settings, floats.data());
  fill_from_pixels(pixels.data(), kWidth, part, settings, bytes.data());
  for (std::size_t y = 0; y < height; ++y) {
    for (std::size_t x = 0; x < width; ++x) {
      for (std::size_t channel = 0; channel < channels; ++channel) {
        const std::size_t from_y = settings.flip_up_down ? height - 1 - y : y;
        const std::size_t from_x = settings.flip_left_right ? width - 1 - x : x;
        double expected = resized(pixels, kWidth, part, settings, from_y, from_x, channel);
        if (settings.added != 0) expected = std::clamp(expected + static_cast<double>(settings.added), 0.0, 255.0);
        const std::size_t at = planar ? (channel * height + y) * width + x : (y * width + x) * channels + channel;
        CHECK(std::abs(static_cast<double>(floats[at]) - expected * 0.5) < 0.01);
        CHECK(std::abs(static_cast<double>(bytes[at]) - expected) < 0.52);
      }
    }
  }
}

TEST(filling_is_bilinear_resizing) {
  for (const std::size_t channels : {1u, 3u, 4u}) {
    for (const bool planar : {false, true}) {
      check_size(channels, planar, {0, 0, 23, 31}, 23, 31);
      check_size(channels, planar, {0, 0, 23, 31}, 10, 7);
      check_size(channels, planar, {3, 5, 11, 20}, 11, 20);
      check_size(channels, planar, {3, 5, 20, 26}, 40, 50);
      check_size(channels, planar, {22, 30, 1, 1}, 3, 2);
      check_size(channels, planar, {0, 0, 23, 31}, 1, 1);
    }
  }
}

TEST(contrast_moves_values_from_the_mean) {
  float pixels[] = {0.4f, 0.1f, 0.6f, 0.9f};  // two pixels of two channels
  adjust_contrast(pixels, 2, 2, 2.0f);
  const float expected[] = {0.3f, 0.0f, 0.7f, 1.0f};
  for (int i = 0; i < 4; ++i) CHECK(std::abs(pixels[i] - expected[i]) < 1e-6f);
}

TEST(saturation_keeps_the_largest_channel) {
  float pixels[] = {0.8f, 0.4f, 0.4f, 0.5f, 0.5f, 0.5f};
  adjust_saturation(pixels, 2, 3, 0.5f);
  const float expected[] = {0.8f, 0.6f, 0.6f, 0.5f, 0.5f, 0.5f};
  for (int i = 0; i < 6; ++i) CHECK(std::abs(pixels[i] - expected[i]) < 1e-6f);
}

}  // namespace
}  // namespace recordsmith
