// The record framing of TFRecord files.
//
//   file    := record*
//   record  := length  u64 little-endian
//              crc     u32  masked CRC-32C of the eight length bytes
//              data    length bytes
//              crc     u32  masked CRC-32C of the data
//
// There is no magic number, no count and no footer: an empty file contains no records.
//
// RecordCursor walks a file in order. It checks every length CRC, because a wrong length would send it anywhere, and
// leaves the data CRC to check_payload, so that a parser can check and parse while the bytes are in cache.
// A length is compared with what is left in the file before memory is taken; where that is not known (pipes, compressed
// files), memory grows with the bytes that are actually read.
//
// A cursor is used by one thread at a time. The blocks that it hands out are independent of it and of each other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/buffer_pool.h"
#include "base/status.h"
#include "files/byte_source.h"

namespace recordsmith {

inline constexpr std::size_t kHeaderBytes = 12;
inline constexpr std::size_t kFooterBytes = 4;
inline constexpr std::size_t kFramingBytes = kHeaderBytes + kFooterBytes;
// When only the places of records are needed, the headers of records larger than this are read alone. For smaller
// records, reading everything is faster than a system call for each.
inline constexpr std::uint64_t kLargeRecord = 8 << 10;

struct RecordView {
  const std::uint8_t* data;  // followed by the four bytes of the data CRC
  std::uint64_t length;
  std::uint64_t offset;  // of the record's header in the (inflated) file
  std::uint64_t number;  // within the file, from 0
};

// Some consecutive records of one file, and the memory that contains them.
class RecordBlock {
 public:
  std::size_t size() const { return spans_.size(); }
  bool empty() const { return spans_.empty(); }
  RecordView operator[](std::size_t index) const {
    const Span& span = spans_[index];
    return {bytes_.data() + span.position, span.length, span.offset, span.number};
  }
  // How many bytes of the memory follow the payload of a record.
  std::size_t bytes_after(std::size_t index) const {
    return bytes_.capacity() - spans_[index].position - static_cast<std::size_t>(spans_[index].length);
  }
  // The memory, and where in it the first record begins; the others follow without a gap.
  std::size_t begin() const { return spans_.front().position - kHeaderBytes; }
  Buffer release() { return std::move(bytes_); }

 private:
  friend class RecordCursor;
  struct Span {
    std::size_t position;
    std::uint64_t length;
    std::uint64_t offset;
    std::uint64_t number;
  };
  Buffer bytes_;
  std::vector<Span> spans_;
};

class RecordCursor {
 public:
  // `stream` is at the header of record `number`, which is at `offset`.
  RecordCursor(std::unique_ptr<ByteStream> stream, std::string path, std::uint64_t offset = 0,
               std::uint64_t number = 0);

  // Takes whole records until there are `max_records` of them or they fill `target_bytes`. An empty block means the
  // file's end. A failure is reported only when no record precedes it; asked again, the cursor looks again, so that a
  // file which is still being written can be followed.
  Status next_block(std::size_t max_records, std::size_t target_bytes, RecordBlock* block);

  // After a failure: moves to the next byte offset at which a header's length CRC holds and its record fits into the
  // file. *found is false if there is none up to the end, or within that many bytes. The record numbers continue
  // without a gap.
  Status resynchronise(bool* found, std::uint64_t within = kUnknown);

  std::uint64_t offset() const { return offset_; }
  std::uint64_t number() const { return number_; }
  const std::string& path() const { return path_; }

 private:
  // Reads until `needed` bytes from the cursor's position are in the window, or the stream ends.
  Status fetch(std::size_t needed, std::size_t read_ahead);
  Status read_to_window(std::size_t wanted);
  void make_room(std::size_t capacity);
  Status fail(Code code, std::string found, std::string expected) const;

  std::unique_ptr<ByteStream> stream_;
  std::string path_;
  std::uint64_t offset_;  // of the next record
  std::uint64_t number_;
  // The bytes read and not yet handed out are window_[block_start_, end_); the next record starts at begin_. A byte's
  // address and its file offset agree modulo the page size, which keeps reads aligned on both sides.
  Buffer window_;
  std::size_t block_start_ = 0;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::size_t last_block_bytes_ = 0;
};

// The length that a header claims; false if its CRC does not hold.
bool read_header(const std::uint8_t* header, std::uint64_t* length);
void write_header(std::uint64_t length, std::uint8_t* header);

inline std::uint32_t load_u32(const std::uint8_t* at) {
  std::uint32_t value;
  __builtin_memcpy(&value, at, sizeof value);
  return value;
}

// Compares the data CRC with the one computed (masked), or with the data.
Status compare_crcs(std::uint32_t computed, std::uint32_t stored);
Status compare_payload_crc(const std::uint8_t* data, std::size_t size, std::uint32_t stored);
Status check_payload(const RecordView& record, const std::string& path);

// The failure for a record that claims more bytes than the file has.
Status truncated(const std::string& path, std::uint64_t offset, std::uint64_t number, std::uint64_t present,
                 std::uint64_t needed);

// Walks over all records of a file: `add` gets where each begins, and last where the file ends. Reads only the headers
// and data CRCs of large records. With `verify`, both CRCs of every record are checked. *content gets a digest of all
// lengths and data CRCs, which stands for the records themselves.
Status scan_records(std::shared_ptr<const File> file, Compression compression, bool verify,
                    const std::function<Status(std::uint64_t)>& add, std::uint64_t* content);
// The same into memory. A failure leaves the offsets of the records before it.
Status scan_offsets(std::shared_ptr<const File> file, Compression compression, bool verify,
                    std::vector<std::uint64_t>* offsets);

}  // namespace recordsmith
