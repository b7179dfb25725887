// Both CRCs of every record of whole files, on several threads.
//
// Where records begin is known only by walking from the file's beginning. So that several threads can work on one plain
// file, it is cut into stretches at arbitrary bytes, and a thread starts its stretch with a guess: the first place at
// which a header's length CRC holds. It checks the records that begin in its stretch, the last one to its end, and
// notes where that was. When all stretches of a file are done, they are held against each other in order: each must
// have begun where the one before ended. One that did not (its guess lay inside a record, say of a file in a file, or
// there was nothing to guess from) is checked again from the right place. The outcome is that of one walk, always.
//
// A thread maps a window of the file at a time and walks over the records that lie whole in it. A record that is larger
// than a window, and all files that cannot be mapped, it reads in pieces into a buffer of its own; of a record that the
// piece cuts in two, the CRC is continued in the next one, so that memory does not grow with records. The first trouble
// of any kind, a file that shrinks under the mapping among them, goes that way too, and then to a RecordCursor, which
// knows how to tell it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/status.h"
#include "files/byte_source.h"

namespace recordsmith {

struct VerifyOptions {
  unsigned threads = 1;
  // For tests, which need many borders in few bytes.
  std::uint64_t smallest_stretch = std::uint64_t{4} << 20;  // of a file that has to be shared
  std::uint64_t usual_stretch = std::uint64_t{16} << 20;
  std::size_t piece = std::size_t{256} << 10;      // what one read takes
  std::uint64_t window = std::uint64_t{16} << 20;  // what is mapped at once, of which kWindowAlignment may be passed
                                                   // already; 0: nothing
};

// Checks the files and counts their records. On failure, which is the first one in the order of the files, *records
// counts the sound records before it.
Status verify_files(const std::vector<InputFile>& inputs, const VerifyOptions& options, std::uint64_t* records);

}  // namespace recordsmith
