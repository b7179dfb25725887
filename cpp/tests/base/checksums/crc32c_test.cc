#include "base/checksums/crc32c.h"

#include <string>
#include <vector>

#include "tests/check.h"

namespace recordsmith {
namespace {

std::vector<std::uint8_t> noise(std::size_t size) {
  std::vector<std::uint8_t> bytes(size);
  std::uint32_t state = 1;
  for (std::uint8_t& byte : bytes) {
    state = state * 1664525 + 1013904223;
    byte = static_cast<std::uint8_t>(state >> 24);
  }
  return bytes;
}

TEST(known_values_hold) {
  CHECK_EQUAL(crc32c("", 0), 0u);
  CHECK_EQUAL(crc32c("123456789", 9), 0xe3069283u);
  CHECK_EQUAL(masked_crc32c("foo", 3), 0xfebe8a61u);
  CHECK_EQUAL(masked_crc32c(std::string(32, '\0').data(), 32), 0x0fd7fffau);
  CHECK_EQUAL(masked_crc32c(std::string(32, '\xff').data(), 32), 0xf909b029u);
}

TEST(every_size_and_alignment_agrees_with_the_table) {
  const std::vector<std::uint8_t> bytes = noise(20'000);
  for (std::size_t size = 0; size < 2'000; ++size) {
    const std::size_t start = size % 17;
    if (crc32c(bytes.data() + start, size) != crc32c_portable(bytes.data() + start, size)) CHECK_EQUAL(size, 0u);
  }
  for (std::size_t size = 2'000; size < bytes.size() - 64; size += 97) {
    for (std::size_t start = 0; start < 16; ++start) {
      if (crc32c(bytes.data() + start, size) != crc32c_portable(bytes.data() + start, size)) CHECK_EQUAL(size, 0u);
    }
  }
}

TEST(a_crc_goes_on_where_another_ended) {
  const std::vector<std::uint8_t> bytes = noise(10'000);
  const std::uint32_t whole = crc32c(bytes.data(), bytes.size());
  for (const std::size_t cut : {0, 1, 7, 8, 1'023, 4'096, 9'999, 10'000}) {
    const std::uint32_t first = crc32c(bytes.data(), cut);
    CHECK_EQUAL(crc32c(bytes.data() + cut, bytes.size() - cut, first), whole);
    CHECK_EQUAL(crc32c_portable(bytes.data() + cut, bytes.size() - cut, first), whole);
  }
}

}  // namespace
}  // namespace recordsmith
