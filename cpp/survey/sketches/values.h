// How often each value of a feature occurs: exact for few different values and for whole numbers of a small range,
// estimated by sketches for more.
//
// A value is a key of 64 bits: a number's own bits, or the digest of a byte string. In turn, keys are counted
//
//   in a table      up to kMostExact different ones
//   by their range  if they are all within kWidestRange of each other, as tokens, years and pixels are
//   by sketches     HyperLogLog for the number of different keys, and frequent items of Apache DataSketches for the
//                   commonest (whose counts are then a little too low)
//
// From the first two everything else (distinct values, the most frequent, quantiles) is computed exactly. The owner of
// the tally may have quantile sketches too, and gets all counts at the moment at which sketches begin.
//
// Everything depends on the order of the values alone: the same units merged in the same order give the same tally,
// wherever a unit was tallied. For that, finish() brings the sketch of frequent items into the order that it has after
// being stored and read.
#pragma once

#include <cstdint>
#include <frequent_items_sketch.hpp>
#include <memory>
#include <span>
#include <vector>

#include "base/permutation.h"
#include "survey/facts/packing.h"
#include "survey/sketches/distinct_sketch.h"

namespace recordsmith::survey {

inline constexpr std::size_t kMostExact = 2048;
inline constexpr std::size_t kWidestRange = std::size_t{1} << 17;
inline constexpr std::size_t kMostFrequent = 20;
inline constexpr std::size_t kPiece = 512;  // values that are worked on at once

// How much memory a feature may take. The first few features may count ranges; of a dataset with very many, the later
// ones have small sketches.
enum class MemoryBudget { kAmple, kUsual, kScarce };

struct KeyCount {
  std::uint64_t key;
  std::uint64_t count;
};

struct KeyHash {
  std::size_t operator()(std::uint64_t key) const { return static_cast<std::size_t>(mix64(key)); }
};

using FrequentSketch = datasketches::frequent_items_sketch<std::uint64_t, std::uint64_t, KeyHash>;

// Counts by key, with open addressing.
class CountTable {
 public:
  std::size_t size() const { return size_; }

  // False if the key is new and there is no room for it.
  bool add(std::uint64_t key, std::uint64_t times = 1) {
    if (size_ * 2 >= slots_.size() && !grow()) {
      KeyCount* const known = find(key);
      if (known->count == 0) return false;
      known->count += times;
      return true;
    }
    KeyCount* const slot = find(key);
    if (slot->count == 0) {
      if (size_ >= kMostExact) return false;
      slot->key = key;
      ++size_;
    }
    slot->count += times;
    return true;
  }

  std::vector<KeyCount> entries() const;
  void clear() {
    slots_ = {};
    size_ = 0;
  }
  template <typename Archive>
  void transfer(Archive& archive);

 private:
  static constexpr std::size_t kFirstSlots = 16;

  KeyCount* find(std::uint64_t key) {
    const std::size_t mask = slots_.size() - 1;
    std::size_t at = static_cast<std::size_t>(mix64(key)) & mask;
    while (slots_[at].count != 0 && slots_[at].key != key) at = (at + 1) & mask;
    return &slots_[at];
  }
  bool grow();

  std::vector<KeyCount> slots_;  // a count of 0 marks a free one
  std::size_t size_ = 0;
};

// Counts of neighbouring keys, each at its own place. Keys count on from the largest to 0, as the bits of negative
// integers do.
class RangeCounts {
 public:
  bool is_in_use() const { return !counts_.empty(); }
  // Begins with these; false if they are too far from each other.
  bool start(const std::vector<KeyCount>& entries);
  // False if the key is too far from the others.
  bool add(std::uint64_t key, std::uint64_t times = 1) {
    if (key - first_ >= counts_.size() && !widen(key)) return false;
    counts_[static_cast<std::size_t>(key - first_)] += times;
    return true;
  }
  std::size_t distinct() const;
  std::vector<KeyCount> entries() const;
  void clear() { counts_ = {}; }
  template <typename Archive>
  void transfer(Archive& archive) {
    archive(first_);
    archive.list(counts_, kWidestRange);
  }

 private:
  bool widen(std::uint64_t key);

  std::uint64_t first_ = 0;
  std::vector<std::uint64_t> counts_;
};

class ValueTally {
 public:
  explicit ValueTally(MemoryBudget budget) : budget_(budget) {}

  bool is_exact() const { return sketches_ == nullptr; }

  // Adds a value that occurs so many times; false if it can be counted exactly no more. Only if is_exact().
  bool add_exactly(std::uint64_t key, std::uint64_t times = 1) {
    return range_.is_in_use() ? range_.add(key, times) : table_.add(key, times) || add_to_range(key, times);
  }
  // The counts so far, which go into the sketches. Only if is_exact().
  std::vector<KeyCount> start_sketches();
  // The following only if !is_exact(). One value; one that occurs so many times; and kPiece of them, of which those
  // that occur once are taken as rare.
  void add_to_sketches(std::uint64_t key) { sketches_->add(key); }
  void add_to_sketches(std::uint64_t key, std::uint64_t times);
  void add_to_sketches(std::span<const std::uint64_t, kPiece> keys) { sketches_->add(keys); }
  void merge_sketches(const ValueTally& later);

  // Call before merging and before reading results.
  void finish() {
    if (sketches_ != nullptr) sketches_->finish();
  }

  std::vector<KeyCount> exact_entries() const { return range_.is_in_use() ? range_.entries() : table_.entries(); }
  double distinct() const;
  double distinct_error() const;  // relative, at 95 %
  // The most common first; where sketches were needed, only those that certainly occur more often than the sketch errs.
  std::vector<KeyCount> frequent(std::size_t at_most = kMostFrequent) const;
  // Whether the key may be among the most frequent ones.
  bool is_repeated(std::uint64_t key) const;
  // Only after finish().
  template <typename Archive>
  void transfer(Archive& archive);

 private:
  // The sketch of frequent items takes most of the time, and most values are rare. So it only gets those that are met
  // again while they are still among the recent ones: any that makes up more than some thousandths of all values is.
  struct Sketches {
    explicit Sketches(MemoryBudget budget);
    void add(std::uint64_t key) {
      const std::uint64_t hash = mix64(key);
      KeyCount& recent = recents[static_cast<std::size_t>(hash) & (recents.size() - 1)];
      if (recent.key == key && recent.count > 0) {
        ++recent.count;
        return;
      }
      if (recent.count > 1) frequent.update(recent.key, recent.count);
      recent = {key, 1};
      distinct.add(hash);
    }
    void add(std::span<const std::uint64_t, kPiece> keys);
    void finish();

    // After a piece in which no value repeats, the next ones are not searched for such values, but for every eighth.
    static constexpr unsigned kUnsearched = 7;

    DistinctSketch distinct;
    FrequentSketch frequent;
    std::vector<KeyCount> recents;
    unsigned unsearched = 0;  // pieces that are not searched from here
  };

  bool add_to_range(std::uint64_t key, std::uint64_t times);

  MemoryBudget budget_;
  CountTable table_;
  RangeCounts range_;
  std::unique_ptr<Sketches> sketches_;
};

}  // namespace recordsmith::survey
