#include "columns/record_decoding.h"

#include <vector>

#include "base/pauses.h"

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
  Buffer memory;
  std::vector<RecordView> records;
  RECORDSMITH_RETURN_IF_ERROR(read_records(files, places, verify, &memory, &records));
  *bytes = memory.capacity();
  decoder->start(records.size());
  Pauses pauses;
  for (std::size_t i = 0; i < records.size(); ++i) {
    Status status = decoder->add(records[i].data, records[i].length);
    if (!status.is_ok()) {
      return std::move(status).at(files[places[i].file]->path(), records[i].offset, records[i].number);
    }
    pauses.after(static_cast<std::size_t>(records[i].length));
  }
  return Status::ok();
}

}  // namespace recordsmith
