// Copies decoded images into the memory of a batch in one step: a part of the image, resized, mirrored, brightened and
// scaled, with the channels of a pixel together or apart.
//
// Resizing is bilinear between the centres of pixels, without smoothing first: what tf.image.resize does by default.
//
//   rows of source  ─► two of them blended ─► columns picked and blended ─► batch
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "images/jpeg/jpeg_decoder.h"

namespace recordsmith {

struct ImagePart {
  std::size_t top;
  std::size_t left;
  std::size_t height;
  std::size_t width;

  // Whether it has pixels, all of them inside an image of this size.
  bool is_inside(std::size_t image_height, std::size_t image_width) const {
    return height >= 1 && width >= 1 && height <= image_height && width <= image_width &&
           top <= image_height - height && left <= image_width - width;
  }
};

struct FillSettings {
  std::size_t height = 0;  // of the result
  std::size_t width = 0;
  std::size_t channels = 0;
  bool planar = false;  // all of one channel, then all of the next
  bool flip_left_right = false;
  bool flip_up_down = false;
  float added = 0;  // to values from 0 to 255; the results are limited to that range
  float scale = 1;  // multiplies the values last; not for bytes
};

// Between which two pixels of a side each pixel of the result is, and how far it is from the first.
struct FillAxis {
  std::vector<std::uint32_t> lower;
  std::vector<std::uint32_t> upper;
  std::vector<float> share;  // of the upper one
};
FillAxis make_fill_axis(std::size_t start, std::size_t source, std::size_t target, bool flipped);

// Fills from pixels in memory: rows one after the other, as many channels as the result has.
void fill_from_pixels(const std::uint8_t* pixels, std::size_t width, const ImagePart& part,
                      const FillSettings& settings, float* target);
void fill_from_pixels(const std::uint8_t* pixels, std::size_t width, const ImagePart& part,
                      const FillSettings& settings, std::uint8_t* target);

// Fills from an opened JPEG, in three channels. False if the data are damaged; the target is then undefined.
bool fill_from_jpeg(JpegDecoder& decoder, const ImagePart& part, const FillSettings& settings, float* target);
bool fill_from_jpeg(JpegDecoder& decoder, const ImagePart& part, const FillSettings& settings, std::uint8_t* target);

}  // namespace recordsmith
