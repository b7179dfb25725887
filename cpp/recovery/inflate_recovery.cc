#include "recovery/inflate_recovery.h"

#include <fcntl.h>
#include <unistd.h>
#include <zlib-ng.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace recordsmith {
namespace {

constexpr std::size_t kInputBytes = std::size_t{128} << 10;
constexpr std::size_t kFirstInput = std::size_t{2} << 10;  // most trials end soon
constexpr std::size_t kOutputBytes = std::size_t{256} << 10;
constexpr std::size_t kWindowBytes = std::size_t{32} << 10;
constexpr std::size_t kLargestHeader = std::size_t{64} << 10;
constexpr std::size_t kUsualGzipHeader = 10;
constexpr std::size_t kZlibHeader = 2;
constexpr std::size_t kGzipTrailer = 8;
constexpr std::size_t kZlibTrailer = 4;
// What a trial must achieve.
constexpr int kBlocksOfTrial = 2;
constexpr std::uint64_t kBytesOfTrial = std::uint64_t{512} << 10;

std::uint64_t load_u64(const std::uint8_t* at) {
  std::uint64_t value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

// Whether a block with its own codes may begin at `bit` of these bytes: the type, the numbers of codes,
// and the lengths of the codes for their lengths, which must use up the code space exactly. Needs kBlockHeader bytes.
constexpr std::size_t kBlockHeader = 16;
bool may_begin_block(const std::uint8_t* at, unsigned bit) {
  const std::uint64_t low = load_u64(at) >> bit;
  if ((low >> 1 & 3) != 2 || (low >> 3 & 31) > 29 || (low >> 8 & 31) > 29) return false;
  const unsigned codes = static_cast<unsigned>(low >> 13 & 15) + 4;
  unsigned used = 0;
  for (unsigned i = 0; i < codes; ++i) {
    const unsigned place = bit + 17 + 3 * i;
    const unsigned length = static_cast<unsigned>(load_u64(at + place / 8) >> place % 8) & 7;
    if (length > 0) used += 128u >> length;
  }
  return used == 128;
}
static_assert((7 + 17 + 3 * 18) / 8 + 8 <= kBlockHeader + 1);

}  // namespace

const char* gap_reason_name(InflateGap::Reason reason) {
  switch (reason) {
    case InflateGap::Reason::kDamaged:
      return "damaged";
    case InflateGap::Reason::kCutOff:
      return "cut-off";
    case InflateGap::Reason::kStray:
      return "stray";
    case InflateGap::Reason::kChecksum:
      break;
  }
  return "checksum";
}

// Raw deflate data of a file, starting at any bit.
struct InflateRecovery::Stream {
  zng_stream zlib{};
  bool ready;
  Buffer input{kInputBytes};
  std::uint64_t input_end = 0;  // in the file, of what was read
  bool input_ended = false;

  Stream() : ready(zng_inflateInit2(&zlib, -15) == Z_OK) {}
  ~Stream() {
    if (ready) zng_inflateEnd(&zlib);
  }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  std::uint64_t offset() const { return input_end - zlib.avail_in; }

  Status fill(const File& file, std::size_t bytes = kInputBytes) {
    std::size_t got = 0;
    RECORDSMITH_RETURN_IF_ERROR(file.read_at(input_end, input.data(), bytes, &got));
    zlib.next_in = input.data();
    zlib.avail_in = static_cast<std::uint32_t>(got);
    input_end += got;
    input_ended = got == 0;
    return Status::ok();
  }

  // At the beginning of a member's data, or where nothing before it is known.
  Status begin(const File& file, std::uint64_t bit, bool with_window, bool is_stored = false) {
    if (!ready || zng_inflateReset(&zlib) != Z_OK) return Status::of(Code::kSystem, "zlib could not be set up");
    static const std::array<std::uint8_t, kWindowBytes> zeros{};
    if (with_window) zng_inflateSetDictionary(&zlib, zeros.data(), kWindowBytes);
    input_end = bit / 8;
    input_ended = false;
    RECORDSMITH_RETURN_IF_ERROR(fill(file, kFirstInput));
    if (is_stored) {
      zng_inflatePrime(&zlib, 3, 0);  // not the last block, and stored
    } else if (bit % 8 != 0 && zlib.avail_in > 0) {
      zng_inflatePrime(&zlib, static_cast<int>(8 - bit % 8), *zlib.next_in >> bit % 8);
      ++zlib.next_in;
      --zlib.avail_in;
    }
    return Status::ok();
  }

  // Inflates up to the end of a block, of the output, or of the available input.
  int step(std::uint8_t* to, std::size_t room, std::size_t* got) {
    zlib.next_out = to;
    zlib.avail_out = static_cast<std::uint32_t>(room);
    const int result = zng_inflate(&zlib, Z_BLOCK);
    *got = room - zlib.avail_out;
    return result;
  }

  bool is_between_blocks() const { return (zlib.data_type & 128) != 0; }
  std::uint64_t bit() const { return offset() * 8 - static_cast<std::uint64_t>(zlib.data_type & 63); }
};

Status InflateRecovery::open(const std::string& path, Compression format, const std::string& scratch,
                             std::unique_ptr<InflateRecovery>* recovery) {
  std::shared_ptr<File> file;
  RECORDSMITH_RETURN_IF_ERROR(File::open(path, &file));
  std::uint64_t size = 0;
  RECORDSMITH_RETURN_IF_ERROR(file->size(&size));
  const int descriptor = ::open(scratch.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (descriptor < 0) {
    Failure failure;
    failure.code = Code::kSystem;
    failure.path = scratch;
    failure.detail = "create";
    failure.system_error = errno;
    return Status(std::move(failure));
  }
  recovery->reset(new InflateRecovery(std::move(file), size, format, scratch, descriptor));
  return Status::ok();
}

InflateRecovery::InflateRecovery(std::shared_ptr<const File> file, std::uint64_t size, Compression format,
                                 std::string scratch, int descriptor)
    : file_(std::move(file)),
      size_(size),
      format_(format),
      scratch_(std::move(scratch)),
      descriptor_(descriptor),
      stream_(std::make_unique<Stream>()),
      trial_(std::make_unique<Stream>()),
      output_(kOutputBytes) {}

InflateRecovery::~InflateRecovery() { ::close(descriptor_); }

std::uint64_t InflateRecovery::offset() const { return at_ == At::kBlocks ? stream_->offset() : offset_; }

Status InflateRecovery::advance(std::uint64_t bytes, bool* done) {
  const std::uint64_t limit = bytes < size_ - offset() ? offset() + bytes : size_;
  *done = false;
  for (;;) {
    if (at_ == At::kMember && offset_ >= size_) {
      *done = true;
      return Status::ok();
    }
    if (offset() >= limit && limit < size_) return Status::ok();
    switch (at_) {
      case At::kMember:
        RECORDSMITH_RETURN_IF_ERROR(begin_member());
        break;
      case At::kBlocks:
        RECORDSMITH_RETURN_IF_ERROR(inflate_some());
        break;
      case At::kTrailer:
        RECORDSMITH_RETURN_IF_ERROR(check_trailer());
        break;
    }
  }
}

Status InflateRecovery::write_out(const std::uint8_t* data, std::size_t size) {
  inflated_ += size;
  while (size > 0) {
    const ssize_t written = ::write(descriptor_, data, size);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      Failure failure;
      failure.code = Code::kSystem;
      failure.path = scratch_;
      failure.detail = "write";
      failure.system_error = written < 0 ? errno : ENOSPC;
      return Status(std::move(failure));
    }
    data += written;
    size -= static_cast<std::size_t>(written);
  }
  return Status::ok();
}

void InflateRecovery::begin_checksum() {
  checksum_ = format_ == Compression::kGzip ? zng_crc32(0, nullptr, 0) : zng_adler32(0, nullptr, 0);
  stream_bytes_ = 0;
}

Status InflateRecovery::header_size(std::uint64_t offset, std::uint64_t* size) const {
  *size = 0;
  std::array<std::uint8_t, 10> head{};
  std::size_t got = 0;
  RECORDSMITH_RETURN_IF_ERROR(file_->read_at(offset, head.data(), head.size(), &got));
  if (format_ == Compression::kZlib) {
    const bool is_header = got >= 2 && (head[0] & 0x0f) == 8 && (head[0] >> 4) <= 7 && (head[1] & 0x20) == 0 &&
                           ((head[0] << 8) | head[1]) % 31 == 0;
    if (is_header) *size = kZlibHeader;
    return Status::ok();
  }
  if (got < head.size() || head[0] != 0x1f || head[1] != 0x8b || head[2] != 8 || (head[3] & 0xe0) != 0) {
    return Status::ok();
  }
  std::uint64_t end = head.size();
  if ((head[3] & 0x1e) != 0) {  // names and the like follow
    const Buffer more(kLargestHeader);
    RECORDSMITH_RETURN_IF_ERROR(file_->read_at(offset, more.data(), kLargestHeader, &got));
    const std::uint8_t* const at = more.data();
    if ((head[3] & 4) != 0) {
      if (end + 2 > got) return Status::ok();
      end += 2 + static_cast<std::uint64_t>(at[end] | at[end + 1] << 8);
    }
    for (const int flag : {8, 16}) {  // texts that end with a zero
      if ((head[3] & flag) == 0) continue;
      while (end < got && at[end] != 0) ++end;
      ++end;
    }
    if ((head[3] & 2) != 0) end += 2;
    if (end > got) return Status::ok();
  }
  *size = end;
  return Status::ok();
}

Status InflateRecovery::begin_member() {
  std::uint64_t header = 0;
  RECORDSMITH_RETURN_IF_ERROR(header_size(offset_, &header));
  if (header == 0 && offset_ == 0) {
    // A damaged header of the usual size is skipped: blocks without a header of their own may follow it.
    const std::uint64_t usual = format_ == Compression::kGzip ? kUsualGzipHeader : kZlibHeader;
    bool good = false;
    RECORDSMITH_RETURN_IF_ERROR(inflates_from({usual * 8, true, false}, &good));
    if (good) {
      gaps_.push_back({InflateGap::Reason::kDamaged, 0, usual, 0});
      header = usual;
    }
  }
  if (header == 0) {
    return resume(offset_ == 0 ? InflateGap::Reason::kDamaged : InflateGap::Reason::kStray, offset_, offset_ * 8);
  }
  begin_checksum();
  is_restarted_ = false;
  block_bit_ = (offset_ + header) * 8;
  at_ = At::kBlocks;
  return stream_->begin(*file_, block_bit_, false);
}

Status InflateRecovery::inflate_some() {
  if (stream_->zlib.avail_in == 0 && !stream_->input_ended) RECORDSMITH_RETURN_IF_ERROR(stream_->fill(*file_));
  std::size_t got = 0;
  const int result = stream_->step(output_.data(), kOutputBytes, &got);
  RECORDSMITH_RETURN_IF_ERROR(write_out(output_.data(), got));
  stream_bytes_ += got;
  if (format_ == Compression::kGzip) {
    checksum_ = zng_crc32(checksum_, output_.data(), static_cast<std::uint32_t>(got));
  } else {
    checksum_ = zng_adler32(checksum_, output_.data(), static_cast<std::uint32_t>(got));
  }
  if (result == Z_STREAM_END) {
    offset_ = stream_->offset();
    at_ = At::kTrailer;
    return Status::ok();
  }
  if (result == Z_OK || result == Z_BUF_ERROR) {
    if (stream_->is_between_blocks()) block_bit_ = stream_->bit();
    if (got > 0 || !stream_->input_ended) return Status::ok();
    return resume(InflateGap::Reason::kCutOff, size_, block_bit_ + 1);
  }
  return resume(InflateGap::Reason::kDamaged, stream_->offset(), block_bit_ + 1);
}

Status InflateRecovery::check_trailer() {
  std::array<std::uint8_t, kGzipTrailer> trailer{};
  const std::size_t wanted = format_ == Compression::kGzip ? kGzipTrailer : kZlibTrailer;
  std::size_t got = 0;
  RECORDSMITH_RETURN_IF_ERROR(file_->read_at(offset_, trailer.data(), wanted, &got));
  const std::uint64_t begin = offset_;
  at_ = At::kMember;
  offset_ += got;
  if (got < wanted) {
    gaps_.push_back({InflateGap::Reason::kCutOff, begin, offset_, inflated_});
    return Status::ok();
  }
  if (is_restarted_) return Status::ok();
  std::array<std::uint8_t, kGzipTrailer> expected{};
  if (format_ == Compression::kGzip) {
    const auto length = static_cast<std::uint32_t>(stream_bytes_);
    std::memcpy(expected.data(), &checksum_, sizeof checksum_);
    std::memcpy(expected.data() + 4, &length, sizeof length);
  } else {
    for (unsigned i = 0; i < kZlibTrailer; ++i) expected[i] = static_cast<std::uint8_t>(checksum_ >> (24 - 8 * i));
  }
  if (trailer == expected) return Status::ok();
  gaps_.push_back({InflateGap::Reason::kChecksum, begin, offset_, inflated_});
  // The stream may have seemed to end where it did not: continue only where another one begins.
  std::uint64_t header = 0;
  if (offset_ < size_) RECORDSMITH_RETURN_IF_ERROR(header_size(offset_, &header));
  if (offset_ == size_ || header > 0) return Status::ok();
  return resume(InflateGap::Reason::kDamaged, begin, begin * 8);
}

Status InflateRecovery::resume(InflateGap::Reason reason, std::uint64_t failed_at, std::uint64_t from_bit) {
  Restart restart;
  RECORDSMITH_RETURN_IF_ERROR(find_restart(from_bit, &restart));
  const std::uint64_t end = restart.bit / 8;
  gaps_.push_back({reason, std::min(failed_at, end), end, inflated_});
  if (restart.is_member || end >= size_) {
    at_ = At::kMember;
    offset_ = end;
    return Status::ok();
  }
  at_ = At::kBlocks;
  is_restarted_ = true;
  block_bit_ = restart.bit;
  begin_checksum();
  return stream_->begin(*file_, restart.bit, true, restart.is_stored);
}

Status InflateRecovery::find_restart(std::uint64_t from_bit, Restart* restart) {
  const Buffer window(kInputBytes + kBlockHeader);
  std::uint64_t offset = from_bit / 8;
  unsigned first_bit = static_cast<unsigned>(from_bit % 8);
  bool good = false;
  while (offset < size_) {
    std::size_t got = 0;
    RECORDSMITH_RETURN_IF_ERROR(file_->read_at(offset, window.data(), kInputBytes, &got));
    if (got == 0) break;
    std::memset(window.data() + got, 0, kBlockHeader);
    const std::size_t stop = offset + got >= size_ ? got : got - kBlockHeader;
    for (std::size_t i = 0; i < stop; ++i, first_bit = 0) {
      const std::uint8_t* const at = window.data() + i;
      const std::uint64_t place = offset + i;
      if (first_bit == 0 && format_ == Compression::kGzip && at[0] == 0x1f && at[1] == 0x8b && at[2] == 8) {
        std::uint64_t header = 0;
        RECORDSMITH_RETURN_IF_ERROR(header_size(place, &header));
        if (header > 0) RECORDSMITH_RETURN_IF_ERROR(inflates_from({(place + header) * 8, true, false}, &good));
        *restart = {place * 8, true, false};
        if (good) return Status::ok();
      }
      if ((at[0] ^ at[2]) == 0xff && (at[1] ^ at[3]) == 0xff) {
        *restart = {place * 8, false, true};
        RECORDSMITH_RETURN_IF_ERROR(inflates_from(*restart, &good));
        if (good) return Status::ok();
      }
      for (unsigned bit = first_bit; bit < 8; ++bit) {
        if (!may_begin_block(at, bit)) continue;
        *restart = {place * 8 + bit, false, false};
        RECORDSMITH_RETURN_IF_ERROR(inflates_from(*restart, &good));
        if (good) return Status::ok();
      }
    }
    offset += stop;
  }
  *restart = {size_ * 8, false, false};
  return Status::ok();
}

Status InflateRecovery::inflates_from(const Restart& restart, bool* good) {
  *good = false;
  if (restart.bit / 8 >= size_) return Status::ok();
  RECORDSMITH_RETURN_IF_ERROR(trial_->begin(*file_, restart.bit, !restart.is_member, restart.is_stored));
  int blocks = 0;
  for (std::uint64_t inflated = 0; blocks < kBlocksOfTrial && inflated < kBytesOfTrial;) {
    if (trial_->zlib.avail_in == 0 && !trial_->input_ended) RECORDSMITH_RETURN_IF_ERROR(trial_->fill(*file_));
    std::size_t got = 0;
    const int result = trial_->step(output_.data(), kOutputBytes, &got);
    inflated += got;
    if (result == Z_STREAM_END) break;
    if (result != Z_OK && result != Z_BUF_ERROR) return Status::ok();
    if (trial_->is_between_blocks()) ++blocks;
    if (got == 0 && trial_->input_ended) {
      *good = inflated > 0 && !restart.is_stored;  // cut off: something must have been inflated
      return Status::ok();
    }
  }
  *good = true;
  return Status::ok();
}

}  // namespace recordsmith
