#include "base/buffer_pool.h"

#include <pthread.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <mutex>
#include <new>

namespace recordsmith {
namespace {

constexpr std::size_t kCacheLine = 64;
constexpr std::size_t kPage = 4096;
constexpr std::size_t kAlignedFrom = 16 * kPage;  // aligning smaller blocks to pages would waste too much
constexpr std::size_t kHugePage = std::size_t{2} << 20;
constexpr std::size_t kClasses = 64;

// Capacities of the pool are powers of two, or one and a half times that: at most a third of a block is unused.
std::size_t rounded(std::size_t capacity) {
  if (capacity < kSmallestPooled) return std::max<std::size_t>(1, capacity);
  const std::size_t power = std::bit_ceil(capacity);
  const std::size_t between = power / 4 * 3;
  return capacity <= between ? between : power;
}

std::size_t class_of(std::size_t capacity) {
  const auto log = static_cast<std::size_t>(std::bit_width(capacity) - 1);
  return std::has_single_bit(capacity) ? log * 2 : log * 2 + 1;
}

// A block that waits for its next use; the list of those of one size is in the blocks themselves.
struct FreeBlock {
  FreeBlock* next;
};

struct Pool {
  std::mutex mutex;
  std::array<FreeBlock*, 2 * kClasses> free_blocks{};
  std::size_t retained = 0;
};

Pool& pool();

// A child process has a copy of the pool, but not of the thread that may be changing it: a fork waits for that thread.
Pool* new_pool() {
  auto* made = new Pool;
  pthread_atfork([] { pool().mutex.lock(); }, [] { pool().mutex.unlock(); }, [] { pool().mutex.unlock(); });
  return made;
}

// Never destroyed: numpy arrays may hand their memory back after static destructors have run.
Pool& pool() {
  static Pool* instance = new_pool();
  return *instance;
}

std::uint8_t* allocate(std::size_t capacity) {
  const bool is_small = capacity < kSmallestPooled;
  const std::size_t alignment = capacity >= 2 * kHugePage ? kHugePage : capacity >= kAlignedFrom ? kPage : kCacheLine;
  const std::size_t padded = (capacity + alignment - 1) / alignment * alignment;
  void* block = is_small ? std::malloc(capacity) : std::aligned_alloc(alignment, padded);
  if (block == nullptr) throw std::bad_alloc();
  if (alignment == kHugePage) madvise(block, padded, MADV_HUGEPAGE);  // advice only: failing is harmless
  return static_cast<std::uint8_t*>(block);
}

}  // namespace

Buffer::Buffer(std::size_t capacity) {
  if (capacity > (std::size_t{1} << 62)) throw std::bad_alloc();
  const std::size_t size = rounded(capacity);
  if (size >= kSmallestPooled) {
    Pool& shared = pool();
    const std::lock_guard lock(shared.mutex);
    FreeBlock*& first = shared.free_blocks[class_of(size)];
    if (first != nullptr) {
      data_ = reinterpret_cast<std::uint8_t*>(std::exchange(first, first->next));
      shared.retained -= size;
    }
  }
  if (data_ == nullptr) data_ = allocate(size);
  capacity_ = size;
}

Buffer::~Buffer() {
  if (data_ == nullptr) return;
  if (capacity_ >= kSmallestPooled) {
    Pool& shared = pool();
    const std::lock_guard lock(shared.mutex);
    if (shared.retained + capacity_ <= kMaxRetained) {
      FreeBlock*& first = shared.free_blocks[class_of(capacity_)];
      first = new (data_) FreeBlock{first};
      shared.retained += capacity_;
      return;
    }
  }
  std::free(data_);
}

std::size_t pool_retained_bytes() {
  const std::lock_guard lock(pool().mutex);
  return pool().retained;
}

void trim_pool() {
  const std::lock_guard lock(pool().mutex);
  for (FreeBlock*& first : pool().free_blocks) {
    while (first != nullptr) std::free(std::exchange(first, first->next));
  }
  pool().retained = 0;
}

}  // namespace recordsmith
