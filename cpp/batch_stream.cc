#include "batch_stream.h"

#include <algorithm>
#include <exception>

#include "inflate_source.h"
#include "thread_team.h"

namespace recordsmith {
namespace {

constexpr std::uint64_t kLargeRecord = 8 << 10;
constexpr std::size_t kPieceBytes = std::size_t{16} << 20;   // of bytes that travel from the planner to a decoder
constexpr std::size_t kBlockBytes = std::size_t{256} << 10;  // of bytes that a decoder reads for itself

}  // namespace

BatchStream::BatchStream(std::vector<InputFile> inputs, std::shared_ptr<const FeaturePlan> plan, BatchOptions options)
    : inputs_(std::move(inputs)), plan_(std::move(plan)), options_(options) {}

BatchStream::~BatchStream() { stop(); }

void BatchStream::stop() {
  {
    const std::lock_guard lock(handing_over_);
    stopping_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

// --- planning ---

Status BatchStream::hop(std::size_t wanted, Piece* piece) {
  std::uint64_t size = 0;
  RECORDSMITH_RETURN_IF_ERROR(file_->size(&size));
  if (size < offset_) return truncated(file_->path(), offset_, number_, 0, kHeaderBytes);  // cut since it was read
  while (piece->count < wanted && offset_ < size) {
    std::uint8_t header[kHeaderBytes];
    std::size_t got = 0;
    RECORDSMITH_RETURN_IF_ERROR(file_->read_at(offset_, header, kHeaderBytes, &got));
    std::uint64_t length = 0;
    // Whatever is wrong here, the cursor finds it again and says it in full.
    if (got < kHeaderBytes || !read_header(header, &length) || size - offset_ < kFramingBytes ||
        length > size - offset_ - kFramingBytes) {
      cursor_ =
          std::make_unique<RecordCursor>(std::make_unique<FileStream>(file_, offset_), file_->path(), offset_, number_);
      break;
    }
    offset_ += length + kFramingBytes;
    ++number_;
    ++piece->count;
  }
  return Status::ok();
}

Status BatchStream::plan_piece(std::size_t wanted, Work* work) {
  if (file_ == nullptr) {
    if (next_input_ == inputs_.size()) {
      work->is_last = true;
      return Status::ok();
    }
    RECORDSMITH_RETURN_IF_ERROR(open_input(inputs_[next_input_++], &file_, &compression_));
    offset_ = number_ = 0;
    cursor_ = std::make_unique<RecordCursor>(open_stream(file_, compression_), file_->path());
    std::uint8_t header[kHeaderBytes];
    std::size_t got = 0;
    std::uint64_t length = 0;
    const bool may_hop = compression_ == Compression::kNone && file_->is_seekable();
    if (may_hop) RECORDSMITH_RETURN_IF_ERROR(file_->read_at(0, header, kHeaderBytes, &got));
    if (got == kHeaderBytes && read_header(header, &length) && length > kLargeRecord) cursor_.reset();
  }
  Piece piece;
  piece.file = file_;
  piece.offset = offset_;
  piece.number = number_;
  if (cursor_ == nullptr) {
    RECORDSMITH_RETURN_IF_ERROR(hop(wanted, &piece));
    if (piece.count == 0 && cursor_ == nullptr) {
      file_.reset();
    } else if (piece.count > 0 && cursor_ == nullptr && (offset_ - piece.offset) / piece.count <= kLargeRecord) {
      cursor_ =
          std::make_unique<RecordCursor>(std::make_unique<FileStream>(file_, offset_), file_->path(), offset_, number_);
    }
  } else {
    RECORDSMITH_RETURN_IF_ERROR(cursor_->next_block(wanted, kPieceBytes, &piece.block));
    piece.count = piece.block.size();
    offset_ = cursor_->offset();
    number_ = cursor_->number();
    const bool may_hop = compression_ == Compression::kNone && file_->is_seekable();
    if (piece.count == 0) {
      cursor_.reset();
      file_.reset();
    } else if (may_hop && (offset_ - piece.offset) / piece.count > kLargeRecord) {
      cursor_.reset();
    }
  }
  if (piece.count > 0) {
    work->records += piece.count;
    work->bytes += offset_ - piece.offset;
    work->pieces.push_back(std::move(piece));
  }
  return Status::ok();
}

BatchStream::Work BatchStream::plan_batch() {
  Work work;
  while (work.records < options_.batch_size && !work.is_last) {
    work.failure = plan_piece(options_.batch_size - work.records, &work);
    if (!work.failure.is_ok()) {
      work.is_last = true;
      return work;
    }
  }
  if (options_.drop_last && work.records < options_.batch_size) {
    work.pieces.clear();
    work.records = 0;
  }
  return work;
}

// --- decoding ---

Status BatchStream::decode_block(BatchDecoder* decoder, const RecordBlock& block, const std::string& path) const {
  for (std::size_t i = 0; i < block.size(); ++i) {
    const RecordView record = block[i];
    if (options_.verify) RECORDSMITH_RETURN_IF_ERROR(check_payload(record, path));
    Status status = decoder->add(record.data, record.length);
    if (!status.is_ok()) return std::move(status).at(path, record.offset, record.number);
  }
  return Status::ok();
}

BatchStream::Result BatchStream::decode(BatchDecoder* decoder, Work work) const {
  Result result;
  result.is_last = work.is_last;
  try {
    decoder->start(work.records, static_cast<std::size_t>(work.bytes));
    Status status;
    for (Piece& piece : work.pieces) {
      const std::string& path = piece.file->path();
      if (!piece.block.empty()) {
        status = decode_block(decoder, piece.block, path);
      } else {
        RecordCursor cursor(std::make_unique<FileStream>(piece.file, piece.offset), path, piece.offset, piece.number);
        RecordBlock block;
        for (std::size_t left = piece.count; left > 0 && status.is_ok(); left -= block.size()) {
          status = cursor.next_block(left, kBlockBytes, &block);
          if (status.is_ok() && block.empty()) {
            status = truncated(path, cursor.offset(), cursor.number(), 0, kHeaderBytes);  // cut since it was planned
          }
          if (status.is_ok()) status = decode_block(decoder, block, path);
        }
      }
      if (!status.is_ok()) break;
    }
    if (decoder->rows() > 0) result.batch = decoder->finish();
    result.failure = status.is_ok() ? std::move(work.failure) : std::move(status);
  } catch (const std::exception&) {
    result.batch.reset();
    result.failure = out_of_memory("decode a batch");
  }
  result.is_last |= !result.failure.is_ok();
  return result;
}

void BatchStream::run() {
  BatchDecoder decoder(plan_);
  for (;;) {
    Work work;
    std::uint64_t ticket;
    {
      const std::lock_guard planning(planning_);
      if (planned_all_) return;
      ticket = next_ticket_;
      {
        std::unique_lock lock(handing_over_);
        changed_.wait(lock, [&] { return stopping_ || ticket < delivered_ + results_.size(); });
        if (stopping_) return;
      }
      try {
        work = plan_batch();
      } catch (const std::exception&) {
        work = Work();
        work.failure = out_of_memory("read a batch");
        work.is_last = true;
      }
      ++next_ticket_;
      planned_all_ = work.is_last;
    }
    Result result = decode(&decoder, std::move(work));
    result.is_ready = true;
    {
      const std::lock_guard lock(handing_over_);
      results_[ticket % results_.size()] = std::move(result);
    }
    changed_.notify_all();
  }
}

// --- handing over ---

Status BatchStream::next(std::optional<ColumnBatch>* batch) {
  batch->reset();
  while (!ended_) {
    Result result;
    if (!is_started_) {
      is_started_ = true;
      results_ = std::vector<Result>(options_.threads + 2);
      start_threads(options_.threads, [this] { run(); }, &threads_);
    }
    if (threads_.empty()) {
      if (own_decoder_ == nullptr) own_decoder_ = std::make_unique<BatchDecoder>(plan_);
      result = decode(own_decoder_.get(), plan_batch());
    } else {
      std::unique_lock lock(handing_over_);
      Result& slot = results_[delivered_ % results_.size()];
      changed_.wait(lock, [&] { return slot.is_ready; });
      result = std::move(slot);
      slot = Result();
      ++delivered_;
      lock.unlock();
      changed_.notify_all();
    }
    if (!result.failure.is_ok() || result.is_last) {
      ended_ = true;
      failure_to_come_ = std::move(result.failure);
    }
    if (result.batch.has_value()) {
      *batch = std::move(result.batch);
      return Status::ok();
    }
  }
  stop();
  return std::exchange(failure_to_come_, Status());
}

}  // namespace recordsmith
