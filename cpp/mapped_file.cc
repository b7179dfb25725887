#include "mapped_file.h"

#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>

#include <cstring>
#include <mutex>

namespace recordsmith {
namespace {

// The copy that this thread is in the middle of. Plain data: the handler reads it.
struct GuardedCopy {
  sigjmp_buf escape;
  const std::uint8_t* begin = nullptr;  // null: no copy under way
  const std::uint8_t* end = nullptr;
  bool is_passing_on = false;  // a fault that is not ours is with the previous handler
};
thread_local GuardedCopy guarded;

std::mutex arming;
struct sigaction previous;

void on_bus_error(int signal, siginfo_t* info, void* context) {
  const auto* at = static_cast<const std::uint8_t*>(info->si_addr);
  if (guarded.begin != nullptr && at >= guarded.begin && at < guarded.end) {
    guarded.begin = nullptr;
    siglongjmp(guarded.escape, 1);
  }
  // Not ours: as if this handler were not there. If the previous one comes back here, end as the system would.
  const bool has_handler = (previous.sa_flags & SA_SIGINFO) != 0
                               ? previous.sa_sigaction != nullptr
                               : previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN;
  if (!has_handler || guarded.is_passing_on) {
    struct sigaction standard = {};
    standard.sa_handler = SIG_DFL;
    sigaction(signal, &standard, nullptr);
    return;  // the instruction faults again
  }
  guarded.is_passing_on = true;
  if ((previous.sa_flags & SA_SIGINFO) != 0) {
    previous.sa_sigaction(signal, info, context);
  } else {
    previous.sa_handler(signal);
  }
  guarded.is_passing_on = false;
}

}  // namespace

void MappedFile::arm() {
  struct sigaction current = {};
  if (sigaction(SIGBUS, nullptr, &current) == 0 && (current.sa_flags & SA_SIGINFO) != 0 &&
      current.sa_sigaction == &on_bus_error) {
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

std::unique_ptr<MappedFile> MappedFile::map(int descriptor, std::uint64_t size) {
  if (size == 0) return nullptr;
  void* data = mmap(nullptr, size, PROT_READ, MAP_SHARED, descriptor, 0);
  if (data == MAP_FAILED) return nullptr;
  madvise(data, size, MADV_RANDOM);  // advice only: reading ahead would fetch what nobody asked for
  return std::unique_ptr<MappedFile>(new MappedFile(static_cast<const std::uint8_t*>(data), size));
}

MappedFile::~MappedFile() { munmap(const_cast<std::uint8_t*>(data_), size_); }

void MappedFile::forget() const { madvise(const_cast<std::uint8_t*>(data_), size_, MADV_DONTNEED); }

bool MappedFile::copy(std::uint64_t offset, void* to, std::size_t size) const {
  if (offset > size_ || size > size_ - offset) return false;
  if (size == 0) return true;
  guarded.begin = data_ + offset;
  guarded.end = guarded.begin + size;
  if (sigsetjmp(guarded.escape, 0) != 0) return false;
  std::memcpy(to, data_ + offset, size);
  // The compiler must not move the copy past the end of the guard.
  __asm__ volatile("" ::: "memory");
  guarded.begin = nullptr;
  return true;
}

}  // namespace recordsmith
