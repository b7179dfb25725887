// A member of a gzip file that says how long it is, and how many records it has.
//
// A gzip file may consist of many members, one after the other. If each begins with a record, and an extra field in its
// header says where the next member begins and how many records there are (files/gzip_member.h), then threads can
// inflate different members at the same time.
//
// None of that is trusted. Inflating the claimed bytes must give whole members, with gzip's own checksums, and exactly
// the claimed number of whole records: then reading the file from its beginning gives the same records. Otherwise the
// member is not sound, and the caller reads the file from its beginning.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "base/buffer_pool.h"
#include "files/byte_source.h"
#include "records/framing/framing.h"

namespace recordsmith {

struct MemberClaim {
  std::uint64_t offset = 0;  // in the compressed file
  std::uint64_t length = 0;
  std::uint64_t records = 0;
};

// What the member at `offset` claims; nothing if it claims nothing, or what cannot be.
std::optional<MemberClaim> read_claim(const File& file, std::uint64_t offset, std::uint64_t file_size);

class InflatedMember {
 public:
  InflatedMember(std::shared_ptr<const File> file, MemberClaim claim) : file_(std::move(file)), claim_(claim) {}

  const MemberClaim& claim() const { return claim_; }

  // Inflates it, unless a thread has begun to. True if it is inflated now.
  bool try_inflate();
  // Waits for the thread that has begun.
  void wait();
  bool is_done() const { return is_done_.load(std::memory_order_acquire); }

  // Of an inflated member:
  bool is_sound() const { return is_sound_; }
  // Its records. Their offsets and numbers are those within the member.
  RecordView record(std::size_t index) const;
  std::size_t bytes_after(std::size_t index) const;

 private:
  void inflate();
  bool find_records(std::size_t size);

  const std::shared_ptr<const File> file_;
  const MemberClaim claim_;
  std::mutex inflating_;
  std::atomic<bool> is_done_ = false;
  bool is_sound_ = false;
  Buffer bytes_;
  std::vector<std::uint64_t> starts_;  // of the records, and where the last one ends
};

}  // namespace recordsmith
