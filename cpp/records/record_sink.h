// A TFRecord file being written, or records being framed in memory.
//
// The sink writes only to the given path; giving a complete file its final name is
// the caller's task (the writer in Python). Every short or failing write is a failure, and after one the sink takes
// nothing more.
//
// A gzip file is a row of members (gzip_member.h). A member ends with the first record at which it has at least 1 MiB,
// so where it ends depends on the records alone. Several are compressed at a time, on as many threads; a sink for
// `threads` of them holds as many MiB. A zlib file is one stream.
//
// Used by one thread at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/buffer_pool.h"
#include "base/status.h"
#include "files/byte_source.h"

namespace recordsmith {

class RecordSink {
 public:
  static constexpr std::size_t kBufferBytes = std::size_t{1} << 20;
  static constexpr std::size_t kMemberBytes = std::size_t{1} << 20;
  static constexpr int kDefaultLevel = 6;

  // Creates the file, which must not exist yet.
  static Status create(const std::string& path, Compression compression, int level, std::unique_ptr<RecordSink>* sink,
                       std::size_t threads = 1);
  // Keeps everything in memory until take().
  static std::unique_ptr<RecordSink> in_memory();
  ~RecordSink();  // closes without flushing: a sink that is not closed has failed

  // Called with the bytes of the file, in order, before they are written: such as a digest of them.
  using Observer = std::function<Status(std::span<const std::uint8_t>)>;
  void observe(Observer observer) { observer_ = std::move(observer); }

  Status append(const std::uint8_t* payload, std::size_t size);

  // Room for a payload of `size` bytes; commit() frames what was put there.
  Status claim(std::size_t size, std::uint8_t** payload);
  void commit(std::size_t size);

  // In memory: makes room for about so many bytes at once, instead of little by little.
  void expect(std::size_t bytes);

  // Records with their framing, as they stand in another file. False in *sound if they are not whole records.
  Status append_frames(const std::uint8_t* frames, std::size_t size, bool* sound);

  // What was framed in memory, and where each record begins, with the end as the last entry; the sink is empty then.
  Buffer take(std::vector<std::uint64_t>* offsets);

  // Hands everything to the operating system. Records written so far can be read, unless compressed.
  Status flush();
  // Flushes, waits for the disk if `sync`, and closes. The file stays locked until the sink is destroyed: otherwise
  // another writer could take it for abandoned, and remove it before the caller gives it its name.
  Status close(bool sync);

  std::uint64_t records() const { return records_; }
  std::uint64_t bytes() const { return bytes_; }  // before compression
  bool is_open() const { return in_memory_ || descriptor_ >= 0; }

 private:
  struct Deflater;
  struct Members;

  RecordSink(std::string path, int descriptor);
  Status write_out(const std::uint8_t* data, std::size_t size);
  Status deflate_out(const std::uint8_t* data, std::size_t size, bool finish);
  Status drain();
  Status end_member();
  Status write_members();
  Status make_room(std::size_t needed);
  void grow(std::size_t capacity);
  Status system_failure(const char* action, int error);

  std::string path_;
  int descriptor_;  // none in memory
  int lock_ = -1;   // another descriptor of the closed file
  bool in_memory_ = false;
  Observer observer_;
  std::unique_ptr<Deflater> deflater_;  // of a zlib file
  std::unique_ptr<Members> members_;    // of a gzip file
  Buffer buffer_;
  std::size_t used_ = 0;
  std::uint64_t records_ = 0;
  std::uint64_t bytes_ = 0;
  int failed_with_ = 0;
};

}  // namespace recordsmith
