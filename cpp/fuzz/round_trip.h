// What was parsed, encoded and parsed again is the same, and encoding it once more gives the same bytes.
#pragma once

#include <deque>
#include <string_view>
#include <vector>

#include "examples/example_encoder.h"
#include "fuzz/expected_rows.h"

namespace recordsmith::fuzz {

// Owns what a FeatureValues points to.
struct HeldValues {
  explicit HeldValues(const WireFeature& feature) : kind(feature.kind()), values(values_of(feature)) {
    floats.resize(values.floats.size());
    if (!floats.empty()) std::memcpy(floats.data(), values.floats.data(), 4 * floats.size());
    views.assign(values.bytes.begin(), values.bytes.end());
  }

  FeatureValues view() const {
    const std::size_t count = floats.size() + values.int64s.size() + views.size();
    return {kind, floats.data(), values.int64s.data(), views.data(), count};
  }

  bool operator==(const HeldValues& other) const { return kind == other.kind && values == other.values; }

  Kind kind;
  Values values;
  std::vector<float> floats;
  std::vector<std::string_view> views;
};

inline Content encode_again(const WireFeatures& features, const WireFeatureLists& lists, bool as_sequence) {
  std::deque<HeldValues> held;  // does not move what it holds
  std::vector<NamedFeature> named;
  std::vector<NamedFeatureList> named_lists;
  for (const auto& entry : features.entries()) {
    named.push_back({entry.key, held.emplace_back(entry.value).view()});
  }
  for (const auto& entry : lists.entries()) {
    NamedFeatureList& list = named_lists.emplace_back(NamedFeatureList{entry.key, {}});
    for (const WireFeature& step : entry.value) list.steps.push_back(held.emplace_back(step).view());
  }
  Content out;
  REQUIRE((as_sequence ? encode_sequence_example(named, named_lists, &out) : encode_example(named, &out)).is_ok());
  return out;
}

inline void check_round_trip(const Payload& payload, bool as_sequence, Parse parse) {
  WireFeatures features;
  WireFeatureLists lists;
  if (!parse(payload, &features, &lists).is_ok()) return;
  const Payload encoded(encode_again(features, lists, as_sequence));

  WireFeatures again;
  WireFeatureLists lists_again;
  REQUIRE(parse(encoded, &again, &lists_again).is_ok());
  REQUIRE(again.entries().size() == features.entries().size());
  REQUIRE(lists_again.entries().size() == lists.entries().size());
  for (const auto& entry : features.entries()) {
    const WireFeature* found = again.find(entry.key);
    REQUIRE(found != nullptr);
    REQUIRE(HeldValues(*found) == HeldValues(entry.value));
  }
  for (const auto& entry : lists.entries()) {
    const std::vector<WireFeature>* found = lists_again.find(entry.key);
    REQUIRE(found != nullptr);
    REQUIRE(found->size() == entry.value.size());
    for (std::size_t i = 0; i < found->size(); ++i) REQUIRE(HeldValues((*found)[i]) == HeldValues(entry.value[i]));
  }
  REQUIRE(encode_again(again, lists_again, as_sequence) == encoded.bytes);
}

}  // namespace recordsmith::fuzz
