// One file, record by record, past damaged ones if the caller wants that.
//
// Used by one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "base/status.h"
#include "files/byte_source.h"
#include "records/framing/framing.h"

namespace recordsmith {

class RecordStream {
 public:
  static Status open(const InputFile& input, bool verify, std::unique_ptr<RecordStream>* stream);

  // The next record, until the next call; nothing at the end. After a failure, the same call fails again.
  Status next(std::optional<RecordView>* record);
  // The next records together, about so many bytes of them; an empty block at the end. All are checked, or none, and a
  // failure is that of the first damaged one. Not to be mixed with next().
  Status next_block(std::size_t target_bytes, RecordBlock* block);
  // Whether the next call of next() has its record in memory already, so that it takes no time.
  bool is_ready() const { return position_ < block_.size(); }
  // After a failure: skips the damaged record. *found is false if no sound record follows.
  Status recover(bool* found);

  // Of the next record.
  std::uint64_t offset() const { return is_ready() ? block_[position_].offset : cursor_->offset(); }
  std::uint64_t number() const { return is_ready() ? block_[position_].number : cursor_->number(); }
  Compression compression() const { return compression_; }

 private:
  explicit RecordStream(bool verify) : verify_(verify) {}
  Status next_block();
  Status restart_at(std::uint64_t offset, std::uint64_t number);

  const bool verify_;
  std::shared_ptr<const File> file_;
  Compression compression_ = Compression::kNone;
  std::unique_ptr<RecordCursor> cursor_;
  RecordBlock block_;
  std::size_t position_ = 0;
};

}  // namespace recordsmith
