// What a survey found, as plain values.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/status.h"
#include "examples/example_wire.h"
#include "examples/payload_kind.h"
#include "files/byte_source.h"
#include "survey/facts/places.h"

namespace recordsmith::survey {

// The shares at which quantiles are taken.
inline constexpr std::array<double, 9> kShares = {0.0, 0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99, 1.0};
inline constexpr std::size_t kBins = 20;

// A number of any feature.
using Number = std::variant<std::int64_t, std::uint64_t, float, double>;

struct ValueSummary {
  double distinct = 0;
  bool is_exact = true;
  double distinct_error = 0;
};

struct NumberSummary {
  std::uint64_t count = 0;
  std::uint64_t finite = 0;
  Number min;
  Number max;
  double mean = 0;
  double deviation = 0;
  std::uint64_t zeros = 0;
  std::uint64_t negatives = 0;
  std::uint64_t nan = 0;
  std::uint64_t positive_infinity = 0;
  std::uint64_t negative_infinity = 0;
  bool is_integral = false;
  std::vector<double> quantiles;  // at kShares; empty without finite values
  bool quantiles_are_exact = true;
  double rank_error = 0;
  std::vector<double> edges;  // at most kBins + 1, and 2 where all values are equal
  std::vector<std::uint64_t> counts;
  ValueSummary values;
  std::vector<std::pair<Number, std::uint64_t>> frequent;
};

// An image that should be decoded in full.
struct ImageName {
  RecordName record;
  std::uint32_t step = 0;
  std::uint32_t value = 0;
};

struct ImageSummary {
  std::uint64_t images = 0;
  std::map<std::string, std::uint64_t> formats;
  std::map<int, std::uint64_t> channels;
  SizeTally heights;
  SizeTally widths;
  Places no_header;
  std::uint64_t suffix_differs = 0;
  Places suffix_places;
  std::vector<ImageName> sample;  // in file order
};

struct StringSummary {
  std::uint64_t count = 0;
  SizeTally lengths;
  std::uint64_t empty = 0;
  std::uint64_t ascii = 0;
  std::uint64_t utf8 = 0;
  std::uint64_t leading_space = 0;
  std::uint64_t trailing_space = 0;
  std::uint64_t control = 0;
  ValueSummary values;
  std::vector<std::pair<std::string, std::uint64_t>> frequent;
  std::vector<std::pair<std::string, std::uint64_t>> all;  // where they are few; long ones left out
  ImageSummary images;
};

struct LabelSummary {
  bool is_bytes = false;
  std::vector<std::int64_t> numbers;  // the classes, in the order of their first appearance
  std::vector<std::string> texts;     // the same, of byte strings
  std::vector<std::uint64_t> counts;
  std::vector<std::uint16_t> sequence;  // the class of each record in file order; only the first ones are kept
  std::uint64_t longest_run = 0;
  std::uint64_t outside = 0;
  Places outside_places;
};

// Numbers that a schema declares in byte strings: all of them, or one part of several.
struct RawNumberSummary {
  std::string part;
  NumberSummary numbers;
  Places not_finite_places;
};

struct FeatureSummary {
  std::string key;
  bool in_steps = false;
  std::uint64_t records = 0;
  std::uint64_t unset = 0;
  std::uint64_t empty = 0;
  std::array<std::uint64_t, 4> kinds{};
  std::array<Places, 4> kind_places;
  Places missing_places;
  Places not_finite_places;
  SizeTally lengths;
  SizeTally steps;
  std::uint64_t stored_bytes = 0;
  std::uint64_t wrong_shape = 0;  // records that do not have the declared count, or size in bytes
  Places wrong_shape_places;
  std::optional<NumberSummary> floats;
  std::optional<NumberSummary> int64s;
  std::optional<StringSummary> strings;
  std::vector<RawNumberSummary> raw_numbers;
  std::optional<LabelSummary> label;
};

inline constexpr std::size_t kMostDamages = 100;  // that are reported for a file

struct DamageSummary {
  Failure failure;
  RecordName record;
  std::uint64_t bytes = kUnknown;

  template <typename Archive>
  void transfer(Archive& archive) {
    archive.choice(failure.code, Code::kInvalidArgument);
    archive(failure.path, failure.offset, failure.record, failure.feature, failure.found, failure.expected,
            failure.detail, failure.system_error, record, bytes);
    archive.require(failure.code != Code::kForeign);  // it would have a cause, which is not stored
  }
};

struct FileSummary {
  Compression compression = Compression::kNone;
  std::uint64_t records = 0;  // sound ones
  std::uint64_t payload_bytes = 0;
  SizeTally sizes;
  std::array<std::uint64_t, kPayloadKinds> payloads{};
  std::vector<DamageSummary> damages;  // the first
  std::uint64_t damage_count = 0;
  bool is_complete = true;

  template <typename Archive>
  void transfer(Archive& archive) {
    archive.choice(compression, Compression::kZlib);
    archive(records, payload_bytes, sizes, payloads, damage_count, is_complete);
    archive.list(damages, kMostDamages);
    archive.require(damages.size() == std::min<std::uint64_t>(damage_count, kMostDamages));
  }
};

struct AnomalySummary {
  std::string kind;
  std::string feature;
  std::uint64_t count = 0;
  Places places;
};

struct SplitSummary {
  std::uint64_t examples = 0;
  std::vector<FeatureSummary> features;
  std::vector<AnomalySummary> anomalies;
  double features_left_out = 0;
  std::vector<std::string> provenance;  // the features that were left out of the digests
};

struct DuplicateGroup {
  std::uint64_t count = 0;
  bool payloads_differ = false;  // in what says where records come from
  std::vector<RecordName> places;
  std::vector<std::uint32_t> splits;
};

struct DuplicateSummary {
  std::vector<std::uint64_t> within;                                        // by split
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> across;  // by two splits
  std::vector<DuplicateGroup> groups;
};

struct Summary {
  std::vector<FileSummary> files;
  std::vector<SplitSummary> splits;
  SplitSummary total;
  DuplicateSummary duplicates;
  DuplicateSummary contradictions;  // equal content but for the labels, which differ
};

}  // namespace recordsmith::survey
