// The classes of records in file order: how many of each, how long the runs of equal ones are, and the sequence itself,
// which shows how a shuffle buffer would spread them.
//
// A label is one int64 or one byte string a record. The sequence takes two bytes per record, and ends after
// kMostKept records; counts and runs continue to the end.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "survey/facts/packing.h"
#include "survey/facts/places.h"
#include "survey/facts/summary.h"

namespace recordsmith::survey {

// Whether a feature's name is that of a class: "label", "image/class/label", "target", "y", ...
bool looks_like_label(std::string_view key);

// The mean number of different classes in windows of `window` consecutive records; with a buffer, after a shuffle
// through it.
double mean_classes(std::span<const std::uint16_t> sequence, std::size_t window, std::uint64_t buffer,
                    std::uint64_t key);

class LabelTally {
 public:
  static constexpr std::size_t kMostClasses = 65'535;
  static constexpr std::size_t kMostGuessedClasses = 4'096;  // of a feature that nobody declared to be a label
  static constexpr std::size_t kMostKept = std::size_t{16} << 20;
  static constexpr std::int64_t kAnyNumber = -1;

  // `classes`: the declared number of classes, or kAnyNumber.
  LabelTally(bool is_declared, std::int64_t classes) : is_declared_(is_declared), declared_classes_(classes) {}

  void add(std::int64_t number, const RecordName& record);
  void add(std::string_view text);
  // A record that has something else than one number or one text.
  void give_up() { has_given_up_ = true; }
  bool has_given_up() const { return has_given_up_; }

  void merge(const LabelTally& later);
  LabelSummary summary() const;
  template <typename Archive>
  void transfer(Archive& archive);

 private:
  static constexpr std::uint16_t kNoClass = 65'535;

  // Runs of equal classes, with what is needed to join stretches of records.
  struct Runs {
    std::uint64_t records = 0;
    std::uint16_t first = kNoClass;
    std::uint64_t first_run = 0;
    std::uint16_t last = kNoClass;
    std::uint64_t last_run = 0;
    std::uint64_t longest = 0;
    void add(std::uint16_t id);
    void merge(const Runs& later);
    template <typename Archive>
    void transfer(Archive& archive) {
      archive(records, first, first_run, last, last_run, longest);
    }
  };

  std::uint16_t id_of(std::int64_t number);
  std::uint16_t id_of(std::string_view text);
  std::uint16_t new_id();
  void append(std::uint16_t id);

  bool is_declared_;
  std::int64_t declared_classes_;
  bool has_given_up_ = false;
  bool has_texts_ = false;
  bool has_numbers_ = false;
  std::unordered_map<std::int64_t, std::uint16_t> number_ids_;
  std::unordered_map<std::string, std::uint16_t> text_ids_;
  std::vector<std::int64_t> numbers_;  // by id
  std::vector<std::string> texts_;     // by id
  std::vector<std::uint64_t> counts_;
  std::vector<std::uint16_t> sequence_;
  Runs runs_;
  std::uint64_t outside_ = 0;
  Places outside_places_;
};

}  // namespace recordsmith::survey
