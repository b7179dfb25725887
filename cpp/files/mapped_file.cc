#include "files/mapped_file.h"

#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>

#include <cstring>
#include <mutex>

#include "base/thread_memory.h"

namespace recordsmith {
namespace {

// The guarded work of a thread. Plain data, because the handler reads it.
struct GuardedWork {
  sigjmp_buf escape;
  const std::uint8_t* begin = nullptr;  // null: no bytes given out
  const std::uint8_t* end = nullptr;
};
RECORDSMITH_THREAD_MEMORY thread_local GuardedWork* current = nullptr;
// Set while the previous handler treats a fault that is not ours.
RECORDSMITH_THREAD_MEMORY thread_local bool is_passing_on = false;

std::mutex arming;
struct sigaction previous;

void on_bus_error(int signal, siginfo_t* info, void* context) {
  const auto* at = static_cast<const std::uint8_t*>(info->si_addr);
  if (current != nullptr && current->begin != nullptr && at >= current->begin && at < current->end) {
    current->begin = nullptr;
    siglongjmp(current->escape, 1);
  }
  // Not ours: behave as if this handler did not exist. If the previous one comes back here, end as the system would.
  const bool has_handler = (previous.sa_flags & SA_SIGINFO) != 0
                               ? previous.sa_sigaction != nullptr
                               : previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN;
  if (!has_handler || is_passing_on) {
    struct sigaction standard = {};
    standard.sa_handler = SIG_DFL;
    sigaction(signal, &standard, nullptr);
    return;  // the instruction faults again
  }
  is_passing_on = true;
  if ((previous.sa_flags & SA_SIGINFO) != 0) {
    previous.sa_sigaction(signal, info, context);
  } else {
    previous.sa_handler(signal);
  }
  is_passing_on = false;
}

}  // namespace

void MappedFile::arm() {
  struct sigaction found_now = {};
  if (sigaction(SIGBUS, nullptr, &found_now) == 0 && (found_now.sa_flags & SA_SIGINFO) != 0 &&
      found_now.sa_sigaction == &on_bus_error) {
    return;
  }
  const std::lock_guard lock(arming);
  struct sigaction ours = {};
  ours.sa_sigaction = &on_bus_error;
  // NODEFER: the jump out of the handler then needs no system call to unblock the signal.
  ours.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  sigemptyset(&ours.sa_mask);
  struct sigaction found = {};
  if (sigaction(SIGBUS, &ours, &found) == 0 && found.sa_sigaction != &on_bus_error) previous = found;
}

std::unique_ptr<MappedFile> MappedFile::map(int descriptor, std::uint64_t offset, std::uint64_t size, Access access) {
  if (size == 0) return nullptr;
  void* data = mmap(nullptr, size, PROT_READ, MAP_SHARED, descriptor, static_cast<off_t>(offset));
  if (data == MAP_FAILED) return nullptr;
  // Advice only. With random access, reading ahead would fetch bytes that nobody needs.
  madvise(data, size, access == Access::kRandom ? MADV_RANDOM : MADV_SEQUENTIAL);
  return std::unique_ptr<MappedFile>(new MappedFile(static_cast<const std::uint8_t*>(data), size));
}

MappedFile::~MappedFile() { munmap(const_cast<std::uint8_t*>(data_), size_); }

void MappedFile::forget() const { madvise(const_cast<std::uint8_t*>(data_), size_, MADV_DONTNEED); }

bool MappedFile::guarded(void (*work)(void*), void* context) {
  GuardedWork guard;
  current = &guard;
  if (sigsetjmp(guard.escape, 0) != 0) {
    current = nullptr;
    return false;
  }
  work(context);
  // The compiler must not move any of the work past the end of the guard.
  __asm__ volatile("" ::: "memory");
  current = nullptr;
  return true;
}

const std::uint8_t* MappedFile::bytes(std::uint64_t offset, std::size_t size) const {
  if (offset > size_ || size > size_ - offset) return nullptr;
  current->begin = data_ + offset;
  current->end = current->begin + size;
  __asm__ volatile("" ::: "memory");
  return current->begin;
}

bool MappedFile::copy(std::uint64_t offset, void* to, std::size_t size) const {
  struct Copy {
    const MappedFile* from;
    std::uint64_t offset;
    void* to;
    std::size_t size;
    volatile bool is_done;
  } copy{this, offset, to, size, false};
  guarded(
      [](void* context) {
        auto* wanted = static_cast<Copy*>(context);
        const std::uint8_t* from = wanted->from->bytes(wanted->offset, wanted->size);
        if (from == nullptr) return;
        std::memcpy(wanted->to, from, wanted->size);
        wanted->is_done = true;
      },
      &copy);
  return copy.is_done;
}

}  // namespace recordsmith
