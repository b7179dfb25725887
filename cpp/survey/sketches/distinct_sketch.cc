#include "survey/sketches/distinct_sketch.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace recordsmith::survey {
namespace {

// The two series of Ertl, "New cardinality estimation algorithms for HyperLogLog sketches" (2017): what empty and what
// full registers add. They make the estimate unbiased from few keys to many, without tables.
double empty_part(double share) {
  if (share == 1) return std::numeric_limits<double>::infinity();
  double sum = share;
  for (double before = -1, factor = 1; sum != before; factor *= 2) {
    share *= share;
    before = sum;
    sum += share * factor;
  }
  return sum;
}

double full_part(double share) {
  if (share == 0 || share == 1) return 0;
  double sum = 1 - share;
  for (double before = -1, factor = 0.5; sum != before; factor /= 2) {
    share = std::sqrt(share);
    before = sum;
    sum -= (1 - share) * (1 - share) * factor;
  }
  return sum / 3;
}

}  // namespace

void DistinctSketch::raise(std::uint64_t hash) {
  std::uint8_t& held = registers_[static_cast<std::size_t>(hash & mask())];
  const std::uint8_t zeros = zeros_of(hash);
  if (zeros <= held) return;
  const bool was_at_floor = largest_of_use_ == ~std::uint64_t{0} >> held;
  held = zeros;
  if (was_at_floor && --at_floor_ == 0) find_floor();
}

void DistinctSketch::find_floor() {
  const std::uint8_t floor = *std::min_element(registers_.begin(), registers_.end());
  at_floor_ = static_cast<std::size_t>(std::count(registers_.begin(), registers_.end(), floor));
  largest_of_use_ = ~std::uint64_t{0} >> floor;
}

void DistinctSketch::merge(const DistinctSketch& other) {
  for (std::size_t i = 0; i < registers_.size(); ++i) registers_[i] = std::max(registers_[i], other.registers_[i]);
  find_floor();
}

double DistinctSketch::estimate() const {
  std::array<std::uint32_t, 66> counts{};  // of registers, by their zeros
  for (const std::uint8_t zeros : registers_) ++counts[zeros];
  const auto all = static_cast<double>(registers_.size());
  const std::size_t most = most_zeros();
  double sum = all * full_part(1 - counts[most] / all);
  for (std::size_t zeros = most - 1; zeros > 0; --zeros) sum = (sum + counts[zeros]) / 2;
  sum += all * empty_part(counts[0] / all);
  return all * all / (2 * std::log(2.0)) / sum;
}

double DistinctSketch::error() const { return 2 * 1.04 / std::sqrt(static_cast<double>(registers_.size())); }

}  // namespace recordsmith::survey
