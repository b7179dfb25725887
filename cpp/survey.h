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
// What is found is plain values (survey_summary.h).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "byte_source.h"
#include "example_wire.h"
#include "status.h"
#include "survey_summary.h"

namespace recordsmith::survey {

// Numbers of one dtype in a byte string: all of it, or a part at a fixed place.
enum class RawType { kBool, kInt8, kInt16, kInt32, kInt64, kUint8, kUint16, kUint32, kUint64, kHalf, kFloat, kDouble };

struct RawNumbers {
  std::string part;  // its name; "" for all
  RawType type = RawType::kUint8;
  std::size_t offset = 0;
  std::int64_t count = -1;  // -1: as many as there are
};

// What a schema says of one stored feature.
struct Expectation {
  Kind kind = Kind::kNone;
  std::int64_t count = -1;      // values per record or step; -1: any
  std::int64_t row_bytes = -1;  // of each byte string; -1: any
  bool is_label = false;
  std::int64_t classes = -1;                 // of a label; -1: any
  std::vector<RawNumbers> raw_numbers = {};  // of byte strings: what they hold
};

// By key, and whether it lies in the feature lists.
using Expectations = std::map<std::pair<std::string, bool>, Expectation>;

struct SurveyFile {
  InputFile input;
  std::uint32_t split = 0;
};

// What a survey is told of the features.
struct Expected {
  Expectations features;
  std::vector<std::string> provenance;  // features that say where a record comes from, beside those whose names do
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
