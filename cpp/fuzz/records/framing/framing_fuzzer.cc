// Framing: whatever the bytes, the cursor, the index scan and the verifier agree with a walk that is too simple to be
// wrong, in any block size and whether or not the size of the stream is known.
//
//   input := options u8, file bytes
//
// options: bit 0  repair the CRCs first, or no mutated length would ever be believed
//          bit 1  the stream does not know its size
//          bits 2 to 4  how many records a block takes
//          bits 5 to 7  how many bytes a block takes; all of them set: also verify with two threads
#include <cstring>
#include <memory>
#include <vector>

#include "base/checksums/crc32c.h"
#include "fuzz/fuzz_input.h"
#include "records/framing/framing.h"
#include "records/verification.h"

namespace recordsmith::fuzz {
namespace {

struct Expected {
  std::uint64_t offset;
  std::uint64_t length;
};

// The records before the first one that is cut off or whose length CRC fails, and whether the file ends cleanly.
std::vector<Expected> walk(const Content& content, bool* clean) {
  std::vector<Expected> records;
  std::size_t at = 0;
  for (*clean = false; content.size() - at >= kFramingBytes;) {
    std::uint64_t length;
    if (!read_header(content.data() + at, &length)) return records;
    if (length > content.size() - at - kFramingBytes) return records;
    records.push_back({at, length});
    at += kFramingBytes + length;
  }
  *clean = at == content.size();
  return records;
}

// Makes each header's CRC right, and the data's where the record is whole. Lengths are taken modulo 4096 so that
// several records fit into an input; one in sixteen keeps its length, however large.
void repair(Content* content) {
  for (std::size_t at = 0; content->size() - at >= kFramingBytes;) {
    std::uint8_t* header = content->data() + at;
    std::uint64_t length;
    std::memcpy(&length, header, sizeof length);
    if (header[8] % 16 != 0) length %= 4096;
    write_header(length, header);
    if (length > content->size() - at - kFramingBytes) return;
    const std::uint32_t crc = masked_crc32c(header + kHeaderBytes, length);
    std::memcpy(header + kHeaderBytes + length, &crc, sizeof crc);
    at += kFramingBytes + length;
  }
}

void check_cursor(const Content& content, const std::vector<Expected>& expected, bool clean, std::uint8_t options) {
  const std::size_t max_records = std::size_t{1} << ((options >> 2 & 7) * 2);
  const std::size_t target_bytes = std::size_t{1} << ((options >> 5 & 7) * 3);
  const bool size_is_known = (options & 2) == 0;
  RecordCursor cursor(std::make_unique<MemoryStream>(content, size_is_known), "fuzz");
  std::size_t seen = 0;
  RecordBlock block;
  Status status;
  for (;;) {
    status = cursor.next_block(max_records, target_bytes, &block);
    if (!status.is_ok() || block.empty()) break;
    REQUIRE(block.size() <= max_records);
    for (std::size_t i = 0; i < block.size(); ++i, ++seen) {
      const RecordView record = block[i];
      REQUIRE(seen < expected.size());
      REQUIRE(record.number == seen);
      REQUIRE(record.offset == expected[seen].offset);
      REQUIRE(record.length == expected[seen].length);
      // With the data CRC that follows it, which is the block's memory too.
      REQUIRE(std::memcmp(record.data, content.data() + record.offset + kHeaderBytes, record.length + kFooterBytes) ==
              0);
    }
  }
  REQUIRE(seen == expected.size());
  REQUIRE(status.is_ok() == clean);

  // After a failure: forward, and to an end.
  while (!status.is_ok()) {
    const std::uint64_t before = cursor.offset();
    bool found = false;
    REQUIRE(cursor.resynchronise(&found).is_ok());
    if (!found) break;
    REQUIRE(cursor.offset() > before);
    REQUIRE(cursor.offset() + (size_is_known ? kFramingBytes : kHeaderBytes) <= content.size());
    for (block = RecordBlock(); (status = cursor.next_block(1, 1, &block)).is_ok() && !block.empty();) {
    }
  }
}

void check_file(const Content& content, const std::vector<Expected>& expected, bool clean, unsigned threads) {
  const std::shared_ptr<File> file = as_file(content);
  std::vector<std::uint64_t> offsets;
  REQUIRE(scan_offsets(file, Compression::kNone, false, &offsets).is_ok() == clean);
  REQUIRE(offsets.size() >= expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) REQUIRE(offsets[i] == expected[i].offset);

  std::size_t sound = 0;
  while (sound < expected.size()) {
    const Expected& record = expected[sound];
    std::uint32_t stored;
    std::memcpy(&stored, content.data() + record.offset + kHeaderBytes + record.length, sizeof stored);
    if (stored != masked_crc32c(content.data() + record.offset + kHeaderBytes, record.length)) break;
    ++sound;
  }
  // Many stretches in few bytes, and pieces that cut records and their framing everywhere.
  for (const std::uint64_t stretch : {std::uint64_t{1} << 20, std::uint64_t{100}}) {
    for (const std::size_t piece : {std::size_t{1} << 16, std::size_t{7}}) {
      std::uint64_t verified = 0;
      const Status status =
          verify_files({{file->path(), Compression::kNone}}, {threads, stretch, stretch, piece}, &verified);
      REQUIRE(status.is_ok() == (clean && sound == expected.size()));
      REQUIRE(verified == sound);
      if (!status.is_ok()) REQUIRE(status.failure().record == sound);
    }
  }
}

}  // namespace
}  // namespace recordsmith::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace recordsmith::fuzz;
  if (size == 0) return 0;
  const std::uint8_t options = data[0];
  Content content(data + 1, data + size);
  if ((options & 1) != 0) repair(&content);
  bool clean = false;
  const std::vector<Expected> expected = walk(content, &clean);
  check_cursor(content, expected, clean, options);
  check_file(content, expected, clean, options >= 0xe0 ? 2 : 1);
  return 0;
}
