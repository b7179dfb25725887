// Where something was seen: its first few records, which a reader of a report wants to open.
//
// A survey works on units, which are stretches of files, and knows how many records precede a unit only when all units
// before it are done. So a record is named by its unit and its number there, until the summary names it by its file
// (record_naming.h).
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace recordsmith::survey {

inline constexpr std::uint32_t kNoUnit = 0xffffffff;

struct RecordName {
  std::uint32_t source = 0;  // the unit while the survey runs; the file in its summary
  std::uint64_t number = 0;  // in the source
  std::uint64_t offset = 0;  // of the record in the (inflated) file

  template <typename Archive>
  void transfer(Archive& archive) {
    archive(number, offset);
    if constexpr (Archive::kReads) source = archive.unit();
  }
};

struct Place {
  RecordName record;
  std::string detail;

  template <typename Archive>
  void transfer(Archive& archive) {
    archive(record, detail);
  }
};

inline constexpr std::size_t kMostPlaces = 5;

class Places {
 public:
  bool is_full() const { return places_.size() >= kMostPlaces; }
  bool ends_with(const RecordName& record) const {
    return !places_.empty() && places_.back().record.source == record.source &&
           places_.back().record.number == record.number;
  }
  void add(const RecordName& record, std::string detail = {}) {
    if (!is_full()) places_.push_back({record, std::move(detail)});
  }
  // Those of a later unit.
  void merge(const Places& later) {
    for (const Place& place : later.places_) {
      if (is_full()) return;
      places_.push_back(place);
    }
  }
  const std::vector<Place>& all() const { return places_; }
  std::vector<Place>& all() { return places_; }

  template <typename Archive>
  void transfer(Archive& archive) {
    archive.list(places_, kMostPlaces);
  }

 private:
  std::vector<Place> places_;
};

// The smallest, the largest and the sum of some sizes.
struct SizeTally {
  std::uint64_t count = 0;
  std::uint64_t min = ~std::uint64_t{0};
  std::uint64_t max = 0;
  std::uint64_t sum = 0;

  void add(std::uint64_t size) {
    ++count;
    min = std::min(min, size);
    max = std::max(max, size);
    sum += size;
  }
  void merge(const SizeTally& other) {
    count += other.count;
    min = std::min(min, other.min);
    max = std::max(max, other.max);
    sum += other.sum;
  }
};

}  // namespace recordsmith::survey
