#include "recovery/search/file_window.h"

#include <algorithm>

#include "base/checksums/crc32c.h"
#include "records/framing/framing.h"

namespace recordsmith {
namespace {

// A page more is read, as a window begins at a page of the file (byte_source.h).
constexpr std::size_t kWindowBytes = (std::size_t{256} << 10) + kPageSize;

}  // namespace

FileWindow::FileWindow(const File& file, std::uint64_t file_size)
    : file_(file), file_size_(file_size), bytes_(kWindowBytes) {}

Status FileWindow::look(std::uint64_t offset, std::size_t needed, const std::uint8_t** at, std::uint64_t* end) {
  needed = static_cast<std::size_t>(std::min<std::uint64_t>(needed, file_size_ - offset));
  if (held(offset, needed) == nullptr) RECORDSMITH_RETURN_IF_ERROR(move_to(offset));
  *at = bytes_.data() + (offset - begin_);
  *end = begin_ + size_;
  return Status::ok();
}

Status FileWindow::move_to(std::uint64_t offset) {
  begin_ = offset / kPageSize * kPageSize;
  const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(kWindowBytes, file_size_ - begin_));
  RECORDSMITH_RETURN_IF_ERROR(file_.read_at(begin_, bytes_.data(), wanted, &size_));
  Status unchanged = file_.check_unchanged();
  if (!unchanged.is_ok()) size_ = 0;
  RECORDSMITH_RETURN_IF_ERROR(std::move(unchanged));
  if (size_ == wanted) return Status::ok();
  const std::uint64_t present = begin_ + size_;  // cut meanwhile
  size_ = 0;
  return truncated(file_.path(), offset, kUnknown, present, file_size_);
}

Status FileWindow::crc_of(std::uint64_t begin, std::uint64_t size, std::uint32_t* crc) {
  *crc = 0;
  for (std::uint64_t left = size; left > 0;) {
    const std::uint8_t* at = nullptr;
    std::uint64_t end = 0;
    RECORDSMITH_RETURN_IF_ERROR(look(begin, 1, &at, &end));
    const auto part = static_cast<std::size_t>(std::min(left, end - begin));
    *crc = crc32c(at, part, *crc);
    begin += part;
    left -= part;
  }
  return Status::ok();
}

}  // namespace recordsmith
