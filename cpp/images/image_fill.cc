#include "images/image_fill.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <type_traits>

#include "base/vector_clones.h"

namespace recordsmith {
namespace {

typedef float Floats4 __attribute__((vector_size(16)));

RECORDSMITH_WITH_AVX2
void blend_rows(const std::uint8_t* one, const std::uint8_t* other, float share, std::size_t count,
                float* __restrict blended) {
  for (std::size_t i = 0; i < count; ++i) {
    const auto value = static_cast<float>(one[i]);
    blended[i] = value + (static_cast<float>(other[i]) - value) * share;
  }
}

RECORDSMITH_WITH_AVX2
void convert_row(const std::uint8_t* from, std::size_t count, float* __restrict to) {
  for (std::size_t i = 0; i < count; ++i) to[i] = static_cast<float>(from[i]);
}

template <typename Value>
Value finished(float value) {
  if constexpr (std::is_same_v<Value, float>) {
    return value;
  } else {
    return static_cast<std::uint8_t>(value + 0.5f);  // in range already
  }
}

// One pixel of the result out of a blended row, whose pixels are `stride` values apart.
template <std::size_t stride>
inline Floats4 picked(const float* row, const FillAxis& columns, std::size_t x) {
  Floats4 value;
  Floats4 upper;
  std::memcpy(&value, row + columns.lower[x] * stride, sizeof value);
  std::memcpy(&upper, row + columns.upper[x] * stride, sizeof upper);
  return value + (upper - value) * columns.share[x];
}

// Picks and blends the columns of one row, and writes them. After `row` there is space for four more values.
template <std::size_t stride, std::size_t channels, bool clip, typename Value>
void write_row(const float* row, const FillAxis& columns, const FillSettings& settings, std::size_t y, Value* target) {
  const std::size_t width = settings.width;
  const std::size_t plane = settings.height * width;
  const float added = settings.added;
  const float scale = std::is_same_v<Value, float> ? settings.scale : 1.0f;
  const auto made = [&](std::size_t x) {
    Floats4 value = picked<stride>(row, columns, x);
    if constexpr (clip) {
      value += added;
      value = value < 0.0f ? Floats4{} : value;
      value = value > 255.0f ? Floats4{} + 255.0f : value;
    }
    return value * scale;
  };
  Value* const to = settings.planar ? target + y * width : target + y * width * channels;
  const std::size_t step = settings.planar ? 1 : channels;
  const std::size_t distance = settings.planar ? plane : 1;
  std::size_t x = 0;
  if constexpr (std::is_same_v<Value, float>) {
    // Four values, as long as there is space for them; the next pixel overwrites those that are too many.
    constexpr std::size_t kFour = (4 + channels - 1) / channels;
    if (!settings.planar) {
      for (; x + kFour <= width; ++x) {
        const Floats4 value = made(x);
        std::memcpy(to + x * channels, &value, sizeof value);
      }
    }
  }
  for (; x < width; ++x) {
    const Floats4 value = made(x);
    for (std::size_t channel = 0; channel < channels; ++channel) {
      to[x * step + channel * distance] = finished<Value>(value[channel]);
    }
  }
}

// `row_of(y)` gives the bytes of a source row; those of the last two calls stay where they are.
template <std::size_t stride, std::size_t channels, typename Value, typename RowOf>
void fill(const RowOf& row_of, const FillAxis& rows, const FillAxis& columns, const FillSettings& settings,
          Value* target) {
  const auto [first, last] = std::minmax_element(columns.lower.begin(), columns.lower.end());
  const std::size_t start = *first * stride;
  const std::size_t end =
      (std::max<std::size_t>(*last, *std::max_element(columns.upper.begin(), columns.upper.end())) + 1) * stride;
  const auto blended = std::make_unique_for_overwrite<float[]>(end + 4);
  for (std::size_t i = 0; i < settings.height; ++i) {
    // From the top of the source to its bottom, also where the result is upside down.
    const std::size_t y = settings.flip_up_down ? settings.height - 1 - i : i;
    const std::uint8_t* one = row_of(rows.lower[y]);
    if (rows.share[y] == 0 || rows.lower[y] == rows.upper[y]) {
      convert_row(one + start, end - start, blended.get() + start);
    } else {
      const std::uint8_t* other = row_of(rows.upper[y]);
      blend_rows(one + start, other + start, rows.share[y], end - start, blended.get() + start);
    }
    if (settings.added != 0) {
      write_row<stride, channels, true>(blended.get(), columns, settings, y, target);
    } else {
      write_row<stride, channels, false>(blended.get(), columns, settings, y, target);
    }
  }
}

template <typename Value>
void fill_pixels(const std::uint8_t* pixels, std::size_t width, const ImagePart& part, const FillSettings& settings,
                 Value* target) {
  const FillAxis rows = make_fill_axis(part.top, part.height, settings.height, settings.flip_up_down);
  const FillAxis columns = make_fill_axis(part.left, part.width, settings.width, settings.flip_left_right);
  const auto row_of = [&](std::size_t y) { return pixels + y * width * settings.channels; };
  switch (settings.channels) {
    case 1:
      fill<1, 1>(row_of, rows, columns, settings, target);
      break;
    case 3:
      fill<3, 3>(row_of, rows, columns, settings, target);
      break;
    default:
      fill<4, 4>(row_of, rows, columns, settings, target);
  }
}

template <typename Value>
bool fill_jpeg(JpegDecoder& decoder, const ImagePart& part, const FillSettings& settings, Value* target) {
  const FillAxis rows = make_fill_axis(part.top, part.height, settings.height, settings.flip_up_down);
  FillAxis columns = make_fill_axis(part.left, part.width, settings.width, settings.flip_left_right);
  WantedPixels wanted{std::vector<std::uint8_t>(decoder.height()), std::vector<std::uint8_t>(decoder.width())};
  for (const auto* numbers : {&rows.lower, &rows.upper}) {
    for (const std::uint32_t number : *numbers) wanted.rows[number] = 1;
  }
  for (const auto* numbers : {&columns.lower, &columns.upper}) {
    for (const std::uint32_t number : *numbers) wanted.columns[number] = 1;
  }
  if (!decoder.start(wanted)) return false;
  // Of an image that becomes much smaller, only the columns that are used are converted to colours. They come in
  // pairs, since a pixel of the result is between two.
  const bool few = settings.width * 4 < part.width;
  std::vector<std::uint32_t> pairs;
  if (few) {
    for (std::size_t i = 0; i < columns.lower.size(); ++i) {
      const std::uint32_t first =
          std::min<std::uint32_t>(columns.lower[i], static_cast<std::uint32_t>(decoder.width() - 2));
      const auto place = static_cast<std::uint32_t>(2 * pairs.size());
      pairs.push_back(first);
      columns.lower[i] = place + (columns.lower[i] - first);
      columns.upper[i] = place + (columns.upper[i] - first);
    }
  }
  // The last two rows that were made: neighbours are often requested twice.
  std::unique_ptr<std::uint8_t[]> made[2];
  std::size_t which[2] = {decoder.height(), decoder.height()};
  for (auto& row : made) row = std::make_unique_for_overwrite<std::uint8_t[]>(decoder.width() * 4);
  int oldest = 0;
  bool good = true;
  const auto row_of = [&](std::size_t y) -> const std::uint8_t* {
    for (int i = 0; i < 2; ++i) {
      if (which[i] != y) continue;
      oldest = 1 - i;
      return made[i].get();
    }
    const int i = oldest;
    good = good && (few ? decoder.row(y, pairs, made[i].get()) : decoder.row(y, made[i].get()));
    which[i] = y;
    oldest = 1 - i;
    return made[i].get();
  };
  fill<4, 3>(row_of, rows, columns, settings, target);
  return good && decoder.finish();
}

}  // namespace

FillAxis make_fill_axis(std::size_t start, std::size_t source, std::size_t target, bool flipped) {
  FillAxis axis;
  axis.lower.resize(target);
  axis.upper.resize(target);
  axis.share.resize(target);
  const float scale = static_cast<float>(source) / static_cast<float>(target);
  for (std::size_t i = 0; i < target; ++i) {
    const float at = (static_cast<float>(i) + 0.5f) * scale - 0.5f;
    const float below = std::floor(at);
    const std::size_t lower = static_cast<std::size_t>(std::max(below, 0.0f));
    const std::size_t upper = static_cast<std::size_t>(std::max(std::ceil(at), 0.0f));
    const std::size_t place = flipped ? target - 1 - i : i;
    axis.lower[place] = static_cast<std::uint32_t>(start + std::min(lower, source - 1));
    axis.upper[place] = static_cast<std::uint32_t>(start + std::min(upper, source - 1));
    axis.share[place] = at - below;
  }
  return axis;
}

void fill_from_pixels(const std::uint8_t* pixels, std::size_t width, const ImagePart& part,
                      const FillSettings& settings, float* target) {
  fill_pixels(pixels, width, part, settings, target);
}

void fill_from_pixels(const std::uint8_t* pixels, std::size_t width, const ImagePart& part,
                      const FillSettings& settings, std::uint8_t* target) {
  fill_pixels(pixels, width, part, settings, target);
}

bool fill_from_jpeg(JpegDecoder& decoder, const ImagePart& part, const FillSettings& settings, float* target) {
  return fill_jpeg(decoder, part, settings, target);
}

bool fill_from_jpeg(JpegDecoder& decoder, const ImagePart& part, const FillSettings& settings, std::uint8_t* target) {
  return fill_jpeg(decoder, part, settings, target);
}

}  // namespace recordsmith
