// What to decode from each record, compiled from a schema.
//
// A plan lists columns. A column is one stored feature: its key, its kind, how many values each record has, and what to
// do where it is missing. Features without a column are skipped.
//
// A plan does not change once built: any number of threads may share it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "examples/example_wire.h"

namespace recordsmith {

enum class Presence : std::uint8_t {
  kRequired,  // absent: a failure
  kOptional,  // absent: noted in the column's presence flags
  kDefault,   // absent: the default takes its place
};

inline constexpr std::int64_t kVaries = -1;

struct PlanColumn {
  std::string key;
  Kind kind = Kind::kBytes;
  std::int64_t count = 1;            // values per record, or kVaries
  std::int64_t row_bytes = kVaries;  // bytes with count 1: each value has exactly this size and makes a dense row
  Presence presence = Presence::kRequired;
  bool in_steps = false;  // in the feature_lists of a SequenceExample: one Feature for each step
  // The default, in the form of its kind.
  std::vector<float> default_floats;
  std::vector<std::int64_t> default_int64s;
  std::vector<std::string> default_bytes;

  bool is_dense() const { return kind == Kind::kBytes ? row_bytes >= 0 : count >= 0; }
  bool has_many_bytes() const { return kind == Kind::kBytes && count != 1; }
};

class FeaturePlan {
 public:
  static Status compile(std::vector<PlanColumn> columns, std::shared_ptr<const FeaturePlan>* plan);

  const std::vector<PlanColumn>& columns() const { return columns_; }
  bool has_steps() const { return has_steps_; }
  // The columns in the order of their keys' bytes, which is how protobuf's deterministic serialization writes a map.
  const std::vector<std::size_t>& encoding_order() const { return encoding_order_; }

  static constexpr std::int32_t kUnwanted = -1;
  // The column outside the feature lists that has this key, or kUnwanted.
  std::int32_t find(std::string_view key) const;

 private:
  std::vector<PlanColumn> columns_;
  std::vector<std::size_t> encoding_order_;
  std::vector<std::int32_t> table_;  // open addressing over the keys; a power of two in size
  bool has_steps_ = false;
};

}  // namespace recordsmith
