// What a schema says about the stored features: what a survey compares records with.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "examples/example_wire.h"

namespace recordsmith::survey {

// Numbers of one dtype in a byte string: all of it, or a part at a fixed place.
enum class RawType { kBool, kInt8, kInt16, kInt32, kInt64, kUint8, kUint16, kUint32, kUint64, kHalf, kFloat, kDouble };

struct RawNumbers {
  std::string part;  // its name; "" for all
  RawType type = RawType::kUint8;
  std::size_t offset = 0;
  std::int64_t count = -1;  // -1: as many as there are
};

// The numbers of a numpy dtype, at an offset of a byte string; nothing for a dtype that no schema has. A complex number
// counts as two.
std::optional<RawNumbers> raw_numbers_of(std::string part, std::string_view dtype, std::size_t offset,
                                         std::int64_t count);

// What a schema says about one stored feature.
struct Expectation {
  Kind kind = Kind::kNone;
  std::int64_t count = -1;                   // values per record or step; -1: any
  std::int64_t row_bytes = -1;               // of each byte string; -1: any
  std::int64_t classes = -1;                 // of a label; -1: it is none
  std::vector<RawNumbers> raw_numbers = {};  // of byte strings: what they contain

  bool is_label() const { return classes >= 0; }
};

// By key, and whether it is in the feature lists.
using Expectations = std::map<std::pair<std::string, bool>, Expectation>;

// Everything that is known about the features before the survey.
struct Expected {
  Expectations features;
  std::vector<std::string> provenance;  // features that say where a record comes from, beside those whose names do
};

}  // namespace recordsmith::survey
