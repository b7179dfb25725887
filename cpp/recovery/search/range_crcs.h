// CRC-32Cs of any ranges of a file. Each byte is read about once, however often ranges overlap.
//
// The CRCs of everything up to the ends of blocks are stored. The CRC of a range follows from the CRCs up to its two
// ends (crc_parts.h), for which a part of a block is read. Bytes after the last known block are read and noted on the
// way. So a file made of headers that all claim the rest of it costs one pass, not one for each.
//
// Memory: 256 bytes for each megabyte between the places that were forgotten and the farthest requested one.
//
// Used by one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>

#include "base/buffer_pool.h"
#include "base/status.h"
#include "files/byte_source.h"
#include "recovery/search/file_window.h"

namespace recordsmith {

class RangeCrcs {
 public:
  static constexpr std::uint64_t kBlockBytes = std::uint64_t{16} << 10;

  // The file must outlive it.
  explicit RangeCrcs(const File& file) : file_(file), part_(kBlockBytes) {}

  // The CRC of `size` bytes from `begin`. Unknown parts are read through `window`.
  Status crc_of(FileWindow* window, std::uint64_t begin, std::uint64_t size, std::uint32_t* crc);
  // Nothing before `offset` will be requested.
  void forget_before(std::uint64_t offset);

 private:
  std::uint64_t known_end() const { return begin_ + (crcs_.size() - 1) * kBlockBytes; }
  void start_at(std::uint64_t offset);
  Status learn_up_to(FileWindow* window, std::uint64_t offset);
  // Of everything from where the notes once began, up to `offset`, whose block is known.
  Status crc_up_to(const FileWindow& window, std::uint64_t offset, std::uint32_t* crc) const;

  const File& file_;
  const Buffer part_;
  std::uint64_t begin_ = 0;         // a multiple of kBlockBytes
  std::deque<std::uint32_t> crcs_;  // the n-th: up to begin_ + n * kBlockBytes; the first need not be that of nothing
};

}  // namespace recordsmith
