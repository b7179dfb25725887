#include "descriptor_budget.h"

#include <sys/resource.h>

#include <algorithm>
#include <cstddef>
#include <list>
#include <mutex>
#include <unordered_map>

#include "byte_source.h"

namespace recordsmith::descriptor_budget {
namespace {

constexpr rlim_t kFewest = 8;
constexpr rlim_t kMost = 1024;

// A quarter of what the process may open: the rest is for whatever else it does.
std::size_t limit() {
  rlimit allowed{};
  if (getrlimit(RLIMIT_NOFILE, &allowed) != 0) return kFewest;
  return static_cast<std::size_t>(std::clamp(allowed.rlim_cur / 4, kFewest, kMost));
}

struct Holders {
  std::mutex mutex;
  std::list<const File*> by_use;  // the one used last at the front
  std::unordered_map<const File*, std::list<const File*>::iterator> places;

  void release_last() {
    const File* file = by_use.back();
    places.erase(file);
    by_use.pop_back();
    file->release();
  }
};

// Never destroyed: files may outlive static objects.
Holders& holders() {
  static Holders* const all = new Holders;
  return *all;
}

}  // namespace

void use(const File* file) {
  Holders& all = holders();
  const std::lock_guard lock(all.mutex);
  const auto found = all.places.find(file);
  if (found != all.places.end()) {
    all.by_use.splice(all.by_use.begin(), all.by_use, found->second);
    return;
  }
  const std::size_t most = limit();
  while (all.by_use.size() >= most) all.release_last();
  all.by_use.push_front(file);
  all.places[file] = all.by_use.begin();
}

void remove(const File* file) {
  Holders& all = holders();
  const std::lock_guard lock(all.mutex);
  const auto found = all.places.find(file);
  if (found == all.places.end()) return;
  all.by_use.erase(found->second);
  all.places.erase(found);
}

void release_all() {
  Holders& all = holders();
  const std::lock_guard lock(all.mutex);
  while (!all.by_use.empty()) all.release_last();
}

}  // namespace recordsmith::descriptor_budget
