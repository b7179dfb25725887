// One record's payload, parsed for a survey.
//
// Nearly all records are written in one plain way: one Features message, each map entry a key and a value, each value
// one list, numbers packed or one by one but not both. read_plain_record parses those in one pass and refuses
// everything else. What it refuses goes to read_any_record, which parses by protobuf's rules (example_wire.h), and
// reports what is odd about the record. Both give the same content for a record that both accept.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "examples/example_wire.h"
#include "examples/payload_kind.h"
#include "survey/records/oddities.h"

namespace recordsmith::survey {

struct ByteValue {
  const std::uint8_t* data;
  std::size_t size;
};

// A Feature: its kind, and where its values are.
struct FeatureValues {
  Kind kind = Kind::kNone;
  std::uint64_t count = 0;
  const std::uint8_t* packed_floats = nullptr;  // in the payload, not aligned; or else
  std::size_t start = 0;                        // in RecordContent's floats, int64s or strings
};

struct FeatureItem {
  std::string_view key;
  FeatureValues values;
  std::uint64_t stored_bytes = 0;  // the whole map entry
};

struct ListItem {
  std::string_view key;
  std::size_t first_step = 0;  // in RecordContent's steps
  std::size_t steps = 0;
  std::uint64_t stored_bytes = 0;
};

// Points into the payload. Reused for many records, so that its memory is allocated once.
struct RecordContent {
  std::vector<FeatureItem> features;
  const std::uint8_t* entries = nullptr;  // of a plain record: where that of the first feature begins, then the others
  std::vector<ListItem> lists;
  std::vector<FeatureValues> steps;
  std::vector<float> floats;
  std::vector<std::int64_t> int64s;
  std::vector<ByteValue> strings;

  void clear();
  const void* floats_of(const FeatureValues& values) const {
    return values.packed_floats != nullptr ? static_cast<const void*>(values.packed_floats)
                                           : static_cast<const void*>(floats.data() + values.start);
  }
};

// False if the record is written in another way, or is not an Example; `content` must not be used then. Keys may be any
// bytes, and may occur twice: a caller that notices this uses read_any_record. `likely_keys` are those of the features
// of the record before, in order: where a key is there again, the item's own key is a view of the same memory.
bool read_plain_record(const std::uint8_t* data, std::size_t size, std::span<const std::string_view> likely_keys,
                       RecordContent* content);

// Returns what the payload is. `content` holds its features if that is an Example or a SequenceExample.
PayloadKind read_any_record(const std::uint8_t* data, std::size_t size, RecordContent* content,
                            std::vector<FoundOddity>* oddities);

}  // namespace recordsmith::survey
