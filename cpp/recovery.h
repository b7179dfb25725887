// What is left of a damaged TFRecord file.
//
// A walk from record to record stops at the first bad length, since nothing else says where the next record begins.
// Here it goes on: the file is divided into pieces, one after the other, of which some can be kept.
//
//   file       := piece*
//   sound      whole records, both CRCs of which hold: kept byte for byte
//   mended     one record whose header is damaged and whose data is proven by its own CRC: kept with a new header
//   suspect    one record with a sound header and data that fails its CRC; the record after it begins where it should
//   doubtful   whole records that probably lie inside the data of a lost one (a TFRecord file stored in a record)
//   lost       bytes of which nothing can be said
//
// Where the walk ends, it stands at a place P at which a record ends and the next should begin. Then, in this order:
//
// 1. P has a sound header (its CRC holds), and a sound header or the file's end is where its length leads: only this
//    record is damaged, whatever it holds. (Unless a sound record reaches that place or goes across it: then bytes were
//    removed. A record stored inside cannot do that, since the outer one has its own CRC before its end.)
// 2. P has no sound header. Were only the header damaged, then the data is there, followed by its CRC and a sound
//    header (or the end) at some place E: with the CRC c(E) of everything from P to E - 4 at hand, which grows by one
//    step for each E, it takes one comparison per place to see whether it is the stored one. So a record with a wrong
//    length, a wrong CRC of the length, and bytes put into its header or removed from it comes back whole; and records
//    stored inside of it are not mistaken for records of the file.
// 3. Otherwise the next place T with a sound header is looked for, at every byte. It is believed if another sound
//    header or the end is where its length leads, or if its data CRC holds.
// 4. Is the record at T one of the file, or of a file stored inside the lost record? Nothing in the bytes decides that
//    for certain. What speaks for the inside: it has none of the features that known records have, or known records
//    hold records too, or it begins where the data of the lost one begins, or the lost one seems to end a few bytes off
//    its place. Then it and the sound records behind it are doubtful, unless one of them is like the known ones, or
//    they lead to the end of the file, or take more room than one record can. And where the file's end cuts a record
//    off, those found in it belong to it, unless they are like the known ones or reach the end exactly.
//    Known are those before, and the last ones of the file, if it ends soundly.
//
// Time: the walk is one pass of CRCs; the search for headers looks at each byte once, and computes CRCs of twelve bytes
// where a length is at all possible. All work that may have to be done again (looking ahead in 2 and 3) is paid from a
// credit that grows with the progress made, so that the whole is linear in the file's size, also for garbage and for
// files made to mislead. Memory: some windows of 256 KiB, and one entry a piece; never a record.
//
// Used by one thread at a time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "buffer_pool.h"
#include "byte_source.h"
#include "framing.h"
#include "status.h"

namespace recordsmith {

enum class PieceKind : std::uint8_t { kSound, kMended, kSuspect, kDoubtful, kLost };

const char* piece_kind_name(PieceKind kind);

struct Piece {
  PieceKind kind = PieceKind::kLost;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t records = 0;        // whole ones; none in lost bytes
  std::uint64_t data_begin = 0;     // of a mended or suspect record
  std::uint64_t data_size = 0;      // of it; of lost bytes with a header, what that claims
  bool header_is_sound = false;     // lost: a record did begin here
  std::uint64_t longest_zeros = 0;  // lost: its longest run of zero bytes
};

class RecordRecovery {
 public:
  // A plain file of records; a compressed one is inflated into another file first (inflate_recovery.h).
  static Status open(const std::string& path, std::unique_ptr<RecordRecovery>* recovery);

  // Goes on for about that many bytes; *done at the end of the file.
  Status advance(std::uint64_t bytes, bool* done);

  // In the order of the file, without gaps, up to offset().
  const std::vector<Piece>& pieces() const { return pieces_; }
  std::uint64_t offset() const { return offset_; }
  std::uint64_t size() const { return size_; }

  // Whole records of a sound or doubtful piece, from `begin`, which one of them has, to at most `end`: about
  // `target_bytes`, and at least one. Their CRCs are checked again, as the file may have changed.
  Status read_frames(std::uint64_t begin, std::uint64_t end, std::size_t target_bytes, Buffer* frames,
                     std::size_t* size) const;
  // A record with new framing around these bytes of the file.
  Status frame(std::uint64_t data_begin, std::uint64_t data_size, Buffer* framed) const;

 private:
  enum class Found : std::uint8_t { kSound, kBadData, kCut, kBadHeader };
  enum class Likeness : std::uint8_t { kAlike, kUnlike, kUnclear };
  struct Chain {
    std::uint64_t end;
    std::uint64_t records;
    bool reaches_end;  // of the file, exactly
    bool has_alike;    // one of them is like those known to be of the file
  };
  // A record that is lost, or whatever begins where one should.
  struct Lost {
    bool header_is_sound;
    bool is_cut;  // by the end of the file
    std::uint64_t begin;
    std::uint64_t claimed;  // bytes of data, by the header
    std::uint64_t next;     // the next believable place; kUnknown: not looked for yet
  };
  // A part of the file in memory.
  struct Window {
    Buffer bytes;
    std::uint64_t begin = 0;
    std::size_t size = 0;
  };

  explicit RecordRecovery(std::shared_ptr<const File> file, std::uint64_t size);

  // At least `needed` bytes from `offset` on; all of [offset, *end) are at hand.
  Status look(Window* window, std::uint64_t offset, std::size_t needed, const std::uint8_t** at,
              std::uint64_t* end) const;
  Status crc_of(Window* window, std::uint64_t begin, std::uint64_t size, std::uint32_t* crc) const;
  // Whether a sound header is at `offset`; false as well where the file ends first.
  Status has_header(std::uint64_t offset, std::uint64_t* length, bool* sound) const;
  // Whether a record may end at `offset`: the file does, or a sound header follows.
  Status is_met(std::uint64_t offset, bool* met) const;

  Status pass_sound_records(std::uint64_t limit);
  Status examine(Window* window, std::uint64_t offset, Found* found, std::uint64_t* end) const;
  Status pass_damage();
  Status pass_lost(const Lost& lost);
  Status find_believable(std::uint64_t from, std::uint64_t* place);
  Status mend(std::uint64_t begin, std::uint64_t next, std::optional<Piece>* mended);
  Status is_of_file(const Piece& mended, bool* belongs);
  Status mend_by_length(std::uint64_t begin, std::optional<Piece>* mended);
  Status mend_by_end(std::uint64_t begin, std::uint64_t limit, std::optional<Piece>* mended);
  Status belongs_to_file(std::uint64_t place, const Lost& lost, Chain* chain, bool* belongs);
  Status ends_nearby(const Lost& lost, const Chain& chain, bool* nearby);
  Status follow(std::uint64_t begin, std::uint64_t limit, Chain* chain);
  Status find_chain_to(std::uint64_t end, std::uint64_t* place);

  Status learn();
  Status learn_from(std::uint64_t begin, std::uint64_t end);
  void learn_payload(const std::uint8_t* payload, std::size_t size);
  Likeness compare_payload(const std::uint8_t* payload, std::size_t size) const;
  Status compare_data(std::uint64_t begin, std::uint64_t size, Likeness* likeness) const;
  Status compare(std::uint64_t place, Likeness* likeness) const;

  void add(Piece piece);
  Status add_lost(std::uint64_t begin, std::uint64_t end, bool header_is_sound, std::uint64_t claimed);
  std::uint64_t look_ahead() const;
  bool pay(std::uint64_t bytes);

  std::shared_ptr<const File> file_;
  std::uint64_t size_;
  std::uint64_t offset_ = 0;
  std::vector<Piece> pieces_;
  std::uint64_t largest_ = 0;  // framed size of the largest sound record
  std::uint64_t spent_ = 0;    // of the credit

  // What the sound records are like.
  std::size_t pieces_learned_ = 0;
  bool end_is_learned_ = false;
  std::uint64_t records_learned_ = 0;
  std::unordered_set<std::string> keys_;
  bool has_nested_records_ = false;

  mutable Window walk_;   // for what goes on in order
  mutable Window ahead_;  // for looks at other places
};

}  // namespace recordsmith
