// Work shared by several threads.
//
// Threads are a help, never a condition: where the system gives fewer than were asked for, those that there are do all.
// So work is a loop that takes the next piece until none is left, and whoever runs it does not matter.
#pragma once

#include <system_error>
#include <thread>
#include <vector>

#include "status.h"

namespace recordsmith {

// The failure for a call that could not get memory; `action` completes "not enough memory to".
Status out_of_memory(const char* action);

// Starts up to `wanted` threads that run `work`, and returns how many there are.
template <typename Work>
std::size_t start_threads(std::size_t wanted, Work work, std::vector<std::thread>* threads) {
  threads->reserve(threads->size() + wanted);
  try {
    for (std::size_t i = 0; i < wanted; ++i) threads->emplace_back(work);
  } catch (const std::system_error&) {
    // No more threads to be had.
  }
  return threads->size();
}

// Runs `work`, which must not throw, on the calling thread and up to `threads` - 1 others, and waits for all.
template <typename Work>
void run_on_threads(std::size_t threads, Work work) {
  std::vector<std::thread> helpers;
  if (threads > 1) start_threads(threads - 1, work, &helpers);
  work();
  for (std::thread& helper : helpers) helper.join();
}

}  // namespace recordsmith
