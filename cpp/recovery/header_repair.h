// Repairs records whose header is damaged and whose data is proven by its own CRC.
//
// A record should begin at P, where there is no sound header. If only the header is damaged, the data exists, followed
// by its CRC and a sound header (or the end of the file) at some place E. The CRC c(E) of everything from P to E - 4
// grows by one step for each E, so it takes one comparison per place to see whether it is the stored one. So a record
// with a wrong length, a wrong CRC of the length, or bytes inserted into or removed from its header is recovered whole;
// and records stored inside of it are not mistaken for records of the file.
//
// Where no such end is found, because the next header is damaged too, one half of the header may still be right: the
// length, or its CRC, to which some length belongs.
#pragma once

#include <cstdint>
#include <optional>

#include "base/status.h"
#include "records/framing/framing.h"
#include "recovery/recovery_progress.h"
#include "recovery/search/record_windows.h"

namespace recordsmith {

// The largest number of bytes that are assumed to be inserted at one place.
inline constexpr std::uint64_t kMostInserted = 64;

struct RepairedRecord {
  std::uint64_t begin = 0;  // where its header should have been
  std::uint64_t data_begin = 0;
  std::uint64_t data_size = 0;

  std::uint64_t end() const { return data_begin + data_size + kFooterBytes; }
  // Whether its header had the size of one.
  bool is_in_place() const { return data_begin == begin + kHeaderBytes; }
};

// The record that should begin at `begin`, if it can be repaired. `next` is the next place after it with an accepted
// record, or `begin` if none was searched for.
Status repair_header(RecordWindows* windows, RecoveryProgress* progress, std::uint64_t begin, std::uint64_t next,
                     std::optional<RepairedRecord>* repaired);

}  // namespace recordsmith
