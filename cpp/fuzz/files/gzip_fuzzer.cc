// Inflating: any bytes taken as gzip or zlib give the same bytes and the same verdict in whatever pieces they are read,
// and the records in them are walked without harm.
//
//   input := options u8, file bytes
//
// options: bit 0  zlib instead of gzip;  bits 1 to 4  the size of the pieces;  bit 5  also through a file
#include "files/inflate_source.h"
#include "fuzz/fuzz_input.h"
#include "records/framing/framing.h"

namespace recordsmith::fuzz {
namespace {

// A few bytes may inflate to a thousand times as many.
constexpr std::size_t kMostInflated = std::size_t{1} << 18;

struct Inflated {
  Content bytes;
  bool whole;  // the end was reached without a failure
};

Inflated inflate_in_pieces(ByteStream* stream, std::size_t piece) {
  Inflated result{{}, false};
  Content buffer(piece);
  while (result.bytes.size() < kMostInflated) {
    std::size_t got = 0;
    const Status status = stream->read(buffer.data(), piece, &got);
    REQUIRE(got <= piece);
    result.bytes.insert(result.bytes.end(), buffer.begin(), buffer.begin() + static_cast<std::ptrdiff_t>(got));
    if (!status.is_ok() || got == 0) {
      result.whole = status.is_ok();
      return result;
    }
  }
  result.bytes.resize(kMostInflated);
  return result;
}

Inflated inflate_in_memory(const Content& content, Compression format, std::size_t piece) {
  InflateStream stream(std::make_unique<MemoryStream>(content, true), format, "fuzz");
  return inflate_in_pieces(&stream, piece);
}

void walk_records(const Content& content, Compression format) {
  RecordCursor cursor(std::make_unique<InflateStream>(std::make_unique<MemoryStream>(content, true), format, "fuzz"),
                      "fuzz");
  RecordBlock block;
  std::uint64_t bytes = 0;
  while (bytes < kMostInflated && cursor.next_block(64, 4096, &block).is_ok() && !block.empty()) {
    for (std::size_t i = 0; i < block.size(); ++i)
      bytes += block[i].length + (check_payload(block[i], "").is_ok() ? 1 : 0);
  }
}

}  // namespace
}  // namespace recordsmith::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace recordsmith;
  using namespace recordsmith::fuzz;
  if (size == 0) return 0;
  const std::uint8_t options = data[0];
  const Content content(data + 1, data + size);
  const Compression format = (options & 1) != 0 ? Compression::kZlib : Compression::kGzip;

  const Inflated at_once = inflate_in_memory(content, format, kMostInflated);
  const Inflated in_pieces = inflate_in_memory(content, format, std::size_t{1} << (options >> 1 & 15));
  REQUIRE(at_once.bytes == in_pieces.bytes);
  if (at_once.bytes.size() < kMostInflated) REQUIRE(at_once.whole == in_pieces.whole);
  walk_records(content, format);

  if ((options & 32) != 0) {
    const std::shared_ptr<File> file = as_file(content);
    Compression detected = Compression::kNone;
    REQUIRE(detect_compression(*file, &detected).is_ok());
    const Inflated from_file = inflate_in_pieces(open_stream(file, format).get(), 4096);
    REQUIRE(from_file.bytes == at_once.bytes);
  }
  return 0;
}
