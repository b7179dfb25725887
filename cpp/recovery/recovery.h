// Finds what can be saved of a damaged TFRecord file.
//
// A walk from record to record stops at the first bad length, since nothing else says where the next record begins.
// Recovery continues: it divides the file into pieces, one after the other, some of which can be kept.
//
//   file       := piece*
//   sound      whole records, both CRCs of which hold: kept byte for byte
//   repaired     one record whose header is damaged and whose data is proven by its own CRC: kept with a new header
//   suspect    one record with a sound header and data that fails its CRC; the record after it begins where it should
//   doubtful   whole records that are probably inside the data of a lost one (a TFRecord file stored in a record)
//   lost       all other bytes
//
// Where the walk ends, a record ends at a place P, and the next one should begin. Then, in this order:
//
// 1. P has a sound header (its CRC holds), and a sound header or the file's end is where its length leads: only this
//    record is damaged, whatever it holds. (Unless a sound record reaches that place or goes across it: then bytes were
//    removed. A record stored inside cannot do that, since the outer one has its own CRC before its end.)
// 2. P has no sound header, and the data and its CRC exist: the record is repaired (header_repair.h), and so are its
//    neighbours if their headers are destroyed too (destroyed_headers.h).
// 3. Otherwise the next place T with a sound header is searched, at every byte. It is accepted if another sound header
//    or the end is where its length leads, or if its data CRC holds (record_search.h).
// 4. Is the record at T one of the file, or of a file stored inside the lost record (record_membership.h)? In the
//    second case, it and the sound records behind it are doubtful.
//
// Time: the walk is one pass of CRCs; the search for headers looks at each byte once (header_search.h), and where long
// records overlap, their CRCs come from what is known of their parts (range_crcs.h). All other work that may have to be
// done again (looking ahead in 2, comparing in 4) is paid from a credit that grows with the progress made
// (recovery_progress.h). So the whole is linear in the file's size, also for garbage; a file made to mislead, with a
// sound header every twelve bytes, takes one or two seconds for each megabyte. Memory: some windows of 256 KiB
// (file_window.h), and one entry a piece; of records, one at a time and none above 1 MiB, to see what they are like.
//
// Used by one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/buffer_pool.h"
#include "base/status.h"
#include "files/byte_source.h"
#include "recovery/destroyed_headers.h"
#include "recovery/header_repair.h"
#include "recovery/record_membership.h"
#include "recovery/recovery_progress.h"
#include "recovery/search/record_search.h"
#include "recovery/search/record_windows.h"

namespace recordsmith {

enum class PieceKind : std::uint8_t { kSound, kRepaired, kSuspect, kDoubtful, kLost };

const char* piece_kind_name(PieceKind kind);

struct Piece {
  PieceKind kind = PieceKind::kLost;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t records = 0;        // whole ones; none in lost bytes
  std::uint64_t data_begin = 0;     // of a repaired or suspect record
  std::uint64_t data_size = 0;      // of it; of lost bytes with a header, what that claims
  bool header_is_sound = false;     // lost: a record did begin here
  std::uint64_t longest_zeros = 0;  // lost: its longest run of zero bytes

  bool is_kept() const { return kind == PieceKind::kSound || kind == PieceKind::kRepaired; }
};

class RecordRecovery {
 public:
  // A plain file of records; a compressed one is inflated into another file first (inflate_recovery.h).
  static Status open(const std::string& path, std::unique_ptr<RecordRecovery>* recovery);
  RecordRecovery(const RecordRecovery&) = delete;
  RecordRecovery& operator=(const RecordRecovery&) = delete;

  // Continues for about that many bytes; *done is true at the end of the file.
  Status advance(std::uint64_t bytes, bool* done);

  // In the order of the file, without gaps, up to offset().
  const std::vector<Piece>& pieces() const { return pieces_; }
  std::uint64_t offset() const { return progress_.offset(); }
  std::uint64_t size() const { return windows_.size(); }

  // Whole records of a sound or doubtful piece, from `begin`, which one of them has, to at most `end`: about
  // `target_bytes`, and at least one. Their CRCs are checked again, as the file may have changed.
  Status read_frames(std::uint64_t begin, std::uint64_t end, std::size_t target_bytes, Buffer* frames,
                     std::size_t* size) const;
  // A record with new framing around these bytes of the file.
  Status frame(std::uint64_t data_begin, std::uint64_t data_size, Buffer* framed) const;

 private:
  RecordRecovery(std::shared_ptr<const File> file, std::uint64_t size) : windows_(std::move(file), size) {}

  Status pass_sound_records(std::uint64_t limit);
  // What is at offset(), where no sound record is.
  Status pass_damage();
  Status pass_bad_header();
  Status pass_bad_data(const LostRecord& record);
  // `next` is the next acceptable place; kUnknown: not looked for yet.
  Status pass_lost(const LostRecord& lost, std::uint64_t next);

  Status learn();
  Status repair(std::uint64_t begin, std::uint64_t next, std::vector<RepairedRecord>* repaired);
  Status repair_run(std::uint64_t begin, std::uint64_t limit, std::vector<RepairedRecord>* repaired);

  void add(const Piece& piece);
  Status add_lost(std::uint64_t begin, std::uint64_t end, bool header_is_sound, std::uint64_t claimed);
  Status longest_zeros(std::uint64_t begin, std::uint64_t end, std::uint64_t* longest);

  Status changed_at(std::uint64_t offset) const;

  RecordWindows windows_;
  RecoveryProgress progress_;
  RecordSearch search_{&windows_};
  RecordMembership membership_{&windows_, &progress_, &search_};
  std::vector<Piece> pieces_;
};

}  // namespace recordsmith
