// Batches of columns from a list of files, in file order, decoded in advance on several threads.
//
//   plan a batch      one thread at a time: find where its records are
//   decode it         all threads: check the data CRCs and fill the columns
//   hand it over      in order
//
// Where records are small, finding them means reading them, and the block of bytes is passed to the decoding thread.
// Where they are large, only their headers are read, and the decoding thread reads the rest, a cache-sized piece at a
// time.
//
// It is much faster if the decoding thread reads the bytes itself, because they are then still in its processor's cache
// when they are checked and decoded. So where all records so far have one size, as those of dense features have, the
// planner guesses that the next batch continues like that, if a sound header (or the file's end) is where the guess
// puts it. The decoding thread walks from header to header in any case, and so notices a wrong guess. Then nothing that
// was planned after it is handed over: the batch and all that follows are planned again without guessing.
//
// The members of a gzip file that say how many records they have (inflated_member.h) are planned without inflating
// them. The decoding threads inflate them, each another one: a thread that would have to wait for a member inflates one
// that is needed soon. Such a plan is a guess too, and what is wrong with it, or with a record in it, is found by
// reading the file from its beginning.
//
// The identity of all files is noted before the first is read: a file that is replaced before its turn is a failure
// too. A file that was indexed must be unchanged since then, with as many records: what was appended since is not read,
// and an earlier end is a failure.
//
// Which batch a record falls into, and all values, do not depend on the number of threads or on guesses.
//
// At most threads + 2 batches exist at a time beside those that the caller holds. next() belongs to one thread at a
// time; threads start with the first next() and end with the object, or with the last batch.
#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/thread_team.h"
#include "columns/column_batch.h"
#include "columns/feature_plan.h"
#include "files/byte_source.h"
#include "records/framing/framing.h"
#include "records/inflated_member.h"

namespace recordsmith {

struct BatchOptions {
  std::size_t batch_size = 1;
  bool verify = true;      // check the data CRCs; length CRCs are always checked
  bool drop_last = false;  // leave out a last batch that is not full
  unsigned threads = 1;    // 0, or none can be started: decode in the calling thread
};

class BatchStream {
 public:
  BatchStream(std::vector<InputFile> inputs, std::shared_ptr<const FeaturePlan> plan, BatchOptions options);
  ~BatchStream();

  // The next batch; nothing at the end. Rows before a damaged record are delivered, as a shorter batch if need be,
  // before its failure is reported. After a failure the stream is at its end.
  Status next(std::optional<ColumnBatch>* batch);

 private:
  // Where planning stands.
  struct Position {
    std::size_t next_input = 0;
    std::shared_ptr<const File> file;  // none: the next input is to be opened
    Compression compression = Compression::kNone;
    std::uint64_t offset = 0;
    std::uint64_t number = 0;
    std::uint64_t records = kUnknown;  // of a file that was indexed
    std::uint64_t end = kUnknown;      // of its last record
    bool in_members = false;           // the records so far were planned by members of a gzip file
    std::uint64_t member = 0;          // where the one after them begins in the file

    // A plain file can be read again from any place.
    bool is_plain() const { return compression == Compression::kNone && file->is_seekable(); }
  };
  // Records of one file for one batch: their bytes, or where to read them.
  struct Piece {
    std::shared_ptr<const File> file;
    RecordBlock block;
    std::uint64_t offset = 0;
    std::uint64_t number = 0;
    std::size_t count = 0;
    std::uint64_t guessed_end = kUnknown;    // if the place of the next record is only guessed
    std::shared_ptr<InflatedMember> member;  // the records are in it, from `first` on
    std::size_t first = 0;

    bool is_guess() const { return guessed_end != kUnknown || member != nullptr; }
  };
  struct Work {
    Position start;
    bool is_repeatable = true;  // all of it is in plain files
    std::vector<Piece> pieces;
    std::vector<std::shared_ptr<InflatedMember>> ahead;  // members that are needed soon
    std::size_t records = 0;
    std::uint64_t bytes = 0;
    Status failure;             // comes after the records
    bool lacks_memory = false;  // and nothing else counts
    bool is_last = false;
  };
  struct Result {
    std::optional<ColumnBatch> batch;
    Status failure;
    bool lacks_memory = false;  // a flag, because there may be none for the words of a failure
    bool is_last = false;
    bool is_ready = false;
    std::optional<Position> plan_again;  // a guess was wrong: from here
  };

  Work plan_batch();
  Work plan_records();  // the same, and throws where memory runs out
  Status plan_piece(std::size_t wanted, Work* work);
  void start_at(Position position);  // and guess no more
  Status open_next(bool* is_end);
  Status hop(std::size_t wanted, Piece* piece);
  bool guess(std::size_t wanted, Piece* piece);
  bool plan_member(std::size_t wanted, Piece* piece);
  bool find_members();
  Status open_cursor();
  void move_by(const Piece& piece, std::uint64_t end);
  Status end_file();
  // Makes the decoder if there is none yet.
  Result decode(std::unique_ptr<BatchDecoder>* decoder, Work work) const;
  Status decode_piece(BatchDecoder* decoder, const Piece& piece, const Work& work, bool* is_wrong_guess) const;
  Status decode_member(BatchDecoder* decoder, const Piece& piece) const;
  void inflate(InflatedMember* member, const Work& work) const;
  Status decode_block(BatchDecoder* decoder, const RecordBlock& block, const std::string& path) const;
  void run();
  void stop();
  void plan_again_from(Position position);

  const std::vector<InputFile> inputs_;
  const std::shared_ptr<const FeaturePlan> plan_;
  const BatchOptions options_;
  std::vector<std::optional<FileFacts>> facts_;  // of the inputs, when the stream was made

  // The planner's state, guarded by planning_.
  std::mutex planning_;
  Position position_;
  std::unique_ptr<RecordCursor> cursor_;  // at the position, if records are read for finding them
  bool is_hopping_ = false;
  std::deque<std::shared_ptr<InflatedMember>> members_;  // the current one, and those after it
  std::size_t taken_ = 0;                                // records of the current one
  std::uint64_t framed_size_ = 0;                        // of all records lately; 0: they differ
  bool may_guess_ = true;
  bool planned_all_ = false;
  std::uint64_t next_ticket_ = 0;

  // Results on their way to the caller, guarded by handing_over_.
  std::mutex handing_over_;
  std::condition_variable changed_;
  std::vector<Result> results_;  // a ring: ticket t is at t % size
  std::uint64_t delivered_ = 0;
  bool stopping_ = false;

  bool is_started_ = false;
  ThreadTeam threads_;
  std::unique_ptr<BatchDecoder> own_decoder_;
  Status failure_to_come_;
  bool lacks_memory_ = false;
  bool ended_ = false;
};

}  // namespace recordsmith
