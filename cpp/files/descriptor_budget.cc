#include "files/descriptor_budget.h"

#include <sys/resource.h>

#include <algorithm>
#include <cstddef>
#include <list>
#include <mutex>
#include <unordered_map>

#include "files/byte_source.h"

namespace recordsmith::descriptor_budget {
namespace {

constexpr rlim_t kFewest = 8;
constexpr rlim_t kMost = 1024;

// A quarter of what the process may open: the rest is for other files of the process.
std::size_t limit() {
  rlimit allowed{};
  if (getrlimit(RLIMIT_NOFILE, &allowed) != 0) return kFewest;
  return static_cast<std::size_t>(std::clamp(allowed.rlim_cur / 4, kFewest, kMost));
}

struct Holders {
  std::mutex mutex;
  std::list<const File*> files;  // the next one to check is at the front
  std::unordered_map<const File*, std::list<const File*>::iterator> places;

  void release_first() {
    const File* file = files.front();
    places.erase(file);
    files.pop_front();
    file->release();
  }

  // One that was used since the last check is skipped, once.
  void release_one() {
    for (std::size_t looks = files.size(); looks > 0 && files.front()->was_used(); --looks) {
      files.splice(files.end(), files, files.begin());
    }
    release_first();
  }
};

// Never destroyed: files may outlive static objects.
Holders& holders() {
  static Holders* const all = new Holders;
  return *all;
}

}  // namespace

void add(const File* file) {
  Holders& all = holders();
  const std::lock_guard lock(all.mutex);
  if (all.places.contains(file)) return;
  const std::size_t most = limit();
  while (all.files.size() >= most) all.release_one();
  all.places[file] = all.files.insert(all.files.end(), file);
}

void remove(const File* file) {
  Holders& all = holders();
  const std::lock_guard lock(all.mutex);
  const auto found = all.places.find(file);
  if (found == all.places.end()) return;
  all.files.erase(found->second);
  all.places.erase(found);
}

void release_all() {
  Holders& all = holders();
  const std::lock_guard lock(all.mutex);
  while (!all.files.empty()) all.release_first();
}

}  // namespace recordsmith::descriptor_budget
