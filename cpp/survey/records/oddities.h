// Oddities in the bytes of a record that parses: corners of protobuf in which readers differ, or that no writer of
// Examples intends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "examples/example_wire.h"

namespace recordsmith::survey {

enum class Oddity : std::uint8_t {
  kNotAnExample,
  kDuplicateKey,
  kMixedKinds,
  kValuesAfterList,
  kUnknownField,
  kKeyNotUtf8,
};

inline constexpr std::size_t kOddities = 6;

const char* oddity_name(Oddity oddity);  // "not-an-example", ...

struct FoundOddity {
  Oddity oddity{};
  std::string feature;  // empty if it concerns no feature
  std::string detail;
};

// What all fields of a record show.
struct Inspection {
  bool parses = false;              // as any protobuf message does
  std::uint64_t sound_entries = 0;  // map entries as an Example has them: a name that is text, and values of a kind
  bool has_lists = false;
  bool has_broken_key = false;
  // What each feature takes, outside and inside the feature lists.
  std::unordered_map<std::string_view, std::uint64_t> stored_bytes[2];
};

// Each oddity of a feature is reported once, and a limited number in total.
Inspection inspect_record(Span record, std::vector<FoundOddity>* oddities);

}  // namespace recordsmith::survey
