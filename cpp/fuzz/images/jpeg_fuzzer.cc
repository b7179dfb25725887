// JPEGs: any bytes are decoded or refused without harm; what is decoded does not depend on how much of it is wanted,
// nor on what was decoded before.
//
//   input := place u8, size u8, file bytes
//
// place, size: which part of the image is decoded by itself, in 1/16 of its sides
#include <algorithm>

#include "fuzz/fuzz_input.h"
#include "images/image_fill.h"
#include "images/jpeg/jpeg_decoder.h"

namespace recordsmith::fuzz {
namespace {

constexpr std::size_t kMostPixels = std::size_t{1} << 20;  // more take too long to try many

Content part_of(JpegDecoder& decoder, const ImagePart& part, bool* good) {
  Content pixels(part.height * part.width * 3);
  FillSettings settings;
  settings.height = part.height;
  settings.width = part.width;
  settings.channels = 3;
  *good = fill_from_jpeg(decoder, part, settings, pixels.data());
  return pixels;
}

std::size_t share(std::size_t side, int sixteenths) {
  return std::min(side - 1, side * static_cast<std::size_t>(sixteenths) / 16);
}

void check(const Content& input) {
  if (input.size() < 2) return;
  const Content data(input.begin() + 2, input.end());
  JpegDecoder decoder;
  if (decoder.open(data.data(), data.size()) == JpegSupport::kUnsupported) return;
  const std::size_t height = decoder.height();
  const std::size_t width = decoder.width();
  REQUIRE(height > 0 && width > 0);
  if (height * width > kMostPixels) return;
  bool good = false;
  const Content whole = part_of(decoder, {0, 0, height, width}, &good);

  // With memory in which another image was.
  static JpegDecoder used;
  REQUIRE(used.open(data.data(), data.size()) != JpegSupport::kUnsupported);
  bool again = false;
  const Content same = part_of(used, {0, 0, height, width}, &again);
  REQUIRE(again == good);
  if (good) REQUIRE(same == whole);

  ImagePart part{share(height, input[0] >> 4), share(width, input[0] & 15), 0, 0};
  part.height = std::min(height - part.top, 1 + share(height, input[1] >> 4));
  part.width = std::min(width - part.left, 1 + share(width, input[1] & 15));
  REQUIRE(used.open(data.data(), data.size()) != JpegSupport::kUnsupported);
  const Content piece = part_of(used, part, &again);
  if (!good) return;  // a part without the blocks that are too large may be good
  REQUIRE(again);
  for (std::size_t row = 0; row < part.height; ++row) {
    const auto expected = whole.begin() + static_cast<std::ptrdiff_t>(((part.top + row) * width + part.left) * 3);
    const auto found = piece.begin() + static_cast<std::ptrdiff_t>(row * part.width * 3);
    REQUIRE(std::equal(found, found + static_cast<std::ptrdiff_t>(part.width * 3), expected));
  }
}

}  // namespace
}  // namespace recordsmith::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  recordsmith::fuzz::check({data, data + size});
  return 0;
}
