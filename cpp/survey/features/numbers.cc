#include "survey/features/numbers.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "base/vector_clones.h"
#include "survey/features/histogram_edges.h"
#include "survey/features/sketch_packing.h"

namespace recordsmith::survey {
namespace {

constexpr std::uint16_t kQuantileItems = 1024;
constexpr std::uint16_t kFewQuantileItems = 200;

// The bits of a number, and the one that is set in its smallest (of integers) or negative ones (of floats).
template <typename T>
using BitsOf = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
template <typename T>
constexpr BitsOf<T> kTopBit = BitsOf<T>{1} << (8 * sizeof(T) - 1);

// Numbers as unsigned ones of the same order.
template <typename T>
BitsOf<T> ordered(T value) {
  const auto bits = std::bit_cast<BitsOf<T>>(value);
  if constexpr (std::is_floating_point_v<T>) return (bits & kTopBit<T>) != 0 ? ~bits : bits ^ kTopBit<T>;
  return std::is_signed_v<T> ? bits ^ kTopBit<T> : bits;
}
template <typename T>
T unordered(BitsOf<T> bits) {
  if constexpr (std::is_floating_point_v<T>) {
    return std::bit_cast<T>((bits & kTopBit<T>) != 0 ? bits ^ kTopBit<T> : ~bits);
  }
  return std::bit_cast<T>(std::is_signed_v<T> ? bits ^ kTopBit<T> : bits);
}

// Sorts by one byte after the other, leaving out those that all have in common. Returns where the result is.
template <typename Bits>
Bits* radix_sort(Bits* from, Bits* to, std::size_t count) {
  Bits varying = 0;
  for (std::size_t i = 1; i < count; ++i) varying |= from[i] ^ from[0];
  for (unsigned shift = 0; shift < 8 * sizeof(Bits); shift += 8) {
    if ((varying >> shift & 0xff) == 0) continue;
    std::uint16_t places[256] = {};
    for (std::size_t i = 0; i < count; ++i) ++places[from[i] >> shift & 0xff];
    std::uint16_t next = 0;
    for (std::uint16_t& place : places) next = static_cast<std::uint16_t>(next + std::exchange(place, next));
    for (std::size_t i = 0; i < count; ++i) to[places[from[i] >> shift & 0xff]++] = from[i];
    std::swap(from, to);
  }
  return from;
}

template <typename T>
std::uint64_t key_of(T value) {
  return std::bit_cast<BitsOf<T>>(value == 0 ? T{} : value);  // -0.0 is 0.0
}

template <typename T>
T value_of(std::uint64_t key) {
  return std::bit_cast<T>(static_cast<BitsOf<T>>(key));
}

template <typename T>
bool is_finite(T value) {
  constexpr auto kExponent = std::bit_cast<BitsOf<T>>(std::numeric_limits<T>::infinity());
  return (std::bit_cast<BitsOf<T>>(value) & kExponent) != kExponent;
}

template <typename T>
bool all_finite(const T* values, std::size_t count) {
  std::uint32_t not_finite = 0;
  for (std::size_t i = 0; i < count; ++i) not_finite |= is_finite(values[i]) ? 0U : 1U;
  return not_finite == 0;
}

// What one loop over a piece of finite values finds.
template <typename T>
struct PieceFacts {
  T min;
  T max;
  std::uint32_t zeros;
  std::uint32_t negatives;
  bool is_integral;
  SumOf<T> mean;
  SumOf<T> squares;
};

// Sums over eight lanes: the compiler may not reorder the additions of doubles by itself.
constexpr std::size_t kLanes = 8;

double sum_of_lanes(const double* lanes) {
  return ((lanes[0] + lanes[4]) + (lanes[1] + lanes[5])) + ((lanes[2] + lanes[6]) + (lanes[3] + lanes[7]));
}

RECORDSMITH_WITH_AVX2
void look_at(const float* values, std::size_t count, PieceFacts<float>* facts, double* sum) {
  float min = values[0];
  float max = values[0];
  std::uint32_t zeros = 0;
  std::uint32_t negatives = 0;
  std::uint32_t fractions = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const float value = values[i];
    min = value < min ? value : min;
    max = value > max ? value : max;
    zeros += value == 0 ? 1U : 0U;
    negatives += value < 0 ? 1U : 0U;
    fractions |= __builtin_truncf(value) != value ? 1U : 0U;
  }
  double lanes[kLanes] = {};
  std::size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) lanes[lane] += static_cast<double>(values[i + lane]);
  }
  for (; i < count; ++i) lanes[i % kLanes] += static_cast<double>(values[i]);
  *sum = sum_of_lanes(lanes);
  const double mean = *sum / static_cast<double>(count);
  double squares[kLanes] = {};
  i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      const double distance = static_cast<double>(values[i + lane]) - mean;
      squares[lane] += distance * distance;
    }
  }
  for (; i < count; ++i) {
    const double distance = static_cast<double>(values[i]) - mean;
    squares[i % kLanes] += distance * distance;
  }
  *facts = {min, max, zeros, negatives, fractions == 0, mean, sum_of_lanes(squares)};
}

void look_at(const double* values, std::size_t count, PieceFacts<double>* facts, long double* sum) {
  *facts = {values[0], values[0], 0, 0, true, 0, 0};
  *sum = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const double value = values[i];
    facts->min = value < facts->min ? value : facts->min;
    facts->max = value > facts->max ? value : facts->max;
    facts->zeros += value == 0 ? 1U : 0U;
    facts->negatives += value < 0 ? 1U : 0U;
    facts->is_integral &= __builtin_trunc(value) == value;
    *sum += static_cast<long double>(value);
  }
  facts->mean = *sum / static_cast<long double>(count);
  for (std::size_t i = 0; i < count; ++i) {
    const long double distance = static_cast<long double>(values[i]) - facts->mean;
    facts->squares += distance * distance;
  }
}

// `origin` is what means are counted from.
template <typename T>
void look_at(const T* values, std::size_t count, T origin, PieceFacts<T>* facts, __int128* sum) {
  T min = values[0];
  T max = values[0];
  std::uint32_t zeros = 0;
  std::uint32_t negatives = 0;
  *sum = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const T value = values[i];
    min = std::min(min, value);
    max = std::max(max, value);
    zeros += value == 0 ? 1U : 0U;
    negatives += value < 0 ? 1U : 0U;
    *sum += value;
  }
  std::int64_t ignored = 0;
  const bool is_near = !__builtin_sub_overflow(min, origin, &ignored) && !__builtin_sub_overflow(max, origin, &ignored);
  const auto from_origin = [&](T value) {
    return is_near ? static_cast<double>(static_cast<std::int64_t>(value - origin))
                   : static_cast<double>(value) - static_cast<double>(origin);
  };
  const __int128 from = *sum - static_cast<__int128>(origin) * static_cast<__int128>(count);
  const double mean = static_cast<double>(from) / static_cast<double>(count);
  double squares = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const double distance = from_origin(values[i]) - mean;
    squares += distance * distance;
  }
  *facts = {min, max, zeros, negatives, true, mean, squares};
}

// Adds with the error carried along (Neumaier).
template <typename Sum>
void add_exactly(Sum value, Sum* sum, Sum* rest) {
  const Sum next = *sum + value;
  *rest += std::abs(*sum) >= std::abs(value) ? (*sum - next) + value : (value - next) + *sum;
  *sum = next;
}

template <typename Sum>
struct Moments {
  Sum count;
  Sum mean;
  Sum squares;
};

template <typename Sum>
Moments<Sum> joined(const Moments<Sum>& left, const Moments<Sum>& right) {
  if (left.count == 0) return right;
  if (right.count == 0) return left;
  const Sum count = left.count + right.count;
  const Sum distance = right.mean - left.mean;
  return {count, left.mean + distance * (right.count / count),
          left.squares + right.squares + distance * distance * (left.count * right.count / count)};
}

}  // namespace

template <typename T>
void NumberTally<T>::add(const void* values, std::size_t count, const RecordName& record, Places* not_finite) {
  count_ += count;
  const std::size_t held = pending_.size();
  if (count == 1) {  // by far the commonest
    T value;
    std::memcpy(&value, values, sizeof value);
    pending_.push_back(value);
  } else {
    pending_.resize(held + count);
    if (count > 0) std::memcpy(pending_.data() + held, values, count * sizeof(T));
  }
  if constexpr (std::is_floating_point_v<T>) {
    // Once a record, though it may come in several pieces.
    if (!not_finite->is_full() && !not_finite->ends_with(record) && !all_finite(pending_.data() + held, count)) {
      const T* const first =
          std::find_if_not(pending_.data() + held, pending_.data() + held + count, [](T v) { return is_finite(v); });
      not_finite->add(record, std::isnan(*first) ? "NaN" : *first > 0 ? "infinity" : "-infinity");
    }
  } else {
    (void)record;
    (void)not_finite;
  }
  if (pending_.size() < kPiece) return;
  std::size_t at = 0;
  for (; at + kPiece <= pending_.size(); at += kPiece) take(pending_.data() + at, kPiece);
  const std::size_t rest = pending_.size() - at;
  std::memmove(pending_.data(), pending_.data() + at, rest * sizeof(T));
  pending_.resize(rest);
}

template <typename T>
void NumberTally<T>::finish() {
  take(pending_.data(), pending_.size());
  values_.finish();
  pending_ = {};
}

template <typename T>
void NumberTally<T>::take(const T* values, std::size_t count) {
  if constexpr (std::is_floating_point_v<T>) {
    if (!all_finite(values, count)) {
      std::vector<T> finite;
      finite.reserve(count);
      for (std::size_t i = 0; i < count; ++i) {
        if (is_finite(values[i])) {
          finite.push_back(values[i]);
        } else {
          ++(std::isnan(values[i]) ? nan_ : values[i] > 0 ? positive_infinity_ : negative_infinity_);
        }
      }
      take_finite(finite.data(), finite.size());
      return;
    }
  }
  take_finite(values, count);
}

template <typename T>
void NumberTally<T>::take_finite(const T* values, std::size_t count) {
  if (count == 0) return;
  PieceFacts<T> facts;
  if constexpr (std::is_floating_point_v<T>) {
    SumOf<T> sum = 0;
    look_at(values, count, &facts, &sum);
    add_exactly(sum, &sum_, &sum_rest_);
  } else {
    __int128 sum = 0;
    if (finite_ == 0) origin_ = values[0];
    look_at(values, count, origin_, &facts, &sum);
    exact_sum_ += sum;
  }
  min_ = finite_ == 0 ? facts.min : std::min(min_, facts.min);
  max_ = finite_ == 0 ? facts.max : std::max(max_, facts.max);
  zeros_ += facts.zeros;
  negatives_ += facts.negatives;
  is_integral_ &= facts.is_integral;
  add_moments(count, facts.mean, facts.squares);

  if (!values_.is_exact() && count == kPiece) {
    add_piece(values);
  } else {
    for (std::size_t i = 0; i < count; ++i) add_single(values[i]);
  }
}

template <typename T>
void NumberTally<T>::add_moments(std::uint64_t count, SumOf<T> mean, SumOf<T> squares) {
  const Moments<SumOf<T>> both = joined<SumOf<T>>({static_cast<SumOf<T>>(finite_), mean_, squares_},
                                                  {static_cast<SumOf<T>>(count), mean, squares});
  mean_ = both.mean;
  squares_ = both.squares;
  finite_ += count;
}

template <typename T>
void NumberTally<T>::add_repeated(T value, std::uint64_t times) {
  if (times == 0) return;
  if (finite_ == 0) origin_ = min_ = max_ = value;
  count_ += times;
  min_ = std::min(min_, value);
  max_ = std::max(max_, value);
  zeros_ += value == 0 ? times : 0;
  negatives_ += value < 0 ? times : 0;
  exact_sum_ += static_cast<__int128>(value) * static_cast<__int128>(times);
  add_moments(times, static_cast<SumOf<T>>(value - origin_), 0);
  values_.add_few(key_of(value), times);
}

template <typename T>
void NumberTally<T>::add_single(T value) {
  values_.add(key_of(value), [this](const std::vector<KeyCount>& entries) { start_quantiles(entries); });
  if (quantiles_ != nullptr) quantiles_->update(value);
}

template <typename T>
void NumberTally<T>::add_piece(const T* values) {
  using Bits = BitsOf<T>;
  Bits given[kPiece];
  Bits room[kPiece];
  for (std::size_t i = 0; i < kPiece; ++i) given[i] = ordered(values[i]);
  const Bits* const sorted = radix_sort(given, room, kPiece);
  for (std::size_t i = 0; i < kPiece;) {
    std::size_t end = i + 1;
    while (end < kPiece && sorted[end] == sorted[i]) ++end;
    values_.add_run(key_of(unordered<T>(sorted[i])), end - i);
    i = end;
  }
  if (thinned_quantiles_ == nullptr) thinned_quantiles_ = std::make_unique<Sketch>(quantiles_->get_k());
  // The bits of any value serve as random numbers, and are the same every time.
  for (std::size_t i = mix64(key_of(values[0]) + finite_) % kThinned; i < kPiece; i += kThinned) {
    thinned_quantiles_->update(unordered<T>(sorted[i]));
  }
}

template <typename T>
void NumberTally<T>::start_quantiles(const std::vector<KeyCount>& entries) {
  if (quantiles_ == nullptr) {
    quantiles_ = std::make_unique<Sketch>(is_small_ ? kFewQuantileItems : kQuantileItems);
  }
  for (const KeyCount& entry : entries) {
    const T value = value_of<T>(entry.key);
    for (std::uint64_t i = 0; i < entry.count; ++i) quantiles_->update(value);
  }
}

template <typename T>
void NumberTally<T>::merge(NumberTally&& later) {
  if (later.finite_ > 0) {
    min_ = finite_ == 0 ? later.min_ : std::min(min_, later.min_);
    max_ = finite_ == 0 ? later.max_ : std::max(max_, later.max_);
  }
  SumOf<T> later_mean = later.mean_;
  if constexpr (std::is_integral_v<T>) {
    if (finite_ == 0) origin_ = later.origin_;
    later_mean += static_cast<double>(static_cast<__int128>(later.origin_) - static_cast<__int128>(origin_));
  }
  add_moments(later.finite_, later_mean, later.squares_);
  count_ += later.count_;
  nan_ += later.nan_;
  positive_infinity_ += later.positive_infinity_;
  negative_infinity_ += later.negative_infinity_;
  zeros_ += later.zeros_;
  negatives_ += later.negatives_;
  is_integral_ &= later.is_integral_;
  add_exactly(later.sum_, &sum_, &sum_rest_);
  sum_rest_ += later.sum_rest_;
  exact_sum_ += later.exact_sum_;

  const auto start = [this](const std::vector<KeyCount>& entries) { start_quantiles(entries); };
  values_.merge(later.values_, start, [this](const KeyCount& entry) { start_quantiles({entry}); });
  if (later.quantiles_ != nullptr) quantiles_->merge(std::move(*later.quantiles_));
  if (later.thinned_quantiles_ == nullptr) return;
  if (thinned_quantiles_ == nullptr) {
    thinned_quantiles_ = std::move(later.thinned_quantiles_);
  } else {
    thinned_quantiles_->merge(std::move(*later.thinned_quantiles_));
  }
}

template <typename T>
template <typename Archive>
void NumberTally<T>::transfer(Archive& archive) {
  archive(count_, nan_, positive_infinity_, negative_infinity_, finite_, min_, max_, zeros_, negatives_, is_integral_,
          sum_, sum_rest_, exact_sum_, origin_, mean_, squares_, values_);
  const auto sketch = [&](std::unique_ptr<Sketch>* held) {
    bool is_there = *held != nullptr;
    archive(is_there);
    if (!is_there || archive.has_failed()) return std::uint64_t{0};
    if constexpr (Archive::kReads) {
      *held = std::make_unique<Sketch>(is_small_ ? kFewQuantileItems : kQuantileItems);
    }
    transfer_quantiles(archive, **held);
    return (*held)->get_n();
  };
  std::uint64_t values = sketch(&quantiles_);
  values += kThinned * sketch(&thinned_quantiles_);
  if constexpr (Archive::kReads) {
    archive.require(count_ <= archive.most_values && (quantiles_ != nullptr) == !values_.is_exact() &&
                    (thinned_quantiles_ == nullptr || quantiles_ != nullptr));
    const auto is_sound = [](T value) { return !std::is_floating_point_v<T> || is_finite(value); };
    for (const KeyCount& entry : values_.exact_entries()) {
      archive.require(entry.count <= archive.most_values && is_sound(value_of<T>(entry.key)));
      values += entry.count;
    }
    archive.require(finite_ <= count_ && values == finite_ && is_sound(min_) && is_sound(max_) && min_ <= max_);
  }
}

template <typename T>
NumberSummary NumberTally<T>::summary() const {
  NumberSummary summary;
  summary.count = count_;
  summary.finite = finite_;
  summary.zeros = zeros_;
  summary.negatives = negatives_;
  summary.nan = nan_;
  summary.positive_infinity = positive_infinity_;
  summary.negative_infinity = negative_infinity_;
  summary.is_integral = finite_ > 0 && is_integral_;
  summary.values = {values_.distinct(), values_.is_exact(), values_.distinct_error()};
  for (const KeyCount& entry : values_.frequent()) {
    summary.frequent.emplace_back(value_of<T>(entry.key), entry.count);
  }
  if (finite_ == 0) return summary;
  summary.min = min_;
  summary.max = max_;
  const auto count = static_cast<SumOf<T>>(finite_);
  if constexpr (std::is_floating_point_v<T>) {
    summary.mean = static_cast<double>((sum_ + sum_rest_) / count);
  } else {
    summary.mean = static_cast<double>(static_cast<long double>(exact_sum_) / static_cast<long double>(finite_));
  }
  summary.deviation = static_cast<double>(std::sqrt(squares_ / count));
  fill_quantiles(&summary);
  return summary;
}

template <typename T>
void NumberTally<T>::fill_quantiles(NumberSummary* summary) const {
  // All values with their weights, in order: the table's, or those that the sketch kept.
  std::vector<std::pair<T, std::uint64_t>> values;
  if (quantiles_ == nullptr) {
    for (const KeyCount& entry : values_.exact_entries()) values.emplace_back(value_of<T>(entry.key), entry.count);
  } else {
    // Not by the sketch's own iterator: that of this version takes all weights for 1 where the lowest level is empty.
    for (const auto& [value, weight] : quantiles_->get_sorted_view(false)) values.emplace_back(value, weight);
    summary->quantiles_are_exact = thinned_quantiles_ == nullptr && !quantiles_->is_estimation_mode();
    if (!summary->quantiles_are_exact) summary->rank_error = quantiles_->get_normalized_rank_error(false);
    if (thinned_quantiles_ != nullptr) {
      for (const auto& [value, weight] : thinned_quantiles_->get_sorted_view(false)) {
        values.emplace_back(value, weight * kThinned);
      }
      summary->rank_error = std::max(summary->rank_error, thinned_quantiles_->get_normalized_rank_error(false));
      // What thinning adds: each piece errs by up to kThinned ranks, evenly spread and by chance.
      const double pieces = static_cast<double>(thinned_quantiles_->get_n()) * kThinned / kPiece;
      constexpr double kDeviations = 2.6;  // 99 %
      summary->rank_error += kDeviations * kThinned / std::sqrt(12 * pieces) / kPiece;
    }
  }
  std::sort(values.begin(), values.end());

  // The smallest value that at least so large a share does not exceed.
  std::uint64_t passed = 0;
  std::size_t at = 0;
  for (const double share : kShares) {
    const double wanted = share * static_cast<double>(finite_);
    while (at + 1 < values.size() && static_cast<double>(passed + values[at].second) < wanted) {
      passed += values[at++].second;
    }
    summary->quantiles.push_back(static_cast<double>(values[at].first));
  }
  // A sketch may have dropped the smallest and largest value; they are known exactly.
  summary->quantiles.front() = static_cast<double>(min_);
  summary->quantiles.back() = static_cast<double>(max_);

  summary->edges = histogram_edges(static_cast<double>(min_), static_cast<double>(max_), is_integral_, kBins);
  const std::size_t bins = summary->edges.size() - 1;
  summary->counts.assign(bins, 0);
  std::size_t bin = 0;
  for (const auto& [value, weight] : values) {
    while (bin + 1 < bins && static_cast<double>(value) >= summary->edges[bin + 1]) ++bin;
    summary->counts[bin] += weight;
  }
}

template class NumberTally<float>;
template class NumberTally<double>;
template class NumberTally<std::int64_t>;
template class NumberTally<std::uint64_t>;

template void NumberTally<float>::transfer(Packer& archive);
template void NumberTally<float>::transfer(Unpacker& archive);
template void NumberTally<double>::transfer(Packer& archive);
template void NumberTally<double>::transfer(Unpacker& archive);
template void NumberTally<std::int64_t>::transfer(Packer& archive);
template void NumberTally<std::int64_t>::transfer(Unpacker& archive);
template void NumberTally<std::uint64_t>::transfer(Packer& archive);
template void NumberTally<std::uint64_t>::transfer(Unpacker& archive);

}  // namespace recordsmith::survey
