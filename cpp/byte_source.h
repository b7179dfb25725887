// Where bytes come from.
//
// File          an open file, read at any offset with pread; several threads may use one File
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

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "mapped_file.h"
#include "status.h"

namespace recordsmith {

inline constexpr std::size_t kPageSize = 4096;
inline constexpr std::size_t kWindowAlignment = 65536;  // a multiple of every system's page size

enum class Compression : std::uint8_t { kNone, kGzip, kZlib };

const char* compression_name(Compression compression);

class File {
 public:
  static Status open(const std::string& path, std::shared_ptr<File>* file);
  ~File();
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  const std::string& path() const { return path_; }
  // False for pipes and terminals, which can only be read in order and whose size is not known.
  bool is_seekable() const { return seekable_; }
  // The size now: a file may grow or shrink while it is open.
  Status size(std::uint64_t* bytes) const;
  // Reads until `wanted` bytes are there or the file ends; *got tells how many came.
  Status read_at(std::uint64_t offset, void* to, std::size_t wanted, std::size_t* got) const;
  // The same at the position that a pipe is at.
  Status read_next(void* to, std::size_t wanted, std::size_t* got) const;
  // Lets go of what was touched of the mapping so far.
  void forget() const {
    if (mapped_ != nullptr) mapped_->forget();
  }
  // The file in memory, mapped at the first call; null if it cannot be. MappedFile::arm() must have been called.
  const MappedFile* mapped() const;
  // Up to so many bytes from `offset` on, a multiple of kWindowAlignment, to be read in order; null if they cannot be.
  std::unique_ptr<MappedFile> map_window(std::uint64_t offset, std::uint64_t size) const;
  // Tells the system that these bytes will be read soon, so that it can fetch those that it does not hold.
  void announce(std::uint64_t offset, std::uint64_t size) const;

 private:
  File(std::string path, int descriptor, bool seekable)
      : path_(std::move(path)), descriptor_(descriptor), seekable_(seekable) {}
  Status system_failure(const char* action, int error) const;

  std::string path_;
  int descriptor_;
  bool seekable_;
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

// Tells the compression from the content: a valid TFRecord header is plain whatever the name says, then the gzip and
// zlib signatures are tried. An empty file is plain.
Status detect_compression(const File& file, Compression* compression);
// The same for bytes that are already at hand (the first few hundred of a file).
Compression detect_compression(const std::uint8_t* head, std::size_t size);

struct InputFile {
  std::string path;
  std::optional<Compression> compression;  // none: told from the content
};

// Opens an input and settles its compression.
Status open_input(const InputFile& input, std::shared_ptr<const File>* file, Compression* compression);

}  // namespace recordsmith
