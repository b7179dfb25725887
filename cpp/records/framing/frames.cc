#include "records/framing/frames.h"

namespace recordsmith {

bool Frames::are_sound() const {
  if (offsets.empty()) return false;
  for (std::size_t i = 1; i < offsets.size(); ++i) {
    const std::uint64_t begin = offsets[i - 1];
    const std::uint64_t end = offsets[i];
    if (end > bytes.size() || begin > end || end - begin < kFramingBytes) return false;
  }
  return true;
}

Status append_every(const Frames& frames, std::size_t first, std::size_t step, RecordSink* sink, bool* sound) {
  *sound = true;
  for (std::size_t i = first; i < frames.count() && *sound; i += step) {
    const std::span<const std::uint8_t> frame = frames.frame(i);
    RECORDSMITH_RETURN_IF_ERROR(sink->append_frames(frame.data(), frame.size(), sound));
  }
  return Status::ok();
}

Status append_chosen(const Frames& frames, std::span<const std::int64_t> numbers, RecordSink* sink, bool* sound) {
  *sound = true;
  for (std::size_t i = 0; i < numbers.size() && *sound; ++i) {
    const std::span<const std::uint8_t> frame = frames.frame(static_cast<std::size_t>(numbers[i]));
    RECORDSMITH_RETURN_IF_ERROR(sink->append_frames(frame.data(), frame.size(), sound));
  }
  return Status::ok();
}

}  // namespace recordsmith
