#include "record_access.h"

#include <unistd.h>

#include <string>
#include <vector>

#include "made_records.h"

namespace recordsmith::testing {
namespace {

using Offsets = std::vector<std::uint64_t>;

std::string payload_of(std::size_t number) {
  const std::size_t size = number % 13 == 7 ? (std::size_t{2} << 20) : number * 37 % 900;  // some beyond a copy
  return std::string(size, static_cast<char>('a' + number % 26));
}

// Two files of records whose payloads are told by their numbers, counted over both.
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
  RecordTable table() const { return {paths, {offsets[0], offsets[1]}}; }

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
    CHECK(!status.is_ok() && status.failure().code == Code::kChanged);
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

}  // namespace
}  // namespace recordsmith::testing
