// Decides whether a record belongs to the file, or to a file that is stored inside a record.
//
// After a damage, the next accepted record may be inside the data of the lost one. The bytes do not decide that for
// certain. Signs of the inside: the record has none of the features that known records have, or known records contain
// records too, or it begins where the data of the lost one begins, or the lost one seems to end a few bytes away from
// its place. Then it and the sound records after it are not records of the file, unless one of them resembles the known
// ones, or they lead to the end of the file, or take more space than one record can. And where the file's end cuts a
// record off, the records found in it belong to it, unless they resemble the known ones or reach the end exactly.
//
// Known are the records before, and the last ones of the file if it ends soundly.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/buffer_pool.h"
#include "base/status.h"
#include "records/framing/framing.h"
#include "recovery/header_repair.h"
#include "recovery/recovery_progress.h"
#include "recovery/search/record_likeness.h"
#include "recovery/search/record_search.h"
#include "recovery/search/record_windows.h"

namespace recordsmith {

// A lost record, or any bytes where one should begin.
struct LostRecord {
  std::uint64_t begin = 0;
  bool header_is_sound = false;
  std::uint64_t claimed = 0;  // bytes of data, by the header
  bool is_cut = false;        // by the end of the file

  std::uint64_t data_begin() const { return begin + kHeaderBytes; }
  std::uint64_t end() const { return begin + kFramingBytes + claimed; }  // by the header
};

class RecordMembership {
 public:
  // All must outlive it.
  RecordMembership(RecordWindows* windows, RecoveryProgress* progress, RecordSearch* search)
      : windows_(*windows), progress_(*progress), search_(*search) {}

  // Looks at some records of the file, which begin at `begin` and end at `end`.
  Status learn_before_damage(std::uint64_t begin, std::uint64_t end);
  // Looks once at those before the end of the file, which belong to the file because they lead there.
  Status learn_end();

  // Whether the record at `place` is one of the file. If not, the chain has the sound records from there, which are
  // not of the file either.
  Status is_of_file(std::uint64_t place, const LostRecord& lost, Chain* chain, bool* belongs);
  // The same for a repaired one: its header may also have been that of a stored record, if the damage hit the outer
  // one's too.
  Status is_of_file(const RepairedRecord& repaired, bool* belongs);
  // Whether it resembles the known ones, which proves it whatever follows.
  Status is_alike(const RepairedRecord& repaired, bool* alike);

 private:
  Status learn(std::uint64_t begin, std::uint64_t end, RecordLikeness::Learn what);
  Status compare(std::uint64_t place, Likeness* likeness);
  Status compare_data(std::uint64_t begin, std::uint64_t size, Likeness* likeness);
  Status read(std::uint64_t begin, std::uint64_t size, Buffer* payload, std::size_t* got) const;
  Status follow_to_alike(std::uint64_t begin, Chain* chain, bool* has_alike);
  Status ends_nearby(const LostRecord& lost, const Chain& chain, bool* nearby) const;

  RecordWindows& windows_;
  RecoveryProgress& progress_;
  RecordSearch& search_;
  RecordLikeness likeness_;
  std::uint64_t records_learned_ = 0;
  bool end_is_learned_ = false;
};

}  // namespace recordsmith
