// Which features some records have, and what each looks like. Schemas are inferred from this.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "columns/batch_stream.h"
#include "examples/example_wire.h"
#include "examples/payload_kind.h"

namespace recordsmith {

// Of one feature, or of one feature list (then `values` speaks of its steps).
struct FeatureFacts {
  std::string key;
  bool in_steps = false;
  std::uint64_t records = 0;             // that have it, with a kind
  std::array<std::uint64_t, 4> kinds{};  // how often each Kind was met; [0] is a step without a kind
  std::uint64_t min_count = kUnknown;    // values in one Feature
  std::uint64_t max_count = 0;
  std::uint64_t min_bytes = kUnknown;  // length of one byte value
  std::uint64_t max_bytes = 0;
  bool all_text = true;  // every byte value is readable text
};

struct CensusLimits {
  std::uint64_t records_per_file = kUnknown;
  std::uint64_t bytes_per_file = kUnknown;
  bool verify = true;
  bool stop_at_damage = false;  // then the census of the records before it is no failure, if there are any
  unsigned threads = 1;         // at most; each looks at whole files, and the result does not depend on them
};

struct Census {
  std::uint64_t records = 0;
  bool is_complete = true;  // all records of all files were looked at
  std::array<std::uint64_t, kPayloadKinds> payloads{};
  std::vector<FeatureFacts> features;  // in the order of their first appearance
};

class CensusTaker {
 public:
  Status add(const std::uint8_t* payload, std::size_t size);
  // Adds the census of what comes after.
  void add(const Census& later);
  Census& census() { return census_; }

 private:
  void count_features();  // of the current record
  // Of the feature that is `place`-th in its record, where most records have the same.
  FeatureFacts& facts(std::string_view key, bool in_steps, std::size_t place);
  static void count(const WireFeature& feature, FeatureFacts* facts);

  Census census_;
  WireFeatures features_;  // of the current record; kept, because those of the next one are probably the same
  WireFeatureLists lists_;
  std::array<std::vector<std::size_t>, 2> usual_;  // which feature is at each place
  std::array<std::map<std::string, std::size_t, std::less<>>, 2> positions_;
};

Status take_census(const std::vector<InputFile>& inputs, const CensusLimits& limits, Census* census);

}  // namespace recordsmith
