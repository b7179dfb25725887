// The distribution of many numbers, by KLL sketches of Apache DataSketches.
//
// The sketch takes some 25 ns for a value, so most values are thinned out before. A piece of kPiece values is sorted in
// columns, side by side in vector registers, and every eighth value of each column, starting with a random one, is kept
// and stands for eight. Some thousand of those are sorted, and every sixteenth of them, which stands for 128, goes into
// a sketch. What is left at the end goes into the sketches of its own weight. Thinning a sorted column changes ranks by
// a few only; rank_error() has it.
#pragma once

#include <array>
#include <cstdint>
#include <kll_sketch.hpp>
#include <memory>
#include <utility>
#include <vector>

#include "survey/sketches/values.h"

namespace recordsmith::survey {

// T is one of those of NumberTally.
template <typename T>
class QuantileTally {
 public:
  explicit QuantileTally(MemoryBudget budget);

  void add(T value) { sketch(0).update(value); }
  void add(T value, std::uint64_t times);
  // kPiece values.
  void add_piece(const T* values);
  // Before any of the below.
  void finish();
  void merge(QuantileTally&& later);

  // Values that are added and merged so far.
  std::uint64_t count() const;
  bool is_exact() const;
  // Normalised, at 99 %; 0 if exact.
  double rank_error() const;
  // What the sketches kept: values with their weights, in order.
  std::vector<std::pair<T, std::uint64_t>> sorted() const;

  template <typename Archive>
  void transfer(Archive& archive);

 private:
  using Sketch = datasketches::kll_sketch<T>;
  static constexpr std::array<std::uint64_t, 3> kWeights = {1, 8, 128};

  Sketch& sketch(std::size_t level);
  void thin_candidates();

  const std::uint16_t items_;
  const std::size_t most_candidates_;
  std::array<std::unique_ptr<Sketch>, kWeights.size()> sketches_;  // made when they are needed
  std::vector<T> candidates_;                                      // of the weight 8
  std::uint64_t thinned_ = 0;                                      // values that went through add_piece
};

extern template class QuantileTally<float>;
extern template class QuantileTally<double>;
extern template class QuantileTally<std::int64_t>;
extern template class QuantileTally<std::uint64_t>;

}  // namespace recordsmith::survey
