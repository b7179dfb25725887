// What the records of a file look like, learned from some of them.
//
// Two things distinguish records of the file from those of a file that is stored inside a record: the features that
// they have, if they are Examples, and whether they contain records themselves.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_set>

namespace recordsmith {

enum class Likeness : std::uint8_t { kAlike, kUnlike, kUnclear };

class RecordLikeness {
 public:
  // Whether the features of an Example are learned, or only the other thing.
  enum class Learn : std::uint8_t { kAll, kAllButFeatures };

  void learn(const std::uint8_t* payload, std::size_t size, Learn what);
  // Unlike: an Example without any of the known features.
  Likeness compare(const std::uint8_t* payload, std::size_t size) const;

  bool knows_features() const { return !keys_.empty(); }
  bool has_nested_records() const { return has_nested_records_; }
  // False: whatever the payload, the comparison is unclear.
  bool can_compare() const { return knows_features() || has_nested_records_; }

 private:
  std::unordered_set<std::string> keys_;
  bool has_nested_records_ = false;
};

}  // namespace recordsmith
