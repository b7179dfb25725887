// How often each value of a feature occurs: exact for few different values, estimated by sketches for more.
//
// A value is a key of 64 bits: a number's own bits, or the digest of a byte string. Up to kMostExact different keys are
// counted in a table, from which everything else (distinct values, the most frequent, quantiles) is computed exactly.
// When one more arrives, the table's content goes into sketches of Apache DataSketches: HyperLogLog for the number of
// different keys, frequent items for the commonest (whose counts are then a little too low). The owner of the tally may
// have quantile sketches too, and gets the table's content at that moment.
//
// Everything depends on the order of the values alone: the same units merged in the same order give the same tally,
// wherever a unit was tallied. For that, finish() brings the sketch of frequent items into the order that it has after
// being stored and read.
#pragma once

#include <cstdint>
#include <frequent_items_sketch.hpp>
#include <hll.hpp>
#include <memory>
#include <vector>

#include "base/permutation.h"
#include "survey/facts/packing.h"

namespace recordsmith::survey {

inline constexpr std::size_t kMostExact = 2048;
inline constexpr std::size_t kMostFrequent = 20;

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

class ValueTally {
 public:
  // `is_small` takes smaller sketches, for datasets with very many features.
  explicit ValueTally(bool is_small) : is_small_(is_small) {}

  bool is_exact() const { return sketches_ == nullptr; }

  // Adds one value; `overflow` is called with the table's content, once, when it becomes too large.
  template <typename Overflow>
  void add(std::uint64_t key, Overflow overflow) {
    if (sketches_ == nullptr) {
      if (table_.add(key)) return;
      overflow(start_sketches());
    }
    sketches_->add(key);
  }
  // Adds a value that occurs so many times; for tallies of which all values fit the table.
  void add_few(std::uint64_t key, std::uint64_t times) { table_.add(key, times); }
  // Adds a value that occurs so many times among some hundred; only once there are sketches.
  void add_run(std::uint64_t key, std::uint64_t times) {
    sketches_->distinct.update(key);
    if (times > 1) sketches_->frequent.update(key, times);
  }
  // Call before merging and before reading results.
  void finish() {
    if (sketches_ != nullptr) sketches_->finish();
  }

  // `added` is called for each entry of the later table that was added after the table here had become too large.
  template <typename Overflow, typename Added>
  void merge(const ValueTally& later, Overflow overflow, Added added) {
    if (later.sketches_ == nullptr) {
      for (const KeyCount& entry : later.table_.entries()) {
        if (sketches_ == nullptr) {
          if (table_.add(entry.key, entry.count)) continue;
          overflow(start_sketches());
        }
        sketches_->distinct.update(entry.key);
        sketches_->frequent.update(entry.key, entry.count);
        added(entry);
      }
      return;
    }
    if (sketches_ == nullptr) overflow(start_sketches());
    merge_sketches(*later.sketches_);
  }

  std::vector<KeyCount> exact_entries() const { return table_.entries(); }
  double distinct() const;
  double distinct_error() const;  // relative, at 95 %
  // The commonest first; where sketches were needed, only those that certainly occur more often than the sketch errs.
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
    explicit Sketches(bool is_small);
    void add(std::uint64_t key) {
      KeyCount& recent = recents[static_cast<std::size_t>(mix64(key)) & (recents.size() - 1)];
      if (recent.key == key && recent.count > 0) {
        ++recent.count;
        return;
      }
      if (recent.count > 1) frequent.update(recent.key, recent.count);
      recent = {key, 1};
      distinct.update(key);
    }
    void finish();

    datasketches::hll_sketch distinct;
    FrequentSketch frequent;
    std::vector<KeyCount> recents;
  };

  std::vector<KeyCount> start_sketches();
  void merge_sketches(const Sketches& later);

  bool is_small_;
  CountTable table_;
  std::unique_ptr<Sketches> sketches_;
};

}  // namespace recordsmith::survey
