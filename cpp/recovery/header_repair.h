// Records whose header is damaged and whose data is proven by its own CRC.
//
// A record should begin at P, and there is no sound header. Were only the header damaged, then the data is there,
// followed by its CRC and a sound header (or the end of the file) at some place E: with the CRC c(E) of everything from
// P to E - 4 at hand, which grows by one step for each E, it takes one comparison per place to see whether it is the
// stored one. So a record with a wrong length, a wrong CRC of the length, and bytes put into its header or removed from
// it comes back whole; and records stored inside of it are not mistaken for records of the file.
//
// Where no such end is found, because the next header is damaged too, one half of the header may still be right: the
// length, or its CRC, to which some length belongs.
#pragma once

#include <cstdint>
#include <optional>

#include "base/status.h"
#include "records/framing.h"
#include "recovery/recovery_progress.h"
#include "recovery/search/record_windows.h"

namespace recordsmith {

// So many bytes at most were put in at one place, where some were.
inline constexpr std::uint64_t kMostInserted = 64;

struct MendedRecord {
  std::uint64_t begin = 0;  // where its header should have been
  std::uint64_t data_begin = 0;
  std::uint64_t data_size = 0;

  std::uint64_t end() const { return data_begin + data_size + kFooterBytes; }
  // Whether its header had the size of one.
  bool is_in_place() const { return data_begin == begin + kHeaderBytes; }
};

// The record that should begin at `begin`, if it can be mended. `next` is the next place behind it with a record that
// can be believed, or `begin`, if none was looked for.
Status mend_header(RecordWindows* windows, RecoveryProgress* progress, std::uint64_t begin, std::uint64_t next,
                   std::optional<MendedRecord>* mended);

}  // namespace recordsmith
