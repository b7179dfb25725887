#include "base/permutation.h"

#include <map>

#include "base/buffer_shuffle.h"
#include "tests/check.h"

namespace recordsmith::testing {
namespace {

TEST(every_number_comes_once) {
  for (const std::uint64_t n : {0ull, 1ull, 2ull, 3ull, 1000ull, 65536ull, 65537ull, 100003ull, 262144ull, 262145ull}) {
    const KeyedPermutation permutation(n, 7);
    std::vector<bool> met(n);
    for (std::uint64_t i = 0; i < n; ++i) {
      const std::uint64_t to = permutation(i);
      CHECK(to < n && !met[to]);
      met[to] = true;
    }
  }
}

TEST(many_at_once_are_the_same) {
  for (const std::uint64_t n : {1ull, 1000ull, 65537ull, 262145ull, 1ull << 40}) {
    const KeyedPermutation permutation(n, 11);
    for (const std::size_t count : {0u, 1u, 511u, 512u, 513u, 3000u}) {
      std::vector<std::int64_t> numbers, results(count);
      for (std::size_t i = 0; i < count; ++i) numbers.push_back(static_cast<std::int64_t>(i * 7919 % n));
      permutation.apply(numbers.data(), count, results.data());
      for (std::size_t i = 0; i < count; ++i) {
        CHECK_EQUAL(results[i], static_cast<std::int64_t>(permutation(static_cast<std::uint64_t>(numbers[i]))));
      }
    }
  }
}

TEST(a_billion_and_more_are_no_problem) {
  const KeyedPermutation permutation(std::uint64_t{1} << 40 | 12345, 1);
  for (std::uint64_t i = 0; i < 1000; ++i) CHECK(permutation(i * 1000003) < permutation.size());
}

TEST(all_orders_of_a_few_are_equally_likely) {
  std::map<std::vector<std::uint64_t>, int> counts;
  for (std::uint64_t key = 0; key < 24000; ++key) {
    const KeyedPermutation permutation(4, key);
    ++counts[{permutation(0), permutation(1), permutation(2), permutation(3)}];
  }
  CHECK_EQUAL(counts.size(), 24u);
  for (const auto& [order, count] : counts) CHECK(count > 850 && count < 1150);  // 1000 and five deviations
}

TEST(every_place_of_many_is_hit_evenly) {
  // Where number 0 lands under 100,000 keys, in 100 bins: a chi-square of 99 degrees of freedom is below 150.
  constexpr std::uint64_t n = 1 << 20;
  for (const std::uint64_t number : {std::uint64_t{0}, std::uint64_t{1}, n - 1}) {
    std::vector<double> bins(100);
    for (std::uint64_t key = 0; key < 100000; ++key) ++bins[KeyedPermutation(n, key)(number) * 100 / n];
    double chi_square = 0;
    for (const double count : bins) chi_square += (count - 1000) * (count - 1000) / 1000;
    CHECK(chi_square < 150);
  }
}

TEST(neighbours_do_not_stay_neighbours) {
  constexpr std::uint64_t n = 1 << 20;
  const KeyedPermutation permutation(n, 3);
  int close = 0;
  for (std::uint64_t i = 1; i < n; ++i) {
    const std::uint64_t one = permutation(i - 1), other = permutation(i);
    close += (one < other ? other - one : one - other) <= 16;
  }
  CHECK(close < 100);  // 32 are expected
}

TEST(a_buffer_gives_every_number_once_and_none_too_early) {
  for (const std::uint64_t n : {0ull, 1ull, 10ull, 1000ull}) {
    for (const std::uint64_t buffer : {1ull, 7ull, 5000ull}) {
      BufferShuffle shuffle(n, buffer, 3);
      std::vector<bool> met(n);
      std::int64_t number = 0;
      std::uint64_t given = 0;
      while (shuffle.next(&number, 1) == 1) {
        CHECK(static_cast<std::uint64_t>(number) < std::min(n, given + buffer) && !met[number]);
        met[number] = true;
        ++given;
      }
      CHECK_EQUAL(given, n);
    }
  }
}

}  // namespace
}  // namespace recordsmith::testing
