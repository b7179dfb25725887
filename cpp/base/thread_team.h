// Work shared by several threads.
//
// If the system starts fewer threads than requested, the existing ones do all the work. So work is a loop that takes
// the next piece until none is left, and it does not matter which thread runs it.
//
// Memory may run out on any thread, even while a failure is described. No exception may leave a thread, and every
// thread must be joined despite exceptions: otherwise the program ends.
#pragma once

#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "base/status.h"
#include "base/thread_memory.h"

namespace recordsmith {

// The failure for a call that could not get memory; `action` completes "not enough memory to".
Status out_of_memory(const char* action);

// Threads that are waited for.
class ThreadTeam {
 public:
  ThreadTeam() = default;
  ThreadTeam(const ThreadTeam&) = delete;
  ThreadTeam& operator=(const ThreadTeam&) = delete;
  ~ThreadTeam() { join(); }

  // Starts up to `wanted` threads that run `work`, which must not throw.
  template <typename Work>
  void start(std::size_t wanted, const Work& work) {
    try {
      threads_.reserve(threads_.size() + wanted);
      for (std::size_t i = 0; i < wanted; ++i) {
        threads_.emplace_back([work] {
          prepare_exceptions();
          work();
        });
      }
    } catch (const std::exception&) {
      // No more threads to be had.
    }
  }
  std::size_t size() const { return threads_.size(); }
  void join() {
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }

 private:
  std::vector<std::thread> threads_;
};

// Runs `work` on the calling thread and up to `threads` - 1 others, waits for all, and throws what one of them threw.
template <typename Work>
void run_on_threads(std::size_t threads, const Work& work) {
  std::mutex mutex;
  std::exception_ptr thrown;
  const auto guarded = [&] {
    try {
      work();
    } catch (...) {
      const std::lock_guard lock(mutex);
      thrown = std::current_exception();
    }
  };
  {
    ThreadTeam helpers;
    if (threads > 1) helpers.start(threads - 1, guarded);
    guarded();
  }
  if (thrown != nullptr) std::rethrow_exception(thrown);
}

}  // namespace recordsmith
