// Where bytes come from.
//
// File          an open file, read at any offset with pread; several threads may use one File. Readers check
//               from time to time that the file is unchanged, so that rows of two versions never mix unnoticed.
//               A URL is a file too, read by ranges (remote_file.h): every byte is of the version that was opened
// ByteStream    bytes in order: FileStream (a File, or a pipe), or InflateStream (inflate_source.h)
//
// What is parsed is read, not mapped: page faults cost about what copying costs, and a mapping kills the process with
// SIGBUS when another process cuts the file short, and shows bytes that may change between the CRC check and the
// parsing. A private copy does neither: what was verified is what is parsed. Two things come through a mapping, guarded
// (mapped_file.h): records at random places, as copies too, and files of which nothing but the CRCs is wanted.
//
// The buffer has to be aligned like the file: with a destination 16 bytes past a page boundary the kernel's copy was
// five times slower (2.4 GB/s against 12), so reads start at multiples of kPageSize wherever they can.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "base/status.h"
#include "files/file_identity.h"
#include "files/mapped_file.h"
#include "files/remote_file.h"

namespace recordsmith {

inline constexpr std::size_t kPageSize = 4096;
inline constexpr std::size_t kWindowAlignment = 65536;  // a multiple of every system's page size

enum class Compression : std::uint8_t { kNone, kGzip, kZlib };

const char* compression_name(Compression compression);

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor();
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int number() const { return number_; }

 private:
  int number_;
};

class File {
 public:
  // With `known`, the file must be unchanged since then. A file that lends may close its descriptor for a while, so
  // that others can open theirs (descriptor_budget.h).
  static Status open(const std::string& path, std::shared_ptr<File>* file, const FileIdentity* known = nullptr,
                     bool lends = false);
  ~File();
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  const std::string& path() const { return path_; }
  // False for pipes and terminals, which can only be read in order and whose size is not known.
  bool is_seekable() const { return seekable_; }
  // What the file was when it was opened, or when it became known.
  const FileIdentity& identity() const { return known_; }
  // Fails with kChanged if the file has changed (file_identity.h); costs one system call if it has not. *size is the
  // size now: records may have been appended.
  Status check_unchanged(std::uint64_t* size = nullptr) const;
  // Fails with kChanged if these facts, taken before the file was opened, are those of another file.
  Status check_same(const FileFacts& before) const;
  // The size that was last seen; costs no system call.
  std::uint64_t last_size() const {
    const std::lock_guard lock(mutex_);
    return seen_.size;
  }
  // The size now: a file may grow or shrink while it is open.
  Status size(std::uint64_t* bytes) const;
  // Reads until there are `wanted` bytes or the file ends; *got is how many were read.
  Status read_at(std::uint64_t offset, void* to, std::size_t wanted, std::size_t* got) const;
  // The same at the position that a pipe is at.
  Status read_next(void* to, std::size_t wanted, std::size_t* got) const;
  // The file in its store; null if it is local.
  const RemoteFile* remote() const { return remote_.get(); }
  // Releases the pages of the mapping that were touched so far.
  void forget() const {
    if (mapped_ != nullptr) mapped_->forget();
  }
  // The file in memory, mapped at the first call; null if it cannot be. MappedFile::arm() must have been called.
  const MappedFile* mapped() const;
  // A mapping of all of it that outlives the file object.
  std::unique_ptr<MappedFile> map_all() const;
  // Maps up to `size` bytes from `offset`, a multiple of kWindowAlignment, to be read in order; null if that fails.
  std::unique_ptr<MappedFile> map_window(std::uint64_t offset, std::uint64_t size) const;
  // Tells the system that these bytes will be read soon, so that it can fetch those that are not in memory.
  void announce(std::uint64_t offset, std::uint64_t size) const;
  // Gives up the descriptor until it is needed again; running reads keep it until they are done.
  void release() const;
  // Whether the file was used since this was last asked.
  bool was_used() const { return is_used_.exchange(false, std::memory_order_relaxed); }

 private:
  using Held = std::shared_ptr<const Descriptor>;

  explicit File(std::string path) : path_(std::move(path)) {}
  static Status open_remote(const std::string& url, std::shared_ptr<File>* file, const FileIdentity* known);
  Status system_failure(const char* action, int error) const;
  Status changed(const FileFacts& before, const FileFacts& now) const;
  // The descriptor, opened again if it was given up.
  Status acquire(Held* descriptor) const;
  Status open_again() const;                                   // with mutex_ held
  Status compare(int descriptor, const FileFacts& now) const;  // with mutex_ held

  const std::string path_;
  bool lends_ = false;
  bool seekable_ = false;
  FileIdentity known_;
  std::unique_ptr<RemoteFile> remote_;

  mutable std::atomic<bool> is_used_ = false;
  mutable std::mutex mutex_;
  mutable Held descriptor_;
  mutable FileFacts seen_;  // the facts that were last found to be those of the same file
  mutable bool is_settled_ = false;

  mutable std::once_flag mapping_;
  mutable std::unique_ptr<MappedFile> mapped_;
};

class ByteStream {
 public:
  virtual ~ByteStream() = default;
  // Reads up to `wanted` bytes. *got < wanted only at the end of the stream; a later call may get more if the file
  // grew. Bytes that came before a failure are delivered first: *got counts them also when the status is a failure.
  virtual Status read(std::uint8_t* to, std::size_t wanted, std::size_t* got) = 0;
  // How many bytes are left, or kUnknown. Lengths in headers are checked against this before memory is taken.
  virtual Status remaining(std::uint64_t* bytes) const = 0;
};

class FileStream final : public ByteStream {
 public:
  FileStream(std::shared_ptr<const File> file, std::uint64_t offset) : file_(std::move(file)), offset_(offset) {}
  Status read(std::uint8_t* to, std::size_t wanted, std::size_t* got) override;
  Status remaining(std::uint64_t* bytes) const override;
  std::uint64_t offset() const { return offset_; }

 private:
  std::shared_ptr<const File> file_;
  std::uint64_t offset_;
};

// Detects the compression from the content: a valid TFRecord header is plain whatever the name says, then the gzip and
// zlib signatures are tried. An empty file is plain.
Status detect_compression(const File& file, Compression* compression);
// The same for bytes that were already read (the first few hundred of a file).
Compression detect_compression(const std::uint8_t* head, std::size_t size);

// A file that was indexed.
struct KnownFile {
  FileIdentity identity;
  std::uint64_t records = kUnknown;
  std::uint64_t end = kUnknown;  // of the last record, in the (inflated) file
};

struct InputFile {
  std::string path;
  std::optional<Compression> compression = {};  // none: detected from the content
  std::optional<KnownFile> known = {};
};

// Opens an input and decides its compression.
Status open_input(const InputFile& input, std::shared_ptr<const File>* file, Compression* compression);

}  // namespace recordsmith
