// Headers of images: any bytes are read without harm, and what was found does not change with bytes behind it.
#include <algorithm>
#include <optional>

#include "fuzz/fuzz_input.h"
#include "images/image_header.h"

namespace recordsmith::fuzz {
namespace {

// A copy, so that a byte read beyond the end is noticed.
std::optional<ImageHeader> header_of(const Content& data, std::size_t size) {
  const Content part(data.begin(), data.begin() + static_cast<std::ptrdiff_t>(size));
  return read_image_header(part.data(), part.size());
}

void check(const Content& data) {
  const std::optional<ImageHeader> whole = header_of(data, data.size());
  if (whole.has_value()) REQUIRE(whole->height >= 0 && whole->channels >= 0 && whole->channels < 256);
  Content longer = data;
  longer.resize(data.size() + 64);
  for (const std::size_t size : {data.size() / 4, data.size() / 2, data.size() - data.size() / 8, data.size()}) {
    const std::optional<ImageHeader> part = header_of(data, size);
    if (!part.has_value()) continue;
    const std::optional<ImageHeader> more = header_of(longer, longer.size());
    REQUIRE(whole.has_value() && more.has_value() && part->format == whole->format && part->format == more->format);
    REQUIRE(part->height == whole->height && part->width == whole->width);
    REQUIRE(part->height == more->height && part->width == more->width);
  }
  format_of_suffix(data.data(), data.size());
}

}  // namespace
}  // namespace recordsmith::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  recordsmith::fuzz::check({data, data + size});
  return 0;
}
