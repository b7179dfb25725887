// Index files: whatever the bytes, an index is refused, or gives offsets that its checksums cover; and the records that
// are read through it are records of the file, one after the other.
//
//   input := options u8, bytes of the index
//
// options: bit 0  make the magic, the checksums and the length right first, or nothing mutated would ever be looked at
//          bit 1  and the first and last offset
#include <algorithm>
#include <cstring>
#include <initializer_list>
#include <string_view>
#include <vector>

#include "base/checksums/crc32c.h"
#include "fuzz/fuzz_input.h"
#include "records/framing/framing.h"
#include "records/record_access.h"
#include "records/record_index.h"

namespace recordsmith::fuzz {
namespace {

constexpr std::size_t kHeader = 88;
constexpr std::size_t kSizeAt = 16;
constexpr std::size_t kCompressionAt = 56;
constexpr std::size_t kRecordsAt = 64;
constexpr std::size_t kChecksumAt = 80;
constexpr std::size_t kBlockBytes = 4096;

void put(Content* content, std::size_t at, std::uint64_t value) {
  std::memcpy(content->data() + at, &value, sizeof value);
}

void repair(Content* content, std::uint64_t file_size, bool ends_too) {
  content->resize(std::max(content->size(), kHeader + 2 * sizeof(std::uint64_t)));
  const std::size_t count = (content->size() - kHeader) / sizeof(std::uint64_t);
  content->resize(kHeader + count * sizeof(std::uint64_t));
  std::memcpy(content->data(), "RSINDEX2", 8);
  put(content, kSizeAt, file_size);
  put(content, kCompressionAt, 0);
  put(content, kRecordsAt, count - 1);
  if (ends_too) {
    put(content, kHeader, 0);
    put(content, content->size() - sizeof(std::uint64_t), file_size);
  }
  put(content, kChecksumAt, masked_crc32c(content->data(), kChecksumAt));
  const std::size_t end = content->size();
  for (std::size_t at = kHeader; at < end; at += kBlockBytes) {
    const std::uint32_t crc = masked_crc32c(content->data() + at, std::min(kBlockBytes, end - at));
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(&crc);
    content->insert(content->end(), bytes, bytes + sizeof crc);
  }
}

Content framed(std::initializer_list<std::string_view> payloads) {
  Content content;
  for (const std::string_view payload : payloads) {
    std::uint8_t header[kHeaderBytes];
    write_header(payload.size(), header);
    const std::uint32_t crc = masked_crc32c(payload.data(), payload.size());
    const auto* footer = reinterpret_cast<const std::uint8_t*>(&crc);
    content.insert(content.end(), header, header + kHeaderBytes);
    content.insert(content.end(), payload.begin(), payload.end());
    content.insert(content.end(), footer, footer + kFooterBytes);
  }
  return content;
}

// The file that the indexes are of, which lives in memory only.
std::string write_data(const Content& content) {
  const int descriptor = memfd_create("data", 0);
  REQUIRE(write(descriptor, content.data(), content.size()) == static_cast<ssize_t>(content.size()));
  return "/proc/self/fd/" + std::to_string(descriptor);
}

}  // namespace
}  // namespace recordsmith::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace recordsmith;        // NOLINT: this file is nothing but the fuzzer
  using namespace recordsmith::fuzz;  // NOLINT
  if (size == 0) return 0;
  static const Content records = framed({"a", "", "some more", "b", std::string(300, 'c')});
  static const std::string path = write_data(records);
  static const std::vector<std::uint64_t> begins = [] {
    std::vector<std::uint64_t> offsets;
    std::shared_ptr<File> file;
    REQUIRE(File::open(path, &file).is_ok());
    REQUIRE(scan_offsets(file, Compression::kNone, true, &offsets).is_ok());
    return offsets;
  }();

  Content content(data + 1, data + size);
  if ((data[0] & 1) != 0) repair(&content, records.size(), (data[0] & 2) != 0);
  std::unique_ptr<IndexFile> index;
  if (!IndexFile::open(as_file(content)->path(), &index).is_ok()) return 0;
  bool fits = false;
  REQUIRE(index->fits(path, &fits).is_ok());
  const std::shared_ptr<const Offsets> offsets = std::move(index);
  REQUIRE(offsets->count() * sizeof(std::uint64_t) <= content.size());
  RecordTable table({path}, {}, {offsets});
  for (std::uint64_t i = 0; i < std::min<std::uint64_t>(table.records(), 50); ++i) {
    const std::vector<std::int64_t> number{static_cast<std::int64_t>(i)};
    std::vector<RecordPlace> places;
    Buffer bytes;
    std::vector<RecordView> read;
    if (!table.find(number, &places).is_ok()) continue;
    if (!read_records(table.files().files(), places, true, &bytes, &read).is_ok()) continue;
    REQUIRE(std::find(begins.begin(), begins.end(), read[0].offset) != begins.end());
    REQUIRE(std::find(begins.begin(), begins.end(), read[0].offset + read[0].length + kFramingBytes) != begins.end());
  }
  return 0;
}
