// What the records of one split (or of one stretch of a file) contain, feature by feature.
//
// Most records look like the one before, so the feature at a place in the record is guessed to be the one that was
// there last time; where that is wrong, its name is looked up. The first kMostFeatures names are kept; what comes
// beyond is only counted, so that a file of random names takes no more memory than one of ten thousand.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "survey/facts/expectations.h"
#include "survey/facts/places.h"
#include "survey/facts/summary.h"
#include "survey/features/labels.h"
#include "survey/features/numbers.h"
#include "survey/features/raw_numbers.h"
#include "survey/features/strings.h"
#include "survey/records/record_content.h"

namespace recordsmith::survey {

// One feature. What it allocates depends on the kinds that it has.
class FeatureTally {
 public:
  FeatureTally(std::string_view key, bool in_steps, MemoryBudget budget, const Expected* expected);

  const std::string& key() const { return key_; }
  bool in_steps() const { return in_steps_; }
  bool is_file_name() const { return is_file_name_; }
  bool is_provenance() const { return is_provenance_ || is_declared_provenance_; }
  bool is_declared_provenance() const { return is_declared_provenance_; }
  bool is_label() const { return is_label_; }
  bool is_declared_label() const { return is_label_ && expected_ != nullptr && expected_->is_label(); }

  // Returns the format of the first value if that is an image.
  std::optional<ImageFormat> add(const RecordContent& content, const FeatureItem& item, const RecordName& record,
                                 std::uint32_t file);
  void add_steps(const RecordContent& content, const ListItem& item, const RecordName& record, std::uint32_t file);
  void add_missing(const RecordName& record) { missing_places_.add(record); }
  bool knows_enough_missing() const { return missing_places_.is_full(); }
  void add_wrong_suffix(const RecordName& record, std::string detail) {
    strings_->images().add_wrong_suffix(record, std::move(detail));
  }
  // The same feature in a later unit, or null where that has none; the first records of both are those that lack it
  // where one of them does not know it.
  void merge(FeatureTally&& later, bool with_labels);
  void merge_missing(const Places& records) { missing_places_.merge(records); }
  void put_missing_first(const Places& records);
  void finish();
  FeatureSummary summary() const;
  // Only after finish().
  template <typename Archive>
  void transfer(Archive& archive);

  std::uint64_t stamp = 0;  // of the last record that had it

 private:
  // Returns the format of the first value if that is an image.
  std::optional<ImageFormat> add_values(const RecordContent& content, const FeatureValues& values,
                                        const RecordName& record, std::uint32_t step, std::uint32_t file);
  void add_label(const RecordContent& content, const FeatureValues& values, const RecordName& record);
  bool fits(const RecordContent& content, const FeatureValues& values) const;

  std::string key_;
  bool in_steps_;
  MemoryBudget budget_;
  bool is_file_name_;
  bool is_provenance_;  // by its name
  bool is_declared_provenance_;
  bool is_label_;  // declared, or by its name
  const Expectation* expected_;
  std::uint64_t records_ = 0;
  std::uint64_t unset_ = 0;
  std::uint64_t empty_ = 0;
  std::array<std::uint64_t, 4> kinds_{};
  std::array<Places, 4> kind_places_;
  Places missing_places_;
  Places not_finite_places_;
  SizeTally lengths_;
  SizeTally steps_;
  std::uint64_t stored_bytes_ = 0;
  std::uint64_t wrong_shape_ = 0;
  Places wrong_shape_places_;
  std::unique_ptr<NumberTally<float>> floats_;
  std::unique_ptr<NumberTally<std::int64_t>> int64s_;
  std::unique_ptr<StringTally> strings_;
  std::unique_ptr<RawNumberTally> raw_numbers_;  // where the schema declares some
  std::unique_ptr<LabelTally> labels_;
};

struct Digests {
  std::uint64_t payload = 0;
  std::uint64_t content = 0;     // without what says where the record comes from
  std::uint64_t unlabelled = 0;  // without the labels too
  bool has_label = false;        // and something besides, to which it can be held
};

class FeatureSet {
 public:
  static constexpr std::size_t kMostFeatures = 10'000;
  static constexpr std::size_t kManyFeatures = 1'000;  // those beyond have smaller sketches
  static constexpr std::size_t kFewFeatures = 16;      // those beyond do not count ranges

  explicit FeatureSet(const Expected* expected) : expected_(expected) {}

  // One record's payload, whatever it is; says what it is.
  PayloadKind add(const std::uint8_t* payload, std::size_t size, const RecordName& record, std::uint32_t file,
                  Digests* digests);
  void finish();
  void merge(FeatureSet&& later, bool with_labels = true);
  SplitSummary summary() const;
  // Only after finish().
  template <typename Archive>
  void transfer(Archive& archive);

 private:
  static constexpr std::size_t kMostOddities = 10'000;
  static constexpr unsigned kLeftOutBits = 12;

  struct OddityTally {
    std::uint64_t count = 0;
    Places places;

    template <typename Archive>
    void transfer(Archive& archive) {
      archive(count, places);
    }
  };

  // The features of a record in order, null where one is not kept; false if a name is twice there, or no text.
  bool find_all(const RecordContent& content);
  FeatureTally* find(std::string_view key, bool in_steps, std::size_t place, bool* is_sound);
  void take(const RecordContent& content, const RecordName& record, std::uint32_t file);
  void note_missing(const RecordName& record);
  void add_digests(const std::uint8_t* payload, std::size_t size, Digests* digests);
  std::uint64_t digest_without(std::uint8_t most_kept, Span payload);
  void compare_suffixes(const RecordContent& content, const RecordName& record);
  FeatureTally* keep(std::string_view key, bool in_steps);

  const Expected* expected_;
  std::deque<FeatureTally> features_;  // in the order of their first appearance
  std::array<std::unordered_map<std::string_view, FeatureTally*>, 2> by_key_;
  std::array<std::vector<FeatureTally*>, 2> guesses_;  // what was at each place lately
  std::vector<FeatureTally*> without_places_;          // those for which more records without them would be listed
  std::vector<FeatureTally*> found_;                   // of the current record
  std::vector<std::string_view> likely_keys_;          // their keys, of those that are not in steps
  std::vector<std::uint8_t> kept_out_;                 // of the current record, for its digests
  std::vector<std::uint8_t> kept_;                     // bytes, in digest_without
  struct Image {
    FeatureTally* feature;
    ImageFormat format;
  };
  std::vector<Image> images_;  // of the current record
  std::uint64_t stamp_ = 0;
  std::uint64_t examples_ = 0;
  Places first_examples_;
  DistinctSketch left_out_{kLeftOutBits};
  RecordContent content_;
  std::vector<FoundOddity> oddities_;
  std::map<std::pair<Oddity, std::string>, OddityTally> odd_;
};

}  // namespace recordsmith::survey
