// The index of a file: where its records begin, stored in a file of its own.
//
//   magic        8 bytes   "RSINDEX2"
//   file         inode u64, size u64, modified i64, changed i64, sample u64, noted i64   (file_identity.h)
//   compression  u64       0 none, 1 gzip, 2 zlib
//   records      u64
//   content      u64       digest of all records' lengths and data CRCs: the same for every copy of the data
//   checksum     u64       masked CRC-32C of all of the above
//   offsets      u64 * (records + 1)   in the (decompressed) file; the last one is its end
//   blocks       u32 for each 512 offsets: their masked CRC-32C
//
// An index takes 8 bytes per record, and a dataset may have 10^9 records. So an index is neither read as a whole nor
// held in memory, but mapped, and read where a record is requested. Reads are guarded copies (mapped_file.h): an index
// that is cut short under the mapping is a failure, not a SIGBUS. A block is checked when it is first read.
//
// The content of an index is not trusted. It may be old, belong to another file, or be made to mislead:
//   - the first record begins at 0, and the last one ends where the file does;
//   - every record that is read has a header whose length, under its CRC, leads to where the next record begins
//     (record_access.h, batch_stream.h): nothing can be hidden between two offsets;
//   - the file has to be the one that was indexed (file_identity.h).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "files/byte_source.h"

namespace recordsmith {

struct IndexFacts {
  FileIdentity file;
  Compression compression = Compression::kNone;
  std::uint64_t records = 0;
  std::uint64_t content = 0;
};

// Where an offset and the one after it are: in memory, or in a mapping, to which only guarded work has access.
struct OffsetPlace {
  const std::uint64_t* given = nullptr;
  const MappedFile* mapped = nullptr;
  std::uint64_t at = 0;
};

// Where records begin, and where the last one ends. Any number of threads may read.
class Offsets {
 public:
  virtual ~Offsets() = default;
  virtual std::uint64_t count() const = 0;
  // Where the offset `first` and the next one are, which are asked for soon: many records are looked up at once, so
  // that their memory accesses overlap. Fails as read() does.
  virtual Status locate(std::uint64_t first, OffsetPlace* place) const = 0;
  // [first, first + many) of them. Fails with kStaleIndex if they are missing or damaged.
  virtual Status read(std::uint64_t first, std::size_t many, std::uint64_t* to) const = 0;
  virtual void forget() const {}  // releases the pages that were touched
};

// Offsets in memory, which the caller keeps.
class GivenOffsets final : public Offsets {
 public:
  explicit GivenOffsets(std::span<const std::uint64_t> offsets) : offsets_(offsets) {}
  std::uint64_t count() const override { return offsets_.size(); }
  Status locate(std::uint64_t first, OffsetPlace* place) const override;
  Status read(std::uint64_t first, std::size_t many, std::uint64_t* to) const override;

 private:
  std::span<const std::uint64_t> offsets_;
};

class IndexFile final : public Offsets {
 public:
  // Fails with kStaleIndex if it is not a complete index.
  static Status open(const std::string& path, std::unique_ptr<IndexFile>* index);
  ~IndexFile() override;

  const IndexFacts& facts() const { return facts_; }
  std::uint64_t count() const override { return facts_.records + 1; }
  Status locate(std::uint64_t first, OffsetPlace* place) const override;
  Status read(std::uint64_t first, std::size_t many, std::uint64_t* to) const override;
  void forget() const override { mapped_->forget(); }

  // Checks all blocks again: false if one is damaged.
  bool is_sound() const;
  // Whether it is the index of this file: now, or of a copy with the same modification time. For a copy, some
  // more records are compared, and its own inode and times replace those of the index.
  Status fits(const std::string& path, bool* fits);

 private:
  IndexFile();
  Status check_block(std::uint64_t block) const;
  bool leads_on(const File& file, std::uint64_t record) const;

  struct Checked;

  std::string path_;
  IndexFacts facts_;
  std::unique_ptr<MappedFile> mapped_;
  std::unique_ptr<Checked> checked_;  // which blocks were
};

// Writes an index, offset by offset.
class IndexWriter {
 public:
  // Creates the file, which must not exist yet.
  static Status create(const std::string& path, std::unique_ptr<IndexWriter>* writer);
  ~IndexWriter();
  Status add(std::uint64_t offset);
  Status finish(const IndexFacts& facts);

 private:
  IndexWriter(std::string path, int descriptor);
  Status end_block();
  Status write(const void* data, std::size_t size, std::uint64_t at);

  const std::string path_;
  const int descriptor_;
  std::vector<std::uint64_t> block_;
  std::vector<std::uint32_t> checksums_;
  std::uint64_t position_;
};

// Walks over a file's records, whose offsets go to `add`. Fails with kChanged if the file changed meanwhile.
Status build_index(const InputFile& input, const std::function<Status(std::uint64_t)>& add, IndexFacts* facts);

}  // namespace recordsmith
