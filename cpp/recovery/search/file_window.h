// A part of a file in memory. Reading bytes outside of it moves it there.
//
// Used by one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/buffer_pool.h"
#include "base/status.h"
#include "files/byte_source.h"

namespace recordsmith {

class FileWindow {
 public:
  // Of a file with that many bytes, which must outlive the window.
  FileWindow(const File& file, std::uint64_t file_size);

  // At least `needed` bytes from `offset`, or all up to the file's end; [offset, *end) is in memory until the next
  // call.
  Status look(std::uint64_t offset, std::size_t needed, const std::uint8_t** at, std::uint64_t* end);
  Status crc_of(std::uint64_t begin, std::uint64_t size, std::uint32_t* crc);
  // These bytes, if all of them are in the window; otherwise null.
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

}  // namespace recordsmith
