#include "images/area_resize.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/vector_clones.h"

namespace recordsmith {
namespace {

// Which source pixels one result pixel covers along one axis, and by how much; the weights add up to 1.
struct Cover {
  std::size_t first;
  std::size_t count;
  std::size_t weights;  // where its weights start
};

struct Axis {
  std::vector<Cover> covers;
  std::vector<float> weights;
};

Axis make_axis(std::size_t source, std::size_t target) {
  Axis axis;
  axis.covers.reserve(target);
  const double scale = static_cast<double>(source) / static_cast<double>(target);
  for (std::size_t i = 0; i < target; ++i) {
    // In whole numbers of 1/target of a pixel, so that edges which meet a pixel's edge do so exactly.
    const std::size_t begin = i * source;
    const std::size_t end = begin + source;
    const std::size_t first = begin / target;
    const std::size_t last = (end - 1) / target;
    axis.covers.push_back({first, last - first + 1, axis.weights.size()});
    for (std::size_t pixel = first; pixel <= last; ++pixel) {
      const std::size_t inside = std::min(end, (pixel + 1) * target) - std::max(begin, pixel * target);
      axis.weights.push_back(static_cast<float>(static_cast<double>(inside) / static_cast<double>(target) / scale));
    }
  }
  return axis;
}

typedef float Floats4 __attribute__((vector_size(16)));

RECORDSMITH_WITH_AVX2
void sum_rows(const std::uint8_t* source, std::size_t stride, const float* weights, std::size_t count,
              float* __restrict sums) {
  // Rows two by two: half the traffic to the sums.
  std::size_t row = 0;
  if (count % 2 == 1) {
    const float weight = weights[0];
    for (std::size_t i = 0; i < stride; ++i) sums[i] = weight * static_cast<float>(source[i]);
    row = 1;
  } else {
    const std::uint8_t* next = source + stride;
    const float weight = weights[0];
    const float next_weight = weights[1];
    for (std::size_t i = 0; i < stride; ++i) {
      sums[i] = weight * static_cast<float>(source[i]) + next_weight * static_cast<float>(next[i]);
    }
    row = 2;
  }
  for (; row < count; row += 2) {
    const std::uint8_t* one = source + row * stride;
    const std::uint8_t* other = one + stride;
    const float weight = weights[row];
    const float other_weight = weights[row + 1];
    for (std::size_t i = 0; i < stride; ++i) {
      sums[i] += weight * static_cast<float>(one[i]) + other_weight * static_cast<float>(other[i]);
    }
  }
}

template <std::size_t channels>
void gather_columns(const float* sums, const Axis& columns, std::uint8_t* target) {
  for (const Cover& cover : columns.covers) {
    const float* weights = columns.weights.data() + cover.weights;
    const float* at = sums + cover.first * channels;
    // Four values at once whatever the channels are; those beyond the pixel are never used.
    Floats4 total = {0.5f, 0.5f, 0.5f, 0.5f};
    for (std::size_t i = 0; i < cover.count; ++i, at += channels) {
      Floats4 pixel;
      std::memcpy(&pixel, at, sizeof pixel);
      total += pixel * weights[i];
    }
    for (std::size_t channel = 0; channel < channels; ++channel) {
      *target++ = static_cast<std::uint8_t>(std::min(total[channel], 255.0f));
    }
  }
}

}  // namespace

void shrink_by_area(const std::uint8_t* source, ImageSize size, std::size_t channels, std::uint8_t* target,
                    ImageSize target_size) {
  const Axis rows = make_axis(size.height, target_size.height);
  const Axis columns = make_axis(size.width, target_size.width);
  const std::size_t stride = size.width * channels;
  std::vector<float> sums(stride + 4);  // space for the three values beyond the last pixel that are loaded with it
  for (const Cover& cover : rows.covers) {
    sum_rows(source + cover.first * stride, stride, rows.weights.data() + cover.weights, cover.count, sums.data());
    switch (channels) {
      case 1:
        gather_columns<1>(sums.data(), columns, target);
        break;
      case 2:
        gather_columns<2>(sums.data(), columns, target);
        break;
      case 3:
        gather_columns<3>(sums.data(), columns, target);
        break;
      default:
        gather_columns<4>(sums.data(), columns, target);
        break;
    }
    target += target_size.width * channels;
  }
}

}  // namespace recordsmith
