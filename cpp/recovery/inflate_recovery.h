// Inflates what can still be inflated of a damaged gzip or zlib file.
//
// All inflated bytes are written to another file, one after the other. That includes everything before a damage, and
// perhaps some wrong bytes after it: a deflate stream has no checks of its own, and inflating often continues for a
// while. That does no harm, since records have CRCs (recovery.h). Then the next place is searched at which inflating
// can begin again:
//
//   a member     gzip files may consist of several, each with a header (1f 8b 08); nothing of it is missing
//   stored data  a block of bytes as they are, which has its length twice, once inverted; a flush is an empty one
//   a block      the header of a block with its own codes, at any bit: such headers are so redundant that hardly any
//                other bits look like one
//
// A place is accepted if inflating from there succeeds for some blocks or to the end. At a block, the 32 KiB before it
// are not known, and data may be copied from there: zeros take their place. So records after a lost part of one member
// are whole only if they do not repeat what came before them: images mostly are, rows of a table hardly ever. After a
// full flush, and in the next member, everything is whole.
//
// Memory: some buffers, and one entry per gap. Used by one thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/buffer_pool.h"
#include "base/status.h"
#include "files/byte_source.h"

namespace recordsmith {

// Compressed bytes of which nothing was inflated, and where in the inflated file they are missing.
struct InflateGap {
  enum class Reason : std::uint8_t {
    kDamaged,   // inflating failed
    kCutOff,    // the file ends inside a stream
    kStray,     // other bytes follow a stream
    kChecksum,  // all was inflated, and the stream's own checksum does not match it
  };
  Reason reason{};
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t inflated_at = 0;
};

const char* gap_reason_name(InflateGap::Reason reason);

class InflateRecovery {
 public:
  // The inflated bytes go to `scratch`, a file that must not exist yet.
  static Status open(const std::string& path, Compression format, const std::string& scratch,
                     std::unique_ptr<InflateRecovery>* recovery);
  ~InflateRecovery();

  // Continues for about that many compressed bytes; *done is true at the end of the file.
  Status advance(std::uint64_t bytes, bool* done);

  const std::vector<InflateGap>& gaps() const { return gaps_; }
  std::uint64_t offset() const;  // in the compressed file
  std::uint64_t size() const { return size_; }
  std::uint64_t inflated() const { return inflated_; }

 private:
  enum class At : std::uint8_t { kMember, kBlocks, kTrailer };
  struct Stream;

  InflateRecovery(std::shared_ptr<const File> file, std::uint64_t size, Compression format, std::string scratch,
                  int descriptor);

  Status begin_member();
  Status inflate_some();
  Status check_trailer();
  Status write_out(const std::uint8_t* data, std::size_t size);
  void begin_checksum();
  // Where inflating may begin.
  struct Restart {
    std::uint64_t bit = 0;
    bool is_member = false;
    bool is_stored = false;  // at the length of a stored block: the bits before it are not known
  };

  // After a failure: finds where to continue, at or after that bit, and notes the gap.
  Status resume(InflateGap::Reason reason, std::uint64_t failed_at, std::uint64_t from_bit);
  Status find_restart(std::uint64_t from_bit, Restart* restart);
  // The size of a gzip or zlib header at a place; 0 if there is none.
  Status header_size(std::uint64_t offset, std::uint64_t* size) const;
  // Whether inflating succeeds from there.
  Status inflates_from(const Restart& restart, bool* good);

  std::shared_ptr<const File> file_;
  std::uint64_t size_;
  Compression format_;
  std::string scratch_;
  int descriptor_;
  std::vector<InflateGap> gaps_;
  At at_ = At::kMember;
  std::uint64_t offset_ = 0;     // of a member or a trailer
  std::uint64_t block_bit_ = 0;  // where the current block begins
  std::uint64_t inflated_ = 0;
  bool is_restarted_ = false;  // the current stream is not known from its beginning
  std::uint32_t checksum_ = 0;
  std::uint64_t stream_bytes_ = 0;
  std::unique_ptr<Stream> stream_;
  std::unique_ptr<Stream> trial_;
  Buffer output_;
};

}  // namespace recordsmith
