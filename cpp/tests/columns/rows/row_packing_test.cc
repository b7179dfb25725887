#include "columns/rows/row_packing.h"

#include "tests/check.h"

namespace recordsmith::testing {
namespace {

using Lengths = std::vector<std::int64_t>;

TEST(first_fit_takes_the_first_row_with_room) {
  CHECK(rows_of_first_fit(Lengths{6, 5, 4, 5, 0}, 10) == (Lengths{0, 1, 0, 1, 0}));
  CHECK(rows_of_first_fit(Lengths{}, 10) == Lengths{});
  CHECK(rows_of_first_fit(Lengths{10}, 10) == Lengths{0});
}

TEST(best_fit_takes_the_longest_first_and_the_tightest_row) {
  CHECK(rows_of_best_fit(Lengths{2, 7, 3, 8}, 10) == (Lengths{0, 1, 1, 0}));
}

TEST(it_is_what_a_search_from_the_front_finds) {
  std::uint64_t state = 1;
  for (int turn = 0; turn < 200; ++turn) {
    Lengths lengths, room;
    const std::size_t count = turn % 40;
    for (std::size_t i = 0; i < count; ++i) {
      state = state * 6364136223846793005ull + 1442695040888963407ull;
      lengths.push_back(static_cast<std::int64_t>((state >> 33) % 17));
    }
    Lengths expected;
    for (const std::int64_t length : lengths) {
      std::size_t row = 0;
      while (row < room.size() && room[row] < length) ++row;
      if (row == room.size()) room.push_back(16);
      room[row] -= length;
      expected.push_back(static_cast<std::int64_t>(row));
    }
    CHECK(rows_of_first_fit(lengths, 16) == expected);
    Lengths used(count, 0);
    const Lengths best = rows_of_best_fit(lengths, 16);
    for (std::size_t i = 0; i < count; ++i) used[static_cast<std::size_t>(best[i])] += lengths[i];
    for (const std::int64_t sum : used) CHECK(sum <= 16);
  }
}

}  // namespace
}  // namespace recordsmith::testing
