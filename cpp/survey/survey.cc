#include "survey/survey.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>

#include "base/thread_team.h"
#include "survey/record_naming.h"
#include "survey/sketch_randomness.h"
#include "survey/unit.h"

namespace recordsmith::survey {
namespace {

using FilePointer = std::shared_ptr<const File>;

class Surveyor {
 public:
  Surveyor(const std::vector<SurveyFile>& files, const Expected& expected, const SurveyOptions& options,
           const Progress& progress)
      : store_(std::max<std::size_t>(1, options.digests_in_memory / 2), options.temporary_folder),
        unlabelled_(std::max<std::size_t>(1, options.digests_in_memory / 2), options.temporary_folder),
        states_(files.size()) {
    shared_.files = files;
    shared_.expected = &expected;
    shared_.options = options;
    shared_.options.unit_bytes = std::max<std::uint64_t>(1, options.unit_bytes);
    shared_.progress = &progress;
    shared_.digests = &store_;
    shared_.unlabelled = &unlabelled_;
    std::uint32_t splits = 1;
    for (const SurveyFile& file : files) splits = std::max(splits, file.split + 1);
    for (std::uint32_t i = 0; i < splits; ++i) sets_.emplace_back(&expected);
  }

  Status run(Summary* summary) {
    plan();
    const std::size_t threads = std::clamp<std::size_t>(units_.size(), 1, std::max(1U, shared_.options.threads));
    {
      ThreadTeam helpers;
      helpers.start(threads - 1, [this] { work(false); });
      window_ = helpers.size() + 3;
      work(true);
      wait_for_others();
    }
    if (thrown_ != nullptr) std::rethrow_exception(thrown_);
    if (!failure_.is_ok()) return std::move(failure_);
    if (shared_.is_stopped) return Status::of(Code::kInvalidArgument, "the survey was stopped");
    return sum_up(summary);
  }

 private:
  // The state of merging one file.
  struct FileState {
    Compression compression = Compression::kNone;
    Status failure;                  // to open it
    std::optional<KnownFile> known;  // all parts are of the same file
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
      if (!state.failure.is_ok() && state.failure.failure().code == Code::kForeign) {
        failure_ = std::move(state.failure);  // not a fault of the data: the network failed
        return;
      }
      if (!state.failure.is_ok()) continue;
      if (file->is_seekable()) state.known = KnownFile{file->identity()};
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

  // Does not throw: an exception stops the survey.
  void work(bool is_caller) {
    try {
      Reporter reporter(&shared_, is_caller);
      std::size_t index = 0;
      while (take(&index, &reporter)) {
        auto result = std::make_unique<UnitResult>(shared_.expected);
        look_at(index, std::nullopt, &reporter, result.get());
        if (!result->failure.is_ok()) {
          fail(std::move(result->failure));
          return;
        }
        hand_over(index, std::move(result), &reporter);
      }
    } catch (const std::exception&) {
      const std::lock_guard lock(mutex_);
      thrown_ = std::current_exception();
      shared_.is_stopped = true;
      changed_.notify_all();
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
  void look_at(std::size_t index, std::optional<std::uint64_t> begin, Reporter* reporter, UnitResult* result) {
    const Unit& unit = units_[index];
    seed_sketches(index + 1);
    FilePointer file;
    Compression compression = states_[unit.file].compression;
    const InputFile input{shared_.files[unit.file].input.path, compression, states_[unit.file].known};
    Status status = open_input(input, &file, &compression);
    if (!status.is_ok()) {
      result->begin = result->end = begin.value_or(unit.nominal_begin);
      result->facts.damage_count = 1;
      result->facts.damages.push_back(
          {std::move(status.failure()), {static_cast<std::uint32_t>(index), 0, 0}, kUnknown});
      return;
    }
    survey::survey_unit(&shared_, reporter, unit, static_cast<std::uint32_t>(index), file, compression, begin, result);
    if (compression != Compression::kNone) shared_.bytes_done += states_[unit.file].size;
  }

  // Merges what is next in order, unless another thread does.
  void hand_over(std::size_t index, std::unique_ptr<UnitResult> result, Reporter* reporter) {
    std::unique_lock lock(mutex_);
    results_[index] = std::move(result);
    if (is_merging_) return;
    is_merging_ = true;
    while (merged_ < units_.size() && results_[merged_] != nullptr && !shared_.is_stopped) {
      std::unique_ptr<UnitResult> next = std::move(results_[merged_]);
      lock.unlock();
      merge(merged_, std::move(next), reporter);
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
      look_at(index, state.next_offset, reporter, result.get());
    }
    if (!result->failure.is_ok()) {
      fail(std::move(result->failure));
      return;
    }
    seed_sketches(~std::uint64_t{index});
    state.next_offset = result->end;
    state.numbered += result->numbered;
    add_facts(std::move(result->facts), &state.facts);
    sets_[shared_.files[unit.file].split].merge(std::move(result->features));
    const std::lock_guard lock(shared_.storing);
    Status status = store_.add(result->digests);
    if (status.is_ok()) status = unlabelled_.add(result->unlabelled);
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
    for (FileState& state : states_) {
      if (!state.failure.is_ok()) {
        state.facts.damage_count = 1;
        state.facts.damages.push_back({std::move(state.failure.failure()), {kNoUnit, 0, 0}, kUnknown});
      }
      summary->files.push_back(std::move(state.facts));
    }
    for (const FeatureSet& set : sets_) summary->splits.push_back(set.summary());
    seed_sketches(0);
    FeatureSet total(shared_.expected);
    for (FeatureSet& set : sets_) total.merge(std::move(set), false);
    summary->total = total.summary();
    std::vector<std::uint32_t> split_of_unit;
    for (const Unit& unit : units_) split_of_unit.push_back(shared_.files[unit.file].split);
    const auto splits = static_cast<std::uint32_t>(sets_.size());
    RECORDSMITH_RETURN_IF_ERROR(store_.find_duplicates(split_of_unit, splits, &summary->duplicates));
    RECORDSMITH_RETURN_IF_ERROR(unlabelled_.find_contradictions(split_of_unit, splits, &summary->contradictions));
    name_by_file(begins_, summary);
    return Status::ok();
  }

  Shared shared_;
  DigestStore store_;
  DigestStore unlabelled_;
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
  std::exception_ptr thrown_;
};

}  // namespace

Status survey_files(const std::vector<SurveyFile>& files, const Expected& expected, const SurveyOptions& options,
                    const Progress& progress, Summary* summary) {
  try {
    return Surveyor(files, expected, options, progress).run(summary);
  } catch (const std::exception&) {
    return out_of_memory("look at the records");
  }
}

}  // namespace recordsmith::survey
