#include "survey/sketches/values.h"

#include <algorithm>
#include <array>

#include "base/vector_clones.h"
#include "survey/sketches/sketch_packing.h"

namespace recordsmith::survey {
namespace {

// 8,192 registers: the standard error is 1.1 %.
constexpr unsigned kDistinctBits = 13;
constexpr unsigned kFewDistinctBits = 10;
constexpr std::uint8_t kFrequentBits = 9;
constexpr std::uint8_t kFewFrequentBits = 6;
constexpr std::size_t kRecents = 512;
constexpr std::size_t kFewRecents = 64;

std::uint8_t frequent_bits(MemoryBudget budget) {
  return budget == MemoryBudget::kScarce ? kFewFrequentBits : kFrequentBits;
}

// The most common first.
void keep_most_frequent(std::size_t at_most, std::vector<KeyCount>* entries) {
  const auto end = entries->begin() + static_cast<std::ptrdiff_t>(std::min(at_most, entries->size()));
  std::partial_sort(entries->begin(), end, entries->end(), [](const KeyCount& left, const KeyCount& right) {
    return left.count != right.count ? left.count > right.count : left.key < right.key;
  });
  entries->erase(end, entries->end());
}

RECORDSMITH_WITH_AVX2
void hash_keys(const std::uint64_t* keys, std::uint64_t* __restrict hashes) {
  for (std::size_t i = 0; i < kPiece; ++i) hashes[i] = mix64(keys[i]);
}

// Finds hashes of a piece again, each by the number of its first value.
class HashSet {
 public:
  // The number of the first value that has this one's hash.
  std::size_t first_of(std::size_t number, const std::uint64_t* hashes) {
    std::size_t at = hashes[number] >> (64 - kBits);
    for (; slots_[at] != 0; at = (at + 1) % slots_.size()) {
      const std::size_t first = slots_[at] - 1U;
      if (hashes[first] == hashes[number]) return first;
    }
    slots_[at] = static_cast<std::uint16_t>(number + 1);
    return number;
  }

 private:
  static constexpr int kBits = 12;  // so many that most hashes have a slot of their own
  std::array<std::uint16_t, std::size_t{1} << kBits> slots_{};
};

}  // namespace

std::vector<KeyCount> CountTable::entries() const {
  std::vector<KeyCount> entries;
  entries.reserve(size_);
  for (const KeyCount& slot : slots_) {
    if (slot.count != 0) entries.push_back(slot);
  }
  return entries;
}

bool CountTable::grow() {
  if (slots_.size() >= 2 * kMostExact) return false;
  const std::vector<KeyCount> old = std::move(slots_);
  slots_.assign(std::max(kFirstSlots, old.size() * 2), {0, 0});
  for (const KeyCount& entry : old) {
    if (entry.count != 0) *find(entry.key) = entry;
  }
  return true;
}

bool RangeCounts::start(const std::vector<KeyCount>& entries) {
  first_ = entries.front().key;
  counts_.assign(1, 0);
  for (const KeyCount& entry : entries) {
    if (add(entry.key, entry.count)) continue;
    clear();
    return false;
  }
  return true;
}

bool RangeCounts::widen(std::uint64_t key) {
  constexpr auto kWidest = static_cast<std::int64_t>(kWidestRange);
  const auto is_used = [](std::uint64_t count) { return count != 0; };
  const auto place = static_cast<std::int64_t>(key - first_);
  if (place >= 2 * kWidest || place <= -kWidest) return false;
  const auto used = std::find_if(counts_.begin(), counts_.end(), is_used);
  const auto used_end = std::find_if(counts_.rbegin(), counts_.rend(), is_used).base();
  const std::int64_t low = std::min<std::int64_t>(place, used - counts_.begin());
  const std::int64_t high = std::max<std::int64_t>(place + 1, used_end - counts_.begin());
  if (high - low > kWidest) return false;
  // With as much again on both sides, so that numbers that rise or fall do not move all counts each time.
  std::vector<std::uint64_t> wider(static_cast<std::size_t>(std::min(kWidest, 3 * (high - low))), 0);
  const std::int64_t first = low - (static_cast<std::int64_t>(wider.size()) - (high - low)) / 2;
  std::copy(used, used_end, wider.begin() + (used - counts_.begin() - first));
  counts_ = std::move(wider);
  first_ += static_cast<std::uint64_t>(first);
  return true;
}

std::size_t RangeCounts::distinct() const {
  return counts_.size() - static_cast<std::size_t>(std::count(counts_.begin(), counts_.end(), std::uint64_t{0}));
}

std::vector<KeyCount> RangeCounts::entries() const {
  std::vector<KeyCount> entries;
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    if (counts_[i] != 0) entries.push_back({first_ + i, counts_[i]});
  }
  return entries;
}

ValueTally::Sketches::Sketches(MemoryBudget budget)
    : distinct(budget == MemoryBudget::kScarce ? kFewDistinctBits : kDistinctBits),
      frequent(frequent_bits(budget)),
      recents(budget == MemoryBudget::kScarce ? kFewRecents : kRecents, KeyCount{0, 0}) {}

void ValueTally::Sketches::add(std::span<const std::uint64_t, kPiece> keys) {
  std::uint64_t hashes[kPiece];
  hash_keys(keys.data(), hashes);
  distinct.add(std::span<const std::uint64_t>(hashes));
  if (unsearched > 0) {
    --unsearched;
    return;
  }
  std::uint16_t counts[kPiece] = {};
  HashSet seen;
  for (std::size_t i = 0; i < kPiece; ++i) ++counts[seen.first_of(i, hashes)];
  unsearched = kUnsearched;
  for (std::size_t i = 0; i < kPiece; ++i) {
    if (counts[i] < 2) continue;
    frequent.update(keys[i], counts[i]);
    unsearched = 0;
  }
}

void ValueTally::Sketches::finish() {
  for (KeyCount& recent : recents) {
    if (recent.count > 1) frequent.update(recent.key, recent.count);
    recent.count = 0;
  }
  const auto stored = frequent.serialize();
  frequent = FrequentSketch::deserialize(stored.data(), stored.size());
}

// The slots stay where they are, because that is the order in which entries are merged.
template <typename Archive>
void CountTable::transfer(Archive& archive) {
  std::uint64_t slots = slots_.size();
  archive(slots);
  const bool is_sound = slots == 0 || (slots >= kFirstSlots && slots <= 2 * kMostExact && (slots & (slots - 1)) == 0);
  if (!archive.require(is_sound)) return;
  const std::size_t used = archive.count(size_, static_cast<std::size_t>(slots / 2));
  if constexpr (Archive::kReads) {
    slots_.assign(static_cast<std::size_t>(slots), {0, 0});
    size_ = used;
  }
  std::size_t at = 0;
  for (std::size_t i = 0; i < used; ++i, ++at) {
    if constexpr (!Archive::kReads) {
      while (slots_[at].count == 0) ++at;
    }
    std::uint64_t place = at;
    archive(place);
    if (!archive.require(place >= at && place < slots)) return;
    at = static_cast<std::size_t>(place);
    archive(slots_[at]);
    if (!archive.require(slots_[at].count != 0)) return;
  }
  if constexpr (Archive::kReads) {
    for (const KeyCount& slot : slots_) {
      if (slot.count != 0 && !archive.require(find(slot.key) == &slot)) return;
    }
  }
}

template <typename Archive>
void ValueTally::transfer(Archive& archive) {
  archive(table_, range_);
  bool has_sketches = sketches_ != nullptr;
  archive(has_sketches);
  const bool is_one = (table_.size() > 0) + range_.is_in_use() + has_sketches <= 1;
  if (!archive.require(is_one && (!range_.is_in_use() || budget_ == MemoryBudget::kAmple))) return;
  if (!has_sketches) return;
  if constexpr (Archive::kReads) sketches_ = std::make_unique<Sketches>(budget_);
  archive(sketches_->distinct);
  transfer_frequent(archive, sketches_->frequent, frequent_bits(budget_));
}

template void ValueTally::transfer(Packer& archive);
template void ValueTally::transfer(Unpacker& archive);

bool ValueTally::add_to_range(std::uint64_t key, std::uint64_t times) {
  if (budget_ != MemoryBudget::kAmple || !range_.start(table_.entries())) return false;
  if (!range_.add(key, times)) {
    range_.clear();
    return false;
  }
  table_.clear();
  return true;
}

std::vector<KeyCount> ValueTally::start_sketches() {
  std::vector<KeyCount> entries = exact_entries();
  table_.clear();
  range_.clear();
  sketches_ = std::make_unique<Sketches>(budget_);
  for (const KeyCount& entry : entries) add_to_sketches(entry.key, entry.count);
  return entries;
}

void ValueTally::add_to_sketches(std::uint64_t key, std::uint64_t times) {
  sketches_->distinct.add(mix64(key));
  sketches_->frequent.update(key, times);
}

void ValueTally::merge_sketches(const ValueTally& later) {
  sketches_->distinct.merge(later.sketches_->distinct);
  sketches_->frequent.merge(later.sketches_->frequent);
}

double ValueTally::distinct() const {
  if (!is_exact()) return sketches_->distinct.estimate();
  return static_cast<double>(range_.is_in_use() ? range_.distinct() : table_.size());
}

double ValueTally::distinct_error() const { return is_exact() ? 0 : sketches_->distinct.error(); }

std::vector<KeyCount> ValueTally::frequent(std::size_t at_most) const {
  std::vector<KeyCount> entries;
  if (is_exact()) {
    entries = exact_entries();
  } else {
    for (const auto& row : sketches_->frequent.get_frequent_items(datasketches::NO_FALSE_POSITIVES)) {
      entries.push_back({row.get_item(), row.get_lower_bound()});
    }
  }
  keep_most_frequent(at_most, &entries);
  return entries;
}

bool ValueTally::is_repeated(std::uint64_t key) const {
  if (is_exact()) return true;
  const KeyCount& recent = sketches_->recents[static_cast<std::size_t>(mix64(key)) & (sketches_->recents.size() - 1)];
  return (recent.key == key && recent.count > 1) || sketches_->frequent.get_lower_bound(key) > 0;
}

}  // namespace recordsmith::survey
