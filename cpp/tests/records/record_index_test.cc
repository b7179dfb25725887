#include "records/record_index.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "tests/made_records.h"

namespace recordsmith::testing {
namespace {

constexpr std::size_t kRecords = 1498;  // in three blocks; sizes repeat every seven

Content records_of(std::size_t shift) {
  Content content;
  for (std::size_t i = 0; i < kRecords; ++i) append_record(std::string((i + shift) % 7, 'x'), &content);
  return content;
}

// A file, its offsets, and its index in a file of its own.
struct Indexed {
  explicit Indexed(const Content& content) : data(folder.write("data", content)), index(folder.file("index")) {
    std::unique_ptr<IndexWriter> writer;
    CHECK_OK(IndexWriter::create(index, &writer));
    const auto add = [&](std::uint64_t offset) {
      offsets.push_back(offset);
      return writer->add(offset);
    };
    CHECK_OK(build_index({data}, add, &facts));
    CHECK_OK(writer->finish(facts));
  }

  bool fits() const {
    std::unique_ptr<IndexFile> opened;
    bool fits = false;
    if (IndexFile::open(index, &opened).is_ok()) CHECK_OK(opened->fits(data, &fits));
    return fits;
  }

  TemporaryFolder folder;
  std::string data;
  std::string index;
  std::vector<std::uint64_t> offsets;
  IndexFacts facts;
};

void set_times(const std::string& path, const struct stat& as) {
  const timespec times[2] = {as.st_atim, as.st_mtim};
  CHECK(utimensat(AT_FDCWD, path.c_str(), times, 0) == 0);
}

TEST(an_index_is_read_where_it_is_asked_for) {
  const Indexed made(records_of(0));
  CHECK_EQUAL(made.facts.records, kRecords);
  std::unique_ptr<IndexFile> index;
  CHECK_OK(IndexFile::open(made.index, &index));
  CHECK_EQUAL(index->count(), made.offsets.size());
  for (const std::size_t first : {0u, 1u, 510u, 511u, 512u, 1023u, 1496u}) {
    std::vector<std::uint64_t> some(3);
    CHECK_OK(index->read(first, 3, some.data()));
    CHECK(std::equal(some.begin(), some.end(), made.offsets.begin() + static_cast<std::ptrdiff_t>(first)));
  }
  std::uint64_t none = 0;
  CHECK(!index->read(kRecords + 1, 1, &none).is_ok());
  CHECK(!index->read(~std::uint64_t{0}, 2, &none).is_ok());
  CHECK(made.fits());
}

TEST(an_index_cut_short_under_the_mapping_is_a_status) {
  const Indexed made(records_of(0));
  std::unique_ptr<IndexFile> index;
  CHECK_OK(IndexFile::open(made.index, &index));
  CHECK(truncate(made.index.c_str(), 0) == 0);
  std::uint64_t offset = 0;
  const Status status = index->read(700, 1, &offset);
  CHECK(!status.is_ok() && status.failure().code == Code::kStaleIndex);
}

TEST(no_byte_of_an_index_can_change_unnoticed) {
  const Indexed made(records_of(0));
  Content content = made.folder.read("index");
  std::vector<std::uint64_t> all(made.offsets.size());
  for (std::size_t i = 0; i < content.size(); i += i < 200 ? 1 : 97) {
    content[i] ^= 4;
    made.folder.write("index", content);
    content[i] ^= 4;
    std::unique_ptr<IndexFile> index;
    Status status = IndexFile::open(made.index, &index);
    if (status.is_ok()) status = index->read(0, all.size(), all.data());
    CHECK(!status.is_ok() && status.failure().code == Code::kStaleIndex);
  }
}

TEST(the_index_of_another_file_does_not_fit) {
  const Indexed made(records_of(0));
  struct stat before;
  CHECK(stat(made.data.c_str(), &before) == 0);
  // The same size, the same time, and the same number of records.
  made.folder.write("data", records_of(3));
  set_times(made.data, before);
  struct stat after;
  CHECK(stat(made.data.c_str(), &after) == 0);
  CHECK_EQUAL(after.st_size, before.st_size);
  CHECK(!made.fits());
}

TEST(the_index_of_a_copy_fits) {
  const Indexed made(records_of(0));
  struct stat before;
  CHECK(stat(made.data.c_str(), &before) == 0);
  const Content content = made.folder.read("data");
  std::filesystem::remove(made.data);
  made.folder.write("data", content);
  CHECK(!made.fits());  // another time
  set_times(made.data, before);
  CHECK(made.fits());
  before.st_mtim.tv_nsec = 0;  // as archives keep it
  set_times(made.data, before);
  CHECK(made.fits());
}

TEST(an_index_must_end_where_its_file_does) {
  const Indexed made(records_of(0));
  for (const std::size_t kept : {std::size_t{1}, std::size_t{100}, kRecords}) {
    std::filesystem::remove(made.index);
    std::unique_ptr<IndexWriter> writer;
    CHECK_OK(IndexWriter::create(made.index, &writer));
    for (std::size_t i = 0; i < kept; ++i) CHECK_OK(writer->add(made.offsets[i]));
    IndexFacts facts = made.facts;
    facts.records = kept - 1;
    CHECK_OK(writer->finish(facts));
    CHECK(!made.fits());
  }
}

TEST(all_copies_of_data_have_one_digest_and_other_data_has_another) {
  const Indexed first(records_of(0));
  const Indexed second(records_of(0));
  const Indexed third(records_of(1));
  CHECK_EQUAL(first.facts.content, second.facts.content);
  CHECK(first.facts.content != third.facts.content);
  Content large;
  append_record(std::string(100'000, 'a'), &large);
  append_record(std::string(100'000, 'b'), &large);
  Content other;
  append_record(std::string(100'000, 'a'), &other);
  append_record(std::string(100'000, 'c'), &other);
  CHECK(Indexed(large).facts.content != Indexed(other).facts.content);
}

TEST(an_index_of_a_file_that_changes_meanwhile_is_not_made) {
  const TemporaryFolder folder;
  const std::string path = folder.write("data", records_of(0));
  for (const bool grows : {false, true}) {
    bool is_changed = false;
    IndexFacts facts;
    const auto change = [&](std::uint64_t) {
      if (!is_changed)
        folder.write("data", grows ? [] {
          Content more = records_of(3);
          append_record("y", &more);
          return more;
        }()
                                   : records_of(3));
      is_changed = true;
      return Status::ok();
    };
    const Status status = build_index({path}, change, &facts);
    CHECK(!status.is_ok() && status.failure().code == Code::kChanged);
  }
}

}  // namespace
}  // namespace recordsmith::testing
