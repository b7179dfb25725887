#include "survey/sketches/quantiles.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/vector_clones.h"
#include "survey/sketches/ordered_bits.h"
#include "survey/sketches/radix_sort.h"
#include "survey/sketches/sketch_packing.h"

namespace recordsmith::survey {
namespace {

constexpr std::uint16_t kItems = 2048;
constexpr std::uint16_t kFewItems = 200;
constexpr std::size_t kCandidates = 4096;
constexpr std::size_t kFewCandidates = 512;

constexpr std::size_t kColumns = 8;
constexpr std::size_t kRows = kPiece / kColumns;
constexpr std::size_t kFirstThinning = 8;
constexpr std::size_t kSecondThinning = 16;

// Batcher's odd-even merge sort: the pairs of rows that are compared, in this order.
struct RowPair {
  std::uint8_t first;
  std::uint8_t second;
};
constexpr std::size_t kRowPairs = 543;
constexpr std::array<RowPair, kRowPairs> kNetwork = [] {
  std::array<RowPair, kRowPairs> pairs{};
  std::size_t count = 0;
  for (std::size_t size = 1; size < kRows; size *= 2) {
    for (std::size_t distance = size; distance >= 1; distance /= 2) {
      for (std::size_t start = distance % size; start + distance < kRows; start += 2 * distance) {
        for (std::size_t i = start; i < start + distance && i + distance < kRows; ++i) {
          if (i / (2 * size) != (i + distance) / (2 * size)) continue;
          pairs[count++] = {static_cast<std::uint8_t>(i), static_cast<std::uint8_t>(i + distance)};
        }
      }
    }
  }
  return pairs;
}();
static_assert(kNetwork.back().second == kRows - 2);

template <typename T>
inline __attribute__((always_inline)) void sort_by_network(T* values) {
  constexpr std::size_t kLanes = 32 / sizeof(T);
  typedef T Lanes __attribute__((vector_size(32)));
  for (const RowPair pair : kNetwork) {
    for (std::size_t column = 0; column < kColumns; column += kLanes) {
      T* const one = values + pair.first * kColumns + column;
      T* const other = values + pair.second * kColumns + column;
      Lanes first;
      Lanes second;
      std::memcpy(&first, one, sizeof first);
      std::memcpy(&second, other, sizeof second);
      const Lanes low = first < second ? first : second;
      const Lanes high = first < second ? second : first;
      std::memcpy(one, &low, sizeof low);
      std::memcpy(other, &high, sizeof high);
    }
  }
}

// Sorts each column: the values of which the number has the same remainder.
RECORDSMITH_WITH_AVX2 void sort_columns(float* values) { sort_by_network(values); }
RECORDSMITH_WITH_AVX2 void sort_columns(double* values) { sort_by_network(values); }
RECORDSMITH_WITH_AVX2 void sort_columns(std::int64_t* values) { sort_by_network(values); }
RECORDSMITH_WITH_AVX2 void sort_columns(std::uint64_t* values) { sort_by_network(values); }

}  // namespace

template <typename T>
QuantileTally<T>::QuantileTally(MemoryBudget budget)
    : items_(budget == MemoryBudget::kScarce ? kFewItems : kItems),
      most_candidates_(budget == MemoryBudget::kScarce ? kFewCandidates : kCandidates) {}

template <typename T>
typename QuantileTally<T>::Sketch& QuantileTally<T>::sketch(std::size_t level) {
  if (sketches_[level] == nullptr) sketches_[level] = std::make_unique<Sketch>(items_);
  return *sketches_[level];
}

template <typename T>
void QuantileTally<T>::add(T value, std::uint64_t times) {
  for (std::size_t level = kWeights.size(); level-- > 0; times %= kWeights[level]) {
    for (std::uint64_t i = 0; i < times / kWeights[level]; ++i) sketch(level).update(value);
  }
}

template <typename T>
void QuantileTally<T>::add_piece(const T* values) {
  T sorted[kPiece];
  std::memcpy(sorted, values, sizeof sorted);
  sort_columns(sorted);
  thinned_ += kPiece;
  // The bits of any value serve as random numbers, and are the same every time.
  std::uint64_t random = mix64(std::bit_cast<BitsOf<T>>(values[0]) + thinned_);
  for (std::size_t column = 0; column < kColumns; ++column, random /= kFirstThinning) {
    for (std::size_t row = random % kFirstThinning; row < kRows; row += kFirstThinning) {
      candidates_.push_back(sorted[row * kColumns + column]);
    }
  }
  if (candidates_.size() >= most_candidates_) thin_candidates();
}

template <typename T>
void QuantileTally<T>::thin_candidates() {
  using Bits = BitsOf<T>;
  std::vector<Bits> given(candidates_.size());
  std::vector<Bits> scratch(candidates_.size());
  std::transform(candidates_.begin(), candidates_.end(), given.begin(), [](T value) { return ordered(value); });
  const Bits* const sorted = radix_sort(given.data(), scratch.data(), given.size());
  for (std::size_t i = mix64(given[0] + thinned_) % kSecondThinning; i < given.size(); i += kSecondThinning) {
    sketch(2).update(unordered<T>(sorted[i]));
  }
  candidates_.clear();
}

template <typename T>
void QuantileTally<T>::finish() {
  for (const T value : candidates_) sketch(1).update(value);
  candidates_ = {};
}

template <typename T>
void QuantileTally<T>::merge(QuantileTally&& later) {
  thinned_ += later.thinned_;
  for (std::size_t level = 0; level < kWeights.size(); ++level) {
    if (later.sketches_[level] == nullptr) continue;
    if (sketches_[level] == nullptr) {
      sketches_[level] = std::move(later.sketches_[level]);
    } else {
      sketches_[level]->merge(std::move(*later.sketches_[level]));
    }
  }
}

template <typename T>
std::uint64_t QuantileTally<T>::count() const {
  std::uint64_t count = 0;
  for (std::size_t level = 0; level < kWeights.size(); ++level) {
    if (sketches_[level] != nullptr) count += kWeights[level] * sketches_[level]->get_n();
  }
  return count;
}

template <typename T>
bool QuantileTally<T>::is_exact() const {
  return thinned_ == 0 && std::none_of(sketches_.begin(), sketches_.end(), [](const auto& sketch) {
           return sketch != nullptr && sketch->is_estimation_mode();
         });
}

template <typename T>
double QuantileTally<T>::rank_error() const {
  double error = 0;
  for (const auto& sketch : sketches_) {
    if (sketch != nullptr && sketch->is_estimation_mode()) {
      error = std::max(error, sketch->get_normalized_rank_error(false));
    }
  }
  if (thinned_ == 0) return error;
  // What thinning adds. Each sorted group errs by less than the values that one of them stands for, evenly spread and
  // by chance, independently of the other groups.
  const auto variance = [](double group, double thinning) { return thinning * thinning / 12 / group; };  // per value
  const double first = variance(kRows, kFirstThinning);
  const double second = variance(static_cast<double>(most_candidates_ * kFirstThinning),
                                 static_cast<double>(kFirstThinning * kSecondThinning));
  constexpr double kDeviations = 2.6;  // 99 %
  return error + kDeviations * std::sqrt((first + second) / static_cast<double>(thinned_));
}

template <typename T>
std::vector<std::pair<T, std::uint64_t>> QuantileTally<T>::sorted() const {
  std::vector<std::pair<T, std::uint64_t>> values;
  for (std::size_t level = 0; level < kWeights.size(); ++level) {
    if (sketches_[level] == nullptr) continue;
    // Not by the sketch's own iterator: that of this version takes all weights for 1 where the lowest level is empty.
    for (const auto& [value, weight] : sketches_[level]->get_sorted_view(false)) {
      values.emplace_back(value, weight * kWeights[level]);
    }
  }
  std::sort(values.begin(), values.end());
  return values;
}

template <typename T>
template <typename Archive>
void QuantileTally<T>::transfer(Archive& archive) {
  archive(thinned_);
  archive.require(thinned_ <= archive.most_values);
  for (auto& sketch : sketches_) {
    bool is_there = sketch != nullptr;
    archive(is_there);
    if (!is_there || archive.has_failed()) continue;
    if constexpr (Archive::kReads) sketch = std::make_unique<Sketch>(items_);
    transfer_quantiles(archive, *sketch);
  }
}

template class QuantileTally<float>;
template class QuantileTally<double>;
template class QuantileTally<std::int64_t>;
template class QuantileTally<std::uint64_t>;

template void QuantileTally<float>::transfer(Packer& archive);
template void QuantileTally<float>::transfer(Unpacker& archive);
template void QuantileTally<double>::transfer(Packer& archive);
template void QuantileTally<double>::transfer(Unpacker& archive);
template void QuantileTally<std::int64_t>::transfer(Packer& archive);
template void QuantileTally<std::int64_t>::transfer(Unpacker& archive);
template void QuantileTally<std::uint64_t>::transfer(Packer& archive);
template void QuantileTally<std::uint64_t>::transfer(Unpacker& archive);

}  // namespace recordsmith::survey
