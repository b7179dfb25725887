#include "recovery/search/record_search.h"

#include <algorithm>

#include "records/framing/framing.h"
#include "recovery/search/header_search.h"

namespace recordsmith {

Status RecordSearch::find_acceptable(std::uint64_t from, std::uint64_t* place) {
  const std::uint64_t size = windows_.size();
  for (std::uint64_t offset = from; size >= kFramingBytes && offset <= size - kFramingBytes;) {
    const std::uint8_t* first = nullptr;
    std::uint64_t end = 0;
    RECORDSMITH_RETURN_IF_ERROR(windows_.walk().look(offset, kHeaderBytes, &first, &end));
    const std::uint64_t last_offset = std::min(end - kHeaderBytes, size - kFramingBytes);
    const std::uint8_t* const last = first + (last_offset - offset);
    std::uint64_t length = 0;
    for (const std::uint8_t* at = first; (at = next_header(at, last, &length)) != nullptr; ++at) {
      *place = offset + static_cast<std::uint64_t>(at - first);
      bool accepted = false;
      RECORDSMITH_RETURN_IF_ERROR(is_acceptable(*place, length, &accepted));
      if (accepted) return Status::ok();
    }
    offset = last_offset + 1;
  }
  *place = size;
  return Status::ok();
}

// The header at `offset` is sound, and claims that length. Leaves the walk's window where it is.
Status RecordSearch::is_acceptable(std::uint64_t offset, std::uint64_t length, bool* accepted) {
  *accepted = false;
  if (length > windows_.size() - offset - kFramingBytes) return Status::ok();
  RECORDSMITH_RETURN_IF_ERROR(windows_.is_met(offset + kFramingBytes + length, accepted));
  if (*accepted) return Status::ok();
  Found found{};
  std::uint64_t ignored = 0;
  RECORDSMITH_RETURN_IF_ERROR(windows_.examine(&windows_.ahead(), offset, &found, &ignored));
  *accepted = found == Found::kSound;
  return Status::ok();
}

Status RecordSearch::find_chain_to(std::uint64_t from, std::uint64_t end, std::uint64_t* place) {
  for (;;) {
    RECORDSMITH_RETURN_IF_ERROR(find_acceptable(from, place));
    if (*place >= end) break;
    Chain chain;
    RECORDSMITH_RETURN_IF_ERROR(follow(*place, end, &chain));
    if (chain.end >= end) return Status::ok();
    from = std::max(*place + 1, chain.end);
  }
  *place = end;
  return Status::ok();
}

Status RecordSearch::extend(Chain* chain, bool* extended) {
  *extended = false;
  if (chain->reaches_end) return Status::ok();
  Found found{};
  std::uint64_t end = 0;
  RECORDSMITH_RETURN_IF_ERROR(windows_.examine(&windows_.ahead(), chain->end, &found, &end));
  if (found != Found::kSound) return Status::ok();
  *extended = true;
  *chain = {end, chain->records + 1, end == windows_.size()};
  return Status::ok();
}

Status RecordSearch::follow(std::uint64_t begin, std::uint64_t limit, Chain* chain) {
  *chain = chain_at(begin);
  for (bool extended = true; extended && chain->end < limit;) RECORDSMITH_RETURN_IF_ERROR(extend(chain, &extended));
  return Status::ok();
}

}  // namespace recordsmith
