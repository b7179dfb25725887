#include "recovery/search/record_windows.h"

#include <algorithm>
#include <array>

#include "base/checksums/crc32c.h"
#include "records/framing/framing.h"
#include "recovery/search/header_search.h"

namespace recordsmith {
namespace {

// Up to this size, a CRC is computed from the bytes themselves: they are in the window, or will be.
constexpr std::uint64_t kLongData = std::uint64_t{256} << 10;

}  // namespace

RecordWindows::RecordWindows(std::shared_ptr<const File> file, std::uint64_t size)
    : file_(std::move(file)), size_(size), walk_(*file_, size), ahead_(*file_, size), crcs_(*file_) {}

Status RecordWindows::has_header(std::uint64_t offset, std::uint64_t* length, bool* sound) const {
  *sound = false;
  if (offset > size_ || size_ - offset < kHeaderBytes) return Status::ok();
  std::array<std::uint8_t, kHeaderBytes> header;
  const std::uint8_t* at = walk_.held(offset, kHeaderBytes);
  if (at == nullptr) {
    std::size_t got = 0;
    RECORDSMITH_RETURN_IF_ERROR(file_->read_at(offset, header.data(), kHeaderBytes, &got));
    if (got < kHeaderBytes) return Status::ok();
    at = header.data();
  }
  *sound = is_header(at, length);
  return Status::ok();
}

Status RecordWindows::is_met(std::uint64_t offset, bool* met) const {
  std::uint64_t length = 0;
  *met = offset == size_;
  return *met ? Status::ok() : has_header(offset, &length, met);
}

Status RecordWindows::examine(FileWindow* window, std::uint64_t offset, Found* found, std::uint64_t* end) {
  *found = Found::kBadHeader;
  *end = size_;
  std::uint64_t length = 0;
  bool sound = false;
  RECORDSMITH_RETURN_IF_ERROR(has_header(offset, &length, &sound));
  if (!sound) return Status::ok();
  *end = offset + kFramingBytes + length;
  if (*end > size_) {
    *found = Found::kCut;
    return Status::ok();
  }
  std::uint32_t crc = 0;
  RECORDSMITH_RETURN_IF_ERROR(length < kLongData ? window->crc_of(offset + kHeaderBytes, length, &crc)
                                                 : crcs_.crc_of(window, offset + kHeaderBytes, length, &crc));
  std::array<std::uint8_t, kFooterBytes> footer;
  std::size_t got = 0;
  RECORDSMITH_RETURN_IF_ERROR(file_->read_at(*end - kFooterBytes, footer.data(), kFooterBytes, &got));
  *found = got == kFooterBytes && mask_crc(crc) == load_u32(footer.data()) ? Found::kSound : Found::kBadData;
  return Status::ok();
}

}  // namespace recordsmith
