#include "recovery/search/record_likeness.h"

#include "examples/example_wire.h"
#include "recovery/search/header_search.h"

namespace recordsmith {

void RecordLikeness::learn(const std::uint8_t* payload, std::size_t size, Learn what) {
  WireFeatures features;
  if (what == Learn::kAll && parse_example(payload, size, &features).is_ok()) {
    for (const auto& entry : features.entries()) keys_.emplace(entry.key);
  }
  has_nested_records_ = has_nested_records_ || holds_records(payload, size);
}

Likeness RecordLikeness::compare(const std::uint8_t* payload, std::size_t size) const {
  WireFeatures features;
  if (knows_features() && parse_example(payload, size, &features).is_ok() && !features.entries().empty()) {
    std::size_t known = 0;
    for (const auto& entry : features.entries()) known += keys_.contains(std::string(entry.key)) ? 1 : 0;
    if (known == 0) return Likeness::kUnlike;
    if (2 * known >= features.entries().size()) return Likeness::kAlike;
  }
  return has_nested_records_ && holds_records(payload, size) ? Likeness::kAlike : Likeness::kUnclear;
}

}  // namespace recordsmith
