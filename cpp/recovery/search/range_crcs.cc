#include "recovery/search/range_crcs.h"

#include <algorithm>

#include "base/checksums/crc32c.h"
#include "base/checksums/crc_parts.h"
#include "records/framing/framing.h"

namespace recordsmith {
namespace {

// A small gap of sound records that were checked otherwise is read again; a larger one is left out.
constexpr std::uint64_t kLargestGap = std::uint64_t{1} << 20;

}  // namespace

Status RangeCrcs::crc_of(FileWindow* window, std::uint64_t begin, std::uint64_t size, std::uint32_t* crc) {
  if (crcs_.empty() || begin < begin_ || begin > known_end() + kLargestGap) start_at(begin);
  std::uint32_t before = 0;
  RECORDSMITH_RETURN_IF_ERROR(learn_up_to(window, begin));
  RECORDSMITH_RETURN_IF_ERROR(crc_up_to(*window, begin, &before));
  RECORDSMITH_RETURN_IF_ERROR(learn_up_to(window, begin + size));
  RECORDSMITH_RETURN_IF_ERROR(crc_up_to(*window, begin + size, crc));
  *crc = crc_of_rest(*crc, before, crc_shift(size));
  return Status::ok();
}

void RangeCrcs::forget_before(std::uint64_t offset) {
  while (crcs_.size() > 1 && begin_ + kBlockBytes <= offset) {
    crcs_.pop_front();
    begin_ += kBlockBytes;
  }
}

void RangeCrcs::start_at(std::uint64_t offset) {
  begin_ = offset / kBlockBytes * kBlockBytes;
  crcs_.assign(1, 0);
}

Status RangeCrcs::learn_up_to(FileWindow* window, std::uint64_t offset) {
  while (known_end() + kBlockBytes <= offset) {
    std::uint32_t crc = crcs_.back();
    const std::uint64_t end = known_end() + kBlockBytes;
    for (std::uint64_t at = known_end(); at < end;) {
      const std::uint8_t* bytes = nullptr;
      std::uint64_t present_end = 0;
      RECORDSMITH_RETURN_IF_ERROR(window->look(at, 1, &bytes, &present_end));
      const std::uint64_t part_end = std::min(end, present_end);
      crc = crc32c(bytes, static_cast<std::size_t>(part_end - at), crc);
      at = part_end;
    }
    crcs_.push_back(crc);
  }
  return Status::ok();
}

Status RangeCrcs::crc_up_to(const FileWindow& window, std::uint64_t offset, std::uint32_t* crc) const {
  const std::uint64_t block = (offset - begin_) / kBlockBytes;
  const std::uint64_t block_begin = begin_ + block * kBlockBytes;
  const auto size = static_cast<std::size_t>(offset - block_begin);
  const std::uint8_t* bytes = window.held(block_begin, size);
  if (bytes == nullptr) {
    std::size_t got = 0;
    RECORDSMITH_RETURN_IF_ERROR(file_.read_at(block_begin, part_.data(), size, &got));
    if (got < size) return truncated(file_.path(), offset, kUnknown, block_begin + got, offset);
    bytes = part_.data();
  }
  *crc = crc32c(bytes, size, crcs_[static_cast<std::size_t>(block)]);
  return Status::ok();
}

}  // namespace recordsmith
