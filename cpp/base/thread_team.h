// Work shared by several threads.
//
// Threads are a help, never a condition: where the system gives fewer than were asked for, those that there are do all.
// So work is a loop that takes the next piece until none is left, and whoever runs it does not matter.
//
// Memory may run out on any thread, also while a failure is put into words. An exception must not leave a thread, and a
// thread must not be forgotten because of one: both would end the program.
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
