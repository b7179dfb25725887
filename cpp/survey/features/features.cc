#include "survey/features/features.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>

#include "base/utf8.h"

namespace recordsmith::survey {
namespace {

bool is_file_name_key(std::string_view key) {
  const std::size_t slash = key.rfind('/');
  const std::string_view name = slash == std::string_view::npos ? key : key.substr(slash + 1);
  constexpr std::array<std::string_view, 8> kNames = {"filename", "file_name", "path",       "file",
                                                      "filepath", "file_path", "image_path", "image_name"};
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

std::string_view folder_of(std::string_view key) {
  const std::size_t slash = key.rfind('/');
  return slash == std::string_view::npos ? std::string_view{} : key.substr(0, slash);
}

// Features that only say where a record comes from.
bool is_provenance_key(std::string_view key) {
  const std::size_t slash = key.rfind('/');
  const std::string_view name = slash == std::string_view::npos ? key : key.substr(slash + 1);
  constexpr std::array<std::string_view, 10> kNames = {"source",   "source_id", "source_url", "url", "uri",
                                                       "image_id", "file_id",   "id",         "key", "__key__"};
  return is_file_name_key(key) || std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

const Expectation* expectation_of(const Expectations& expected, std::string_view key, bool in_steps) {
  const auto known = expected.find({std::string(key), in_steps});
  return known == expected.end() ? nullptr : &known->second;
}

constexpr std::uint64_t kEnoughToCompare = 256;  // bytes

std::uint32_t small(std::size_t number) {
  return static_cast<std::uint32_t>(std::min<std::size_t>(number, 0xffffffffU));
}

}  // namespace

// --- one feature ---

FeatureTally::FeatureTally(std::string_view key, bool in_steps, MemoryBudget budget, const Expected* expected)
    : key_(key),
      in_steps_(in_steps),
      budget_(budget),
      is_file_name_(is_file_name_key(key)),
      expected_(expectation_of(expected->features, key, in_steps)) {
  const std::vector<std::string>& provenance = expected->provenance;
  is_provenance_ = !in_steps && is_provenance_key(key);
  is_declared_provenance_ = !in_steps && std::find(provenance.begin(), provenance.end(), key) != provenance.end();
  if (expected_ != nullptr && !expected_->raw_numbers.empty()) {
    raw_numbers_ = std::make_unique<RawNumberTally>(*expected_, budget);
  }
  const bool is_declared = expected_ != nullptr && expected_->is_label();
  is_label_ = !in_steps && (is_declared || looks_like_label(key));
  if (is_label_) {
    labels_ = std::make_unique<LabelTally>(is_declared, is_declared ? expected_->classes : LabelTally::kAnyNumber);
  }
}

std::optional<ImageFormat> FeatureTally::add(const RecordContent& content, const FeatureItem& item,
                                             const RecordName& record, std::uint32_t file) {
  const FeatureValues& values = item.values;
  stored_bytes_ += item.stored_bytes;
  if (values.kind == Kind::kNone) {
    ++unset_;
    return std::nullopt;
  }
  ++records_;
  empty_ += values.count == 0 ? 1 : 0;
  const auto kind = static_cast<std::size_t>(values.kind);
  if (kinds_[kind]++ < kMostPlaces) kind_places_[kind].add(record);
  if (expected_ != nullptr && !fits(content, values)) {
    ++wrong_shape_;
    wrong_shape_places_.add(record, std::to_string(values.count));
  }
  if (labels_ != nullptr) add_label(content, values, record);
  return add_values(content, values, record, 0, file);
}

void FeatureTally::add_steps(const RecordContent& content, const ListItem& item, const RecordName& record,
                             std::uint32_t file) {
  stored_bytes_ += item.stored_bytes;
  ++records_;
  steps_.add(item.steps);
  std::array<bool, 4> kinds{};
  std::uint64_t values_in_all = 0;
  bool is_wrong = false;
  for (std::size_t i = 0; i < item.steps; ++i) {
    const FeatureValues& values = content.steps[item.first_step + i];
    kinds[static_cast<std::size_t>(values.kind)] = true;
    values_in_all += values.count;
    if (values.kind == Kind::kNone) continue;
    is_wrong |= expected_ != nullptr && !fits(content, values);
    add_values(content, values, record, small(i), file);
  }
  empty_ += values_in_all == 0 ? 1 : 0;
  unset_ += kinds[0] ? 1 : 0;
  for (std::size_t kind = 1; kind < kinds.size(); ++kind) {
    if (kinds[kind] && kinds_[kind]++ < kMostPlaces) kind_places_[kind].add(record);
  }
  if (is_wrong) {
    ++wrong_shape_;
    wrong_shape_places_.add(record);
  }
}

bool FeatureTally::fits(const RecordContent& content, const FeatureValues& values) const {
  if (values.kind != expected_->kind) return true;  // reported as a wrong kind
  if (expected_->count >= 0 && values.count != static_cast<std::uint64_t>(expected_->count)) return false;
  if (values.kind != Kind::kBytes || expected_->row_bytes < 0) return true;
  for (std::size_t i = 0; i < values.count; ++i) {
    if (content.strings[values.start + i].size != static_cast<std::size_t>(expected_->row_bytes)) return false;
  }
  return true;
}

void FeatureTally::add_label(const RecordContent& content, const FeatureValues& values, const RecordName& record) {
  if (labels_->has_given_up()) return;
  const ByteValue* const bytes =
      values.count == 1 && values.kind == Kind::kBytes ? &content.strings[values.start] : nullptr;
  const bool is_raw = bytes != nullptr && raw_numbers_ != nullptr;
  const std::optional<std::int64_t> raw = is_raw ? raw_numbers_->single_integer(*bytes) : std::nullopt;
  if (raw.has_value()) {
    labels_->add(*raw, record);
  } else if (values.count != 1 || values.kind == Kind::kFloat || is_raw) {
    // A declared label continues with the records that are as declared; the others are reported as mismatches.
    if (expected_ == nullptr || !expected_->is_label()) labels_->give_up();
  } else if (values.kind == Kind::kInt64) {
    labels_->add(content.int64s[values.start], record);
  } else if (expected_ == nullptr || !expected_->is_label()) {
    labels_->add(std::string_view(reinterpret_cast<const char*>(bytes->data), bytes->size));
  }
}

std::optional<ImageFormat> FeatureTally::add_values(const RecordContent& content, const FeatureValues& values,
                                                    const RecordName& record, std::uint32_t step, std::uint32_t file) {
  lengths_.add(values.count);
  const auto count = static_cast<std::size_t>(values.count);
  std::optional<ImageFormat> first;
  switch (values.kind) {
    case Kind::kNone:
      break;
    case Kind::kFloat:
      if (floats_ == nullptr) floats_ = std::make_unique<NumberTally<float>>(budget_);
      floats_->add(content.floats_of(values), count, record, &not_finite_places_);
      break;
    case Kind::kInt64:
      if (int64s_ == nullptr) int64s_ = std::make_unique<NumberTally<std::int64_t>>(budget_);
      int64s_->add(content.int64s.data() + values.start, count, record, &not_finite_places_);
      break;
    case Kind::kBytes:
      if (strings_ == nullptr) strings_ = std::make_unique<StringTally>(budget_);
      for (std::size_t i = 0; i < count; ++i) {
        const ByteValue& value = content.strings[values.start + i];
        if (raw_numbers_ != nullptr && raw_numbers_->add(value, record)) {
          strings_->add_numbers(value.size);
          continue;
        }
        const std::optional<ImageFormat> format = strings_->add(value.data, value.size, {record, step, small(i)}, file);
        if (i == 0) first = format;
      }
      break;
  }
  return first;
}

namespace {

template <typename Tally>
void merge_tally(std::unique_ptr<Tally>* here, std::unique_ptr<Tally>* later) {
  if (*later == nullptr) return;
  if (*here == nullptr) {
    *here = std::move(*later);
  } else {
    (*here)->merge(std::move(**later));
  }
}

}  // namespace

void FeatureTally::merge(FeatureTally&& later, bool with_labels) {
  records_ += later.records_;
  unset_ += later.unset_;
  empty_ += later.empty_;
  for (std::size_t kind = 0; kind < kinds_.size(); ++kind) {
    kinds_[kind] += later.kinds_[kind];
    kind_places_[kind].merge(later.kind_places_[kind]);
  }
  missing_places_.merge(later.missing_places_);
  not_finite_places_.merge(later.not_finite_places_);
  lengths_.merge(later.lengths_);
  steps_.merge(later.steps_);
  stored_bytes_ += later.stored_bytes_;
  wrong_shape_ += later.wrong_shape_;
  wrong_shape_places_.merge(later.wrong_shape_places_);
  merge_tally(&floats_, &later.floats_);
  merge_tally(&int64s_, &later.int64s_);
  merge_tally(&strings_, &later.strings_);
  merge_tally(&raw_numbers_, &later.raw_numbers_);
  if (with_labels) {
    merge_tally(&labels_, &later.labels_);
  } else {
    labels_.reset();
  }
}

void FeatureTally::put_missing_first(const Places& records) {
  Places all = records;
  all.merge(missing_places_);
  missing_places_ = std::move(all);
}

void FeatureTally::finish() {
  if (floats_ != nullptr) floats_->finish();
  if (int64s_ != nullptr) int64s_->finish();
  if (strings_ != nullptr) strings_->finish();
  if (raw_numbers_ != nullptr) raw_numbers_->finish();
}

template <typename Archive>
void FeatureTally::transfer(Archive& archive) {
  archive(records_, unset_, empty_, kinds_, kind_places_, missing_places_, not_finite_places_, lengths_, steps_,
          stored_bytes_, wrong_shape_, wrong_shape_places_);
  archive.optional(floats_, [&] { return std::make_unique<NumberTally<float>>(budget_); });
  archive.optional(int64s_, [&] { return std::make_unique<NumberTally<std::int64_t>>(budget_); });
  archive.optional(strings_, [&] { return std::make_unique<StringTally>(budget_); });
  // The name of a feature and the schema say whether there are these.
  if (raw_numbers_ != nullptr) archive(*raw_numbers_);
  if (labels_ != nullptr) archive(*labels_);
}

FeatureSummary FeatureTally::summary() const {
  FeatureSummary summary;
  summary.key = key_;
  summary.in_steps = in_steps_;
  summary.records = records_;
  summary.unset = unset_;
  summary.empty = empty_;
  summary.kinds = kinds_;
  summary.kind_places = kind_places_;
  summary.missing_places = missing_places_;
  summary.not_finite_places = not_finite_places_;
  summary.lengths = lengths_;
  summary.steps = steps_;
  summary.stored_bytes = stored_bytes_;
  summary.wrong_shape = wrong_shape_;
  summary.wrong_shape_places = wrong_shape_places_;
  if (floats_ != nullptr) summary.floats = floats_->summary();
  if (int64s_ != nullptr) summary.int64s = int64s_->summary();
  if (strings_ != nullptr) summary.strings = strings_->summary();
  if (raw_numbers_ != nullptr) summary.raw_numbers = raw_numbers_->summary();
  if (labels_ != nullptr && !labels_->has_given_up()) summary.label = labels_->summary();
  return summary;
}

// --- all features ---

FeatureTally* FeatureSet::keep(std::string_view key, bool in_steps) {
  if (features_.size() >= kMostFeatures) {
    left_out_.add(XXH3_64bits(key.data(), key.size()));
    return nullptr;
  }
  const MemoryBudget budget = features_.size() < kFewFeatures    ? MemoryBudget::kAmple
                              : features_.size() < kManyFeatures ? MemoryBudget::kUsual
                                                                 : MemoryBudget::kScarce;
  features_.emplace_back(key, in_steps, budget, expected_);
  FeatureTally* const feature = &features_.back();
  by_key_[in_steps ? 1 : 0].emplace(feature->key(), feature);
  without_places_.push_back(feature);
  return feature;
}

FeatureTally* FeatureSet::find(std::string_view key, bool in_steps, std::size_t place, bool* is_sound) {
  std::vector<FeatureTally*>& guesses = guesses_[in_steps ? 1 : 0];
  if (place < guesses.size() && guesses[place] != nullptr) {
    const std::string& guess = guesses[place]->key();
    if (guess.data() == key.data() || guess == key) return guesses[place];
  }
  const auto& known = by_key_[in_steps ? 1 : 0];
  const auto position = known.find(key);
  FeatureTally* found = nullptr;
  if (position != known.end()) {
    found = position->second;
  } else if (!is_utf8(reinterpret_cast<const std::uint8_t*>(key.data()), key.size())) {
    *is_sound = false;
    return nullptr;
  } else {
    found = keep(key, in_steps);
    if (found != nullptr) found->put_missing_first(first_examples_);
  }
  if (place >= guesses.size()) guesses.resize(std::min<std::size_t>(place + 1, kMostFeatures), nullptr);
  if (place >= guesses.size()) return found;
  guesses[place] = found;
  if (!in_steps) {
    likely_keys_.resize(guesses.size());
    likely_keys_[place] = found != nullptr ? std::string_view(found->key()) : std::string_view();
  }
  return found;
}

bool FeatureSet::find_all(const RecordContent& content) {
  found_.clear();
  ++stamp_;
  bool is_sound = true;
  const auto add = [&](std::string_view key, bool in_steps, std::size_t place) {
    FeatureTally* const feature = find(key, in_steps, place, &is_sound);
    if (feature != nullptr && feature->stamp == stamp_) is_sound = false;  // twice
    if (feature != nullptr) feature->stamp = stamp_;
    found_.push_back(feature);
    return is_sound;
  };
  for (std::size_t i = 0; i < content.features.size(); ++i) {
    if (!add(content.features[i].key, false, i)) return false;
  }
  for (std::size_t i = 0; i < content.lists.size(); ++i) {
    if (!add(content.lists[i].key, true, i)) return false;
  }
  return true;
}

PayloadKind FeatureSet::add(const std::uint8_t* payload, std::size_t size, const RecordName& record, std::uint32_t file,
                            Digests* digests) {
  digests->payload = digests->content = XXH3_64bits(payload, size);
  if (read_plain_record(payload, size, likely_keys_, &content_) && find_all(content_)) {
    take(content_, record, file);
    add_digests(payload, size, digests);
    return content_.lists.empty() ? PayloadKind::kExample : PayloadKind::kSequenceExample;
  }
  const PayloadKind kind = read_any_record(payload, size, &content_, &oddities_);
  for (FoundOddity& found : oddities_) {
    std::pair<Oddity, std::string> name(found.oddity, std::move(found.feature));
    if (odd_.size() >= kMostOddities && !odd_.contains(name)) name.second.clear();
    OddityTally& tally = odd_[std::move(name)];
    ++tally.count;
    tally.places.add(record, std::move(found.detail));
  }
  if (kind == PayloadKind::kExample || kind == PayloadKind::kSequenceExample || kind == PayloadKind::kEmpty) {
    find_all(content_);  // each name occurs once now
    take(content_, record, file);
  }
  return kind;
}

namespace {

// Why a feature is not a part of a digest.
constexpr std::uint8_t kIsContent = 0;
constexpr std::uint8_t kIsLabel = 1;
constexpr std::uint8_t kIsProvenance = 2;

}  // namespace

void FeatureSet::add_digests(const std::uint8_t* payload, std::size_t size, Digests* digests) {
  std::uint64_t without_provenance = size;
  std::uint64_t without_labels = size;  // and without provenance
  std::size_t labels = 0;
  std::size_t left = content_.features.size() + content_.lists.size();
  bool has_provenance = false;
  bool is_declared = false;
  kept_out_.clear();
  for (std::size_t i = 0; i < content_.features.size(); ++i) {
    const FeatureTally* const feature = found_[i];
    const bool is_label = feature != nullptr && feature->is_label();
    const bool is_provenance = feature != nullptr && feature->is_provenance();
    const std::uint64_t stored = content_.features[i].stored_bytes;
    kept_out_.push_back(is_provenance ? kIsProvenance : is_label ? kIsLabel : kIsContent);
    has_provenance |= is_provenance;
    without_provenance -= is_provenance ? stored : 0;
    without_labels -= is_provenance || is_label ? stored : 0;
    labels += is_label ? 1 : 0;
    is_declared |= is_label && feature->is_declared_label();
  }
  // Rows of a small table may be equal except for their number, and yet not be copies of each other: unless the
  // features to leave out are declared, enough must be left to compare.
  if (has_provenance && without_provenance < kEnoughToCompare) {
    has_provenance = false;
    for (std::size_t i = 0; i < kept_out_.size(); ++i) {
      if (kept_out_[i] != kIsProvenance) continue;
      if (found_[i]->is_declared_provenance()) {
        has_provenance = true;
      } else {
        kept_out_[i] = found_[i]->is_label() ? kIsLabel : kIsContent;
      }
    }
  }
  for (const std::uint8_t reason : kept_out_) left -= reason != kIsContent ? 1 : 0;
  const Span whole{payload, payload + size};
  if (has_provenance) digests->content = digest_without(kIsLabel, whole);
  // Rows of a small table may be equal by chance: there, only a declared label counts.
  digests->has_label = labels > 0 && left > 0 && (is_declared || without_labels >= kEnoughToCompare);
  if (digests->has_label) digests->unlabelled = digest_without(kIsContent, whole);
}

// The digest of the features that are kept out for no more than this reason. The place of the others does not matter.
std::uint64_t FeatureSet::digest_without(std::uint8_t most_kept, Span payload) {
  constexpr std::size_t kMuch = std::size_t{1} << 14;  // that is not copied
  XXH3_state_t state;
  const bool is_copied = payload.size() <= kMuch;
  if (!is_copied) XXH3_64bits_reset(&state);
  kept_.clear();
  const auto keep = [&](const std::uint8_t* begin, const std::uint8_t* end) {
    if (is_copied) {
      kept_.insert(kept_.end(), begin, end);
    } else {
      XXH3_64bits_update(&state, begin, static_cast<std::size_t>(end - begin));
    }
  };
  const std::uint8_t* from = content_.entries;  // what is kept and not yet digested
  const std::uint8_t* entry = from;
  for (std::size_t i = 0; i < content_.features.size(); ++i) {
    const std::uint8_t* const end = entry + content_.features[i].stored_bytes;
    if (kept_out_[i] > most_kept) {
      keep(from, entry);
      from = end;
    }
    entry = end;
  }
  keep(from, payload.end);
  return is_copied ? XXH3_64bits(kept_.data(), kept_.size()) : XXH3_64bits_digest(&state);
}

void FeatureSet::take(const RecordContent& content, const RecordName& record, std::uint32_t file) {
  images_.clear();
  bool has_file_name = false;
  for (std::size_t i = 0; i < content.features.size(); ++i) {
    FeatureTally* const feature = found_[i];
    if (feature == nullptr) continue;
    const std::optional<ImageFormat> format = feature->add(content, content.features[i], record, file);
    if (format.has_value()) images_.push_back({feature, *format});
    has_file_name |= feature->is_file_name();
  }
  for (std::size_t i = 0; i < content.lists.size(); ++i) {
    FeatureTally* const feature = found_[content.features.size() + i];
    if (feature != nullptr) feature->add_steps(content, content.lists[i], record, file);
  }
  if (has_file_name && !images_.empty()) compare_suffixes(content, record);
  if (found_.size() < features_.size()) note_missing(record);
  ++examples_;
  first_examples_.add(record);
}

void FeatureSet::note_missing(const RecordName& record) {
  std::erase_if(without_places_, [&](FeatureTally* feature) {
    if (feature->stamp != stamp_) feature->add_missing(record);
    return feature->knows_enough_missing();
  });
}

void FeatureSet::compare_suffixes(const RecordContent& content, const RecordName& record) {
  for (std::size_t i = 0; i < content.features.size(); ++i) {
    const FeatureValues& values = content.features[i].values;
    if (found_[i] == nullptr || !found_[i]->is_file_name() || values.kind != Kind::kBytes || values.count != 1)
      continue;
    const ByteValue& name = content.strings[values.start];
    const std::optional<ImageFormat> said = format_of_suffix(name.data, name.size);
    if (!said.has_value()) continue;
    for (const Image& image : images_) {
      const bool belongs = images_.size() == 1 || folder_of(image.feature->key()) == folder_of(found_[i]->key());
      if (!belongs || image.format == *said) continue;
      constexpr std::size_t kShown = 100;
      std::string shown(reinterpret_cast<const char*>(name.data), std::min(name.size, kShown));
      image.feature->add_wrong_suffix(record, shown + " holds " + image_format_name(image.format));
    }
  }
}

void FeatureSet::finish() {
  for (FeatureTally& feature : features_) feature.finish();
}

void FeatureSet::merge(FeatureSet&& later, bool with_labels) {
  ++stamp_;
  for (FeatureTally& theirs : later.features_) {
    const auto known = by_key_[theirs.in_steps() ? 1 : 0].find(theirs.key());
    FeatureTally* own = known == by_key_[theirs.in_steps() ? 1 : 0].end() ? nullptr : known->second;
    if (own == nullptr) {
      own = keep(theirs.key(), theirs.in_steps());
      if (own == nullptr) continue;
      own->merge_missing(first_examples_);
    }
    own->stamp = stamp_;
    own->merge(std::move(theirs), with_labels);
  }
  for (FeatureTally& own : features_) {
    if (own.stamp != stamp_) own.merge_missing(later.first_examples_);
  }
  examples_ += later.examples_;
  first_examples_.merge(later.first_examples_);
  left_out_.merge(later.left_out_);
  for (auto& [name, tally] : later.odd_) {
    OddityTally& own = odd_[name];
    own.count += tally.count;
    own.places.merge(tally.places);
  }
}

template <typename Archive>
void FeatureSet::transfer(Archive& archive) {
  const std::size_t features = archive.count(features_.size(), kMostFeatures);
  for (std::size_t i = 0; i < features && !archive.has_failed(); ++i) {
    std::string key = Archive::kReads ? std::string() : features_[i].key();
    bool in_steps = !Archive::kReads && features_[i].in_steps();
    archive(key, in_steps);
    if constexpr (Archive::kReads) {
      const bool is_new = !by_key_[in_steps ? 1 : 0].contains(key);
      if (!archive.require(is_new && is_utf8(reinterpret_cast<const std::uint8_t*>(key.data()), key.size()))) return;
      keep(key, in_steps);
    }
    archive(features_[i]);
  }
  archive(examples_, first_examples_);
  archive(left_out_);
  archive.map(odd_, kMostOddities + kOddities);
  if constexpr (Archive::kReads) {
    for (const auto& [name, tally] : odd_) archive.require(static_cast<std::size_t>(name.first) < kOddities);
  }
}

template void FeatureSet::transfer(Packer& archive);
template void FeatureSet::transfer(Unpacker& archive);

SplitSummary FeatureSet::summary() const {
  SplitSummary summary;
  summary.examples = examples_;
  for (const FeatureTally& feature : features_) summary.features.push_back(feature.summary());
  for (const auto& [name, tally] : odd_) {
    summary.anomalies.push_back({oddity_name(name.first), name.second, tally.count, tally.places});
  }
  summary.features_left_out = left_out_.estimate();
  for (const FeatureTally& feature : features_) {
    if (feature.is_provenance()) summary.provenance.push_back(feature.key());
  }
  return summary;
}

}  // namespace recordsmith::survey
