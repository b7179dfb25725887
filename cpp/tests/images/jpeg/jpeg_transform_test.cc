#include "images/jpeg/jpeg_transform.h"

#include <cstring>
#include <random>
#include <vector>

#include "tests/check.h"

namespace recordsmith::testing {
namespace {

struct Transformed {
  bool done;
  std::vector<std::uint8_t> samples;
  bool operator==(const Transformed&) const = default;
};

Transformed transformed(BlockTransform transform, const std::int16_t (&coefficients)[64], const std::int16_t* scales,
                        bool few) {
  constexpr std::size_t kStride = 11;
  alignas(32) std::int16_t block[64];
  std::memcpy(block, coefficients, sizeof block);
  Transformed result{false, std::vector<std::uint8_t>(8 * kStride, 7)};
  result.done = transform(block, scales, few, result.samples.data(), kStride);
  if (!result.done) return {};
  for (const std::int16_t left : block) CHECK_EQUAL(left, 0);
  for (std::size_t i = 0; i < result.samples.size(); ++i) {
    if (i % kStride >= 8) CHECK_EQUAL(int{result.samples[i]}, 7);  // nothing beside the block is touched
  }
  return result;
}

TEST(all_forms_give_the_same) {
  std::mt19937 random(1);
  std::size_t done = 0;
  for (int times = 0; times < 20000; ++times) {
    const bool few = random() % 3 == 0;
    const auto size = static_cast<std::int16_t>(1 + random() % (times % 7 == 0 ? 3000 : 40));
    alignas(32) std::int16_t scales[64];
    for (std::int16_t& scale : scales) scale = static_cast<std::int16_t>(1 + random() % (times % 11 == 0 ? 4096 : 30));
    std::int16_t coefficients[64] = {};
    const std::size_t count = random() % 65;
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t at = random() % 64;
      if (few && (at / 8 > 3 || at % 8 > 3)) continue;
      coefficients[at] = static_cast<std::int16_t>(static_cast<int>(random() % (2 * size)) - size);
    }
    const Transformed expected = transformed(transform_block_portable, coefficients, scales, few);
    CHECK(transformed(block_transform(), coefficients, scales, few) == expected);
    if (few) CHECK(transformed(block_transform(), coefficients, scales, false) == expected);
    done += expected.done;
  }
  CHECK(done > 1000 && done < 19000);  // both ways out were gone
}

TEST(some_samples_are_those_of_the_whole) {
  const SampleTransform transform_samples = sample_transform();
  if (transform_samples == nullptr) return;
  std::mt19937 random(2);
  for (int times = 0; times < 20000; ++times) {
    const auto size = static_cast<std::int16_t>(1 + random() % (times % 7 == 0 ? 3000 : 40));
    alignas(32) std::int16_t scales[64];
    for (std::int16_t& scale : scales) scale = static_cast<std::int16_t>(1 + random() % 30);
    std::int16_t coefficients[64] = {};
    const std::size_t count = random() % 65;
    for (std::size_t i = 0; i < count; ++i) {
      coefficients[random() % 64] = static_cast<std::int16_t>(static_cast<int>(random() % (2 * size)) - size);
    }
    BlockRows rows{.are_few = true};
    for (std::uint8_t& row : rows.rows) row = static_cast<std::uint8_t>(random() % 8);
    BlockPairs pairs{.count = 1 + random() % 2};
    for (std::uint8_t& first : pairs.firsts) first = static_cast<std::uint8_t>(random() % 7);
    const Transformed whole = transformed(transform_block_portable, coefficients, scales, false);
    std::int16_t block[64];
    std::memcpy(block, coefficients, sizeof block);
    std::vector<std::uint8_t> samples(8 * 11, 7);
    CHECK_EQUAL(transform_samples(block, scales, rows, pairs, samples.data(), 11), whole.done);
    if (!whole.done) continue;
    std::vector<std::uint8_t> expected(8 * 11, 7);
    for (const std::size_t row : rows.rows) {
      for (std::size_t i = 0; i < pairs.count; ++i) {
        std::memcpy(&expected[row * 11 + pairs.firsts[i]], &whole.samples[row * 11 + pairs.firsts[i]], 2);
      }
    }
    CHECK(samples == expected);
    for (const std::int16_t left : block) CHECK_EQUAL(left, 0);
  }
}

TEST(a_mean_alone_is_a_flat_block) {
  alignas(32) std::int16_t scales[64];
  for (std::int16_t& scale : scales) scale = 3;
  for (int mean = -2100; mean <= 2100; ++mean) {
    std::int16_t coefficients[64] = {static_cast<std::int16_t>(mean)};
    const Transformed expected = transformed(transform_block_portable, coefficients, scales, false);
    std::uint8_t flat[64];
    CHECK_EQUAL(fill_block(static_cast<std::int16_t>(mean), 3, flat, 8), expected.done);
    if (!expected.done) continue;
    for (const std::uint8_t sample : flat) CHECK_EQUAL(int{sample}, int{expected.samples[0]});
    CHECK(transformed(block_transform(), coefficients, scales, true) == expected);
  }
}

}  // namespace
}  // namespace recordsmith::testing
