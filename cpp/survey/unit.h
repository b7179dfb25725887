// One unit of a survey: a stretch of a file, with its own tallies.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "files/byte_source.h"
#include "survey/features/features.h"
#include "survey/records/duplicates.h"
#include "survey/survey.h"

namespace recordsmith::survey {

// A stretch of a file: the records that begin at or after `nominal_begin` and before `limit`.
struct Unit {
  std::uint32_t number = 0;  // in the order of the files: also what random numbers depend on
  std::uint32_t file = 0;
  std::uint64_t nominal_begin = 0;
  std::uint64_t limit = kUnknown;
  bool is_first = true;
  InputFile input = {};  // the version of the file that all of its units are of

  template <typename Archive>
  void transfer(Archive& archive) {
    archive(number, file, nominal_begin, limit, is_first, input.path);
    Compression compression = input.compression.value_or(Compression::kNone);
    archive.choice(compression, Compression::kZlib);
    input.compression = compression;
    bool is_known = input.known.has_value();
    archive(is_known);
    if (is_known && !input.known.has_value()) input.known.emplace();
    if (is_known) archive(input.known->identity);
  }
};

struct UnitResult {
  explicit UnitResult(const Expected* expected) : features(expected) {}

  std::uint64_t begin = kUnknown;  // of the first record; kUnknown: none was found
  std::uint64_t end = kUnknown;    // where the first record after it begins, or the file ends
  std::uint64_t numbered = 0;      // record numbers given, to damaged records too
  FileSummary facts;
  FeatureSet features;
  std::vector<RecordDigest> digests;
  std::vector<RecordDigest> unlabelled;  // their content is the digest without labels, their payload that with them
  Status failure;                        // of the survey itself, not of the file

  // `most_payload`: more bytes than the records of the unit can have.
  template <typename Archive>
  void transfer(Archive& archive, std::uint64_t most_payload = kUnknown) {
    archive(begin, end, numbered, facts);
    archive.require(facts.payload_bytes <= most_payload);
    archive.most_values = facts.payload_bytes;
    archive(features);
    for (std::vector<RecordDigest>* list : {&digests, &unlabelled}) {
      archive.list(*list, static_cast<std::size_t>(facts.records));
      for (const RecordDigest& digest : *list) archive.require(digest.unit == archive.unit());
    }
  }
};

// What threads share.
struct Shared {
  const Expected* expected = nullptr;
  SurveyOptions options;
  const Progress* progress = nullptr;
  std::atomic<std::uint64_t> bytes_done{0};
  std::atomic<bool> is_stopped{false};
  std::mutex storing;              // of digests
  DigestStore* digests = nullptr;  // null: they stay in the result
  DigestStore* unlabelled = nullptr;
};

// Reports the progress of the survey, on the calling thread only.
class Reporter {
 public:
  Reporter(Shared* shared, bool is_caller) : shared_(shared), is_caller_(is_caller) {}

  void report() {
    if (!is_caller_ || !*shared_->progress) return;
    const auto now = std::chrono::steady_clock::now();
    if (now - last_ < std::chrono::milliseconds(100)) return;
    last_ = now;
    if (!(*shared_->progress)(shared_->bytes_done.load())) shared_->is_stopped = true;
  }

 private:
  Shared* shared_;
  bool is_caller_;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

// Surveys the records of a unit: from its known begin, or from where the first record seems to begin. If the begin is
// known, a file that cannot be opened is a damage; if not, nothing is found, and merging surveys the unit again.
void survey_unit(Shared* shared, Reporter* reporter, const Unit& unit, std::optional<std::uint64_t> begin,
                 UnitResult* result);

}  // namespace recordsmith::survey
