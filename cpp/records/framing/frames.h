// Records with their framing, one after the other in memory, and where each of them begins.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/status.h"
#include "records/framing/framing.h"
#include "records/record_sink.h"

namespace recordsmith {

struct Frames {
  std::span<const std::uint8_t> bytes;
  std::span<const std::uint64_t> offsets;  // of the records, and the end

  // Whether each record has room for its framing and is inside the bytes. Call it before the others.
  bool are_sound() const;
  std::size_t count() const { return offsets.size() - 1; }
  std::span<const std::uint8_t> frame(std::size_t record) const {
    return bytes.subspan(static_cast<std::size_t>(offsets[record]),
                         static_cast<std::size_t>(offsets[record + 1] - offsets[record]));
  }
  std::span<const std::uint8_t> payload(std::size_t record) const {
    const std::span<const std::uint8_t> framed = frame(record);
    return framed.subspan(kHeaderBytes, framed.size() - kFramingBytes);
  }
};

// Both append records with the framing that they have. *sound is false if that framing is wrong.
//
// Every step-th record, starting with `first`.
Status append_every(const Frames& frames, std::size_t first, std::size_t step, RecordSink* sink, bool* sound);
// The records with these numbers, in this order.
Status append_chosen(const Frames& frames, std::span<const std::int64_t> numbers, RecordSink* sink, bool* sound);

}  // namespace recordsmith
