#include "records/framing/framing.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <new>

#include "base/checksums/crc32c.h"
#include "files/inflate_source.h"

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the core reads and writes little-endian words directly");

namespace recordsmith {
namespace {

// The size of one read: within the second-level cache, so that the bytes are still there when they are checked.
constexpr std::size_t kReadBytes = std::size_t{256} << 10;
constexpr std::size_t kSmallestRead = std::size_t{64} << 10;
// No file is that large; a length beyond it would overflow sums.
constexpr std::uint64_t kLargestLength = std::uint64_t{1} << 56;

}  // namespace

bool read_header(const std::uint8_t* header, std::uint64_t* length) {
  std::memcpy(length, header, sizeof *length);
  return masked_crc32c(header, 8) == load_u32(header + 8);
}

void write_header(std::uint64_t length, std::uint8_t* header) {
  std::memcpy(header, &length, sizeof length);
  const std::uint32_t crc = masked_crc32c(header, 8);
  std::memcpy(header + 8, &crc, sizeof crc);
}

Status compare_crcs(std::uint32_t computed, std::uint32_t stored) {
  if (computed == stored) return Status::ok();
  char found[16];
  char expected[16];
  snprintf(found, sizeof found, "0x%08x", computed);
  snprintf(expected, sizeof expected, "0x%08x", stored);
  Failure failure;
  failure.code = Code::kCorruptData;
  failure.found = found;
  failure.expected = expected;
  return Status(std::move(failure));
}

Status compare_payload_crc(const std::uint8_t* data, std::size_t size, std::uint32_t stored) {
  return compare_crcs(masked_crc32c(data, size), stored);
}

Status check_payload(const RecordView& record, const std::string& path) {
  return compare_payload_crc(record.data, record.length, load_u32(record.data + record.length))
      .at(path, record.offset, record.number);
}

Status truncated(const std::string& path, std::uint64_t offset, std::uint64_t number, std::uint64_t present,
                 std::uint64_t needed) {
  Failure failure;
  failure.code = Code::kTruncated;
  failure.found = std::to_string(present);
  failure.expected = std::to_string(needed);
  return Status(std::move(failure)).at(path, offset, number);
}

RecordCursor::RecordCursor(std::unique_ptr<ByteStream> stream, std::string path, std::uint64_t offset,
                           std::uint64_t number)
    : stream_(std::move(stream)), path_(std::move(path)), offset_(offset), number_(number) {
  block_start_ = begin_ = end_ = offset % kPageSize;
}

Status RecordCursor::fail(Code code, std::string found, std::string expected) const {
  Failure failure;
  failure.code = code;
  failure.found = std::move(found);
  failure.expected = std::move(expected);
  return Status(std::move(failure)).at(path_, offset_, number_);
}

void RecordCursor::make_room(std::size_t capacity) {
  if (window_.capacity() >= capacity) return;
  Buffer larger(std::max(capacity, window_.capacity() * 2));
  if (end_ > block_start_)
    std::memcpy(larger.data() + block_start_, window_.data() + block_start_, end_ - block_start_);
  window_ = std::move(larger);
}

Status RecordCursor::read_to_window(std::size_t wanted) {
  make_room(end_ + wanted);
  std::size_t got = 0;
  Status status = stream_->read(window_.data() + end_, wanted, &got);
  end_ += got;
  return got > 0 ? Status::ok() : std::move(status);  // a failure comes again when there is nothing before it
}

Status RecordCursor::fetch(std::size_t needed, std::size_t read_ahead) {
  while (end_ - begin_ < needed) {
    const std::size_t before = end_;
    const std::size_t missing = needed - (end_ - begin_);
    // A read ends where a block of the file ends, so that the next one starts aligned. What a header claims beyond the
    // read-ahead is fetched in steps that double, so that memory grows with the bytes that really exist.
    std::size_t wanted = std::max(read_ahead, std::min(missing, std::max(kReadBytes, end_ - block_start_)));
    wanted += kPageSize - (end_ + wanted) % kPageSize;
    RECORDSMITH_RETURN_IF_ERROR(read_to_window(wanted));
    if (end_ == before) break;
  }
  return Status::ok();
}

Status RecordCursor::next_block(std::size_t max_records, std::size_t target_bytes, RecordBlock* block) {
  block->spans_.clear();
  block->bytes_ = Buffer();  // back to the pool, so that the next window is memory that is still in the cache
  // Bytes that the last block left over move to the front of a new window.
  const std::size_t start = offset_ % kPageSize;
  if (window_.data() == nullptr || begin_ != start) {
    const std::size_t left = end_ - begin_;
    const std::size_t usual = std::min(last_block_bytes_ + last_block_bytes_ / 8, std::size_t{64} << 20);
    Buffer fresh(start + left + std::max(kReadBytes, usual) + kPageSize);
    if (left > 0) std::memcpy(fresh.data() + start, window_.data() + begin_, left);
    window_ = std::move(fresh);
    begin_ = start;
    end_ = start + left;
  }
  block_start_ = begin_;

  Status outcome;
  const auto is_done = [&] { return block->spans_.size() >= max_records || begin_ - block_start_ >= target_bytes; };
  while (outcome.is_ok()) {
    // First all records that are whole in the window, then more bytes.
    std::uint64_t needed = kHeaderBytes;
    while (!is_done() && end_ - begin_ >= kHeaderBytes) {
      std::uint64_t length = 0;
      if (!read_header(window_.data() + begin_, &length)) {
        outcome = fail(Code::kCorruptLength, std::to_string(length), "");
        break;
      }
      if (length > kLargestLength) {
        outcome = fail(Code::kTooLarge, std::to_string(length), "");
        break;
      }
      needed = length + kFramingBytes;
      if (end_ - begin_ < needed) break;
      block->spans_.push_back({begin_ + kHeaderBytes, length, offset_, number_});
      begin_ += needed;
      offset_ += needed;
      ++number_;
      needed = kHeaderBytes;
    }
    // Once the window contains the requested bytes, an incomplete record waits for the next block.
    const std::size_t held = end_ - block_start_;
    if (!outcome.is_ok() || is_done() || (!block->spans_.empty() && held >= target_bytes)) break;

    if (end_ - begin_ < needed) {
      std::uint64_t left = 0;
      outcome = stream_->remaining(&left);
      if (!outcome.is_ok()) break;
      const std::uint64_t present = end_ - begin_;
      if (needed > kHeaderBytes && left != kUnknown && left < needed - present) {
        outcome = truncated(path_, offset_, number_, present + left, needed);
        break;
      }
      if (needed > kHeaderBytes && left != kUnknown) make_room(begin_ + needed + kPageSize);
    }
    std::size_t read_ahead = std::clamp(target_bytes - std::min(held, target_bytes), kSmallestRead, kReadBytes);
    if (!block->spans_.empty() && max_records != ~std::size_t{0}) {
      const std::size_t mean = (begin_ - block_start_) / block->spans_.size() + 1;
      const std::size_t rest = max_records - block->spans_.size();
      if (rest < kReadBytes / mean) read_ahead = std::min(read_ahead, std::max(kSmallestRead, rest * mean));
    }
    outcome = fetch(static_cast<std::size_t>(needed), read_ahead);
    if (!outcome.is_ok() || end_ - begin_ >= needed) continue;
    if (end_ == begin_) break;  // the end
    outcome = truncated(path_, offset_, number_, end_ - begin_, needed);
  }

  if (block->spans_.empty()) {
    if (!outcome.is_ok() && outcome.failure().record == kUnknown) outcome.failure().record = number_;
    return outcome;
  }
  // The block takes the window; what follows its last record goes into a new one. If there is no memory for that,
  // the cursor stays where it was, and no record is lost.
  last_block_bytes_ = begin_ - block_start_;
  const std::size_t left = end_ - begin_;
  const std::size_t next_start = offset_ % kPageSize;
  Buffer fresh;
  try {
    fresh = Buffer(next_start + left + std::max(kReadBytes, last_block_bytes_ + last_block_bytes_ / 8) + kPageSize);
  } catch (const std::bad_alloc&) {
    offset_ = block->spans_.front().offset;
    number_ = block->spans_.front().number;
    begin_ = block_start_;
    block->spans_.clear();
    throw;
  }
  if (left > 0) std::memcpy(fresh.data() + next_start, window_.data() + begin_, left);
  block->bytes_ = std::move(window_);
  window_ = std::move(fresh);
  block_start_ = begin_ = next_start;
  end_ = next_start + left;
  return Status::ok();
}

Status RecordCursor::resynchronise(bool* found, std::uint64_t within) {
  *found = false;
  block_start_ = begin_;
  RECORDSMITH_RETURN_IF_ERROR(fetch(1, kReadBytes));
  if (end_ == begin_) return Status::ok();
  for (std::uint64_t searched = 0; searched < within; ++searched) {
    ++begin_;
    ++offset_;
    block_start_ = begin_;
    if (end_ - std::min(begin_, end_) < kHeaderBytes) {
      begin_ = std::min(begin_, end_);
      // Start over at the window's front, so that a long search takes no more memory than a short one.
      const std::size_t left = end_ - begin_;
      const std::size_t start = offset_ % kPageSize;
      make_room(start + left + kReadBytes + kPageSize);
      std::memmove(window_.data() + start, window_.data() + begin_, left);
      block_start_ = begin_ = start;
      end_ = start + left;
      RECORDSMITH_RETURN_IF_ERROR(fetch(kHeaderBytes, kReadBytes));
      if (end_ - begin_ < kHeaderBytes) {
        offset_ += end_ - begin_;
        begin_ = end_;
        return Status::ok();
      }
    }
    std::uint64_t length = 0;
    if (window_.data()[begin_ + 7] != 0) continue;  // no length is that large: no need to compute its checksum
    if (!read_header(window_.data() + begin_, &length) || length > kLargestLength) continue;
    std::uint64_t left = 0;
    RECORDSMITH_RETURN_IF_ERROR(stream_->remaining(&left));
    if (left != kUnknown && end_ - begin_ + left < length + kFramingBytes) continue;
    *found = true;
    return Status::ok();
  }
  return Status::ok();
}

namespace {

// A digest of all records by their lengths and data CRCs.
class ContentDigest {
 public:
  void add(std::uint64_t length, std::uint32_t crc) {
    entries_[used_] = length;
    entries_[used_ + 1] = crc;
    used_ += 2;
    if (used_ == entries_.size()) flush();
  }
  std::uint64_t finish() {
    flush();
    return digest_;
  }

 private:
  void flush() {
    digest_ = XXH3_64bits_withSeed(entries_.data(), used_ * sizeof entries_[0], digest_);
    used_ = 0;
  }

  std::array<std::uint64_t, 512> entries_;
  std::size_t used_ = 0;
  std::uint64_t digest_ = 0;
};

// Parts of a file in the requested order; little is read of parts that are far apart.
class HoppingWindow {
 public:
  explicit HoppingWindow(const File& file) : file_(file), bytes_(kReadBytes) {}

  // `needed` bytes from `offset`; *present is how many of them exist.
  Status look(std::uint64_t offset, std::size_t needed, bool is_far, const std::uint8_t** at, std::size_t* present) {
    if (offset < begin_ || offset + needed > begin_ + size_) {
      begin_ = is_far ? offset : offset / kPageSize * kPageSize;
      RECORDSMITH_RETURN_IF_ERROR(file_.read_at(begin_, bytes_.data(), is_far ? needed : kReadBytes, &size_));
    }
    *at = bytes_.data() + (offset - begin_);
    *present = static_cast<std::size_t>(std::min<std::uint64_t>(needed, std::max(begin_ + size_, offset) - offset));
    return Status::ok();
  }

 private:
  const File& file_;
  const Buffer bytes_;
  std::uint64_t begin_ = 0;
  std::size_t size_ = 0;
};

// Walks over a plain file, from header to header where records are large. A data CRC is right before the next header,
// and is read together with it.
Status hop_records(const File& file, const std::function<Status(std::uint64_t)>& add, std::uint64_t* content) {
  std::uint64_t size = 0;
  RECORDSMITH_RETURN_IF_ERROR(file.size(&size));
  HoppingWindow window(file);
  ContentDigest digest;
  std::uint64_t offset = 0;
  std::uint64_t number = 0;
  std::uint64_t length = 0;
  for (;;) {
    const std::size_t footer = offset == 0 ? 0 : kFooterBytes;
    const std::uint8_t* at = nullptr;
    std::size_t present = 0;
    const std::size_t header = offset < size ? kHeaderBytes : 0;
    const bool is_far = length + kFramingBytes > kLargeRecord;
    RECORDSMITH_RETURN_IF_ERROR(window.look(offset - footer, footer + header, is_far, &at, &present));
    if (present >= footer && footer > 0) digest.add(length, load_u32(at));
    if (offset >= size) break;
    present = std::min<std::uint64_t>(present - std::min(present, footer), size - offset);  // 0: cut meanwhile
    if (present < kHeaderBytes) return truncated(file.path(), offset, number, present, kHeaderBytes);
    Failure failure;
    failure.code = Code::kCorruptLength;
    bool is_sound = read_header(at + footer, &length);
    if (is_sound && length > kLargestLength) {
      failure.code = Code::kTooLarge;
      is_sound = false;
    }
    if (!is_sound) {
      failure.found = std::to_string(length);
      return Status(std::move(failure)).at(file.path(), offset, number);
    }
    if (size - offset < length + kFramingBytes) {
      return truncated(file.path(), offset, number, size - offset, length + kFramingBytes);
    }
    RECORDSMITH_RETURN_IF_ERROR(add(offset));
    ++number;
    offset += length + kFramingBytes;
  }
  *content = digest.finish();
  return add(offset);
}

}  // namespace

Status scan_records(std::shared_ptr<const File> file, Compression compression, bool verify,
                    const std::function<Status(std::uint64_t)>& add, std::uint64_t* content) {
  if (compression == Compression::kNone && file->is_seekable() && !verify) return hop_records(*file, add, content);
  RecordCursor cursor(open_stream(file, compression), file->path());
  RecordBlock block;
  ContentDigest digest;
  for (;;) {
    RECORDSMITH_RETURN_IF_ERROR(cursor.next_block(~std::size_t{0}, kReadBytes, &block));
    if (block.empty()) break;
    for (std::size_t i = 0; i < block.size(); ++i) {
      if (verify) RECORDSMITH_RETURN_IF_ERROR(check_payload(block[i], file->path()));
      digest.add(block[i].length, load_u32(block[i].data + block[i].length));
      RECORDSMITH_RETURN_IF_ERROR(add(block[i].offset));
    }
  }
  *content = digest.finish();
  return add(cursor.offset());
}

Status scan_offsets(std::shared_ptr<const File> file, Compression compression, bool verify,
                    std::vector<std::uint64_t>* offsets) {
  offsets->clear();
  std::uint64_t content = 0;
  const auto add = [offsets](std::uint64_t offset) {
    offsets->push_back(offset);
    return Status::ok();
  };
  return scan_records(std::move(file), compression, verify, add, &content);
}

}  // namespace recordsmith
