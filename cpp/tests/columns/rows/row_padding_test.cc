#include "columns/rows/row_padding.h"

#include <cstring>
#include <vector>

#include "tests/check.h"

namespace recordsmith::testing {
namespace {

template <typename T>
std::vector<T> padded(const std::vector<T>& values, const std::vector<std::int64_t>& offsets, std::size_t length,
                      T padding) {
  std::vector<T> result((offsets.size() - 1) * length, T{99});
  pad_rows(reinterpret_cast<const std::uint8_t*>(values.data()), offsets, sizeof(T), length,
           reinterpret_cast<const std::uint8_t*>(&padding), reinterpret_cast<std::uint8_t*>(result.data()));
  return result;
}

TEST(rows_are_filled_up) {
  const std::vector<std::int64_t> values{1, 2, 3, 4, 5, 6};
  CHECK((padded<std::int64_t>(values, {0, 2, 2, 6}, 4, 0) ==
         std::vector<std::int64_t>{1, 2, 0, 0, 0, 0, 0, 0, 3, 4, 5, 6}));
  CHECK((padded<std::int64_t>(values, {1, 2, 4}, 5, -7) ==
         std::vector<std::int64_t>{2, -7, -7, -7, -7, 3, 4, -7, -7, -7}));
}

TEST(longer_rows_are_cut) {
  CHECK((padded<float>({1, 2, 3, 4}, {0, 3, 4}, 2, 0.5f) == std::vector<float>{1, 2, 4, 0.5f}));
  CHECK((padded<std::uint8_t>({1, 2, 3}, {0, 3}, 0, 1).empty()));
}

TEST(every_length_of_padding) {
  for (std::size_t length = 1; length < 40; ++length) {
    const auto rows = padded<std::uint16_t>({7}, {0, 1, 1}, length, 0x1234);
    CHECK_EQUAL(rows[0], 7);
    for (std::size_t i = 1; i < rows.size(); ++i) CHECK_EQUAL(rows[i], 0x1234);
  }
}

}  // namespace
}  // namespace recordsmith::testing
