// A pool of memory blocks that are reused.
//
// A batch of columns is large and short-lived. Fresh pages from the operating system cost more than the parsing that
// fills them (each is zeroed and mapped on first touch), so a block returns to the pool when a batch, or the last numpy
// array that views it, is gone. The pool keeps at most kMaxRetained bytes and frees the rest.
//
// Small buffers use ordinary memory: a record may have a hundred thousand features, and a page for each would be 400
// MB.
//
// Thread-safe. A Buffer has one owner at a time. Returning memory allocates none, so it cannot fail.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <type_traits>
#include <utility>

namespace recordsmith {

inline constexpr std::size_t kMaxRetained = std::size_t{512} << 20;
// The smallest block of the pool. A smaller Buffer has exactly the requested size.
inline constexpr std::size_t kSmallestPooled = 4096;

class Buffer {
 public:
  Buffer() = default;
  // At least `capacity` bytes, with content left over from earlier use; page-aligned if there are many. Throws
  // std::bad_alloc.
  explicit Buffer(std::size_t capacity);
  Buffer(Buffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), capacity_(std::exchange(other.capacity_, 0)) {}
  Buffer& operator=(Buffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(capacity_, other.capacity_);
    return *this;
  }
  ~Buffer();

  std::uint8_t* data() const { return data_; }
  std::size_t capacity() const { return capacity_; }

 private:
  std::uint8_t* data_ = nullptr;
  std::size_t capacity_ = 0;
};

// The bytes that the pool holds for reuse; for tests and for the memory figures of the benchmark.
std::size_t pool_retained_bytes();
// Returns all of them to the operating system.
void trim_pool();

// A growing array of plain values on a pooled buffer. The caller keeps the size: columns derive it from offsets.
template <typename T>
class PooledArray {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  T* data() const { return reinterpret_cast<T*>(buffer_.data()); }
  std::size_t capacity() const { return buffer_.capacity() / sizeof(T); }
  T& operator[](std::size_t index) const { return data()[index]; }

  // Makes room for `needed` values and keeps the first `used`.
  void reserve(std::size_t needed, std::size_t used) {
    if (needed <= capacity()) return;
    grow(needed, used);
  }
  Buffer release() { return std::move(buffer_); }

 private:
  void grow(std::size_t needed, std::size_t used) {
    const std::size_t doubled = capacity() * 2;
    const std::size_t values = needed > doubled ? needed : doubled;
    if (values > ~std::size_t{0} / sizeof(T)) throw std::bad_alloc();
    Buffer larger(values * sizeof(T));
    if (used > 0) std::memcpy(larger.data(), buffer_.data(), used * sizeof(T));
    buffer_ = std::move(larger);
  }

  Buffer buffer_;
};

}  // namespace recordsmith
