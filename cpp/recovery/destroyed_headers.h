// Finds neighbouring records whose headers are all destroyed, and whose data is proven by its own CRCs.
//
// A record should begin at P, its header is destroyed, and so is that of the next one: no sound header says where the
// first ends. Its data still begins twelve bytes after P and is followed by its CRC. So the CRC is computed from there,
// and compared with the next four bytes at every place: where they agree, the record ends, and the next begins.
//
// Among n places one agrees by chance once in 2^32 / n files. So a record counts only if another one, found in the same
// way, begins at its end, or a sound header or the end of the file is there, or if it resembles the known records
// (record_membership.h decides that).
#pragma once

#include <cstdint>
#include <vector>

#include "base/status.h"
#include "recovery/header_repair.h"
#include "recovery/recovery_progress.h"
#include "recovery/search/record_windows.h"

namespace recordsmith {

struct ProvenRun {
  std::vector<RepairedRecord> records;  // each where the one before ends
  bool is_met = false;                  // what follows the last is a sound header, or the end of the file
};

// The records from `begin` up to a sound header. The end of the first is searched up to `limit`, that of others as far
// as the credit allows.
Status find_proven_run(RecordWindows* windows, RecoveryProgress* progress, std::uint64_t begin, std::uint64_t limit,
                       ProvenRun* run);

}  // namespace recordsmith
