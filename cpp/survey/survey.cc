#include "survey/survey.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>

#include "base/thread_team.h"
#include "survey/merging.h"

namespace recordsmith::survey {
namespace {

// Threads that take units in order, and merge what is next.
class Surveyor {
 public:
  Surveyor(const std::vector<SurveyFile>& files, const Expected& expected, const SurveyOptions& options,
           const Progress& progress)
      : expected_(expected), merging_(files, expected, options, progress), shared_(*merging_.shared()) {}

  Status run(Summary* summary) {
    RECORDSMITH_RETURN_IF_ERROR(merging_.plan());
    results_.resize(merging_.units().size());
    const std::size_t threads = std::clamp<std::size_t>(results_.size(), 1, std::max(1U, shared_.options.threads));
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
    return merging_.sum_up(summary);
  }

 private:
  // Does not throw: an exception stops the survey.
  void work(bool is_caller) {
    try {
      Reporter reporter(&shared_, is_caller);
      std::size_t index = 0;
      while (take(&index, &reporter)) {
        auto result = std::make_unique<UnitResult>(&expected_);
        merging_.look_at(index, std::nullopt, &reporter, result.get());
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
    while (!shared_.is_stopped && next_ < results_.size()) {
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
    while (!shared_.is_stopped && merged_ < results_.size()) {
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

  // Merges what is next in order, unless another thread does.
  void hand_over(std::size_t index, std::unique_ptr<UnitResult> result, Reporter* reporter) {
    std::unique_lock lock(mutex_);
    results_[index] = std::move(result);
    if (is_merging_) return;
    is_merging_ = true;
    while (merged_ < results_.size() && results_[merged_] != nullptr && !shared_.is_stopped) {
      std::unique_ptr<UnitResult> next = std::move(results_[merged_]);
      lock.unlock();
      Status status = merging_.merge(merged_, std::move(next), reporter);
      if (!status.is_ok()) fail(std::move(status));
      reporter->report();  // a thread may merge all that the others survey
      lock.lock();
      ++merged_;
      changed_.notify_all();
    }
    is_merging_ = false;
  }

  const Expected& expected_;
  SurveyMerging merging_;
  Shared& shared_;

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
