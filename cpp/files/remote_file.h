// A file in a remote store, such as an object of S3, read by ranges.
//
// The core talks to no store. Whoever uses it provides an opener for URLs (the bindings do:
// recordsmith.storage.ranged), and a RemoteSource for each file: what identifies the version that was opened, and the
// bytes of some ranges of exactly that version. A version that is gone is a failure, never other bytes.
//
//   ranges     [begin, end) that are needed; those that are near each other are merged
//   segments   what came for them: pieces of the file in memory, which stay there while a Segments object has them
//
// Single reads look at the segments that came last: a reader that hops from header to header asks the source only once
// per segment. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "files/file_identity.h"

namespace recordsmith {

struct ByteRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

struct Segment {
  std::uint64_t begin = 0;
  std::span<const std::uint8_t> bytes;
  std::shared_ptr<const void> owner;  // keeps the bytes

  std::uint64_t end() const { return begin + bytes.size(); }
};

class Segments {
 public:
  void add(Segment segment);
  const std::vector<Segment>& all() const { return segments_; }
  // The bytes [offset, offset + size) if they are in one segment; null otherwise.
  const std::uint8_t* find(std::uint64_t offset, std::size_t size) const;
  // Copies [offset, offset + size), which may be in several segments. False if some of it is not there.
  bool copy(std::uint64_t offset, void* to, std::size_t size) const;

 private:
  std::vector<Segment> segments_;  // by their beginnings
};

class RemoteSource {
 public:
  virtual ~RemoteSource() = default;
  // The version in `inode`, and the size. Times are not used.
  virtual FileFacts facts() const = 0;
  // Adds segments that cover the ranges.
  virtual Status fetch(std::span<const ByteRange> ranges, Segments* segments) = 0;
  // These ranges are fetched soon.
  virtual void announce(std::span<const ByteRange> ranges) = 0;
};

class RemoteFile {
 public:
  using Opener = Status (*)(const std::string& url, std::unique_ptr<RemoteSource>* source);

  static bool is_url(const std::string& path);
  static void set_opener(Opener opener);
  static Status open(const std::string& url, std::unique_ptr<RemoteFile>* file);

  const FileFacts& facts() const { return facts_; }
  // Reads until there are `wanted` bytes or the file ends.
  Status read_at(std::uint64_t offset, void* to, std::size_t wanted, std::size_t* got) const;
  // Ranges in any order, which may overlap.
  Status fetch(std::vector<ByteRange> ranges, Segments* segments) const;
  void announce(std::vector<ByteRange> ranges) const;

 private:
  explicit RemoteFile(std::unique_ptr<RemoteSource> source) : source_(std::move(source)), facts_(source_->facts()) {}

  const std::unique_ptr<RemoteSource> source_;
  const FileFacts facts_;
  mutable std::mutex mutex_;
  mutable std::vector<std::shared_ptr<const Segments>> recent_;
};

}  // namespace recordsmith
