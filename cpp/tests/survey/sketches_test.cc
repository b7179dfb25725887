#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "survey/sketches/distinct_sketch.h"
#include "survey/sketches/quantiles.h"
#include "survey/sketches/sketch_randomness.h"
#include "survey/sketches/values.h"
#include "tests/check.h"

namespace recordsmith::testing {
namespace {

using survey::DistinctSketch;
using survey::KeyCount;
using survey::MemoryBudget;
using survey::QuantileTally;
using survey::ValueTally;

TEST(distinct_keys_are_estimated_from_few_to_many_in_any_order) {
  for (const std::uint64_t count : {0, 1, 10, 1000, 20'000, 2'000'000}) {
    DistinctSketch rising(13);
    DistinctSketch falling(13);
    DistinctSketch halves[2] = {DistinctSketch(13), DistinctSketch(13)};
    for (std::uint64_t i = 0; i < count; ++i) {
      rising.add(mix64(i));
      falling.add(mix64(count - 1 - i));
      halves[i % 2].add(mix64(i));
    }
    halves[0].merge(halves[1]);
    CHECK(std::abs(rising.estimate() - static_cast<double>(count)) <=
          rising.error() * static_cast<double>(count) + 1e-9);
    CHECK_EQUAL(rising.estimate(), falling.estimate());
    CHECK_EQUAL(rising.estimate(), halves[0].estimate());
    halves[0].add(mix64(count));  // after merging, what does not matter is still skipped rightly
    rising.add(mix64(count));
    CHECK_EQUAL(rising.estimate(), halves[0].estimate());
  }
}

// Adds as the tallies of features do; says whether all values are counted.
bool count_all(const std::vector<std::int64_t>& values, ValueTally* tally) {
  return std::all_of(values.begin(), values.end(),
                     [&](std::int64_t value) { return tally->add_exactly(static_cast<std::uint64_t>(value)); });
}

TEST(whole_numbers_of_a_range_are_counted_exactly) {
  const auto widest = static_cast<std::int64_t>(survey::kWidestRange);
  for (const std::int64_t first : {std::int64_t{0}, std::int64_t{-1000}, -widest + 1, std::int64_t{1'700'000'000}}) {
    std::vector<std::int64_t> values;
    for (std::int64_t i = 0; i < widest; ++i) values.push_back(first + i);
    for (int order = 0; order < 4; ++order) {
      if (order == 1) std::reverse(values.begin(), values.end());
      if (order == 2) std::shuffle(values.begin(), values.end(), std::mt19937(1));
      if (order == 3) {  // from the middle to both sides
        for (std::int64_t i = 0; i < widest; ++i) values[i] = first + widest / 2 + (i % 2 == 0 ? i / 2 : -(i + 1) / 2);
      }
      ValueTally tally(MemoryBudget::kAmple);
      CHECK(count_all(values, &tally));
      CHECK(count_all(values, &tally));
      CHECK_EQUAL(tally.distinct(), static_cast<double>(widest));
      const std::vector<KeyCount> entries = tally.exact_entries();
      CHECK(std::all_of(entries.begin(), entries.end(), [](const KeyCount& entry) { return entry.count == 2; }));
      const auto beyond = static_cast<std::uint64_t>(first + widest);
      CHECK(!tally.add_exactly(beyond));
      CHECK_EQUAL(tally.start_sketches().size(), static_cast<std::size_t>(widest));
      tally.add_to_sketches(beyond);
      CHECK(std::abs(tally.distinct() - static_cast<double>(widest)) <=
            tally.distinct_error() * static_cast<double>(widest));
    }
  }
  ValueTally usual(MemoryBudget::kUsual);
  CHECK(!count_all(std::vector<std::int64_t>{}, &usual) || usual.is_exact());
  std::vector<std::int64_t> many(survey::kMostExact + 1);
  for (std::size_t i = 0; i < many.size(); ++i) many[i] = static_cast<std::int64_t>(i);
  CHECK(!count_all(many, &usual));
}

TEST(values_that_are_frequent_in_pieces_are_found) {
  std::mt19937_64 random(3);
  ValueTally tally(MemoryBudget::kUsual);
  tally.start_sketches();
  std::uint64_t sevens = 0;
  for (int piece = 0; piece < 2000; ++piece) {
    std::uint64_t keys[survey::kPiece];
    for (std::uint64_t& key : keys) {
      key = random() % 50 == 0 ? 7 : random();
      sevens += key == 7 ? 1 : 0;
    }
    tally.add_to_sketches(keys);
  }
  tally.finish();
  const std::vector<KeyCount> frequent = tally.frequent();
  CHECK_EQUAL(frequent.size(), 1U);
  CHECK_EQUAL(frequent.at(0).key, 7U);
  CHECK(frequent.at(0).count <= sevens &&
        static_cast<double>(frequent.at(0).count) > 0.98 * static_cast<double>(sevens));
}

template <typename T>
void check_quantiles(std::vector<T> values, MemoryBudget budget) {
  survey::seed_sketches(1);
  QuantileTally<T> first(budget);
  QuantileTally<T> second(budget);
  std::size_t i = 0;
  for (; i + survey::kPiece <= values.size(); i += survey::kPiece) {
    (i < values.size() / 2 ? first : second).add_piece(values.data() + i);
  }
  for (; i < values.size(); ++i) second.add(values[i]);
  first.finish();
  second.finish();
  first.merge(std::move(second));
  // A piece is thinned to values that stand for as many as it has: nothing is lost.
  CHECK_EQUAL(first.count(), values.size());
  CHECK(!first.is_exact());
  std::sort(values.begin(), values.end());
  const auto all = static_cast<double>(values.size());
  double passed = 0;
  double worst = 0;
  for (const auto& [value, weight] : first.sorted()) {
    const auto below = static_cast<double>(std::lower_bound(values.begin(), values.end(), value) - values.begin());
    const auto up_to = static_cast<double>(std::upper_bound(values.begin(), values.end(), value) - values.begin());
    passed += static_cast<double>(weight);
    worst = std::max({worst, (below - passed) / all, (passed - static_cast<double>(weight) - up_to) / all});
  }
  CHECK(first.rank_error() < (budget == MemoryBudget::kScarce ? 0.03 : 0.005));
  CHECK(worst <= first.rank_error());
}

TEST(quantiles_are_within_the_stated_error_in_any_order) {
  std::mt19937 random(5);
  std::normal_distribution<float> normal;
  std::vector<float> floats(300'000);
  for (float& value : floats) value = normal(random);
  std::vector<std::int64_t> integers(floats.size());
  std::transform(floats.begin(), floats.end(), integers.begin(),
                 [](float v) { return static_cast<std::int64_t>(v * 1e9F); });
  for (const MemoryBudget budget : {MemoryBudget::kUsual, MemoryBudget::kScarce}) {
    check_quantiles(floats, budget);
    check_quantiles(integers, budget);
    check_quantiles(std::vector<double>(floats.begin(), floats.end()), budget);
  }
  std::vector<std::uint64_t> rising(300'000);
  for (std::size_t i = 0; i < rising.size(); ++i) rising[i] = i * i;
  check_quantiles(rising, MemoryBudget::kUsual);
  std::reverse(rising.begin(), rising.end());
  check_quantiles(rising, MemoryBudget::kUsual);
}

TEST(counted_values_keep_their_weight) {
  QuantileTally<float> tally(MemoryBudget::kUsual);
  std::uint64_t count = 0;
  for (std::uint64_t i = 0; i < 100; ++i) {
    tally.add(static_cast<float>(i), i * 7);
    count += i * 7;
  }
  CHECK_EQUAL(tally.count(), count);
  CHECK(tally.is_exact());
  CHECK_EQUAL(tally.rank_error(), 0.0);
}

}  // namespace
}  // namespace recordsmith::testing
