#include "files/inflate_source.h"

#include <string>
#include <vector>

#include "records/record_sink.h"
#include "tests/made_records.h"

namespace recordsmith::testing {
namespace {

const std::vector<std::string> kPayloads{"one", std::string(5'000, 'x'), "", "a longer one, not just of one letter"};

Content compressed(Compression format) {
  const TemporaryFolder folder;
  std::unique_ptr<RecordSink> sink;
  CHECK_OK(RecordSink::create(folder.file("made"), format, RecordSink::kDefaultLevel, &sink));
  for (const std::string& payload : kPayloads) {
    CHECK_OK(sink->append(reinterpret_cast<const std::uint8_t*>(payload.data()), payload.size()));
  }
  CHECK_OK(sink->close(false));
  return folder.read("made");
}

ReadRecords inflated(const Content& content, Compression format) {
  return read_all(std::make_unique<InflateStream>(std::make_unique<MemoryStream>(content, true), format, "made"));
}

// All bytes that come before the stream's end or failure.
Content inflate_in_pieces(const Content& content, Compression format, std::size_t piece, bool* clean) {
  InflateStream stream(std::make_unique<MemoryStream>(content, true), format, "made");
  Content all;
  Content buffer(piece);
  for (;;) {
    std::size_t got = 0;
    *clean = stream.read(buffer.data(), piece, &got).is_ok();
    all.insert(all.end(), buffer.begin(), buffer.begin() + static_cast<std::ptrdiff_t>(got));
    if (!*clean || got == 0) return all;
  }
}

TEST(what_was_compressed_comes_back) {
  for (const Compression format : {Compression::kGzip, Compression::kZlib}) {
    const Content content = compressed(format);
    CHECK(detect_compression(content.data(), content.size()) == format);
    const ReadRecords records = inflated(content, format);
    CHECK_OK(records.end);
    CHECK(records.payloads == kPayloads);
  }
}

TEST(several_streams_in_one_file_are_all_read) {
  for (const Compression format : {Compression::kGzip, Compression::kZlib}) {
    Content content = compressed(format);
    const Content once = content;
    content.insert(content.end(), once.begin(), once.end());
    const ReadRecords records = inflated(content, format);
    CHECK_OK(records.end);
    CHECK_EQUAL(records.payloads.size(), 2 * kPayloads.size());
  }
}

TEST(what_follows_a_stream_is_an_error_after_its_records) {
  for (const Compression format : {Compression::kGzip, Compression::kZlib}) {
    for (const Content& tail : {Content(1, 0), Content(8, 0), Content{'g', 'a', 'r', 'b', 'a', 'g', 'e'}}) {
      Content content = compressed(format);
      content.insert(content.end(), tail.begin(), tail.end());
      const ReadRecords records = inflated(content, format);
      CHECK(records.payloads == kPayloads);
      CHECK(!records.end.is_ok() && records.end.failure().code == Code::kCompression);
    }
  }
}

TEST(a_cut_stream_gives_the_same_bytes_in_any_pieces_and_then_fails) {
  for (const Compression format : {Compression::kGzip, Compression::kZlib}) {
    const Content whole = compressed(format);
    for (std::size_t size = 1; size < whole.size(); ++size) {
      const Content cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
      bool clean = true;
      const Content at_once = inflate_in_pieces(cut, format, 1 << 20, &clean);
      CHECK(!clean);
      for (const std::size_t piece : {1, 7, 64}) {
        CHECK(inflate_in_pieces(cut, format, piece, &clean) == at_once);
        CHECK(!clean);
      }
    }
  }
}

TEST(a_wrong_checksum_is_an_error) {
  for (const Compression format : {Compression::kGzip, Compression::kZlib}) {
    Content content = compressed(format);
    content[content.size() - (format == Compression::kGzip ? 6 : 2)] ^= 1;
    CHECK(!inflated(content, format).end.is_ok());
  }
}

TEST(the_wrong_format_is_an_error) {
  CHECK(!inflated(compressed(Compression::kGzip), Compression::kZlib).end.is_ok());
  CHECK(!inflated(compressed(Compression::kZlib), Compression::kGzip).end.is_ok());
  CHECK(!inflated(framed({"plain"}), Compression::kGzip).end.is_ok());
  const Content nothing;
  CHECK_OK(inflated(nothing, Compression::kGzip).end);
}

}  // namespace
}  // namespace recordsmith::testing
