// Records at known places with their framing, read instead of mapped.
//
// A mapping is faster for small records, and for places that are read again (record_access.h). But the pages that it
// touches count as memory of the process. For larger records that are read once, one call of the system each is as
// fast.
#pragma once

#include <span>

#include "base/buffer_pool.h"
#include "records/record_access.h"

namespace recordsmith {

// Whether these records are better read than mapped: they are local, and not small.
bool are_better_read(Files files, std::span<const RecordPlace> places);

// The frames of `places`, one after the other, all verified. Plain files.
Status read_frames(Files files, std::span<const RecordPlace> places, Buffer* frames);

}  // namespace recordsmith
