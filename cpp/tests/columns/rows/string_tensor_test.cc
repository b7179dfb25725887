#include "columns/rows/string_tensor.h"

#include <string>
#include <vector>

#include "tests/check.h"

namespace recordsmith::testing {
namespace {

std::string written(const std::vector<StringRows>& columns, const std::vector<std::int64_t>& shape) {
  std::string message(string_tensor_size(columns, shape), '?');
  auto* const begin = reinterpret_cast<std::uint8_t*>(message.data());
  CHECK(write_string_tensor(columns, shape, begin) == begin + message.size());
  return message;
}

const std::uint8_t* bytes_of(const std::string& text) { return reinterpret_cast<const std::uint8_t*>(text.data()); }

TEST(columns_follow_each_other) {
  const std::string data = "abcde";
  const std::vector<std::int64_t> first{0, 1, 1};
  const std::vector<std::int64_t> second{1, 3, 5};
  const std::string expected(
      "\x08\x07\x12\x08\x12\x02\x08\x02\x12\x02\x08\x02\x42\x01"
      "a\x42\x00\x42\x02"
      "bc\x42\x02"
      "de",
      25);
  CHECK(written({{bytes_of(data), first}, {bytes_of(data), second}}, {2, 2}) == expected);
}

TEST(long_strings_have_long_sizes) {
  const std::string data(300, 'x');
  const std::vector<std::int64_t> offsets{0, 300};
  CHECK(written({{bytes_of(data), offsets}}, {1}) ==
        std::string("\x08\x07\x12\x04\x12\x02\x08\x01\x42\xac\x02") + data);
}

TEST(no_rows_are_a_shape_alone) {
  const std::vector<std::int64_t> offsets{4};
  CHECK(written({{nullptr, offsets}}, {0}) == std::string("\x08\x07\x12\x04\x12\x02\x08\x00", 8));
}

}  // namespace
}  // namespace recordsmith::testing
