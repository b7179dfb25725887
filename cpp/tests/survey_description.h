// A survey's summary as text, to compare two of them by. By default only what does not depend on the units: sketches
// do.
#pragma once

#include <sstream>
#include <string>

#include "survey/survey.h"

namespace recordsmith::testing {

class SurveyDescription {
 public:
  SurveyDescription(const survey::Summary& summary, bool with_sketches) : with_sketches_(with_sketches) {
    out_ << std::hexfloat;
    for (const survey::FileSummary& file : summary.files) add(file);
    for (const survey::SplitSummary& split : summary.splits) add(split);
    out_ << "all:\n";
    add(summary.total);
    for (const survey::DuplicateGroup& group : summary.duplicates.groups) {
      out_ << "group of " << group.count << (group.payloads_differ ? " but for their origin" : "") << ':';
      for (const survey::RecordName& record : group.places) out_ << ' ' << name(record, false);
      out_ << '\n';
    }
    for (const survey::DuplicateGroup& group : summary.contradictions.groups) {
      out_ << "contradicting group of " << group.count << " from " << name(group.places.front(), false) << '\n';
    }
    for (const std::uint64_t count : summary.duplicates.within) out_ << "within " << count << '\n';
    for (const auto& [splits, count] : summary.duplicates.across) {
      out_ << "across " << splits.first << ' ' << splits.second << ": " << count << '\n';
    }
  }

  std::string text() const { return out_.str(); }

 private:
  static std::string name(const survey::RecordName& record, bool with_offset = true) {
    const std::string text = std::to_string(record.source) + ':' + std::to_string(record.number);
    return with_offset ? text + '@' + std::to_string(record.offset) : text;
  }

  void add(const char* what, const survey::Places& places) {
    if (places.all().empty()) return;
    out_ << "    " << what;
    for (const survey::Place& place : places.all()) out_ << ' ' << name(place.record) << ' ' << place.detail;
    out_ << '\n';
  }

  void add(const char* what, const survey::SizeTally& sizes) {
    if (sizes.count == 0) return;
    out_ << "    " << what << ' ' << sizes.count << ' ' << sizes.min << ' ' << sizes.max << ' ' << sizes.sum << '\n';
  }

  void add(const survey::FileSummary& file) {
    out_ << "file " << file.records << ' ' << file.payload_bytes << ' ' << file.damage_count << ' ' << file.is_complete;
    for (const std::uint64_t count : file.payloads) out_ << ' ' << count;
    out_ << '\n';
    for (const survey::DamageSummary& damage : file.damages) {
      out_ << "  damage " << static_cast<int>(damage.failure.code) << " at " << damage.failure.offset << ", "
           << (damage.record.source != survey::kNoUnit ? name(damage.record, false) : "nowhere") << ", " << damage.bytes
           << " bytes, found " << damage.failure.found << ", expected " << damage.failure.expected << '\n';
    }
  }

  void add(const survey::SplitSummary& split) {
    out_ << "split " << split.examples << '\n';
    if (with_sketches_) out_ << "left out " << split.features_left_out << '\n';
    for (const survey::FeatureSummary& feature : split.features) add(feature);
    for (const survey::AnomalySummary& anomaly : split.anomalies) {
      out_ << "  " << anomaly.kind << " of '" << anomaly.feature << "' " << anomaly.count << '\n';
      add("at", anomaly.places);
    }
  }

  void add(const survey::FeatureSummary& feature) {
    if (feature.records + feature.unset == 0) return;
    out_ << "  feature '" << feature.key << "' " << feature.in_steps << ' ' << feature.records << ' ' << feature.unset
         << ' ' << feature.empty << ' ' << feature.stored_bytes << ' ' << feature.wrong_shape << '\n';
    for (std::size_t kind = 0; kind < feature.kinds.size(); ++kind) {
      out_ << "    kind " << kind << ' ' << feature.kinds[kind] << '\n';
      add("at", feature.kind_places[kind]);
    }
    add("missing", feature.missing_places);
    add("not finite", feature.not_finite_places);
    add("wrong shape", feature.wrong_shape_places);
    add("lengths", feature.lengths);
    add("steps", feature.steps);
    if (feature.floats.has_value()) add(*feature.floats);
    if (feature.int64s.has_value()) add(*feature.int64s);
    if (feature.strings.has_value()) add(*feature.strings);
    for (const survey::RawNumberSummary& raw : feature.raw_numbers) {
      out_ << "    part " << raw.part << '\n';
      add("not finite", raw.not_finite_places);
      add(raw.numbers);
    }
    if (feature.label.has_value()) add(*feature.label);
  }

  static std::string shown(const survey::Number& number) {
    std::ostringstream out;
    std::visit([&](auto value) { out << value; }, number);
    return out.str();
  }

  void add(const survey::NumberSummary& numbers) {
    out_ << "    numbers " << numbers.count << ' ' << numbers.finite << ' ' << shown(numbers.min) << ' '
         << shown(numbers.max) << ' ' << numbers.zeros << ' ' << numbers.negatives << ' ' << numbers.nan << ' '
         << numbers.positive_infinity << ' ' << numbers.negative_infinity << ' ' << numbers.is_integral << '\n';
    if (with_sketches_) {
      out_ << "    moments " << numbers.mean << ' ' << numbers.deviation << " rank error " << numbers.rank_error
           << '\n';
    }
    if (!numbers.values.is_exact && !with_sketches_) return;
    out_ << "    distinct " << numbers.values.distinct << ' ' << numbers.values.distinct_error;
    for (const double quantile : numbers.quantiles) out_ << ' ' << quantile;
    for (const std::uint64_t count : numbers.counts) out_ << ' ' << count;
    for (const auto& [value, count] : numbers.frequent) out_ << ' ' << shown(value) << 'x' << count;
    out_ << '\n';
  }

  void add(const survey::StringSummary& strings) {
    out_ << "    strings " << strings.count << ' ' << strings.empty << ' ' << strings.ascii << ' ' << strings.utf8
         << ' ' << strings.leading_space << ' ' << strings.trailing_space << ' ' << strings.control << ' '
         << strings.images.images << ' ' << strings.images.suffix_differs << '\n';
    add("lengths", strings.lengths);
    add("no image", strings.images.no_header);
    add("suffix", strings.images.suffix_places);
    for (const survey::ImageName& image : strings.images.sample) out_ << "    sampled " << name(image.record) << '\n';
    if (!strings.values.is_exact && !with_sketches_) return;
    out_ << "    distinct " << strings.values.distinct << ' ' << strings.values.distinct_error;
    for (const auto& [value, count] : strings.frequent) out_ << ' ' << value << 'x' << count;
    out_ << '\n';
  }

  void add(const survey::LabelSummary& label) {
    out_ << "    label of " << label.counts.size() << " classes, longest run " << label.longest_run << ", outside "
         << label.outside << ", sequence";
    for (const std::uint16_t one : label.sequence) out_ << ' ' << one;
    out_ << '\n';
    add("outside", label.outside_places);
  }

  bool with_sketches_;
  std::ostringstream out_;
};

inline std::string describe(const survey::Summary& summary, bool with_sketches = false) {
  return SurveyDescription(summary, with_sketches).text();
}

}  // namespace recordsmith::testing
