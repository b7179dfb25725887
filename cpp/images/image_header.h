// Recognises images by their first bytes: the format, the size, the channels and the orientation. Nothing is decoded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace recordsmith {

enum class ImageFormat : std::uint8_t { kJpeg, kPng, kWebp, kBmp, kGif };
inline constexpr std::size_t kImageFormats = 5;

const char* image_format_name(ImageFormat format);  // "jpeg", ...

struct ImageHeader {
  ImageFormat format{};
  std::int64_t height = 0;  // as stored, before the orientation is applied
  std::int64_t width = 0;   // negative in some broken BMPs
  int channels = 0;         // 1 grey, 2 grey and alpha, 3 colour, 4 colour and alpha; 0: the header is cut before that
  int orientation = 1;      // of the EXIF data, 1 to 8; above 4, height and width change places
  int bits = 8;             // per channel
  // Every decoder understands it. JPEGs in CMYK and BMPs with a palette are not plain: they decode to RGB here, and
  // elsewhere to something else or not at all.
  bool is_plain = true;
};

// Nothing for other data, or if the header is cut before the size.
std::optional<ImageHeader> read_image_header(const std::uint8_t* data, std::size_t size);

// The format of a file name's suffix; nothing for other suffixes, or none.
std::optional<ImageFormat> format_of_suffix(const std::uint8_t* name, std::size_t size);

}  // namespace recordsmith
