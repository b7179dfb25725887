// Records at known places, in any order.
//
// Neighbouring records are fetched with one read. Each header is checked against the length that the index gives, so
// that a stale index is noticed instead of served.
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

// The records found at `places`, in that order; they point into `bytes`. Plain files only.
Status read_records(std::span<const std::shared_ptr<const File>> files, std::span<const RecordPlace> places,
                    bool verify, Buffer* bytes, std::vector<RecordView>* records);

}  // namespace recordsmith
