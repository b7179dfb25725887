#include "survey/unit.h"

#include <algorithm>

#include "files/inflate_source.h"
#include "records/framing/framing.h"
#include "survey/sketches/sketch_randomness.h"

namespace recordsmith::survey {
namespace {

using FilePointer = std::shared_ptr<const File>;

constexpr std::size_t kBlockBytes = std::size_t{256} << 10;
constexpr std::uint64_t kMostSearches = 10'000;  // for a sound header, in one unit
constexpr std::uint64_t kMostRestarts = 64;      // of a compressed file, which is inflated again up to the place

// Walks over the records of one unit.
class UnitWalker {
 public:
  UnitWalker(Shared* shared, Reporter* reporter, const Unit& unit, FilePointer file, Compression compression,
             UnitResult* result)
      : shared_(shared),
        reporter_(reporter),
        unit_(unit),
        file_(std::move(file)),
        compression_(compression),
        result_(result) {}

  // The first place at or after the nominal begin at which a record may begin; kUnknown if there is none.
  std::uint64_t guess_begin() const {
    if (unit_.is_first) return 0;
    const std::uint64_t from = unit_.nominal_begin - 1;
    RecordCursor cursor(std::make_unique<FileStream>(file_, from), file_->path(), from);
    bool found = false;
    const std::uint64_t within = unit_.limit == kUnknown ? shared_->options.unit_bytes : unit_.limit - from;
    const Status status = cursor.resynchronise(&found, within);
    return status.is_ok() && found ? cursor.offset() : kUnknown;
  }

  void walk(std::uint64_t begin) {
    result_->begin = begin;
    result_->facts.compression = compression_;
    open_cursor(begin);
    RecordBlock block;
    while (!shared_->is_stopped && cursor_->offset() < unit_.limit && !is_at_record_limit()) {
      const std::uint64_t before = cursor_->offset();
      Status status = cursor_->next_block(wanted_records(), kBlockBytes, &block);
      if (!status.is_ok()) {
        if (!pass_damage(std::move(status))) break;
        continue;
      }
      if (block.empty()) break;
      if (!take_block(&block)) break;
      if (compression_ == Compression::kNone) shared_->bytes_done += cursor_->offset() - before;
      reporter_->report();
    }
    finish();
  }

 private:
  // `cursor_` continues at an offset of the (inflated) file.
  bool open_cursor(std::uint64_t offset, std::uint64_t number = 0) {
    std::unique_ptr<ByteStream> stream;
    if (compression_ == Compression::kNone && file_->is_seekable()) {
      stream = std::make_unique<FileStream>(file_, offset);
    } else {
      stream = open_stream(file_, compression_);
      const Buffer discarded(offset > 0 ? kBlockBytes : 1);
      for (std::uint64_t left = offset; left > 0;) {
        std::size_t got = 0;
        const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(left, kBlockBytes));
        if (!stream->read(discarded.data(), wanted, &got).is_ok() || got == 0) return false;
        left -= got;
      }
    }
    cursor_ = std::make_unique<RecordCursor>(std::move(stream), file_->path(), offset, number);
    return true;
  }

  std::size_t wanted_records() const {
    if (shared_->options.records_per_file == kUnknown) return ~std::size_t{0};
    return static_cast<std::size_t>(shared_->options.records_per_file - result_->facts.records);
  }

  bool is_at_record_limit() {
    if (shared_->options.records_per_file == kUnknown || wanted_records() > 0) return false;
    // One more read shows whether this was the end.
    RecordBlock block;
    result_->facts.is_complete = cursor_->next_block(1, 1, &block).is_ok() && block.empty();
    return true;
  }

  // Returns false at the unit's end.
  bool take_block(RecordBlock* block) {
    for (std::size_t i = 0; i < block->size(); ++i) {
      const RecordView record = (*block)[i];
      if (record.offset >= unit_.limit) {
        result_->end = record.offset;
        result_->numbered = record.number;
        return false;
      }
      Status status = check_payload(record, file_->path());
      if (status.is_ok()) {
        take(record);
      } else if (i + 1 < block->size()) {
        add_damage(std::move(status), record.number, record.length + kFramingBytes);  // a sound header follows
      } else {
        return pass_bad_data(std::move(status), record, block);
      }
    }
    return true;
  }

  void take(const RecordView& record) {
    FileSummary& facts = result_->facts;
    const RecordName name{unit_.number, record.number, record.offset};
    const auto number = static_cast<std::uint32_t>(record.number);
    ++facts.records;
    facts.payload_bytes += record.length;
    facts.sizes.add(record.length);
    if (shared_->options.frames_only) return;
    const auto size = static_cast<std::size_t>(record.length);
    Digests digests;
    const PayloadKind kind = result_->features.add(record.data, size, name, unit_.file, &digests);
    ++facts.payloads[static_cast<std::size_t>(kind)];
    result_->digests.push_back({digests.content, digests.payload, unit_.number, number});
    if (digests.has_label) {
      result_->unlabelled.push_back({digests.unlabelled, digests.content, unit_.number, number});
    }
    constexpr std::size_t kMuch = std::size_t{2} << 20;
    // Only units that are whole files become that large, and those are never repeated.
    if (shared_->digests != nullptr && result_->digests.size() >= kMuch) store_digests();
  }

  void store_digests() {
    const std::lock_guard lock(shared_->storing);
    result_->failure = shared_->digests->add(result_->digests);
    if (result_->failure.is_ok()) result_->failure = shared_->unlabelled->add(result_->unlabelled);
    if (!result_->failure.is_ok()) shared_->is_stopped = true;
    result_->digests.clear();
    result_->unlabelled.clear();
  }

  void add_damage(Status status, std::uint64_t number, std::uint64_t bytes) {
    FileSummary& facts = result_->facts;
    if (status.failure().code == Code::kForeign) {  // not a fault of the data: the network failed
      result_->failure = std::move(status);
      shared_->is_stopped = true;
      return;
    }
    if (facts.damage_count++ >= kMostDamages) return;
    const std::uint64_t offset = status.failure().offset;
    facts.damages.push_back(
        {std::move(status.failure()), {unit_.number, static_cast<std::uint32_t>(number), offset}, bytes});
  }

  // After a failure of the cursor: goes to the next sound header. False if there is none.
  bool pass_damage(Status status) {
    const std::uint64_t number = cursor_->number();
    const Code code = status.failure().code;
    if (code == Code::kSystem || code == Code::kCompression || code == Code::kChanged || code == Code::kForeign) {
      add_damage(std::move(status), number, kUnknown);
      return false;
    }
    return search(std::move(status), number, cursor_->offset());
  }

  // The last record of a block has a bad CRC. Its length can be trusted only if a sound header, or the end, is where it
  // leads; if not, the search for one begins after its own header.
  bool pass_bad_data(Status status, const RecordView& record, RecordBlock* block) {
    const std::uint64_t offset = record.offset;
    const std::uint64_t number = record.number;
    const std::uint64_t framed = record.length + kFramingBytes;
    *block = RecordBlock();
    const bool is_trusted = cursor_->next_block(~std::size_t{0}, kBlockBytes, block).is_ok();
    const bool is_plain = compression_ == Compression::kNone && file_->is_seekable();
    if (is_trusted || (!is_plain && ++restarts_ > kMostRestarts)) {
      add_damage(std::move(status), number, framed);
      return is_trusted ? !block->empty() && take_block(block) : true;
    }
    if (!open_cursor(offset, number + 1)) {
      add_damage(std::move(status), number, kUnknown);
      return false;
    }
    return search(std::move(status), number, offset);
  }

  bool search(Status status, std::uint64_t number, std::uint64_t from) {
    if (++searches_ > kMostSearches) {
      add_damage(std::move(status), number, kUnknown);
      result_->facts.is_complete = false;
      return false;
    }
    bool found = false;
    Status failure = cursor_->resynchronise(&found);
    add_damage(std::move(status), number, cursor_->offset() - from);
    if (!failure.is_ok()) add_damage(std::move(failure), cursor_->number(), kUnknown);
    return found;
  }

  void finish() {
    if (result_->end == kUnknown) {
      result_->end = cursor_->offset();
      result_->numbered = cursor_->number();
    }
    result_->features.finish();
  }

  Shared* shared_;
  Reporter* reporter_;
  const Unit unit_;
  const FilePointer file_;
  const Compression compression_;
  UnitResult* result_;
  std::unique_ptr<RecordCursor> cursor_;
  std::uint64_t searches_ = 0;
  std::uint64_t restarts_ = 0;
};

}  // namespace

void survey_unit(Shared* shared, Reporter* reporter, const Unit& unit, std::optional<std::uint64_t> begin,
                 UnitResult* result) {
  seed_sketches(std::uint64_t{unit.number} + 1);
  FilePointer file;
  Compression compression = Compression::kNone;
  Status status = open_input(unit.input, &file, &compression);
  if (!status.is_ok()) {
    if (status.failure().code == Code::kForeign) result->failure = std::move(status);
    if (!begin.has_value() || !result->failure.is_ok()) return;
    result->begin = result->end = *begin;
    result->facts.damage_count = 1;
    result->facts.damages.push_back({std::move(status.failure()), {unit.number, 0, 0}, kUnknown});
    return;
  }
  UnitWalker walker(shared, reporter, unit, file, compression, result);
  const std::uint64_t from = begin.has_value() ? *begin : walker.guess_begin();
  if (from != kUnknown) walker.walk(from);
}

}  // namespace recordsmith::survey
