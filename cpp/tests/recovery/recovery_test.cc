#include "recovery/recovery.h"

#include <algorithm>
#include <string>

#include "base/checksums/crc_parts.h"
#include "tests/check.h"
#include "tests/made_records.h"

namespace recordsmith {
namespace {

using testing::append_record;
using testing::Content;
using testing::framed;
using testing::TemporaryFolder;

std::string payload_of(std::size_t number, std::size_t size) {
  std::string payload(size, static_cast<char>('a' + number % 26));
  for (std::size_t i = 0; i < size; i += 7) payload[i] = static_cast<char>(number + i);
  return payload;
}

struct Outcome {
  std::vector<Piece> pieces;
  std::vector<std::string> kept;
};

Outcome recover(const Content& content, std::uint64_t step = kUnknown) {
  const TemporaryFolder folder;
  const std::string path = folder.write("data", content);
  std::unique_ptr<RecordRecovery> recovery;
  CHECK_OK(RecordRecovery::open(path, &recovery));
  for (bool done = false; !done;) CHECK_OK(recovery->advance(step, &done));
  Outcome outcome{recovery->pieces(), {}};
  std::uint64_t at = 0;
  for (const Piece& piece : outcome.pieces) {
    CHECK_EQUAL(piece.begin, at);
    CHECK(piece.end > piece.begin);
    at = piece.end;
    Buffer frames;
    std::size_t size = 0;
    for (std::uint64_t begin = piece.begin; piece.kind == PieceKind::kSound && begin < piece.end; begin += size) {
      CHECK_OK(recovery->read_frames(begin, piece.end, 1, &frames, &size));
      outcome.kept.emplace_back(reinterpret_cast<const char*>(frames.data()) + kHeaderBytes, size - kFramingBytes);
    }
    if (piece.kind == PieceKind::kRepaired) {
      CHECK_OK(recovery->frame(piece.data_begin, piece.data_size, &frames));
      outcome.kept.emplace_back(reinterpret_cast<const char*>(frames.data()) + kHeaderBytes, piece.data_size);
    }
  }
  CHECK_EQUAL(at, content.size());
  return outcome;
}

TEST(crcs_of_parts) {
  const std::string text = payload_of(3, 1000);
  for (const std::size_t cut : {0u, 1u, 13u, 999u, 1000u}) {
    const std::uint32_t whole = crc32c(text.data(), text.size());
    const std::uint32_t beginning = crc32c(text.data(), cut);
    const std::uint32_t rest = crc32c(text.data() + cut, text.size() - cut);
    CHECK_EQUAL(crc_of_rest(whole, beginning, crc_shift(text.size() - cut)), rest);
  }
}

TEST(a_sound_file_is_one_piece) {
  CHECK(recover({}).pieces.empty());
  const Outcome outcome = recover(framed({"foo", "", "bar"}));
  CHECK_EQUAL(outcome.pieces.size(), 1u);
  CHECK_EQUAL(outcome.pieces[0].records, 3u);
  CHECK(outcome.kept == std::vector<std::string>({"foo", "", "bar"}));
}

TEST(the_step_makes_no_difference) {
  Content file;
  for (std::size_t i = 0; i < 200; ++i) append_record(payload_of(i, i * 3), &file);
  for (std::size_t at = 1000; at < file.size(); at += 9001) file[at] ^= 0x10;
  const Outcome all = recover(file);
  for (const std::uint64_t step : {1u, 100u, 5000u}) {
    const Outcome some = recover(file, step);
    CHECK_EQUAL(some.pieces.size(), all.pieces.size());
    CHECK(some.kept == all.kept);
  }
}

TEST(records_across_windows_and_far_damages) {
  Content file;
  std::vector<std::uint64_t> starts;
  for (std::size_t i = 0; i < 40; ++i) {
    starts.push_back(file.size());
    append_record(payload_of(i, i % 5 == 0 ? 300000 : 1000 + 37 * i), &file);
  }
  file[starts[5] + 1] ^= 0x40;        // the length of a large one
  file[starts[10] + 200000] ^= 0x40;  // the data of another
  file[starts[20] + 9] ^= 0x40;       // the CRC of a length
  const Outcome outcome = recover(file);
  CHECK_EQUAL(outcome.kept.size(), 39u);
  CHECK_EQUAL(outcome.pieces.size(), 7u);
  CHECK(outcome.pieces[1].kind == PieceKind::kRepaired);
  CHECK_EQUAL(outcome.pieces[1].begin, starts[5]);
  CHECK(outcome.pieces[3].kind == PieceKind::kSuspect);
  CHECK_EQUAL(outcome.pieces[3].begin, starts[10]);
  CHECK_EQUAL(outcome.pieces[3].end, starts[11]);
  CHECK(outcome.pieces[5].kind == PieceKind::kRepaired);
}

TEST(stored_records_are_not_taken_for_records) {
  Content inner;
  for (std::size_t i = 0; i < 5; ++i) append_record(payload_of(i, 20 + i), &inner);
  const std::string stored(inner.begin(), inner.end());
  const Content whole = framed({"first", stored, "last"});
  const std::size_t outer = 16 + 5;
  for (std::size_t at = outer; at < outer + kHeaderBytes; ++at) {
    for (unsigned bit = 0; bit < 8; ++bit) {
      Content file = whole;
      file[at] ^= static_cast<std::uint8_t>(1 << bit);
      CHECK(recover(file).kept == std::vector<std::string>({"first", stored, "last"}));
    }
  }
  for (std::size_t at = outer + kHeaderBytes; at < whole.size() - 20; ++at) {
    Content file = whole;
    file[at] ^= 1;
    CHECK(recover(file).kept == std::vector<std::string>({"first", "last"}));
  }
}

// Headers without data, each leading far: computing the CRC of each of them would never end.
TEST(a_file_made_to_mislead_takes_no_time) {
  Content file;
  std::uint8_t header[kHeaderBytes];
  for (std::size_t i = 0; i < 200000; ++i) {
    write_header(1500000 + i % 1000, header);
    file.insert(file.end(), header, header + kHeaderBytes);
  }
  append_record("last", &file);
  const Outcome outcome = recover(file);
  CHECK(std::find(outcome.kept.begin(), outcome.kept.end(), "last") != outcome.kept.end());
}

// Headers every twelve bytes, each of which claims all up to the same sound record behind them.
Content headers_up_to(const Content& before, std::size_t headers, const Content& behind) {
  Content file = before;
  const std::size_t end = file.size() + headers * kHeaderBytes + kFooterBytes;
  std::uint8_t header[kHeaderBytes];
  for (std::size_t i = 0; i < headers; ++i) {
    write_header(end - file.size() - kFramingBytes, header);
    file.insert(file.end(), header, header + kHeaderBytes);
  }
  file.resize(end);
  file.insert(file.end(), behind.begin(), behind.end());
  return file;
}

// Of each of these, every header leads to the end: computed one by one, the CRCs would take hours.
TEST(claims_that_overlap_are_looked_at_once) {
  constexpr std::size_t kHeaders = 40'000;
  CHECK(recover(headers_up_to(framed({"first"}), kHeaders, framed({"last"}))).kept ==
        std::vector<std::string>({"first", "last"}));

  Content cut = framed({"first"});
  std::uint8_t header[kHeaderBytes];
  write_header(std::uint64_t{1} << 30, header);
  cut.insert(cut.end(), header, header + kHeaderBytes);
  recover(headers_up_to(cut, kHeaders, framed({"last"})));

  Content broken = framed({"first"});
  const std::size_t end = broken.size() + kHeaders * 33 + 5000;
  for (std::size_t i = 0; i < kHeaders; ++i) {
    write_header(end - broken.size() - 2516, header);
    broken.insert(broken.end(), header, header + kHeaderBytes);
    broken.insert(broken.end(), 4, 0x55);
    append_record("x", &broken);
  }
  broken.resize(end, 0x77);
  append_record("last", &broken);
  CHECK_EQUAL(recover(broken).kept.size(), kHeaders + 2);
}

TEST(garbage_of_all_kinds) {
  Content noise;
  std::uint32_t state = 1;
  for (std::size_t i = 0; i < 3000000; ++i) {
    state = state * 1664525 + 1013904223;
    noise.push_back(static_cast<std::uint8_t>(state >> 24));
  }
  Content file = framed({"one"});
  file.insert(file.end(), noise.begin(), noise.end());
  file.insert(file.end(), 1000000, 0);
  append_record("two", &file);
  file.insert(file.end(), 5, 0xff);
  CHECK(recover(file).kept == std::vector<std::string>({"one", "two"}));
}

}  // namespace
}  // namespace recordsmith
