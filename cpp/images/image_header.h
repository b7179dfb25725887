// Images told by their first bytes, as recordsmith/images/header.py tells them: a test holds the two together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace recordsmith::survey {

enum class ImageFormat : std::uint8_t { kJpeg, kPng, kWebp, kBmp, kGif };
inline constexpr std::size_t kImageFormats = 5;

const char* image_format_name(ImageFormat format);  // "jpeg", ...

struct ImageHeader {
  ImageFormat format{};
  std::int64_t height = 0;
  std::int64_t width = 0;  // negative in some broken BMPs
  int channels = 0;        // 0 where the header is cut before it says so
};

// Nothing for anything else, or a header that is cut.
std::optional<ImageHeader> read_image_header(const std::uint8_t* data, std::size_t size);

// The format that a file name's suffix stands for; nothing for other suffixes, or none.
std::optional<ImageFormat> format_of_suffix(const std::uint8_t* name, std::size_t size);

}  // namespace recordsmith::survey
