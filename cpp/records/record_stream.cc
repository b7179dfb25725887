#include "records/record_stream.h"

#include <algorithm>

#include "files/inflate_source.h"

namespace recordsmith {
namespace {

constexpr std::size_t kBlockBytes = std::size_t{256} << 10;

}  // namespace

Status RecordStream::open(const InputFile& input, bool verify, std::unique_ptr<RecordStream>* stream) {
  std::unique_ptr<RecordStream> opened(new RecordStream(verify));
  RECORDSMITH_RETURN_IF_ERROR(open_input(input, &opened->file_, &opened->compression_));
  opened->cursor_ = std::make_unique<RecordCursor>(open_stream(opened->file_, opened->compression_), input.path);
  *stream = std::move(opened);
  return Status::ok();
}

Status RecordStream::next_block() {
  position_ = 0;
  block_ = RecordBlock();
  return cursor_->next_block(~std::size_t{0}, kBlockBytes, &block_);
}

Status RecordStream::next_block(std::size_t target_bytes, RecordBlock* block) {
  RECORDSMITH_RETURN_IF_ERROR(cursor_->next_block(~std::size_t{0}, target_bytes, block));
  for (std::size_t i = 0; verify_ && i < block->size(); ++i) {
    RECORDSMITH_RETURN_IF_ERROR(check_payload((*block)[i], file_->path()));
  }
  return Status::ok();
}

Status RecordStream::next(std::optional<RecordView>* record) {
  record->reset();
  if (!is_ready()) RECORDSMITH_RETURN_IF_ERROR(next_block());
  if (block_.empty()) return Status::ok();
  if (verify_) RECORDSMITH_RETURN_IF_ERROR(check_payload(block_[position_], file_->path()));
  *record = block_[position_++];
  return Status::ok();
}

Status RecordStream::recover(bool* found) {
  *found = true;
  if (position_ + 1 < block_.size()) {  // a bad data CRC, and a sound header where the length leads
    ++position_;
    return Status::ok();
  }
  if (is_ready()) {
    const std::uint64_t damaged = block_[position_].offset;
    const std::uint64_t number = block_[position_].number + 1;
    // The length can be trusted only if a sound header, or the end, is where it leads.
    if (next_block().is_ok()) {
      *found = !block_.empty();
      return Status::ok();
    }
    if (file_->is_seekable()) RECORDSMITH_RETURN_IF_ERROR(restart_at(damaged, number));
  }
  return cursor_->resynchronise(found);
}

// A new cursor at an offset of the (inflated) file; a compressed file is inflated up to there again.
Status RecordStream::restart_at(std::uint64_t offset, std::uint64_t number) {
  std::unique_ptr<ByteStream> stream;
  if (compression_ == Compression::kNone) {
    stream = std::make_unique<FileStream>(file_, offset);
  } else {
    stream = open_stream(file_, compression_);
    const Buffer discarded(kBlockBytes);
    for (std::uint64_t left = offset; left > 0;) {
      std::size_t got = 0;
      const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(left, kBlockBytes));
      RECORDSMITH_RETURN_IF_ERROR(stream->read(discarded.data(), wanted, &got));
      if (got == 0) break;
      left -= got;
    }
  }
  cursor_ = std::make_unique<RecordCursor>(std::move(stream), file_->path(), offset, number);
  return Status::ok();
}

}  // namespace recordsmith
