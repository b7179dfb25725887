// Record files made by hand, for tests.
#pragma once

#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "base/checksums/crc32c.h"
#include "records/framing/framing.h"
#include "tests/check.h"
#include "tests/memory_stream.h"

namespace recordsmith::testing {

inline void append_record(std::string_view payload, Content* file) {
  std::uint8_t header[kHeaderBytes];
  write_header(payload.size(), header);
  const std::uint32_t crc = masked_crc32c(payload.data(), payload.size());
  const auto* footer = reinterpret_cast<const std::uint8_t*>(&crc);
  file->insert(file->end(), header, header + kHeaderBytes);
  file->insert(file->end(), payload.begin(), payload.end());
  file->insert(file->end(), footer, footer + kFooterBytes);
}

inline Content framed(std::initializer_list<std::string_view> payloads) {
  Content file;
  for (const std::string_view payload : payloads) append_record(payload, &file);
  return file;
}

inline Content framed_all(const std::vector<std::string>& payloads) {
  Content file;
  for (const std::string& payload : payloads) append_record(payload, &file);
  return file;
}

// A folder that is gone when the test is over.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "recordsmith-XXXXXX").string();
    CHECK(mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  std::string file(std::string_view name) const { return (path_ / name).string(); }

  std::string write(std::string_view name, const Content& content) const {
    std::ofstream(file(name), std::ios::binary)
        .write(reinterpret_cast<const char*>(content.data()), static_cast<std::streamsize>(content.size()));
    return file(name);
  }

  Content read(std::string_view name) const {
    std::ifstream stream(file(name), std::ios::binary);
    return Content(std::istreambuf_iterator<char>(stream), {});
  }

 private:
  std::filesystem::path path_;
};

// Everything that a stream of records gives, and how it ends.
struct ReadRecords {
  std::vector<std::string> payloads;  // those whose CRC holds, up to the first failure
  Status end;
};

inline ReadRecords read_all(std::unique_ptr<ByteStream> stream, std::size_t max_records = 100,
                            std::size_t target_bytes = 1 << 20) {
  RecordCursor cursor(std::move(stream), "made");
  RecordBlock block;
  ReadRecords result;
  for (;;) {
    result.end = cursor.next_block(max_records, target_bytes, &block);
    if (!result.end.is_ok() || block.empty()) return result;
    for (std::size_t i = 0; i < block.size(); ++i) {
      result.end = check_payload(block[i], "made");
      if (!result.end.is_ok()) return result;
      result.payloads.emplace_back(reinterpret_cast<const char*>(block[i].data), block[i].length);
    }
  }
}

}  // namespace recordsmith::testing
