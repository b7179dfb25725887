#include "recovery/destroyed_headers.h"

#include <algorithm>
#include <array>
#include <optional>

#include "base/checksums/crc32c.h"
#include "base/checksums/crc_parts.h"
#include "records/framing/framing.h"

namespace recordsmith {
namespace {

// The most records that are found at once; the walk comes back for the rest.
constexpr std::size_t kMostRecords = 1024;

// The CRC with one more byte, cheaper than a call for each.
constexpr std::array<std::uint32_t, 256> kByteSteps = [] {
  std::array<std::uint32_t, 256> steps{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc & 1) != 0 ? (crc >> 1) ^ crc_parts::kPolynomial : crc >> 1;
    steps[byte] = crc;
  }
  return steps;
}();

// The first place up to `limit` that has the CRC of everything from `data_begin` to there.
Status find_data_end(RecordWindows* windows, std::uint64_t data_begin, std::uint64_t limit,
                     std::optional<std::uint64_t>* end) {
  end->reset();
  constexpr std::uint64_t kLengthBytes = kHeaderBytes - kFooterBytes;
  const std::uint64_t size = windows->size();
  if (size < kFooterBytes) return Status::ok();
  limit = std::min(limit, size - kFooterBytes);
  // Eight bytes and their CRC are what the header of a stored record is, too.
  std::uint64_t ignored = 0;
  bool begins_with_header = false;
  if (data_begin <= limit) RECORDSMITH_RETURN_IF_ERROR(windows->has_header(data_begin, &ignored, &begins_with_header));
  std::uint32_t inverse_crc = ~std::uint32_t{0};
  for (std::uint64_t place = data_begin; place <= limit;) {
    const std::uint8_t* at = nullptr;
    std::uint64_t present_end = 0;
    RECORDSMITH_RETURN_IF_ERROR(windows->ahead().look(place, kFooterBytes, &at, &present_end));
    for (const std::uint64_t last = std::min(limit, present_end - kFooterBytes); place <= last; ++place, ++at) {
      if (mask_crc(~inverse_crc) == load_u32(at) && !(begins_with_header && place == data_begin + kLengthBytes)) {
        *end = place;
        return Status::ok();
      }
      inverse_crc = kByteSteps[(inverse_crc ^ *at) & 0xFF] ^ (inverse_crc >> 8);
    }
  }
  return Status::ok();
}

}  // namespace

Status find_proven_run(RecordWindows* windows, RecoveryProgress* progress, std::uint64_t begin, std::uint64_t limit,
                       ProvenRun* run) {
  *run = ProvenRun();
  while (run->records.size() < kMostRecords) {
    std::optional<std::uint64_t> end;
    RECORDSMITH_RETURN_IF_ERROR(find_data_end(windows, begin + kHeaderBytes, limit, &end));
    if (!end.has_value()) {
      progress->spend(std::min(limit, windows->size()) - std::min(begin, limit));
      return Status::ok();
    }
    run->records.push_back({begin, begin + kHeaderBytes, *end - begin - kHeaderBytes});
    begin = *end + kFooterBytes;
    RECORDSMITH_RETURN_IF_ERROR(windows->is_met(begin, &run->is_met));
    if (run->is_met) return Status::ok();
    limit = begin + progress->look_ahead();
  }
  return Status::ok();
}

}  // namespace recordsmith
