// Records at known places, in any order.
//
// Each header is checked against the length that the index gives, so that a stale index is noticed instead of served.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "framing.h"

namespace recordsmith {

struct RecordPlace {
  std::uint32_t file = 0;    // position in the list of files
  std::uint64_t offset = 0;  // of the header
  std::uint64_t length = 0;  // of the payload
  std::uint64_t number = 0;
};

using Files = std::span<const std::shared_ptr<const File>>;

// Holds the places against the sizes of the files: no memory may be taken for them before that. *total_bytes gets what
// the records take with their framing.
Status check_places(Files files, std::span<const RecordPlace> places, std::uint64_t* total_bytes);

// The records found at `places`, in that order; they point into `bytes`. Neighbours are fetched together. Plain files.
Status read_records(Files files, std::span<const RecordPlace> places, bool verify, Buffer* bytes,
                    std::vector<RecordView>* records);

// The payloads only, each to where the caller wants it, on up to `threads` threads. The places must have been checked.
Status read_payloads(Files files, std::span<const RecordPlace> places, bool verify, unsigned threads,
                     std::span<std::uint8_t* const> targets);

}  // namespace recordsmith
