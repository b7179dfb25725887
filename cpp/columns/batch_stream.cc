#include "columns/batch_stream.h"

#include <algorithm>
#include <exception>

#include "files/inflate_source.h"

namespace recordsmith {
namespace {

constexpr std::size_t kPieceBytes = std::size_t{16} << 20;   // of bytes that the planner passes to a decoder
constexpr std::size_t kBlockBytes = std::size_t{128} << 10;  // of bytes that a decoder reads itself: two are in use

// From this size, it is worth letting the decoder read guessed records itself: it reads a little beyond them.
constexpr std::uint64_t kWorthGuessing = std::uint64_t{1} << 20;

}  // namespace

BatchStream::BatchStream(std::vector<InputFile> inputs, std::shared_ptr<const FeaturePlan> plan, BatchOptions options)
    : inputs_(std::move(inputs)), plan_(std::move(plan)), options_(options) {
  for (const InputFile& input : inputs_) facts_.push_back(look_at(input.path));
}

BatchStream::~BatchStream() { stop(); }

void BatchStream::stop() {
  {
    const std::lock_guard lock(handing_over_);
    stopping_ = true;
  }
  changed_.notify_all();
  threads_.join();
}

void BatchStream::plan_again_from(Position position) {
  stop();
  stopping_ = false;
  start_at(std::move(position));
  planned_all_ = false;
  next_ticket_ = delivered_;
  is_started_ = false;  // with a new team of threads
}

// --- planning ---

void BatchStream::start_at(Position position) {
  position_ = std::move(position);
  cursor_.reset();
  members_.clear();
  taken_ = 0;
  is_hopping_ = false;
  framed_size_ = 0;
  may_guess_ = false;
}

Status BatchStream::open_next(bool* is_end) {
  *is_end = position_.next_input == inputs_.size();
  if (*is_end) return Status::ok();
  position_.offset = position_.number = position_.member = 0;
  position_.in_members = false;
  cursor_.reset();
  members_.clear();
  taken_ = 0;
  is_hopping_ = false;
  framed_size_ = 0;
  const InputFile& input = inputs_[position_.next_input++];
  RECORDSMITH_RETURN_IF_ERROR(open_input(input, &position_.file, &position_.compression));
  const KnownFile known = input.known.value_or(KnownFile());
  position_.records = known.records;
  position_.end = known.end;
  const std::optional<FileFacts>& before = facts_[position_.next_input - 1];
  if (before.has_value()) RECORDSMITH_RETURN_IF_ERROR(position_.file->check_same(*before));
  if (!position_.is_plain()) return Status::ok();
  std::uint8_t header[kHeaderBytes];
  std::size_t got = 0;
  std::uint64_t length = 0;
  RECORDSMITH_RETURN_IF_ERROR(position_.file->read_at(0, header, kHeaderBytes, &got));
  if (got == kHeaderBytes && read_header(header, &length)) {
    is_hopping_ = length > kLargeRecord;
    framed_size_ = length + kFramingBytes;
  }
  return Status::ok();
}

bool BatchStream::guess(std::size_t wanted, Piece* piece) {
  std::uint64_t size = 0;
  if (framed_size_ < kFramingBytes || !position_.file->size(&size).is_ok() || size <= position_.offset) return false;
  const std::uint64_t count = std::min<std::uint64_t>(wanted, (size - position_.offset) / framed_size_);
  if (count * framed_size_ < kWorthGuessing) return false;
  const std::uint64_t end = position_.offset + count * framed_size_;
  if (end != size) {
    std::uint8_t header[kHeaderBytes];
    std::size_t got = 0;
    std::uint64_t length = 0;
    const bool is_read = position_.file->read_at(end, header, kHeaderBytes, &got).is_ok() && got == kHeaderBytes;
    if (!is_read || !read_header(header, &length)) return false;
  }
  piece->count = static_cast<std::size_t>(count);
  piece->guessed_end = end;
  return true;
}

// The members from the current one on, as many as threads can work on.
bool BatchStream::find_members() {
  std::uint64_t size = 0;
  if (!position_.file->size(&size).is_ok()) return false;
  std::uint64_t next =
      members_.empty() ? position_.member : members_.back()->claim().offset + members_.back()->claim().length;
  while (members_.size() <= options_.threads && next < size) {
    const std::optional<MemberClaim> claim = read_claim(*position_.file, next, size);
    if (!claim.has_value()) break;
    members_.push_back(std::make_shared<InflatedMember>(position_.file, *claim));
    next += claim->length;
  }
  return !members_.empty();
}

bool BatchStream::plan_member(std::size_t wanted, Piece* piece) {
  if (!find_members()) return false;
  position_.in_members = true;
  piece->member = members_.front();
  piece->first = taken_;
  piece->count = std::min(wanted, static_cast<std::size_t>(piece->member->claim().records) - taken_);
  position_.number += piece->count;
  taken_ += piece->count;
  if (taken_ == piece->member->claim().records) {
    position_.member = piece->member->claim().offset + piece->member->claim().length;
    members_.pop_front();
    taken_ = 0;
  }
  return true;
}

// A cursor at the position. A compressed file is read from its beginning.
Status BatchStream::open_cursor() {
  const bool is_plain = position_.is_plain();
  cursor_ = std::make_unique<RecordCursor>(is_plain ? std::make_unique<FileStream>(position_.file, position_.offset)
                                                    : open_stream(position_.file, position_.compression),
                                           position_.file->path(), is_plain ? position_.offset : 0,
                                           is_plain ? position_.number : 0);
  RecordBlock passed;
  while (cursor_->number() < position_.number) {
    const auto left = static_cast<std::size_t>(position_.number - cursor_->number());
    RECORDSMITH_RETURN_IF_ERROR(cursor_->next_block(left, kBlockBytes, &passed));
    if (passed.empty()) break;
  }
  position_.offset = cursor_->offset();
  position_.in_members = false;
  return Status::ok();
}

Status BatchStream::hop(std::size_t wanted, Piece* piece) {
  const File& file = *position_.file;
  std::uint64_t size = 0;
  RECORDSMITH_RETURN_IF_ERROR(file.check_unchanged(&size));
  std::uint64_t offset = position_.offset;
  while (piece->count < wanted && offset < size) {
    std::uint8_t header[kHeaderBytes];
    std::size_t got = 0;
    RECORDSMITH_RETURN_IF_ERROR(file.read_at(offset, header, kHeaderBytes, &got));
    std::uint64_t length = 0;
    // The cursor finds any failure again and describes it completely.
    if (got < kHeaderBytes || !read_header(header, &length) || size - offset < kFramingBytes ||
        length > size - offset - kFramingBytes) {
      is_hopping_ = false;
      break;
    }
    offset += length + kFramingBytes;
    ++piece->count;
  }
  move_by(*piece, offset);
  return Status::ok();
}

void BatchStream::move_by(const Piece& piece, std::uint64_t end) {
  position_.offset = end;
  position_.number += piece.count;
}

Status BatchStream::end_file() {
  cursor_.reset();
  const std::shared_ptr<const File> file = std::move(position_.file);
  position_.file.reset();
  std::uint64_t size = 0;
  RECORDSMITH_RETURN_IF_ERROR(file->check_unchanged(&size));
  const bool is_end = position_.in_members ? position_.member == size : position_.offset == position_.end;
  const bool is_whole = position_.number == position_.records && is_end;
  if (position_.records == kUnknown || is_whole) return Status::ok();
  Failure failure;
  failure.code = Code::kStaleIndex;
  return Status(std::move(failure)).at(file->path(), position_.offset, position_.number);
}

Status BatchStream::plan_piece(std::size_t wanted, Work* work) {
  if (position_.file == nullptr) {
    RECORDSMITH_RETURN_IF_ERROR(open_next(&work->is_last));
    if (work->is_last) return Status::ok();
  }
  const std::uint64_t left = position_.records - std::min(position_.records, position_.number);
  if (left == 0) return end_file();
  wanted = static_cast<std::size_t>(std::min<std::uint64_t>(wanted, left));
  const bool is_plain = position_.is_plain();
  const bool may_have_members = may_guess_ && work->is_repeatable && cursor_ == nullptr && !is_plain &&
                                position_.compression == Compression::kGzip && position_.file->is_seekable() &&
                                position_.file->remote() == nullptr;
  Piece piece;
  piece.file = position_.file;
  piece.offset = position_.offset;
  piece.number = position_.number;
  if (may_have_members && position_.in_members) {
    std::uint64_t size = 0;
    RECORDSMITH_RETURN_IF_ERROR(position_.file->size(&size));
    if (position_.member == size) return end_file();
  }
  if (may_have_members && plan_member(wanted, &piece)) {
    work->bytes += 4 * piece.member->claim().length * piece.count / piece.member->claim().records;
  } else if (is_plain && may_guess_ && work->is_repeatable && guess(wanted, &piece)) {
    cursor_.reset();
    move_by(piece, piece.guessed_end);
  } else if (is_hopping_) {
    framed_size_ = 0;
    RECORDSMITH_RETURN_IF_ERROR(hop(wanted, &piece));
    if (piece.count == 0 && is_hopping_) return end_file();
  } else {
    framed_size_ = 0;
    work->is_repeatable &= is_plain;
    if (cursor_ == nullptr) {
      RECORDSMITH_RETURN_IF_ERROR(open_cursor());
      piece.offset = position_.offset;
    }
    RECORDSMITH_RETURN_IF_ERROR(cursor_->next_block(wanted, kPieceBytes, &piece.block));
    piece.count = piece.block.size();
    move_by(piece, cursor_->offset());
    if (piece.count == 0) return end_file();
    if (is_plain) {
      const std::uint64_t bytes = position_.offset - piece.offset;
      framed_size_ = piece.block[0].length + kFramingBytes;
      for (std::size_t i = 1; i < piece.count; ++i) {
        if (piece.block[i].length + kFramingBytes == framed_size_) continue;
        framed_size_ = 0;
        break;
      }
      is_hopping_ = bytes / piece.count > kLargeRecord;
      if (is_hopping_) cursor_.reset();
    }
  }
  if (piece.count > 0) {
    // Smaller ones again: back to reading in blocks.
    if (is_hopping_ && (position_.offset - piece.offset) / piece.count <= kLargeRecord) is_hopping_ = false;
    work->records += piece.count;
    if (piece.member == nullptr) work->bytes += position_.offset - piece.offset;
    work->pieces.push_back(std::move(piece));
  }
  return Status::ok();
}

BatchStream::Work BatchStream::plan_batch() {
  try {
    return plan_records();
  } catch (const std::exception&) {
    Work work;
    work.lacks_memory = work.is_last = true;
    return work;
  }
}

BatchStream::Work BatchStream::plan_records() {
  Work work;
  work.start = position_;
  while (work.records < options_.batch_size && !work.is_last) {
    work.failure = plan_piece(options_.batch_size - work.records, &work);
    if (!work.failure.is_ok()) {
      work.is_last = true;
      return work;
    }
  }
  work.ahead.assign(members_.begin(), members_.end());
  if (options_.drop_last && work.records < options_.batch_size) {
    if (std::any_of(work.pieces.begin(), work.pieces.end(), [](const Piece& piece) { return piece.is_guess(); })) {
      // Nothing would check whether so few records are really left.
      start_at(std::move(work.start));
      return plan_records();
    }
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
    Status status = decoder->add(record.data, record.length, block.bytes_after(i));
    if (!status.is_ok()) return std::move(status).at(path, record.offset, record.number);
  }
  return Status::ok();
}

void BatchStream::inflate(InflatedMember* member, const Work& work) const {
  if (member->try_inflate()) return;
  // Another thread does it.
  for (const std::shared_ptr<InflatedMember>& next : work.ahead) {
    if (next.get() != member && !next->is_done() && next->try_inflate()) break;
  }
  member->wait();
}

Status BatchStream::decode_member(BatchDecoder* decoder, const Piece& piece) const {
  for (std::size_t i = piece.first; i < piece.first + piece.count; ++i) {
    const RecordView record = piece.member->record(i);
    if (options_.verify) RECORDSMITH_RETURN_IF_ERROR(check_payload(record, piece.file->path()));
    RECORDSMITH_RETURN_IF_ERROR(decoder->add(record.data, record.length, piece.member->bytes_after(i)));
  }
  return Status::ok();
}

Status BatchStream::decode_piece(BatchDecoder* decoder, const Piece& piece, const Work& work,
                                 bool* is_wrong_guess) const {
  const std::string& path = piece.file->path();
  if (piece.member != nullptr) {
    inflate(piece.member.get(), work);
    *is_wrong_guess = !piece.member->is_sound() || !decode_member(decoder, piece).is_ok();
    return Status::ok();
  }
  if (!piece.block.empty()) return decode_block(decoder, piece.block, path);
  RecordCursor cursor(std::make_unique<FileStream>(piece.file, piece.offset), path, piece.offset, piece.number);
  RecordBlock block;
  Status status;
  for (std::size_t left = piece.count; left > 0 && status.is_ok(); left -= block.size()) {
    status = cursor.next_block(left, kBlockBytes, &block);
    if (status.is_ok() && block.empty()) {
      status = truncated(path, cursor.offset(), cursor.number(), 0, kHeaderBytes);  // cut since it was planned
    }
    if (status.is_ok()) status = decode_block(decoder, block, path);
  }
  // A failure may come from a wrong guess too: there may be fewer records than it said.
  *is_wrong_guess = piece.guessed_end != kUnknown && (!status.is_ok() || cursor.offset() != piece.guessed_end);
  return status;
}

BatchStream::Result BatchStream::decode(std::unique_ptr<BatchDecoder>* kept_decoder, Work work) const {
  Result result;
  result.is_last = work.is_last;
  result.lacks_memory = work.lacks_memory;
  if (work.lacks_memory) return result;
  try {
    if (*kept_decoder == nullptr) *kept_decoder = std::make_unique<BatchDecoder>(plan_);
    BatchDecoder* const decoder = kept_decoder->get();
    decoder->start(work.records, static_cast<std::size_t>(work.bytes));
    Status status;
    for (const Piece& piece : work.pieces) {
      bool is_wrong_guess = false;
      status = decode_piece(decoder, piece, work, &is_wrong_guess);
      if (is_wrong_guess) {
        result.plan_again = std::move(work.start);
        return result;
      }
      if (!status.is_ok()) break;
    }
    if (decoder->rows() > 0) result.batch = decoder->finish();
    result.failure = status.is_ok() ? std::move(work.failure) : std::move(status);
  } catch (const std::exception&) {
    result = Result();
    result.lacks_memory = true;
  }
  result.is_last |= result.lacks_memory || !result.failure.is_ok();
  return result;
}

void BatchStream::run() {
  std::unique_ptr<BatchDecoder> decoder;
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
      work = plan_batch();
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
      results_ = std::vector<Result>(options_.threads + 2);
      is_started_ = true;
      threads_.start(options_.threads, [this] { run(); });
    }
    if (threads_.size() == 0) {
      result = decode(&own_decoder_, plan_batch());
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
    if (result.plan_again.has_value()) {
      plan_again_from(std::move(*result.plan_again));
      continue;
    }
    if (!result.failure.is_ok() || result.is_last) {
      ended_ = true;
      failure_to_come_ = std::move(result.failure);
      lacks_memory_ = result.lacks_memory;
    }
    if (result.batch.has_value()) {
      *batch = std::move(result.batch);
      return Status::ok();
    }
  }
  stop();
  if (std::exchange(lacks_memory_, false)) return out_of_memory("decode a batch");
  return std::exchange(failure_to_come_, Status());
}

}  // namespace recordsmith
