// Changes of colour, in place, on values from 0 to 1 that stay in that range. The definitions are those of tf.image.
#pragma once

#include <cstddef>

namespace recordsmith {

// Moves each value away from the mean of its channel (factor > 1), or towards it.
void adjust_contrast(float* pixels, std::size_t count, std::size_t channels, float factor);

// Scales the saturation of RGB pixels in HSV, where hue and value stay.
void adjust_saturation(float* pixels, std::size_t count, std::size_t channels, float factor);

}  // namespace recordsmith
