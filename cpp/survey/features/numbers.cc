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
#include "survey/sketches/ordered_bits.h"

namespace recordsmith::survey {
namespace {

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

// The sum of values, or of their squared distances from the mean.
template <bool squared>
inline __attribute__((always_inline)) double sum_in_lanes(const float* values, std::size_t count, double mean) {
  typedef float Floats __attribute__((vector_size(kLanes / 2 * sizeof(float))));
  typedef double Doubles __attribute__((vector_size(kLanes / 2 * sizeof(double))));
  Doubles halves[2] = {};
  std::size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (std::size_t half = 0; half < 2; ++half) {
      Floats some;
      std::memcpy(&some, values + i + half * kLanes / 2, sizeof some);
      Doubles wide = __builtin_convertvector(some, Doubles);
      if constexpr (squared) {
        wide -= mean;
        wide *= wide;
      }
      halves[half] += wide;
    }
  }
  double lanes[kLanes];
  std::memcpy(lanes, halves, sizeof lanes);
  for (; i < count; ++i) {
    const double value = static_cast<double>(values[i]);
    lanes[i % kLanes] += squared ? (value - mean) * (value - mean) : value;
  }
  return ((lanes[0] + lanes[4]) + (lanes[1] + lanes[5])) + ((lanes[2] + lanes[6]) + (lanes[3] + lanes[7]));
}

RECORDSMITH_WITH_AVX2
void look_at(const float* values, std::size_t count, PieceFacts<float>* facts, double* sum) {
  // Compared as integers of the same order, because the compiler may not reorder the comparisons of floats either.
  std::int32_t min = std::numeric_limits<std::int32_t>::max();
  std::int32_t max = std::numeric_limits<std::int32_t>::min();
  std::uint32_t zeros = 0;
  std::uint32_t negatives = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const auto bits = std::bit_cast<std::int32_t>(values[i]);
    const std::int32_t place = bits ^ (bits >> 31 & 0x7fffffff);  // of 0.0: 0, of -0.0: -1
    min = place < min ? place : min;
    max = place > max ? place : max;
    zeros += static_cast<std::uint32_t>(place) + 1 <= 1 ? 1U : 0U;
    negatives += place < -1 ? 1U : 0U;
  }
  const bool is_integral =
      std::all_of(values, values + count, [](float value) { return __builtin_truncf(value) == value; });
  const auto value_at = [](std::int32_t place) {
    return std::bit_cast<float>(place ^ (place >> 31 & 0x7fffffff)) + 0.0F;  // -0.0 is 0.0
  };
  *sum = sum_in_lanes<false>(values, count, 0);
  const double mean = *sum / static_cast<double>(count);
  const double squares = sum_in_lanes<true>(values, count, mean);
  *facts = {value_at(min), value_at(max), zeros, negatives, is_integral, mean, squares};
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
inline __attribute__((always_inline)) void look_at_integers(const T* values, std::size_t count, T origin,
                                                            PieceFacts<T>* facts, __int128* sum) {
  T min = values[0];
  T max = values[0];
  std::uint32_t zeros = 0;
  std::uint32_t negatives = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const T value = values[i];
    min = value < min ? value : min;
    max = value > max ? value : max;
    zeros += value == 0 ? 1U : 0U;
    negatives += value < 0 ? 1U : 0U;
  }
  *facts = {min, max, zeros, negatives, true, 0, 0};
  std::int64_t lowest = 0;
  std::int64_t highest = 0;
  const bool is_near = !__builtin_sub_overflow(min, origin, &lowest) && !__builtin_sub_overflow(max, origin, &highest);
  constexpr std::int64_t kExact = std::int64_t{1} << 26;  // the squares of so many as a piece has fit 64 bits
  if (is_near && lowest > -kExact && highest < kExact && count <= kPiece) {
    std::int64_t from = 0;
    std::int64_t squares = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const auto distance = static_cast<std::int32_t>(values[i] - origin);
      from += distance;
      squares += static_cast<std::int64_t>(distance) * distance;
    }
    const auto number = static_cast<__int128>(count);
    *sum = number * origin + from;
    facts->mean = static_cast<double>(from) / static_cast<double>(count);
    facts->squares =
        static_cast<double>(number * squares - static_cast<__int128>(from) * from) / static_cast<double>(count);
    return;
  }
  *sum = 0;
  for (std::size_t i = 0; i < count; ++i) *sum += values[i];
  const __int128 from = *sum - static_cast<__int128>(origin) * static_cast<__int128>(count);
  facts->mean = static_cast<double>(from) / static_cast<double>(count);
  for (std::size_t i = 0; i < count; ++i) {
    const double place = is_near ? static_cast<double>(static_cast<std::int64_t>(values[i] - origin))
                                 : static_cast<double>(values[i]) - static_cast<double>(origin);
    facts->squares += (place - facts->mean) * (place - facts->mean);
  }
}

RECORDSMITH_WITH_AVX2
void look_at(const std::int64_t* values, std::size_t count, std::int64_t origin, PieceFacts<std::int64_t>* facts,
             __int128* sum) {
  look_at_integers(values, count, origin, facts, sum);
}

void look_at(const std::uint64_t* values, std::size_t count, std::uint64_t origin, PieceFacts<std::uint64_t>* facts,
             __int128* sum) {
  look_at_integers(values, count, origin, facts, sum);
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
  if (count == 1) {  // by far the most common
    T value;
    std::memcpy(&value, values, sizeof value);
    pending_.push_back(value);
  } else {
    pending_.resize(held + count);
    if (count > 0) std::memcpy(pending_.data() + held, values, count * sizeof(T));
  }
  if constexpr (std::is_floating_point_v<T>) {
    // Once a record, though it may come in several pieces.
    if (!all_finite(pending_.data() + held, count) && !not_finite->is_full() && !not_finite->ends_with(record)) {
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
  if (quantiles_ != nullptr) quantiles_->finish();
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

  count_values(values, count);
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
  values_.add_exactly(key_of(value), times);
}

template <typename T>
void NumberTally<T>::count_values(const T* values, std::size_t count) {
  std::size_t i = 0;
  if (values_.is_exact()) {
    while (i < count && values_.add_exactly(key_of(values[i]))) ++i;
    if (i == count) return;
    start_sketches();
  }
  if (i == 0 && count == kPiece) {
    std::uint64_t keys[kPiece];
    for (; i < kPiece; ++i) keys[i] = key_of(values[i]);
    values_.add_to_sketches(keys);
    quantiles_->add_piece(values);
  }
  for (; i < count; ++i) {
    values_.add_to_sketches(key_of(values[i]));
    quantiles_->add(values[i]);
  }
}

template <typename T>
void NumberTally<T>::start_sketches() {
  quantiles_ = std::make_unique<QuantileTally<T>>(budget_);
  for (const KeyCount& entry : values_.start_sketches()) quantiles_->add(value_of<T>(entry.key), entry.count);
}

template <typename T>
void NumberTally<T>::add_counted(const KeyCount& entry) {
  if (values_.is_exact()) {
    if (values_.add_exactly(entry.key, entry.count)) return;
    start_sketches();
  }
  values_.add_to_sketches(entry.key, entry.count);
  quantiles_->add(value_of<T>(entry.key), entry.count);
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

  if (later.values_.is_exact()) {
    for (const KeyCount& entry : later.values_.exact_entries()) add_counted(entry);
    return;
  }
  if (values_.is_exact()) start_sketches();
  values_.merge_sketches(later.values_);
  quantiles_->merge(std::move(*later.quantiles_));
}

template <typename T>
template <typename Archive>
void NumberTally<T>::transfer(Archive& archive) {
  archive(count_, nan_, positive_infinity_, negative_infinity_, finite_, min_, max_, zeros_, negatives_, is_integral_,
          sum_, sum_rest_, exact_sum_, origin_, mean_, squares_, values_);
  archive.optional(quantiles_, [&] { return std::make_unique<QuantileTally<T>>(budget_); });
  if constexpr (Archive::kReads) {
    archive.require(count_ <= archive.most_values && (quantiles_ != nullptr) == !values_.is_exact());
    std::uint64_t values = quantiles_ != nullptr ? quantiles_->count() : 0;
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
  // All values with their weights, in order: those that were counted, or those that the sketches kept.
  std::vector<std::pair<T, std::uint64_t>> values;
  if (quantiles_ == nullptr) {
    for (const KeyCount& entry : values_.exact_entries()) values.emplace_back(value_of<T>(entry.key), entry.count);
    std::sort(values.begin(), values.end());
  } else {
    values = quantiles_->sorted();
    summary->quantiles_are_exact = quantiles_->is_exact();
    summary->rank_error = quantiles_->rank_error();
  }

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
