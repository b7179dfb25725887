#include "base/thread_team.h"

#include <atomic>
#include <new>
#include <stdexcept>

#include "tests/check.h"

namespace recordsmith::testing {
namespace {

TEST(all_work_is_done_by_any_thread) {
  for (const std::size_t threads : {0, 1, 2, 7}) {
    std::atomic<int> next = 0;
    std::atomic<int> done = 0;
    run_on_threads(threads, [&] {
      while (next++ < 100) ++done;
    });
    CHECK_EQUAL(done, 100);
  }
}

TEST(what_a_thread_throws_reaches_the_caller) {
  for (const std::size_t threads : {1, 2, 7}) {
    std::atomic<int> begun = 0;
    bool caught = false;
    try {
      run_on_threads(threads, [&] {
        if (begun++ == 0) throw std::bad_alloc();
      });
    } catch (const std::bad_alloc&) {
      caught = true;
    }
    CHECK(caught);
  }
}

TEST(threads_are_waited_for_when_the_caller_throws) {
  std::atomic<int> done = 0;
  try {
    ThreadTeam team;
    team.start(4, [&] { ++done; });
    CHECK(team.size() <= 4);
    throw std::runtime_error("the caller");
  } catch (const std::runtime_error&) {
  }
  CHECK_EQUAL(done, 4);
}

}  // namespace
}  // namespace recordsmith::testing
