// A survey whose units are surveyed by other processes, on this machine or on others. The result is that of
// survey_files.
//
//   this process                          another one
//   plan the units ──── Unit ───────────► survey_packed_unit
//   merge in order ◄─── packed tallies ── (some 50 bytes per record for finding duplicates, and the sketches)
//   sum up
//
// Both must see the files under the same paths. A unit whose file cannot be opened there, is another version there, or
// of which the begin was guessed wrongly, is surveyed here. What other processes send is not trusted (facts/packing.h).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "survey/survey.h"

namespace recordsmith::survey {

struct PlannedUnit {
  std::uint64_t size = 0;  // of the stretch of the file
  std::string packed;      // what survey_packed_unit takes
};

class DividedSurvey {
 public:
  DividedSurvey(const std::vector<SurveyFile>& files, Expected expected, const SurveyOptions& options);
  ~DividedSurvey();
  DividedSurvey(const DividedSurvey&) = delete;
  DividedSurvey& operator=(const DividedSurvey&) = delete;

  // First.
  Status plan(std::vector<PlannedUnit>* units);
  // The tallies of the next unit, in the order of the units.
  Status add(std::string_view tallies);
  // After the last one.
  Status finish(Summary* summary);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Surveys a unit that another process has planned.
Status survey_packed_unit(std::string_view unit, const Expected& expected, const SurveyOptions& options,
                          std::string* tallies);

}  // namespace recordsmith::survey
