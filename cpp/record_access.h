// Records at known places, in any order.
//
// Each header is checked against the length that the index gives, so that a stale index is noticed instead of served.
// Records are copied out of a guarded mapping (mapped_file.h), some of them under one guard, while the processor
// already fetches those that follow: random places are never in its caches, and waiting for memory would take longer
// than all else. What is checked is the copy.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "framing.h"

namespace recordsmith {

struct RecordPlace {
  std::uint32_t file = 0;    // position in the list of files
  std::uint64_t offset = 0;  // of the header
  std::uint64_t length = 0;  // of the payload
  std::uint64_t number = 0;
};

using Files = std::span<const std::shared_ptr<const File>>;

// Files that are opened when they are first needed, and stay open. open() belongs to one thread at a time; files that
// are open may be used by any thread meanwhile.
class FileList {
 public:
  explicit FileList(std::vector<std::string> paths) : paths_(std::move(paths)), files_(paths_.size()) {}

  Status open(std::size_t file) {
    if (files_[file] != nullptr) return Status::ok();
    std::shared_ptr<File> opened;
    RECORDSMITH_RETURN_IF_ERROR(File::open(paths_[file], &opened));
    files_[file] = std::move(opened);
    return Status::ok();
  }
  std::size_t size() const { return paths_.size(); }
  const std::string& path(std::size_t file) const { return paths_[file]; }
  Files files() const { return files_; }

 private:
  std::vector<std::string> paths_;
  std::vector<std::shared_ptr<const File>> files_;
};

// Where every record of some plain files lies: records are counted over all files.
class RecordTable {
 public:
  // `offsets` has, for each file, where its records begin and where the last one ends. It is not copied.
  RecordTable(std::vector<std::string> paths, std::vector<std::span<const std::uint64_t>> offsets);

  std::uint64_t records() const { return starts_.back(); }
  // The places of records, whose files are opened. Numbers must be below records().
  Status find(std::span<const std::int64_t> numbers, std::vector<RecordPlace>* places);
  const FileList& files() const { return files_; }

 private:
  FileList files_;
  std::vector<std::span<const std::uint64_t>> offsets_;
  std::vector<std::uint64_t> starts_;  // the number of each file's first record; then the number of all
};

// Holds the places against the sizes of the files: no memory may be taken for them before that. *total_bytes gets what
// the records take with their framing.
Status check_places(Files files, std::span<const RecordPlace> places, std::uint64_t* total_bytes);

// The records found at `places`, in that order; they point into `bytes`. Plain files.
Status read_records(Files files, std::span<const RecordPlace> places, bool verify, Buffer* bytes,
                    std::vector<RecordView>* records);

// The payloads only, each to where the caller wants it, on up to `threads` threads. The places must have been checked.
Status read_payloads(Files files, std::span<const RecordPlace> places, bool verify, unsigned threads,
                     std::span<std::uint8_t* const> targets);

}  // namespace recordsmith
