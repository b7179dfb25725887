// One pass over whole files that collects what rules and reports need.
//
// Files are divided into units: a stretch of some megabytes of a plain file, or a whole compressed file. Threads take
// units in order, and each unit has its own tallies. As in verification.h, the begin of a stretch is guessed, and
// compared with the end of the stretch before. Finished units are merged in the order of the files, one at a time, and
// units that are far ahead wait. So memory does not grow with the data, and the result depends neither on the number of
// threads nor on their speed:
//
//   plain counts    are sums
//   places          are the first ones in file order
//   sketches        see the same values, divided into the same units and merged in the same order, with random
//                   bits that are seeded by the unit
//   labels          are joined where units meet
//
// Damage does not end the pass: the next sound header is searched, as RecordStream does. Payloads are digested (64 bits
// of XXH3) for duplicates; digests beyond digests_in_memory are written to a temporary file.
//
// The result is plain values (survey/facts/summary.h).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/status.h"
#include "files/byte_source.h"
#include "survey/facts/expectations.h"
#include "survey/facts/summary.h"

namespace recordsmith::survey {

struct SurveyFile {
  InputFile input;
  std::uint32_t split = 0;  // its number
};

struct SurveyOptions {
  unsigned threads = 1;
  std::uint64_t records_per_file = kUnknown;
  std::uint64_t unit_bytes = std::uint64_t{16} << 20;
  std::size_t digests_in_memory = std::size_t{4} << 20;  // 24 bytes each, with and without labels together
  std::string temporary_folder = "/tmp";
  bool frames_only = false;  // count and check the records without parsing them
};

// Called now and then, on the calling thread, with the number of bytes done so far; false ends the survey.
using Progress = std::function<bool(std::uint64_t)>;

// Surveys the files, whose splits are numbered from 0. Damaged and unreadable files are a part of
// the result; the status is a failure only without enough memory or temporary space, or if `progress` returned false.
Status survey_files(const std::vector<SurveyFile>& files, const Expected& expected, const SurveyOptions& options,
                    const Progress& progress, Summary* summary);

}  // namespace recordsmith::survey
