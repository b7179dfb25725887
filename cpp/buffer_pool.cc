#include "buffer_pool.h"

#include <pthread.h>
#include <sys/mman.h>

#include <array>
#include <bit>
#include <cstdlib>
#include <mutex>
#include <new>
#include <vector>

namespace recordsmith {
namespace {

constexpr std::size_t kPage = 4096;
constexpr std::size_t kHugePage = std::size_t{2} << 20;
constexpr std::size_t kClasses = 64;

// Capacities are powers of two, or one and a half times that: at most a third of a block lies idle.
std::size_t rounded(std::size_t capacity) {
  if (capacity <= kPage) return kPage;
  const std::size_t power = std::bit_ceil(capacity);
  const std::size_t between = power / 4 * 3;
  return capacity <= between ? between : power;
}

std::size_t class_of(std::size_t capacity) {
  const auto log = static_cast<std::size_t>(std::bit_width(capacity) - 1);
  return std::has_single_bit(capacity) ? log * 2 : log * 2 + 1;
}

struct Pool {
  std::mutex mutex;
  std::array<std::vector<std::uint8_t*>, 2 * kClasses> free_blocks;
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
  const std::size_t alignment = capacity >= 2 * kHugePage ? kHugePage : kPage;
  const std::size_t padded = (capacity + alignment - 1) / alignment * alignment;
  void* block = std::aligned_alloc(alignment, padded);
  if (block == nullptr) throw std::bad_alloc();
  if (alignment == kHugePage) madvise(block, padded, MADV_HUGEPAGE);  // advice only: failing is harmless
  return static_cast<std::uint8_t*>(block);
}

}  // namespace

Buffer::Buffer(std::size_t capacity) {
  if (capacity > (std::size_t{1} << 62)) throw std::bad_alloc();
  const std::size_t size = rounded(capacity);
  {
    Pool& shared = pool();
    const std::lock_guard lock(shared.mutex);
    auto& blocks = shared.free_blocks[class_of(size)];
    if (!blocks.empty()) {
      data_ = blocks.back();
      blocks.pop_back();
      shared.retained -= size;
    }
  }
  if (data_ == nullptr) data_ = allocate(size);
  capacity_ = size;
}

Buffer::~Buffer() {
  if (data_ == nullptr) return;
  {
    Pool& shared = pool();
    const std::lock_guard lock(shared.mutex);
    if (shared.retained + capacity_ <= kMaxRetained) {
      shared.free_blocks[class_of(capacity_)].push_back(data_);
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
  for (auto& blocks : pool().free_blocks) {
    for (std::uint8_t* block : blocks) std::free(block);
    blocks.clear();
  }
  pool().retained = 0;
}

}  // namespace recordsmith
