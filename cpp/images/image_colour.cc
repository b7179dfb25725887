#include "images/image_colour.h"

#include <algorithm>

namespace recordsmith {

void adjust_contrast(float* pixels, std::size_t count, std::size_t channels, float factor) {
  double sums[4] = {};
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t channel = 0; channel < channels; ++channel) sums[channel] += pixels[i * channels + channel];
  }
  float means[4] = {};
  for (std::size_t channel = 0; channel < channels; ++channel) {
    means[channel] = static_cast<float>(sums[channel] / static_cast<double>(count));
  }
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t channel = 0; channel < channels; ++channel) {
      float& value = pixels[i * channels + channel];
      value = std::clamp((value - means[channel]) * factor + means[channel], 0.0f, 1.0f);
    }
  }
}

void adjust_saturation(float* pixels, std::size_t count, std::size_t channels, float factor) {
  if (channels < 3) return;
  for (std::size_t i = 0; i < count; ++i) {
    float* pixel = pixels + i * channels;
    const float most = std::max({pixel[0], pixel[1], pixel[2]});
    const float spread = most - std::min({pixel[0], pixel[1], pixel[2]});
    if (spread <= 0) continue;
    // If hue and value stay, each channel's distance from the largest one is proportional to the saturation, at most 1.
    const float scale = std::min(factor, most / spread);
    for (int channel = 0; channel < 3; ++channel) {
      pixel[channel] = std::clamp(most - (most - pixel[channel]) * scale, 0.0f, 1.0f);
    }
  }
}

}  // namespace recordsmith
