// A file, or a window of it, mapped into memory and read safely.
//
// A system call for each of many small records costs more than the records. A mapping has no such cost, but touching a
// page that the file no longer has (another process cut it short) raises SIGBUS, which ends a process that is not
// prepared. So only guarded work may access the mapping: a signal handler turns the fault into `false`. Such work
// copies bytes out, or computes sums of them. Whatever decides where to read is a private copy that was checked, since
// the bytes may change at any time. Other faults go to the handler that was installed before.
//
// Any number of threads may copy at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace recordsmith {

class MappedFile {
 public:
  enum class Access { kRandom, kInOrder };

  // Maps the bytes from `offset`, a multiple of the system's page size; they are at 0 here. Null if that fails.
  static std::unique_ptr<MappedFile> map(int descriptor, std::uint64_t offset, std::uint64_t size, Access access);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  // Copies [offset, offset + size). False if that is not in the mapping, or not in the file any more.
  bool copy(std::uint64_t offset, void* to, std::size_t size) const;

  // Runs work(context), and ends it at a fault in the bytes that it was given last: false then. Since the work may be
  // left at any instruction, it must own nothing (no memory, no locks, nothing with a destructor), and what it leaves
  // behind for the caller to see must be volatile. One guard for many copies costs less than the smallest of them.
  static bool guarded(void (*work)(void*), void* context);

  // For guarded work only, and until it asks again: these bytes, or null if they are not in the mapping.
  const std::uint8_t* bytes(std::uint64_t offset, std::size_t size) const;

  std::uint64_t size() const { return size_; }

  // Asks the processor to load these bytes into its cache. Cannot fault.
  void prefetch(std::uint64_t offset, std::size_t size) const {
    constexpr std::size_t kCacheLine = 64;
    if (offset > size_ || size > size_ - offset) return;
    for (std::size_t at = 0; at < size; at += kCacheLine) __builtin_prefetch(data_ + offset + at);
  }

  // Releases the pages that were touched: they count as this process's memory, although the system keeps the file's
  // content anyway. Running copies fetch them again.
  void forget() const;

  // Installs the handler, also if other code replaced it meanwhile. Call before a series of copies.
  static void arm();

 private:
  MappedFile(const std::uint8_t* data, std::uint64_t size) : data_(data), size_(size) {}

  const std::uint8_t* data_;
  std::uint64_t size_;
};

}  // namespace recordsmith
