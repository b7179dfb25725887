// A file of records, looked at in any place through small windows.
//
// FileWindow      a part of the file in memory; a look at bytes that are not in it moves it there
// RecordWindows   two of them, and what is where a record may begin
//
// One window follows what goes on in order, the other is for looks at other places: so these do not make the first
// read its bytes again. A record may be far larger than a window: its CRC is computed while the window moves along.
//
// Used by one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "buffer_pool.h"
#include "byte_source.h"
#include "status.h"

namespace recordsmith {

class FileWindow {
 public:
  // Of a file with that many bytes, which must outlive the window.
  FileWindow(const File& file, std::uint64_t file_size);

  // At least `needed` bytes from `offset` on, or all that the file has; all of [offset, *end) are at hand, until the
  // next look.
  Status look(std::uint64_t offset, std::size_t needed, const std::uint8_t** at, std::uint64_t* end);
  Status crc_of(std::uint64_t begin, std::uint64_t size, std::uint32_t* crc);
  // These bytes, if all of them are at hand already; otherwise null.
  const std::uint8_t* held(std::uint64_t offset, std::size_t size) const {
    return offset >= begin_ && offset + size <= begin_ + size_ ? bytes_.data() + (offset - begin_) : nullptr;
  }

 private:
  Status move_to(std::uint64_t offset);

  const File& file_;
  const std::uint64_t file_size_;
  const Buffer bytes_;
  std::uint64_t begin_ = 0;  // in the file
  std::size_t size_ = 0;
};

// What is at a place where a record may begin.
enum class Found : std::uint8_t { kSound, kBadData, kCut, kBadHeader };

class RecordWindows {
 public:
  RecordWindows(std::shared_ptr<const File> file, std::uint64_t size);

  const File& file() const { return *file_; }
  std::uint64_t size() const { return size_; }
  FileWindow& walk() { return walk_; }    // for what goes on in order
  FileWindow& ahead() { return ahead_; }  // for looks at other places

  // Whether a sound header is at `offset`; false as well where the file ends first.
  Status has_header(std::uint64_t offset, std::uint64_t* length, bool* sound) const;
  // Whether a record may end at `offset`: the file does, or a sound header follows.
  Status is_met(std::uint64_t offset, bool* met) const;
  // Checks both CRCs of the record at `offset`. *end is where its length
  // leads; the end of the file, if it has no sound header. The data is looked at through `window`, one of the two.
  Status examine(FileWindow* window, std::uint64_t offset, Found* found, std::uint64_t* end) const;

 private:
  const std::shared_ptr<const File> file_;
  const std::uint64_t size_;
  FileWindow walk_;
  FileWindow ahead_;
};

}  // namespace recordsmith
