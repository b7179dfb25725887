#include "records/framing/frame_reading.h"

namespace recordsmith {
namespace {

constexpr std::uint64_t kWorthCall = 2048;  // bytes of a record

Status misplaced(const File& file, const RecordPlace& place) {
  RECORDSMITH_RETURN_IF_ERROR(file.check_unchanged());
  return Status::of(Code::kStaleIndex, "").at(file.path(), place.offset, place.number);
}

}  // namespace

bool are_better_read(Files files, std::span<const RecordPlace> places) {
  std::uint64_t bytes = 0;
  for (const RecordPlace& place : places) {
    if (files[place.file]->remote() != nullptr) return false;
    bytes += place.length;
  }
  return bytes >= kWorthCall * places.size();
}

Status read_frames(Files files, std::span<const RecordPlace> places, Buffer* frames) {
  std::uint64_t total = 0;
  RECORDSMITH_RETURN_IF_ERROR(check_places(files, places, &total));
  *frames = Buffer(static_cast<std::size_t>(total));
  std::uint8_t* to = frames->data();
  for (const RecordPlace& place : places) {
    const File& file = *files[place.file];
    const auto length = static_cast<std::size_t>(place.length);
    std::size_t got = 0;
    RECORDSMITH_RETURN_IF_ERROR(file.read_at(place.offset, to, length + kFramingBytes, &got));
    std::uint64_t claimed = 0;
    if (got < length + kFramingBytes || !read_header(to, &claimed) || claimed != length) return misplaced(file, place);
    const std::uint8_t* const payload = to + kHeaderBytes;
    RECORDSMITH_RETURN_IF_ERROR(
        compare_payload_crc(payload, length, load_u32(payload + length)).at(file.path(), place.offset, place.number));
    to += length + kFramingBytes;
  }
  std::vector<bool> is_checked(files.size());
  for (const RecordPlace& place : places) {
    if (is_checked[place.file]) continue;
    is_checked[place.file] = true;
    RECORDSMITH_RETURN_IF_ERROR(files[place.file]->check_unchanged());
  }
  return Status::ok();
}

}  // namespace recordsmith
