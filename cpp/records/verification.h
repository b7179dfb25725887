// Checks both CRCs of every record of whole files, on several threads.
//
// Where records begin is known only by walking from the file's beginning. So that several threads can work on one plain
// file, it is divided into stretches at arbitrary bytes. A thread starts its stretch with a guess: the first place at
// which a header's length CRC holds. It checks the records that begin in its stretch, the last one to its end, and
// notes where that was. When all stretches of a file are done, they are compared in order: each must have begun where
// the one before ended. A stretch with a wrong guess (inside a record, for example of a file stored in a record), or
// without one, is checked again from the right place. The result is always that of one walk.
//
// A thread maps a window of the file at a time and walks over the records that are completely in it. A record that is
// larger than a window, and all files that cannot be mapped, are read in pieces into a buffer; where a piece ends
// inside a record, the CRC is continued in the next piece, so that memory does not grow with the records. After the
// first failure of any kind, for example a file that shrinks under the mapping, a RecordCursor reads the place again
// and describes the failure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/status.h"
#include "files/byte_source.h"

namespace recordsmith {

struct VerifyOptions {
  unsigned threads = 1;
  // Smaller in tests, which need many borders in few bytes.
  std::uint64_t smallest_stretch = std::uint64_t{4} << 20;  // of a file that several threads share
  std::uint64_t usual_stretch = std::uint64_t{16} << 20;
  std::size_t piece = std::size_t{256} << 10;      // what one read takes
  std::uint64_t window = std::uint64_t{16} << 20;  // what is mapped at once, of which kWindowAlignment may be passed
                                                   // already; 0: nothing
};

// Checks the files and counts their records. On failure, which is the first one in the order of the files, *records
// is the number of sound records before it.
Status verify_files(const std::vector<InputFile>& inputs, const VerifyOptions& options, std::uint64_t* records);

}  // namespace recordsmith
