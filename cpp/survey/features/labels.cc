#include "survey/features/labels.h"

#include <algorithm>
#include <array>

#include "base/buffer_shuffle.h"

namespace recordsmith::survey {
namespace {

constexpr std::size_t kLongestText = 256;

}  // namespace

bool looks_like_label(std::string_view key) {
  const std::size_t slash = key.find_last_of("/.");
  std::string name(slash == std::string_view::npos ? key : key.substr(slash + 1));
  for (char& letter : name) {
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter + ('a' - 'A'));
  }
  constexpr std::array<std::string_view, 16> kNames = {
      "label",  "labels",   "class",    "classes",     "target",     "targets",     "y",          "category",
      "cat_id", "class_id", "label_id", "category_id", "class_name", "class_label", "label_name", "species"};
  if (std::find(kNames.begin(), kNames.end(), name) != kNames.end()) return true;
  constexpr std::array<std::string_view, 4> kEndings = {"_label", "_class", "_category", "_target"};
  return std::any_of(kEndings.begin(), kEndings.end(), [&](std::string_view ending) { return name.ends_with(ending); });
}

void LabelTally::Runs::add(std::uint16_t id) {
  if (records++ == 0) first = id;
  if (id == last) {
    ++last_run;
  } else {
    last = id;
    last_run = 1;
  }
  if (last_run == records) first_run = records;
  longest = std::max(longest, last_run);
}

void LabelTally::Runs::merge(const Runs& later) {
  if (later.records == 0) return;
  if (records == 0) {
    *this = later;
    return;
  }
  const bool continues = last == later.first;
  if (continues && first_run == records) first_run += later.first_run;
  if (continues) longest = std::max(longest, last_run + later.first_run);
  longest = std::max(longest, later.longest);
  last_run = later.last_run + (continues && later.first_run == later.records ? last_run : 0);
  last = later.last;
  records += later.records;
}

std::uint16_t LabelTally::new_id() {
  if (counts_.size() >= (is_declared_ ? kMostClasses : kMostGuessedClasses)) {
    has_given_up_ = true;
    return kNoClass;
  }
  counts_.push_back(0);
  return static_cast<std::uint16_t>(counts_.size() - 1);
}

std::uint16_t LabelTally::id_of(std::int64_t number) {
  const auto known = number_ids_.find(number);
  if (known != number_ids_.end()) return known->second;
  const std::uint16_t id = new_id();
  if (id == kNoClass) return id;
  number_ids_.emplace(number, id);
  numbers_.push_back(number);
  return id;
}

std::uint16_t LabelTally::id_of(std::string_view text) {
  std::string own(text);
  const auto known = text_ids_.find(own);
  if (known != text_ids_.end()) return known->second;
  const std::uint16_t id = new_id();
  if (id == kNoClass) return id;
  texts_.push_back(own);
  text_ids_.emplace(std::move(own), id);
  return id;
}

void LabelTally::append(std::uint16_t id) {
  if (id == kNoClass) return;
  ++counts_[id];
  runs_.add(id);
  if (sequence_.size() < kMostKept) sequence_.push_back(id);
}

void LabelTally::add(std::int64_t number, const RecordName& record) {
  has_numbers_ = true;
  has_given_up_ |= has_texts_;
  if (has_given_up_) return;
  if (declared_classes_ != kAnyNumber && (number < 0 || number >= declared_classes_)) {
    ++outside_;
    outside_places_.add(record, std::to_string(number));
  }
  append(id_of(number));
}

void LabelTally::add(std::string_view text) {
  has_texts_ = true;
  has_given_up_ |= has_numbers_ || text.size() > kLongestText;
  if (has_given_up_) return;
  append(id_of(text));
}

void LabelTally::merge(const LabelTally& later) {
  has_given_up_ |= later.has_given_up_;
  has_texts_ |= later.has_texts_;
  has_numbers_ |= later.has_numbers_;
  has_given_up_ |= has_texts_ && has_numbers_;
  if (has_given_up_) return;
  std::vector<std::uint16_t> here;  // the ids here of the ids there
  for (std::size_t i = 0; i < later.counts_.size(); ++i) {
    here.push_back(later.has_texts_ ? id_of(later.texts_[i]) : id_of(later.numbers_[i]));
    if (here.back() == kNoClass) return;
    counts_[here.back()] += later.counts_[i];
  }
  Runs renamed = later.runs_;
  if (renamed.records > 0) {
    renamed.first = here[renamed.first];
    renamed.last = here[renamed.last];
  }
  runs_.merge(renamed);
  const std::size_t room = kMostKept - std::min(kMostKept, sequence_.size());
  const std::size_t taken = std::min(room, later.sequence_.size());
  for (std::size_t i = 0; i < taken; ++i) sequence_.push_back(here[later.sequence_[i]]);
  outside_ += later.outside_;
  outside_places_.merge(later.outside_places_);
}

template <typename Archive>
void LabelTally::transfer(Archive& archive) {
  archive(has_given_up_, has_texts_, has_numbers_, runs_, outside_, outside_places_);
  archive.list(numbers_, kMostClasses);
  archive.list(texts_, kMostClasses);
  archive.list(counts_, kMostClasses);
  archive.list(sequence_, kMostKept);
  if constexpr (Archive::kReads) {
    for (std::size_t i = 0; i < numbers_.size(); ++i) number_ids_.emplace(numbers_[i], static_cast<std::uint16_t>(i));
    for (std::size_t i = 0; i < texts_.size(); ++i) text_ids_.emplace(texts_[i], static_cast<std::uint16_t>(i));
    // All classes are numbers, or all are texts. A tally that has given up is not looked into.
    const std::size_t classes = counts_.size();
    archive.require(numbers_.size() == number_ids_.size() && texts_.size() == text_ids_.size());
    archive.require(has_given_up_ || ((has_texts_ ? texts_.size() : numbers_.size()) == classes &&
                                      numbers_.size() + texts_.size() == classes));
    archive.require(runs_.records == 0 || (runs_.first < classes && runs_.last < classes));
    archive.require(std::all_of(sequence_.begin(), sequence_.end(), [&](std::uint16_t id) { return id < classes; }));
  }
}

template void LabelTally::transfer(Packer& archive);
template void LabelTally::transfer(Unpacker& archive);

LabelSummary LabelTally::summary() const {
  LabelSummary summary;
  summary.is_bytes = has_texts_;
  summary.numbers = numbers_;
  summary.texts = texts_;
  summary.counts = counts_;
  summary.sequence = sequence_;
  summary.longest_run = runs_.longest;
  summary.outside = outside_;
  summary.outside_places = outside_places_;
  return summary;
}

double mean_classes(std::span<const std::uint16_t> sequence, std::size_t window, std::uint64_t buffer,
                    std::uint64_t key) {
  std::vector<std::uint32_t> seen(65'536, 0);
  std::vector<std::int64_t> numbers(window);
  BufferShuffle shuffle(buffer > 0 ? sequence.size() : 0, buffer, key);
  std::uint32_t stamp = 0;
  std::uint64_t different = 0;
  for (std::size_t at = 0; at + window <= sequence.size(); at += window) {
    ++stamp;
    if (buffer > 0) shuffle.next(numbers.data(), window);
    for (std::size_t i = 0; i < window; ++i) {
      const std::uint16_t one = sequence[buffer > 0 ? static_cast<std::size_t>(numbers[i]) : at + i];
      different += seen[one] != stamp ? 1 : 0;
      seen[one] = stamp;
    }
  }
  return stamp > 0 ? static_cast<double>(different) / stamp : 0;
}

}  // namespace recordsmith::survey
