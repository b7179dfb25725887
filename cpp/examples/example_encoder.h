// Examples and SequenceExamples, written at wire level.
//
// Features are written in the order of their keys' bytes with packed numbers, as protobuf's deterministic serialization
// in C++ does: the same content gives the same bytes.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "examples/example_wire.h"

namespace recordsmith {

// The values of one Feature, owned by the caller.
struct FeatureValues {
  Kind kind = Kind::kNone;
  const float* floats = nullptr;
  const std::int64_t* int64s = nullptr;
  const std::string_view* bytes = nullptr;
  std::size_t count = 0;
};

struct NamedFeature {
  std::string_view key;
  FeatureValues values;
};

struct NamedFeatureList {
  std::string_view key;
  std::vector<FeatureValues> steps;
};

// Protobuf's sizes are 31 bits wide: no message can be larger.
inline constexpr std::size_t kLargestMessage = 0x7fffffff;
Status message_too_large(std::size_t size, std::string_view feature);

// Measures an Example first, then writes it to a place of the caller. Reused for many records.
class ExampleEncoder {
 public:
  // Begins an Example; then add() for each feature in key order, then measure() and write().
  void start() { used_ = 0; }
  // The place to put the next feature's values, until the next add(). The key must live until write().
  FeatureValues& add(std::string_view key) {
    if (used_ == items_.size()) items_.resize(2 * used_ + 16);
    Item& item = items_[used_++];
    item.key = key;
    item.values = FeatureValues();
    return item.values;
  }
  // The size of the whole Example.
  std::size_t measure();
  // Writes exactly that many bytes and returns the position after them.
  std::uint8_t* write(std::uint8_t* to) const;

  // In pieces, for a caller that puts entries of its own between: the size of all entries, and one of them. measure()
  // must have been called.
  std::size_t entries_size() const { return features_size_; }
  std::uint8_t* write_entry(std::size_t index, std::uint8_t* to) const;
  // The field that holds the entries: the size of its tag and length, and these.
  static std::size_t head_size(std::size_t entries_size);
  static std::uint8_t* write_head(std::size_t entries_size, std::uint8_t* to);

 private:
  struct Item {
    std::string_view key;
    FeatureValues values;
    std::size_t scratch_start = 0;  // of packed integers
    std::size_t packed_size = 0;    // of the list's payload
    std::size_t list_size = 0;
    std::size_t feature_size = 0;
    std::size_t entry_size = 0;
  };

  void measure_item(Item* item);

  std::vector<Item> items_;  // the first used_ of them are this Example's
  std::size_t used_ = 0;
  std::vector<std::uint8_t> scratch_;
  std::size_t scratch_used_ = 0;
  std::size_t features_size_ = 0;
};

// Whole messages, for single rows. The spans are sorted by key in place.
Status encode_example(std::span<NamedFeature> features, std::vector<std::uint8_t>* out);
Status encode_sequence_example(std::span<NamedFeature> context, std::span<NamedFeatureList> lists,
                               std::vector<std::uint8_t>* out);

// One integer as a varint; `to` needs room for ten bytes. Returns the position after it.
std::uint8_t* pack_varint(std::int64_t value, std::uint8_t* to);
// Packs integers as varints; `to` needs room for ten bytes each and kPackSlack more. Returns the position after them.
inline constexpr std::size_t kPackSlack = 8;
std::uint8_t* pack_varints(const std::int64_t* values, std::size_t count, std::uint8_t* to);

}  // namespace recordsmith
