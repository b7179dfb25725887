#include "columns/record_decoding.h"

namespace recordsmith {

Status decode_frames(const Frames& frames, BatchDecoder* decoder) {
  decoder->start(frames.count());
  for (std::size_t i = 0; i < frames.count(); ++i) {
    const std::span<const std::uint8_t> payload = frames.payload(i);
    Status status = decoder->add(payload.data(), payload.size());
    if (!status.is_ok()) return std::move(status).at("", kUnknown, i);
  }
  return Status::ok();
}

Status decode_places(Files files, std::span<const RecordPlace> places, bool verify, BatchDecoder* decoder,
                     std::uint64_t* bytes) {
  RECORDSMITH_RETURN_IF_ERROR(check_places(files, places, bytes));
  decoder->start(places.size(), static_cast<std::size_t>(*bytes));
  return visit_records(files, places, verify, [decoder](const RecordView& record, std::size_t slack) {
    return decoder->add(record.data, static_cast<std::size_t>(record.length), slack);
  });
}

}  // namespace recordsmith
