#include "records/record_access.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/made_records.h"

namespace recordsmith::testing {
namespace {

using Offsets = std::vector<std::uint64_t>;

std::string payload_of(std::size_t number) {
  const std::size_t size = number % 13 == 7 ? (std::size_t{2} << 20) : number * 37 % 900;  // some beyond a copy
  return std::string(size, static_cast<char>('a' + number % 26));
}

// Two files of records whose payloads follow from their numbers, counted over both.
struct MadeFiles {
  MadeFiles() {
    std::size_t number = 0;
    for (const std::size_t count : {30, 12}) {
      Content content;
      Offsets of_file{0};
      for (std::size_t i = 0; i < count; ++i) {
        append_record(payload_of(number++), &content);
        of_file.push_back(content.size());
      }
      paths.push_back(folder.write("file" + std::to_string(count), content));
      offsets.push_back(std::move(of_file));
    }
  }
  RecordTable table() const {
    return {paths, {}, {std::make_shared<GivenOffsets>(offsets[0]), std::make_shared<GivenOffsets>(offsets[1])}};
  }

  TemporaryFolder folder;
  std::vector<std::string> paths;
  std::vector<Offsets> offsets;
};

TEST(records_of_several_files_come_in_the_order_asked_for) {
  const MadeFiles made;
  RecordTable table = made.table();
  CHECK_EQUAL(table.records(), 42u);
  std::vector<std::int64_t> numbers;
  for (std::int64_t i = 0; i < 100; ++i) numbers.push_back(i * 29 % 42);
  for (std::int64_t i = 0; i < 42; ++i) numbers.push_back(i);  // neighbours too
  std::vector<RecordPlace> places;
  CHECK_OK(table.find(numbers, &places));

  Buffer bytes;
  std::vector<RecordView> records;
  CHECK_OK(read_records(table.files().files(), places, true, &bytes, &records));
  CHECK_EQUAL(records.size(), numbers.size());
  for (const unsigned threads : {1u, 3u}) {
    std::vector<std::string> payloads;
    for (const RecordPlace& place : places) payloads.emplace_back(place.length, '?');
    std::vector<std::uint8_t*> targets;
    for (std::string& payload : payloads) targets.push_back(reinterpret_cast<std::uint8_t*>(payload.data()));
    CHECK_OK(read_payloads(table.files().files(), places, true, threads, targets));
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const std::string expected = payload_of(static_cast<std::size_t>(numbers[i]));
      CHECK(payloads[i] == expected);
      CHECK(std::string(reinterpret_cast<const char*>(records[i].data), records[i].length) == expected);
    }
  }
}

TEST(an_index_that_does_not_fit_is_noticed) {
  MadeFiles made;
  const std::vector<std::int64_t> numbers{1, 5, 41};
  Buffer bytes;
  std::vector<RecordView> records;
  for (const std::uint64_t wrong : {std::uint64_t{0}, made.offsets[1][11] + 3, ~std::uint64_t{0}}) {
    made.offsets[1][11] = wrong;
    RecordTable table = made.table();
    std::vector<RecordPlace> places;
    Status status = table.find(numbers, &places);
    if (status.is_ok()) status = read_records(table.files().files(), places, true, &bytes, &records);
    CHECK(!status.is_ok() && status.failure().code == Code::kStaleIndex);
  }
}

TEST(a_file_cut_short_under_a_group_of_copies_is_a_status) {
  const MadeFiles made;
  RecordTable table = made.table();
  std::vector<std::int64_t> numbers;
  for (std::int64_t i = 0; i < 30; ++i) numbers.push_back(i);
  std::vector<RecordPlace> places;
  CHECK_OK(table.find(numbers, &places));
  std::vector<std::string> payloads;
  for (const RecordPlace& place : places) payloads.emplace_back(place.length, '?');
  std::vector<std::uint8_t*> targets;
  for (std::string& payload : payloads) targets.push_back(reinterpret_cast<std::uint8_t*>(payload.data()));
  CHECK_OK(read_payloads(table.files().files(), places, true, 1, targets));
  CHECK(truncate(made.paths[0].c_str(), 3000) == 0);
  const Status status = read_payloads(table.files().files(), places, true, 1, targets);
  CHECK(!status.is_ok() && status.failure().code == Code::kChanged);
  CHECK(payloads[3] == payload_of(3));
}

TEST(an_index_that_leaves_a_record_out_is_noticed) {
  MadeFiles made;
  made.offsets[0].erase(made.offsets[0].begin() + 10);
  RecordTable table = made.table();
  Buffer bytes;
  std::vector<RecordView> records;
  std::vector<RecordPlace> places;
  CHECK_OK(table.find(std::vector<std::int64_t>{9}, &places));
  const Status status = read_records(table.files().files(), places, true, &bytes, &records);
  CHECK(!status.is_ok() && status.failure().code == Code::kStaleIndex);
}

TEST(rows_of_two_states_of_a_file_do_not_mix) {
  const MadeFiles made;
  RecordTable table = made.table();
  Buffer bytes;
  std::vector<RecordView> records;
  std::vector<RecordPlace> places;
  CHECK_OK(table.find(std::vector<std::int64_t>{1, 2}, &places));
  CHECK_OK(read_records(table.files().files(), places, true, &bytes, &records));
  Content other = made.folder.read("file30");
  std::fill(other.begin() + 40, other.end(), std::uint8_t{0});
  made.folder.write("file30", other);
  const Status status = read_records(table.files().files(), places, false, &bytes, &records);
  CHECK(!status.is_ok() && status.failure().code == Code::kChanged);
}

TEST(more_files_than_the_process_may_open) {
  const TemporaryFolder folder;
  const Content content = framed({"a", "b"});
  const Offsets offsets{0, 17, 34};
  std::vector<std::string> paths;
  std::vector<std::shared_ptr<const recordsmith::Offsets>> indexes;
  std::vector<std::int64_t> numbers;
  for (std::int64_t i = 0; i < 100; ++i) {
    paths.push_back(folder.write("file" + std::to_string(i), content));
    indexes.push_back(std::make_shared<GivenOffsets>(offsets));
    numbers.push_back(2 * (i * 37 % 100) + 1);
  }
  rlimit before{};
  CHECK(getrlimit(RLIMIT_NOFILE, &before) == 0);
  const rlimit few{40, before.rlim_max};
  CHECK(setrlimit(RLIMIT_NOFILE, &few) == 0);
  RecordTable table(paths, {}, indexes);
  Buffer bytes;
  std::vector<RecordView> records;
  std::vector<RecordPlace> places;
  for (int round = 0; round < 2; ++round) {
    CHECK_OK(table.find(numbers, &places));
    CHECK_OK(read_records(table.files().files(), places, true, &bytes, &records));
    for (const RecordView& record : records) CHECK(*record.data == 'b');
  }
  // One that was replaced while it was not open is noticed.
  folder.write("file0", framed({"x", "yz"}));
  const Status status = read_records(table.files().files(), places, true, &bytes, &records);
  CHECK(!status.is_ok() && status.failure().code == Code::kChanged);
  CHECK(setrlimit(RLIMIT_NOFILE, &before) == 0);
}

}  // namespace
}  // namespace recordsmith::testing
