#include "records/framing/framing.h"

#include <string>
#include <vector>

#include "tests/made_records.h"

namespace recordsmith::testing {
namespace {

using Payloads = std::vector<std::string>;

ReadRecords read(const Content& content, bool size_is_known = true) {
  return read_all(std::make_unique<MemoryStream>(content, size_is_known));
}

std::shared_ptr<File> opened(const std::string& path) {
  std::shared_ptr<File> file;
  CHECK_OK(File::open(path, &file));
  return file;
}

TEST(an_empty_file_holds_no_records) {
  const Content nothing;
  const ReadRecords records = read(nothing);
  CHECK_OK(records.end);
  CHECK(records.payloads.empty());
}

TEST(a_record_may_be_empty) {
  const Content content = framed({"", "a", ""});
  CHECK_OK(read(content).end);
  CHECK(read(content).payloads == Payloads({"", "a", ""}));
}

TEST(the_bytes_are_those_of_other_writers) {
  const Content expected{3, 0, 0, 0, 0, 0, 0, 0, 0xb0, 0x99, 0x49, 0x0e, 'f', 'o', 'o', 0x61, 0x8a, 0xbe, 0xfe};
  CHECK(framed({"foo"}) == expected);
}

TEST(blocks_of_any_shape_give_the_same_records) {
  const std::string large(300'000, 'x');
  const Content content = framed({"one", large, "", "two", large, "three"});
  const Payloads expected{"one", large, "", "two", large, "three"};
  for (const std::size_t max_records : {1, 2, 3, 100}) {
    for (const std::size_t target_bytes : {1, 100, 300'000, 1 << 20}) {
      for (const bool size_is_known : {true, false}) {
        const ReadRecords records =
            read_all(std::make_unique<MemoryStream>(content, size_is_known), max_records, target_bytes);
        CHECK_OK(records.end);
        CHECK(records.payloads == expected);
      }
    }
  }
}

TEST(a_file_cut_anywhere_gives_what_is_whole_and_then_fails) {
  const Content whole = framed({"one", "", "three"});
  const std::size_t ends[] = {0, 19, 35, 56};
  for (std::size_t size = 0; size <= whole.size(); ++size) {
    for (const bool size_is_known : {true, false}) {
      const Content cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
      const ReadRecords records = read(cut, size_is_known);
      std::size_t complete = 0;
      while (complete < 3 && ends[complete + 1] <= size) ++complete;
      CHECK_EQUAL(records.payloads.size(), complete);
      CHECK_EQUAL(records.end.is_ok(), size == ends[complete]);
      if (records.end.is_ok()) continue;
      CHECK(records.end.failure().code == Code::kTruncated);
      CHECK_EQUAL(records.end.failure().offset, ends[complete]);
      CHECK_EQUAL(records.end.failure().record, complete);
    }
  }
}

TEST(every_flipped_bit_is_found) {
  const Content whole = framed({"one", "", "three"});
  const std::size_t ends[] = {0, 19, 35, 56};
  for (std::size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    Content flipped = whole;
    flipped[bit / 8] ^= static_cast<std::uint8_t>(1 << bit % 8);
    const ReadRecords records = read(flipped);
    CHECK(!records.end.is_ok());
    std::size_t before = 0;
    while (ends[before + 1] <= bit / 8) ++before;
    CHECK_EQUAL(records.payloads.size(), before);
  }
}

TEST(a_length_is_not_believed_beyond_the_file) {
  for (const std::uint64_t length : {std::uint64_t{1} << 31, std::uint64_t{1} << 40, std::uint64_t{1} << 63,
                                     ~std::uint64_t{0}, ~std::uint64_t{0} - 15}) {
    Content content = framed({"one"});
    content.resize(content.size() + kHeaderBytes + 5);
    write_header(length, content.data() + 19);
    for (const bool size_is_known : {true, false}) {
      const ReadRecords records = read(content, size_is_known);
      CHECK_EQUAL(records.payloads.size(), 1u);
      CHECK(!records.end.is_ok());
    }
  }
}

TEST(after_damage_the_next_record_is_found) {
  const Content one = framed({"one"});
  const Content rest = framed({"two", "three"});
  for (std::size_t garbage = 1; garbage < 40; ++garbage) {
    Content content = one;
    content.insert(content.end(), garbage, 0x5a);
    content.insert(content.end(), rest.begin(), rest.end());
    RecordCursor cursor(std::make_unique<MemoryStream>(content, true), "made");
    RecordBlock block;
    CHECK_OK(cursor.next_block(1, 1, &block));
    CHECK(!cursor.next_block(1, 1, &block).is_ok());
    bool found = false;
    CHECK_OK(cursor.resynchronise(&found));
    CHECK(found);
    CHECK_EQUAL(cursor.offset(), one.size() + garbage);
    CHECK_OK(cursor.next_block(10, 1 << 20, &block));
    CHECK_EQUAL(block.size(), 2u);
    CHECK_EQUAL(block[0].number, 1u);
    CHECK_EQUAL(block[1].offset, one.size() + garbage + 19);
  }
}

TEST(offsets_of_files) {
  const TemporaryFolder folder;
  const std::string large(100'000, 'x');
  const std::shared_ptr<File> file = opened(folder.write("sound", framed({"one", large, "", large, "five"})));
  const std::vector<std::uint64_t> expected{0, 19, 100'035, 100'051, 200'067, 200'087};
  for (const bool verify : {true, false}) {
    std::vector<std::uint64_t> offsets;
    CHECK_OK(scan_offsets(file, Compression::kNone, verify, &offsets));
    CHECK(offsets == expected);
  }
}

}  // namespace
}  // namespace recordsmith::testing
