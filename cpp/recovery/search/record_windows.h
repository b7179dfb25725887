// Reads a file of records at any place through small windows.
//
// One window follows the walk in order, the other is for other places, so that these do not make the first read its
// bytes again. A record may be far larger than a window: its CRC is computed while the window moves along, and bytes
// that several records claim are read only once.
//
// Used by one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/status.h"
#include "files/byte_source.h"
#include "recovery/search/file_window.h"
#include "recovery/search/range_crcs.h"

namespace recordsmith {

// What was found where a record may begin.
enum class Found : std::uint8_t { kSound, kBadData, kCut, kBadHeader };

class RecordWindows {
 public:
  RecordWindows(std::shared_ptr<const File> file, std::uint64_t size);

  const File& file() const { return *file_; }
  std::uint64_t size() const { return size_; }
  FileWindow& walk() { return walk_; }    // for the walk in order
  FileWindow& ahead() { return ahead_; }  // for other places

  // Whether a sound header is at `offset`; false as well where the file ends first.
  Status has_header(std::uint64_t offset, std::uint64_t* length, bool* sound) const;
  // Whether a record may end at `offset`: the file does, or a sound header follows.
  Status is_met(std::uint64_t offset, bool* met) const;
  // Checks both CRCs of the record at `offset`. *end is where its length leads; the end of the file, if it has no sound
  // header. The data is looked at through `window`, one of the two.
  Status examine(FileWindow* window, std::uint64_t offset, Found* found, std::uint64_t* end);
  // Nothing before `offset` will be examined.
  void forget_before(std::uint64_t offset) { crcs_.forget_before(offset); }

 private:
  const std::shared_ptr<const File> file_;
  const std::uint64_t size_;
  FileWindow walk_;
  FileWindow ahead_;
  RangeCrcs crcs_;
};

}  // namespace recordsmith
