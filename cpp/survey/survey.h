// One pass over whole files that collects what rules and reports look at.
//
// Files are cut into units: a stretch of some megabytes of a plain file, or a whole compressed file. Threads take units
// in order, and each unit has tallies of its own. As in verification.h, where a stretch begins is guessed, and held
// against where the one before ended. Finished units are merged in the order of the files, one at a time, and
// units that are far ahead wait. So memory does not grow with the data, and the outcome depends neither on the number
// of threads nor on who was faster:
//
//   plain counts    are sums
//   places          are the first ones in file order
//   sketches        see the same values, cut into the same units and merged in the same order, with random bits that
//                   are seeded by the unit
//   labels          are stitched together at the seams
//
// Damage does not end the pass: after it, the next sound header is looked for, as RecordStream does. Payloads are
// digested (64 bits of XXH3) for duplicates; digests beyond digests_in_memory go through a temporary file.
//
// What is found is plain values (survey/facts/summary.h).
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
  std::uint32_t split = 0;
};

struct SurveyOptions {
  unsigned threads = 1;
  std::uint64_t records_per_file = kUnknown;
  std::uint64_t unit_bytes = std::uint64_t{16} << 20;
  std::size_t digests_in_memory = std::size_t{4} << 20;  // 24 bytes each, with and without labels together
  std::string temporary_folder = "/tmp";
  bool frames_only = false;  // count and check the records, and do not look into them
};

// Called by the calling thread now and then with the bytes done so far; false ends the survey.
using Progress = std::function<bool(std::uint64_t)>;

// Looks at the files, which belong to splits numbered from 0 to `splits` - 1. Trouble with a file is a part of the
// outcome; the status is a failure only for want of memory or temporary room, and where `progress` said to stop.
Status survey_files(const std::vector<SurveyFile>& files, std::uint32_t splits, const Expected& expected,
                    const SurveyOptions& options, const Progress& progress, Summary* summary);

}  // namespace recordsmith::survey
