// Records at known places, in any order.
//
// Each header is checked against the index: its length must lead to where the next record begins, so that an index
// which does not fit, or which leaves a record out, is noticed. After each list of places, its files are checked for
// changes. Records are copied out of a guarded mapping (mapped_file.h), some of them under one guard, while the
// processor already fetches the next ones: random places are never in its caches, and waiting for memory would take
// longer than everything else. What is checked is the copy. The places of remote files (remote_file.h) are fetched
// first, all of a list at once.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "records/framing/framing.h"
#include "records/record_index.h"

namespace recordsmith {

struct RecordPlace {
  std::uint32_t file = 0;    // position in the list of files
  std::uint64_t offset = 0;  // of the header
  std::uint64_t length = 0;  // of the payload
  std::uint64_t number = 0;
};

using Files = std::span<const std::shared_ptr<const File>>;

// Files that are opened when they are first needed; they lend their descriptors (descriptor_budget.h). Any number of
// threads may use it. What files() has of a file may be used by those that have opened it.
class FileList {
 public:
  // `known` has an entry for each file, which must be unchanged since then; or it is empty.
  explicit FileList(std::vector<std::string> paths, std::vector<FileIdentity> known = {})
      : paths_(std::move(paths)), known_(std::move(known)), files_(paths_.size()), is_open_(paths_.size()) {}

  Status open(std::size_t file) {
    if (is_open_[file].load(std::memory_order_acquire)) return Status::ok();
    std::shared_ptr<File> opened;
    RECORDSMITH_RETURN_IF_ERROR(
        File::open(paths_[file], &opened, known_.empty() ? nullptr : &known_[file], /*lends=*/true));
    const std::lock_guard lock(mutex_);  // not before: opening a remote file may wait for Python
    if (files_[file] == nullptr) files_[file] = std::move(opened);
    is_open_[file].store(true, std::memory_order_release);
    return Status::ok();
  }
  std::size_t size() const { return paths_.size(); }
  const std::string& path(std::size_t file) const { return paths_[file]; }
  Files files() const { return files_; }

  // The mappings of all files that are open: their size, and releasing their pages.
  std::uint64_t mapped_bytes() const;
  void forget() const;

 private:
  std::vector<std::string> paths_;
  std::vector<FileIdentity> known_;
  std::vector<std::shared_ptr<const File>> files_;
  std::vector<std::atomic<bool>> is_open_;
  mutable std::mutex mutex_;
};

// The pages of the mappings of files. They count as memory of the process until they are released; and those that are
// still in memory are worth keeping, because random places are read again.
class TouchedPages {
 public:
  // Counts what reading some records may have added. True if it is time to release the pages.
  bool add(const FileList& files, std::size_t records, std::uint64_t bytes);
  void forget(const FileList& files);

 private:
  std::uint64_t touched_ = 0;  // bytes since the pages were last released
};

// The place of every record of some plain files. Records are numbered over all files.
class RecordTable {
 public:
  // For each file, what it was when it was indexed (or nothing at all), and where its records begin.
  RecordTable(std::vector<std::string> paths, std::vector<FileIdentity> known,
              std::vector<std::shared_ptr<const Offsets>> offsets);

  std::uint64_t records() const { return starts_.back(); }
  // The places of records, whose files are opened. Numbers must be below records(). Any number of threads may ask.
  Status find(std::span<const std::int64_t> numbers, std::vector<RecordPlace>* places);
  const FileList& files() const { return files_; }
  // Releases the pages of the indexes.
  void forget() const {
    for (const std::shared_ptr<const Offsets>& offsets : offsets_) offsets->forget();
  }

 private:
  FileList files_;
  std::vector<std::shared_ptr<const Offsets>> offsets_;
  std::vector<std::uint64_t> starts_;  // the number of each file's first record; then the number of all
};

// Compares the places with the sizes of the files: no memory may be allocated for them before that. *total_bytes is the
// size of the records with their framing.
Status check_places(Files files, std::span<const RecordPlace> places, std::uint64_t* total_bytes);

// The records found at `places`, in that order; they point into `bytes`. Plain files.
Status read_records(Files files, std::span<const RecordPlace> places, bool verify, Buffer* bytes,
                    std::vector<RecordView>* records);

// The same one after the other: `take` gets each record while its bytes are in the processor's cache, and how many more
// bytes than the payload may be read there. They are valid until it returns.
using TakeRecord = std::function<Status(const RecordView& record, std::size_t slack)>;
Status visit_records(Files files, std::span<const RecordPlace> places, bool verify, const TakeRecord& take);

// The payloads only, each to its target, on up to `threads` threads. The places must have been checked.
Status read_payloads(Files files, std::span<const RecordPlace> places, bool verify, unsigned threads,
                     std::span<std::uint8_t* const> targets);

// Tells the stores of remote files that these records are read soon.
Status announce_records(Files files, std::span<const RecordPlace> places);

}  // namespace recordsmith
