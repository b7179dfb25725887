// The numbers of one feature: range, moments, how they are distributed.
//
// Values come in small pieces (mostly one a record) and are worked on some hundred at a time, in loops that the
// compiler turns into vector instructions. Sums are exact for integers and compensated for floats; the deviation is
// that of Welford in the form for pieces (Chan, Golub and LeVeque), so that millions of values around a large mean lose
// nothing.
//
// Quantiles are exact as long as all values are counted (values.h), and come from sketches beyond (quantiles.h).
#pragma once

#include <cstdint>
#include <memory>
#include <type_traits>
#include <vector>

#include "survey/facts/places.h"
#include "survey/facts/summary.h"
#include "survey/sketches/quantiles.h"
#include "survey/sketches/values.h"

namespace recordsmith::survey {

// What sums of T and their squares are kept in: the squares of doubles need a larger range than theirs.
template <typename T>
using SumOf = std::conditional_t<std::is_same_v<T, double>, long double, double>;

// T is float or std::int64_t, the two that an Example can hold; or double or std::uint64_t, of numbers that are stored
// as bytes (raw_numbers.h).
template <typename T>
class NumberTally {
 public:
  explicit NumberTally(MemoryBudget budget) : budget_(budget), values_(budget) {}

  // `values` need not be aligned. Records with a NaN or an infinity are added to `not_finite`.
  void add(const void* values, std::size_t count, const RecordName& record, Places* not_finite);
  // Adds an integer that occurs so many times; for at most some hundred different ones, and nothing else beside them.
  void add_repeated(T value, std::uint64_t times);
  // Takes what was added after the last full piece; before any of the below.
  void finish();

  void merge(NumberTally&& later);
  NumberSummary summary() const;
  // Only after finish().
  template <typename Archive>
  void transfer(Archive& archive);

 private:
  void take(const T* values, std::size_t count);
  void take_finite(const T* values, std::size_t count);
  void add_moments(std::uint64_t count, SumOf<T> mean, SumOf<T> squares);
  void count_values(const T* values, std::size_t count);
  void add_counted(const KeyCount& entry);
  void start_sketches();
  void fill_quantiles(NumberSummary* summary) const;

  MemoryBudget budget_;
  std::vector<T> pending_;

  std::uint64_t count_ = 0;
  std::uint64_t nan_ = 0;
  std::uint64_t positive_infinity_ = 0;
  std::uint64_t negative_infinity_ = 0;

  std::uint64_t finite_ = 0;
  T min_{};
  T max_{};
  std::uint64_t zeros_ = 0;
  std::uint64_t negatives_ = 0;
  bool is_integral_ = true;
  // The sum of floats in two, of which the second is what the first cannot hold; that of integers is exact.
  SumOf<T> sum_ = 0;
  SumOf<T> sum_rest_ = 0;
  __int128 exact_sum_ = 0;
  // Of integers, the first one: what follows is counted from there, so that a double can hold it also for numbers of
  // which it could not. Of floats always 0, because their sums are finer.
  T origin_{};
  SumOf<T> mean_ = 0;     // of the pieces so far, from the origin; for the next line
  SumOf<T> squares_ = 0;  // the sum of squared distances from the mean

  ValueTally values_;
  std::unique_ptr<QuantileTally<T>> quantiles_;  // once values_ is not exact
};

extern template class NumberTally<float>;
extern template class NumberTally<double>;
extern template class NumberTally<std::int64_t>;
extern template class NumberTally<std::uint64_t>;

}  // namespace recordsmith::survey
