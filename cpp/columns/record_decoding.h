// Records in memory, or at known places of files, decoded into columns.
#pragma once

#include <cstdint>
#include <span>

#include "base/status.h"
#include "columns/column_batch.h"
#include "records/framing/frames.h"
#include "records/record_access.h"

namespace recordsmith {

// Starts a batch and adds framed records, whose checksums the caller has checked.
Status decode_frames(const Frames& frames, BatchDecoder* decoder);

// Starts a batch and adds the records at `places`, in that order. *bytes is how much was read.
Status decode_places(Files files, std::span<const RecordPlace> places, bool verify, BatchDecoder* decoder,
                     std::uint64_t* bytes);

}  // namespace recordsmith
