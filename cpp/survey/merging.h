// Plans the units of a survey, merges their results in order, and sums up.
//
// This is the same whoever surveys the units: the threads of survey.cc, or other machines (divided_survey.h).
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "survey/record_naming.h"
#include "survey/survey.h"
#include "survey/unit.h"

namespace recordsmith::survey {

class SurveyMerging {
 public:
  SurveyMerging(const std::vector<SurveyFile>& files, const Expected& expected, const SurveyOptions& options,
                const Progress& progress);

  // Opens all files and cuts them into units. A failure is not of the data.
  Status plan();
  const std::vector<Unit>& units() const { return units_; }
  // The size of the file that a unit is of, as it was planned.
  std::uint64_t file_size(const Unit& unit) const { return states_[unit.file].size; }
  // What threads share.
  Shared* shared() { return &shared_; }

  void look_at(std::size_t index, std::optional<std::uint64_t> begin, Reporter* reporter, UnitResult* result);
  // Of one unit after the other. One that began elsewhere than the one before ended is surveyed again.
  Status merge(std::size_t index, std::unique_ptr<UnitResult> result, Reporter* reporter);
  // After all units.
  Status sum_up(Summary* summary);

 private:
  // The state of merging one file.
  struct FileState {
    Compression compression = Compression::kNone;
    Status failure;  // to open it
    std::uint64_t size = 0;
    std::uint64_t next_offset = 0;
    std::uint64_t numbered = 0;
    FileSummary facts;
  };

  const std::vector<SurveyFile> files_;
  Shared shared_;
  DigestStore store_;
  DigestStore unlabelled_;
  std::vector<FileState> states_;
  std::vector<Unit> units_;
  std::vector<UnitBegin> begins_;
  std::deque<FeatureSet> sets_;  // by split
};

}  // namespace recordsmith::survey
