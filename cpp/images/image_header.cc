#include "images/image_header.h"

#include <algorithm>
#include <cstring>
#include <string>

namespace recordsmith {
namespace {

// Bytes with bounds: callers check that bytes exist before they read them.
class Head {
 public:
  Head(const std::uint8_t* data, std::size_t size) : data_(data), size_(size) {}

  std::size_t size() const { return size_; }
  bool has(std::size_t at, std::size_t count) const { return at <= size_ && count <= size_ - at; }
  std::uint8_t operator[](std::size_t at) const { return data_[at]; }
  bool matches(std::size_t at, const char* text, std::size_t count) const {
    return has(at, count) && std::memcmp(data_ + at, text, count) == 0;
  }
  // Some of the bytes, or fewer at the end.
  Head part(std::size_t at, std::size_t count) const {
    const std::size_t begin = std::min(at, size_);
    return {data_ + begin, std::min(count, size_ - begin)};
  }
  // Little-endian, and big-endian; the bytes must exist.
  std::uint32_t little(std::size_t at, std::size_t count) const {
    std::uint32_t value = 0;
    for (std::size_t i = count; i-- > 0;) value = value << 8 | data_[at + i];
    return value;
  }
  std::uint32_t big(std::size_t at, std::size_t count) const {
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < count; ++i) value = value << 8 | data_[at + i];
    return value;
  }

 private:
  const std::uint8_t* data_;
  std::size_t size_;
};

using Found = std::optional<ImageHeader>;

constexpr std::size_t kExifPrefix = 6;  // "Exif" and two zeros

// The orientation in EXIF data, which begins with its byte order mark; 1, upright, if it is missing or invalid.
int read_orientation(const Head& tiff) {
  const bool is_little = tiff.matches(0, "II*\0", 4);
  if (!is_little && !tiff.matches(0, "MM\0*", 4)) return 1;
  const auto number = [&](std::size_t at, std::size_t bytes) {
    return is_little ? tiff.little(at, bytes) : tiff.big(at, bytes);
  };
  constexpr std::uint32_t kOrientation = 0x0112;
  constexpr std::uint32_t kShort = 3;
  constexpr std::size_t kEntryBytes = 12;
  if (!tiff.has(4, 4)) return 1;
  const std::size_t directory = number(4, 4);
  if (!tiff.has(directory, 2)) return 1;
  const std::size_t entries = number(directory, 2);
  for (std::size_t at = directory + 2; at < directory + 2 + kEntryBytes * entries; at += kEntryBytes) {
    if (!tiff.has(at, 8)) return 1;
    if (number(at, 2) != kOrientation) continue;
    if (!tiff.has(at + 8, 2) || number(at + 2, 2) != kShort || number(at + 4, 4) != 1) return 1;
    const std::uint32_t value = number(at + 8, 2);
    return value >= 1 && value <= 8 ? static_cast<int>(value) : 1;
  }
  return 1;
}

// Walks over the segments to the one that starts a frame, which has the size; EXIF data comes before it.
Found read_jpeg(const Head& head) {
  std::size_t at = 2;
  int orientation = 1;
  while (head.has(at, 1) && head[at] == 0xff) {
    const std::uint8_t marker = head.has(at + 1, 1) ? head[at + 1] : 0;
    if (marker == 0xff) {
      at += 1;
    } else if (marker == 0x01 || (marker >= 0xd0 && marker <= 0xd7)) {
      at += 2;
    } else if (marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc) {
      if (!head.has(at + 4, 5)) return std::nullopt;
      const int components = head.has(at + 9, 1) ? head[at + 9] : 0;
      return ImageHeader{ImageFormat::kJpeg, head.big(at + 5, 2), head.big(at + 7, 2), components == 4 ? 3 : components,
                         orientation,        head[at + 4],        components != 4};
    } else if (marker == 0x00 || marker == 0xd9 || marker == 0xda) {
      return std::nullopt;
    } else {
      if (!head.has(at + 2, 2)) return std::nullopt;
      const std::size_t length = std::max<std::size_t>(2, head.big(at + 2, 2));
      if (marker == 0xe1 && head.matches(at + 4, "Exif\0\0", kExifPrefix)) {
        const std::size_t size = std::max(length, 2 + kExifPrefix) - 2 - kExifPrefix;
        orientation = read_orientation(head.part(at + 4 + kExifPrefix, size));
      }
      at += 2 + length;
    }
  }
  return std::nullopt;
}

Found read_png(const Head& head) {
  if (!head.has(16, 8)) return std::nullopt;
  ImageHeader header{ImageFormat::kPng, head.big(20, 4), head.big(16, 4), 0};
  if (head.size() < 26) return header;
  const std::uint8_t colour_type = head[25];
  constexpr int kChannels[] = {1, 0, 3, 3, 2, 0, 4};
  header.channels = colour_type < 7 ? kChannels[colour_type] : 0;
  header.bits = head[24] == 16 ? 16 : 8;
  for (std::size_t at = 33; head.has(at, 8);) {
    const std::size_t length = head.big(at, 4);
    if (colour_type == 3 && head.matches(at + 4, "tRNS", 4)) {  // entries of the palette are transparent
      header.channels = 4;
    } else if (head.matches(at + 4, "eXIf", 4)) {
      header.orientation = read_orientation(head.part(at + 8, length));
    }
    at += 12 + length;
  }
  return header;
}

int webp_orientation(const Head& head) {
  for (std::size_t at = 12; head.has(at, 8);) {
    const std::size_t length = head.little(at + 4, 4);
    if (head.matches(at, "EXIF", 4)) {
      const Head exif = head.part(at + 8, length);
      return read_orientation(exif.matches(0, "Exif\0\0", kExifPrefix) ? exif.part(kExifPrefix, length) : exif);
    }
    at += 8 + length + length % 2;
  }
  return 1;
}

Found read_webp(const Head& head) {
  if (head.matches(12, "VP8 ", 4) && head.matches(23, "\x9d\x01\x2a", 3)) {
    if (!head.has(26, 4)) return std::nullopt;
    return ImageHeader{ImageFormat::kWebp, head.little(28, 2) & 0x3fff, head.little(26, 2) & 0x3fff, 3};
  }
  if (head.matches(12, "VP8L", 4) && head.matches(20, "\x2f", 1)) {
    if (!head.has(21, 4)) return std::nullopt;
    const std::uint32_t bits = head.little(21, 4);
    return ImageHeader{ImageFormat::kWebp, (bits >> 14 & 0x3fff) + 1, (bits & 0x3fff) + 1,
                       (bits >> 28 & 1) != 0 ? 4 : 3};
  }
  if (head.matches(12, "VP8X", 4)) {
    if (!head.has(24, 6)) return std::nullopt;
    return ImageHeader{ImageFormat::kWebp, std::int64_t{head.little(27, 3)} + 1, std::int64_t{head.little(24, 3)} + 1,
                       (head[20] & 0x10) != 0 ? 4 : 3, webp_orientation(head)};
  }
  return std::nullopt;
}

// A palette without any colour in it makes a grey image.
int palette_channels(const Head& head, std::size_t start, std::uint32_t entries, std::size_t size) {
  const std::size_t begin = std::min(start, head.size());
  const std::size_t bytes = std::min<std::size_t>(std::min<std::uint32_t>(entries, 256) * size, head.size() - begin);
  if (bytes % size != 0 && bytes % size < 3) return 3;
  for (std::size_t at = begin; at + 2 < begin + bytes; at += size) {
    if (head[at] != head[at + 1] || head[at] != head[at + 2]) return 3;
  }
  return 1;
}

Found read_bmp(const Head& head) {
  const std::uint32_t form = head.little(14, 4);
  if (form == 12) {  // the oldest
    const std::uint8_t bits = head[24];
    const int channels = bits <= 8 ? palette_channels(head, 26, 1U << bits, 3) : 3;
    ImageHeader header{ImageFormat::kBmp, head.little(20, 2), head.little(18, 2), channels};
    header.is_plain = false;
    return header;
  }
  constexpr std::uint32_t kForms[] = {40, 52, 56, 64, 108, 124};
  if (std::find(std::begin(kForms), std::end(kForms), form) == std::end(kForms)) return std::nullopt;
  const std::int64_t height = static_cast<std::int32_t>(head.little(22, 4));
  ImageHeader header{ImageFormat::kBmp, height < 0 ? -height : height, static_cast<std::int32_t>(head.little(18, 4)),
                     0};
  if (head.size() < 50) return header;
  const std::uint32_t bits = head.little(28, 2);
  const std::uint32_t compression = head.little(30, 4);
  if (bits <= 8) {
    const std::uint32_t used = head.little(46, 4);
    header.channels = palette_channels(head, 14 + std::size_t{form}, used != 0 ? used : 1U << bits, 4);
    header.is_plain = bits == 8 && header.channels == 1 && compression == 0;
  } else {
    header.channels = bits == 32 && compression != 0 ? 4 : 3;
    header.is_plain = bits == 24 || bits == 32;
  }
  return header;
}

}  // namespace

const char* image_format_name(ImageFormat format) {
  constexpr const char* kNames[] = {"jpeg", "png", "webp", "bmp", "gif"};
  return kNames[static_cast<std::size_t>(format)];
}

Found read_image_header(const std::uint8_t* data, std::size_t size) {
  const Head head(data, size);
  if (head.matches(0, "\xff\xd8\xff", 3)) return read_jpeg(head);
  if (head.matches(0, "\x89PNG\r\n\x1a\n", 8) && head.matches(12, "IHDR", 4)) return read_png(head);
  if (head.matches(0, "GIF87a", 6) || head.matches(0, "GIF89a", 6)) {
    if (!head.has(6, 4)) return std::nullopt;
    return ImageHeader{ImageFormat::kGif, head.little(8, 2), head.little(6, 2), 3};
  }
  if (head.matches(0, "RIFF", 4) && head.matches(8, "WEBP", 4)) return read_webp(head);
  if (head.matches(0, "BM", 2) && head.size() >= 26) return read_bmp(head);
  return std::nullopt;
}

std::optional<ImageFormat> format_of_suffix(const std::uint8_t* name, std::size_t size) {
  constexpr std::size_t kLongest = 4;
  std::string suffix;
  std::size_t at = size;
  while (at > 0 && name[at - 1] != '.') {
    if (suffix.size() == kLongest) return std::nullopt;
    const std::uint8_t letter = name[--at];
    suffix.insert(suffix.begin(), static_cast<char>(letter >= 'A' && letter <= 'Z' ? letter + ('a' - 'A') : letter));
  }
  if (at == 0) return std::nullopt;
  if (suffix == "jpg" || suffix == "jpeg" || suffix == "jpe" || suffix == "jfif") return ImageFormat::kJpeg;
  if (suffix == "png") return ImageFormat::kPng;
  if (suffix == "webp") return ImageFormat::kWebp;
  if (suffix == "bmp" || suffix == "dib") return ImageFormat::kBmp;
  if (suffix == "gif") return ImageFormat::kGif;
  return std::nullopt;
}

}  // namespace recordsmith
