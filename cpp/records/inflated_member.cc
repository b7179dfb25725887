#include "records/inflated_member.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <exception>

#include "files/inflate_source.h"

namespace recordsmith {
namespace {

// A larger member is read in order, which takes little memory whatever it claims.
constexpr std::uint64_t kMostBytes = std::uint64_t{64} << 20;

// A part of a file.
class FilePart final : public ByteStream {
 public:
  FilePart(std::shared_ptr<const File> file, std::uint64_t offset, std::uint64_t size)
      : stream_(std::move(file), offset), left_(size) {}

  Status read(std::uint8_t* to, std::size_t wanted, std::size_t* got) override {
    *got = 0;
    const auto most = static_cast<std::size_t>(std::min<std::uint64_t>(wanted, left_));
    if (most > 0) RECORDSMITH_RETURN_IF_ERROR(stream_.read(to, most, got));
    left_ -= *got;
    return Status::ok();
  }
  Status remaining(std::uint64_t* bytes) const override {
    *bytes = left_;
    return Status::ok();
  }

 private:
  FileStream stream_;
  std::uint64_t left_;
};

std::uint16_t load_u16(const std::uint8_t* at) {
  std::uint16_t value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

}  // namespace

std::optional<MemberClaim> read_claim(const File& file, std::uint64_t offset, std::uint64_t file_size) {
  constexpr std::size_t kFixedBytes = 12;
  constexpr std::size_t kFieldBytes = 12;  // 'R' 'S', the size of the field, and the two numbers
  std::array<std::uint8_t, 64> head;       // other fields may come before
  std::size_t got = 0;
  if (!file.read_at(offset, head.data(), head.size(), &got).is_ok() || got < kFixedBytes) return std::nullopt;
  if (head[0] != 0x1f || head[1] != 0x8b || head[2] != 8 || (head[3] & 4) == 0) return std::nullopt;
  const std::size_t end = std::min<std::size_t>(got, kFixedBytes + load_u16(head.data() + 10));
  for (std::size_t at = kFixedBytes; at + 4 <= end; at += 4 + load_u16(head.data() + at + 2)) {
    if (head[at] != 'R' || head[at + 1] != 'S' || load_u16(head.data() + at + 2) != 8 || at + kFieldBytes > end) {
      continue;
    }
    const MemberClaim claim{offset, load_u32(head.data() + at + 4), load_u32(head.data() + at + 8)};
    const bool is_possible = claim.length > end && claim.length <= std::min(file_size - offset, kMostBytes) &&
                             claim.records > 0 && claim.records <= kMostBytes / kFramingBytes;
    return is_possible ? std::optional(claim) : std::nullopt;
  }
  return std::nullopt;
}

bool InflatedMember::try_inflate() {
  if (is_done_.load(std::memory_order_acquire)) return true;
  const std::unique_lock lock(inflating_, std::try_to_lock);
  if (!lock.owns_lock()) return false;
  if (!is_done_.load(std::memory_order_relaxed)) inflate();
  return true;
}

void InflatedMember::wait() {
  const std::lock_guard lock(inflating_);
  if (!is_done_.load(std::memory_order_relaxed)) inflate();
}

void InflatedMember::inflate() {
  try {
    InflateStream stream(std::make_unique<FilePart>(file_, claim_.offset, claim_.length), Compression::kGzip,
                         file_->path());
    PooledArray<std::uint8_t> bytes;
    bytes.reserve(static_cast<std::size_t>(std::min(4 * claim_.length, kMostBytes)), 0);
    std::size_t size = 0;
    for (std::size_t got = 1; got > 0 && size < kMostBytes; size += got) {
      bytes.reserve(size + 1, size);
      if (!stream.read(bytes.data() + size, bytes.capacity() - size, &got).is_ok()) size = kMostBytes;
    }
    bytes_ = bytes.release();
    is_sound_ = size < kMostBytes && find_records(size);
  } catch (const std::exception&) {  // no memory: reading in order takes less
    is_sound_ = false;
  }
  is_done_.store(true, std::memory_order_release);
}

bool InflatedMember::find_records(std::size_t size) {
  starts_.reserve(static_cast<std::size_t>(std::min<std::uint64_t>(claim_.records, size / kFramingBytes)) + 1);
  std::size_t at = 0;
  while (at < size && starts_.size() < claim_.records) {
    std::uint64_t length = 0;
    if (size - at < kFramingBytes || !read_header(bytes_.data() + at, &length)) return false;
    if (length > size - at - kFramingBytes) return false;
    starts_.push_back(at);
    at += static_cast<std::size_t>(length) + kFramingBytes;
  }
  const bool is_whole = at == size && starts_.size() == claim_.records;
  starts_.push_back(at);
  return is_whole;
}

RecordView InflatedMember::record(std::size_t index) const {
  return {bytes_.data() + starts_[index] + kHeaderBytes, starts_[index + 1] - starts_[index] - kFramingBytes,
          starts_[index], index};
}

std::size_t InflatedMember::bytes_after(std::size_t index) const {
  return bytes_.capacity() - static_cast<std::size_t>(starts_[index + 1]) + kFooterBytes;
}

}  // namespace recordsmith
