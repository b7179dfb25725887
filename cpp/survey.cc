#include "survey.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>

#include "framing.h"
#include "inflate_source.h"
#include "survey_duplicates.h"
#include "survey_features.h"
#include "thread_team.h"

namespace recordsmith::survey {
namespace {

constexpr std::size_t kBlockBytes = std::size_t{256} << 10;
constexpr std::size_t kMostDamages = 100;        // that are told of a file
constexpr std::uint64_t kMostSearches = 10'000;  // for a sound header, in one unit
constexpr std::uint64_t kMostRestarts = 64;      // of a compressed file, which is inflated again up to the place

using FilePointer = std::shared_ptr<const File>;
using Clock = std::chrono::steady_clock;

// A stretch of a file: the records that begin at or after `nominal_begin` and before `limit`.
struct Unit {
  std::uint32_t file = 0;
  std::uint64_t nominal_begin = 0;
  std::uint64_t limit = kUnknown;
  bool is_first = true;
};

struct UnitResult {
  explicit UnitResult(const Expected* expected) : features(expected) {}

  std::uint64_t begin = kUnknown;  // of the first record; kUnknown: none was found
  std::uint64_t end = kUnknown;    // where the first record after it begins, or the file ends
  std::uint64_t numbered = 0;      // record numbers given, to damaged records too
  FileSummary facts;
  FeatureSet features;
  std::vector<RecordDigest> digests;
  Status failure;  // of the survey itself, not of the file
};

// What threads share.
struct Shared {
  std::vector<SurveyFile> files;
  const Expected* expected = nullptr;
  SurveyOptions options;
  const Progress* progress = nullptr;
  std::atomic<std::uint64_t> bytes_done{0};
  std::atomic<bool> is_stopped{false};
  std::mutex storing;  // of digests
  DigestStore* digests = nullptr;
};

// Tells how far the survey is, in the calling thread only.
class Reporter {
 public:
  Reporter(Shared* shared, bool is_caller) : shared_(shared), is_caller_(is_caller) {}

  void report() {
    if (!is_caller_ || !*shared_->progress) return;
    const Clock::time_point now = Clock::now();
    if (now - last_ < std::chrono::milliseconds(100)) return;
    last_ = now;
    if (!(*shared_->progress)(shared_->bytes_done.load())) shared_->is_stopped = true;
  }

 private:
  Shared* shared_;
  bool is_caller_;
  Clock::time_point last_ = Clock::now();
};

// Walks over the records of one unit.
class UnitWalker {
 public:
  UnitWalker(Shared* shared, Reporter* reporter, const Unit& unit, std::uint32_t number, FilePointer file,
             Compression compression, UnitResult* result)
      : shared_(shared),
        reporter_(reporter),
        unit_(unit),
        unit_number_(number),
        file_(std::move(file)),
        compression_(compression),
        result_(result) {}

  // The first place from the nominal begin on at which a record may begin; kUnknown if there is none.
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
  // `cursor_` goes on at an offset of the (inflated) file.
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
    // One more look tells whether this was all.
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
    const RecordName name{unit_number_, static_cast<std::uint32_t>(record.number), record.offset};
    ++facts.records;
    facts.payload_bytes += record.length;
    facts.sizes.add(record.length);
    const auto size = static_cast<std::size_t>(record.length);
    Digests digests;
    const PayloadKind kind = result_->features.add(record.data, size, name, unit_.file, &digests);
    ++facts.payloads[static_cast<std::size_t>(kind)];
    result_->digests.push_back({digests.content, digests.payload, name.unit, name.number});
    constexpr std::size_t kMuch = std::size_t{2} << 20;
    // Only units that are whole files become that large, and those are never done again.
    if (result_->digests.size() >= kMuch) store_digests();
  }

  void store_digests() {
    const std::lock_guard lock(shared_->storing);
    result_->failure = shared_->digests->add(result_->digests);
    if (!result_->failure.is_ok()) shared_->is_stopped = true;
    result_->digests.clear();
  }

  void add_damage(Status status, std::uint64_t number, std::uint64_t bytes) {
    FileSummary& facts = result_->facts;
    if (facts.damage_count++ >= kMostDamages) return;
    const std::uint64_t offset = status.failure().offset;
    facts.damages.push_back(
        {std::move(status.failure()), {unit_number_, static_cast<std::uint32_t>(number), offset}, bytes});
  }

  // After a failure of the cursor: goes to the next sound header. False if there is none.
  bool pass_damage(Status status) {
    const std::uint64_t number = cursor_->number();
    const Code code = status.failure().code;
    if (code == Code::kSystem || code == Code::kCompression) {
      add_damage(std::move(status), number, kUnknown);
      return false;
    }
    return search(std::move(status), number, cursor_->offset());
  }

  // The last record of a block has a bad CRC. Its length can be trusted only if a sound header, or the end, is where it
  // leads; if not, the search for one begins behind its own header.
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
  const std::uint32_t unit_number_;
  const FilePointer file_;
  const Compression compression_;
  UnitResult* result_;
  std::unique_ptr<RecordCursor> cursor_;
  std::uint64_t searches_ = 0;
  std::uint64_t restarts_ = 0;
};

class Surveyor {
 public:
  Surveyor(const std::vector<SurveyFile>& files, std::uint32_t splits, const Expected& expected,
           const SurveyOptions& options, const Progress& progress)
      : store_(options.digests_in_memory, options.temporary_folder), states_(files.size()) {
    shared_.files = files;
    shared_.expected = &expected;
    shared_.options = options;
    shared_.progress = &progress;
    shared_.digests = &store_;
    for (std::uint32_t i = 0; i < splits; ++i) sets_.emplace_back(&expected);
  }

  Status run(Summary* summary) {
    plan();
    const std::size_t threads = std::clamp<std::size_t>(units_.size(), 1, std::max(1U, shared_.options.threads));
    std::vector<std::thread> helpers;
    start_threads(threads - 1, [this] { work(false); }, &helpers);
    window_ = helpers.size() + 3;
    work(true);
    wait_for_others();
    for (std::thread& helper : helpers) helper.join();
    if (!failure_.is_ok()) return std::move(failure_);
    if (shared_.is_stopped) return Status::of(Code::kInvalidArgument, "the survey was stopped");
    return sum_up(summary);
  }

 private:
  // How far the merging of one file is.
  struct FileState {
    Compression compression = Compression::kNone;
    Status failure;  // to open it
    std::uint64_t size = 0;
    std::uint64_t next_offset = 0;
    std::uint64_t numbered = 0;
    FileSummary facts;
  };

  void plan() {
    for (std::size_t i = 0; i < shared_.files.size(); ++i) {
      FileState& state = states_[i];
      FilePointer file;
      state.failure = open_input(shared_.files[i].input, &file, &state.compression);
      if (state.failure.is_ok() && file->is_seekable()) state.failure = file->size(&state.size);
      state.facts.compression = state.compression;
      if (!state.failure.is_ok()) continue;
      const bool is_cut = state.compression == Compression::kNone && file->is_seekable() &&
                          shared_.options.records_per_file == kUnknown;
      const std::uint64_t count = is_cut ? std::max<std::uint64_t>(1, state.size / shared_.options.unit_bytes) : 1;
      for (std::uint64_t part = 0; part < count; ++part) {
        Unit unit;
        unit.file = static_cast<std::uint32_t>(i);
        unit.is_first = part == 0;
        unit.nominal_begin = state.size / count * part;
        if (part + 1 < count) unit.limit = state.size / count * (part + 1);
        units_.push_back(unit);
      }
    }
    begins_.resize(units_.size());
    results_.resize(units_.size());
  }

  void work(bool is_caller) {
    Reporter reporter(&shared_, is_caller);
    std::size_t index = 0;
    while (take(&index, &reporter)) {
      std::unique_ptr<UnitResult> result;
      try {
        result = std::make_unique<UnitResult>(shared_.expected);
        survey_unit(index, std::nullopt, &reporter, result.get());
      } catch (const std::exception&) {
        fail(out_of_memory("look at a record"));
        return;
      }
      hand_over(index, std::move(result), &reporter);
    }
  }

  bool take(std::size_t* index, Reporter* reporter) {
    std::unique_lock lock(mutex_);
    while (!shared_.is_stopped && next_ < units_.size()) {
      if (next_ < merged_ + window_) {
        *index = next_++;
        return true;
      }
      changed_.wait_for(lock, std::chrono::milliseconds(50));
      lock.unlock();
      reporter->report();
      lock.lock();
    }
    return false;
  }

  void wait_for_others() {
    Reporter reporter(&shared_, true);
    std::unique_lock lock(mutex_);
    while (!shared_.is_stopped && merged_ < units_.size()) {
      changed_.wait_for(lock, std::chrono::milliseconds(50));
      lock.unlock();
      reporter.report();
      lock.lock();
    }
  }

  void fail(Status failure) {
    const std::lock_guard lock(mutex_);
    if (failure_.is_ok()) failure_ = std::move(failure);
    shared_.is_stopped = true;
    changed_.notify_all();
  }

  // From the guessed begin, or from where it is known to begin.
  void survey_unit(std::size_t index, std::optional<std::uint64_t> begin, Reporter* reporter, UnitResult* result) {
    const Unit& unit = units_[index];
    datasketches::random_bit.seed(static_cast<std::uint32_t>(index) + 1);
    FilePointer file;
    Compression compression = states_[unit.file].compression;
    Status status = open_input({shared_.files[unit.file].input.path, compression}, &file, &compression);
    if (!status.is_ok()) {
      result->begin = result->end = begin.value_or(unit.nominal_begin);
      result->facts.damage_count = 1;
      result->facts.damages.push_back(
          {std::move(status.failure()), {static_cast<std::uint32_t>(index), 0, 0}, kUnknown});
      return;
    }
    UnitWalker walker(&shared_, reporter, unit, static_cast<std::uint32_t>(index), file, compression, result);
    const std::uint64_t from = begin.has_value() ? *begin : walker.guess_begin();
    if (from != kUnknown) walker.walk(from);
    if (compression != Compression::kNone) shared_.bytes_done += states_[unit.file].size;
  }

  // Merges what is next in order, if nobody else is at it.
  void hand_over(std::size_t index, std::unique_ptr<UnitResult> result, Reporter* reporter) {
    std::unique_lock lock(mutex_);
    results_[index] = std::move(result);
    if (is_merging_) return;
    is_merging_ = true;
    while (merged_ < units_.size() && results_[merged_] != nullptr && !shared_.is_stopped) {
      std::unique_ptr<UnitResult> next = std::move(results_[merged_]);
      lock.unlock();
      try {
        merge(merged_, std::move(next), reporter);
      } catch (const std::exception&) {
        fail(out_of_memory("put facts together"));
      }
      lock.lock();
      ++merged_;
      changed_.notify_all();
    }
    is_merging_ = false;
  }

  void merge(std::size_t index, std::unique_ptr<UnitResult> result, Reporter* reporter) {
    const Unit& unit = units_[index];
    FileState& state = states_[unit.file];
    begins_[index] = {unit.file, state.numbered};
    if (!unit.is_first && state.next_offset >= unit.limit) return;  // no record begins in it
    const bool is_at_end = !unit.is_first && state.next_offset >= state.size;
    if (result->begin != state.next_offset) {
      if (is_at_end) return;
      result = std::make_unique<UnitResult>(shared_.expected);
      survey_unit(index, state.next_offset, reporter, result.get());
    }
    if (!result->failure.is_ok()) {
      fail(std::move(result->failure));
      return;
    }
    datasketches::random_bit.seed(~static_cast<std::uint32_t>(index));
    state.next_offset = result->end;
    state.numbered += result->numbered;
    add_facts(std::move(result->facts), &state.facts);
    sets_[shared_.files[unit.file].split].merge(std::move(result->features));
    const std::lock_guard lock(shared_.storing);
    Status status = store_.add(result->digests);
    if (!status.is_ok()) fail(std::move(status));
  }

  static void add_facts(FileSummary&& part, FileSummary* facts) {
    facts->records += part.records;
    facts->payload_bytes += part.payload_bytes;
    facts->sizes.merge(part.sizes);
    for (std::size_t i = 0; i < facts->payloads.size(); ++i) facts->payloads[i] += part.payloads[i];
    for (DamageSummary& damage : part.damages) {
      if (facts->damages.size() < kMostDamages) facts->damages.push_back(std::move(damage));
    }
    facts->damage_count += part.damage_count;
    facts->is_complete &= part.is_complete;
  }

  Status sum_up(Summary* summary) {
    summary->units = std::move(begins_);
    for (FileState& state : states_) {
      if (!state.failure.is_ok()) {
        state.facts.damage_count = 1;
        state.facts.damages.push_back({std::move(state.failure.failure()), {kNoUnit, 0, 0}, kUnknown});
      }
      summary->files.push_back(std::move(state.facts));
    }
    for (const FeatureSet& set : sets_) summary->splits.push_back(set.summary());
    datasketches::random_bit.seed(0);
    FeatureSet total(shared_.expected);
    for (FeatureSet& set : sets_) total.merge(std::move(set), false);
    summary->total = total.summary();
    std::vector<std::uint32_t> split_of_unit;
    for (const Unit& unit : units_) split_of_unit.push_back(shared_.files[unit.file].split);
    return store_.find_duplicates(split_of_unit, static_cast<std::uint32_t>(sets_.size()), &summary->duplicates);
  }

  Shared shared_;
  DigestStore store_;
  std::vector<FileState> states_;
  std::vector<Unit> units_;
  std::vector<UnitBegin> begins_;
  std::deque<FeatureSet> sets_;  // by split

  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t next_ = 0;
  std::size_t merged_ = 0;
  std::atomic<std::size_t> window_{1};  // how far units may be ahead of what is merged
  bool is_merging_ = false;
  std::vector<std::unique_ptr<UnitResult>> results_;
  Status failure_;
};

}  // namespace

Status survey_files(const std::vector<SurveyFile>& files, std::uint32_t splits, const Expected& expected,
                    const SurveyOptions& options, const Progress& progress, Summary* summary) {
  try {
    return Surveyor(files, splits, expected, options, progress).run(summary);
  } catch (const std::exception&) {
    return out_of_memory("put facts together");
  }
}

}  // namespace recordsmith::survey
