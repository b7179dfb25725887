#include "survey/features/values.h"

#include <algorithm>

#include "survey/features/sketch_packing.h"

namespace recordsmith::survey {
namespace {

// 4,096 registers of eight bits: the standard error is 1.6 %.
constexpr std::uint8_t kDistinctBits = 12;
constexpr std::uint8_t kFewDistinctBits = 10;
constexpr std::uint8_t kFrequentBits = 9;
constexpr std::uint8_t kFewFrequentBits = 6;
constexpr std::size_t kRecents = 512;
constexpr std::size_t kFewRecents = 64;

void sort_by_count(std::vector<KeyCount>* entries) {
  std::sort(entries->begin(), entries->end(), [](const KeyCount& left, const KeyCount& right) {
    return left.count != right.count ? left.count > right.count : left.key < right.key;
  });
}

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

ValueTally::Sketches::Sketches(bool is_small)
    : distinct(is_small ? kFewDistinctBits : kDistinctBits, datasketches::HLL_8),
      frequent(is_small ? kFewFrequentBits : kFrequentBits),
      recents(is_small ? kFewRecents : kRecents, KeyCount{0, 0}) {}

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
  archive(table_);
  bool has_sketches = sketches_ != nullptr;
  archive(has_sketches);
  if (!has_sketches || !archive.require(table_.size() == 0)) return;
  if constexpr (Archive::kReads) sketches_ = std::make_unique<Sketches>(is_small_);
  transfer_distinct(archive, sketches_->distinct);
  transfer_frequent(archive, sketches_->frequent, is_small_ ? kFewFrequentBits : kFrequentBits);
}

template void ValueTally::transfer(Packer& archive);
template void ValueTally::transfer(Unpacker& archive);

std::vector<KeyCount> ValueTally::start_sketches() {
  std::vector<KeyCount> entries = table_.entries();
  table_.clear();
  sketches_ = std::make_unique<Sketches>(is_small_);
  for (const KeyCount& entry : entries) {
    sketches_->distinct.update(entry.key);
    sketches_->frequent.update(entry.key, entry.count);
  }
  return entries;
}

void ValueTally::merge_sketches(const Sketches& later) {
  datasketches::hll_union both(is_small_ ? kFewDistinctBits : kDistinctBits);
  both.update(sketches_->distinct);
  both.update(later.distinct);
  sketches_->distinct = both.get_result(datasketches::HLL_8);
  sketches_->frequent.merge(later.frequent);
}

double ValueTally::distinct() const {
  return is_exact() ? static_cast<double>(table_.size()) : sketches_->distinct.get_estimate();
}

double ValueTally::distinct_error() const {
  if (is_exact()) return 0;
  const double estimate = sketches_->distinct.get_estimate();
  return std::max(sketches_->distinct.get_upper_bound(2) - estimate,
                  estimate - sketches_->distinct.get_lower_bound(2)) /
         estimate;
}

std::vector<KeyCount> ValueTally::frequent(std::size_t at_most) const {
  std::vector<KeyCount> entries;
  if (is_exact()) {
    entries = table_.entries();
  } else {
    for (const auto& row : sketches_->frequent.get_frequent_items(datasketches::NO_FALSE_POSITIVES)) {
      entries.push_back({row.get_item(), row.get_lower_bound()});
    }
  }
  sort_by_count(&entries);
  if (entries.size() > at_most) entries.resize(at_most);
  return entries;
}

bool ValueTally::is_repeated(std::uint64_t key) const {
  if (is_exact()) return true;
  const KeyCount& recent = sketches_->recents[static_cast<std::size_t>(mix64(key)) & (sketches_->recents.size() - 1)];
  return (recent.key == key && recent.count > 1) || sketches_->frequent.get_lower_bound(key) > 0;
}

}  // namespace recordsmith::survey
