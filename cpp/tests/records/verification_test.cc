#include "records/verification.h"

#include <unistd.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "tests/made_records.h"

namespace recordsmith::testing {
namespace {

struct Verdict {
  Status status;
  std::uint64_t records = 0;
};

Verdict verdict(const std::vector<std::string>& paths, const VerifyOptions& options) {
  std::vector<InputFile> inputs;
  for (const std::string& path : paths) inputs.push_back({path, Compression::kNone});
  Verdict result;
  result.status = verify_files(inputs, options, &result.records);
  return result;
}

// Few and many borders between threads, and pieces that cut records, headers and footers at every byte; with and
// without windows.
std::vector<VerifyOptions> all_ways() {
  std::vector<VerifyOptions> ways{{}, {.threads = 3}, {.threads = 3, .window = 0}};
  for (const std::uint64_t stretch : {1, 20, 300}) {
    for (const std::size_t piece : {1, 5, 16, 100, 5000}) {
      for (const unsigned threads : {1u, 2u, 4u}) ways.push_back({threads, stretch, 2 * stretch, piece, 0});
    }
    for (const unsigned threads : {1u, 4u}) ways.push_back({threads, stretch, 2 * stretch, 16, kWindowAlignment});
  }
  return ways;
}

std::string text_of(const Content& content) { return {content.begin(), content.end()}; }

TEST(sound_files_are_counted_however_they_are_cut) {
  const TemporaryFolder folder;
  const std::string large(5000, 'x');
  const std::string inner = text_of(framed({"a", "", "bb", "a", "ccccccccc"}));
  const std::vector<std::string> paths{folder.write("mixed", framed({"one", "", large, "four", "", "six"})),
                                       folder.write("empty", {}),
                                       folder.write("files in records", framed({inner, inner + inner, "", inner}))};
  for (const VerifyOptions& way : all_ways()) {
    const Verdict all = verdict(paths, way);
    CHECK_OK(all.status);
    CHECK_EQUAL(all.records, 10u);
  }
}

TEST(every_damage_and_every_cut_is_told_as_by_one_thread) {
  const TemporaryFolder folder;
  const std::string inner = text_of(framed({"a", "bb"}));
  const Content whole = framed({"one", inner, "", "four" + inner, "five"});
  const auto compare = [&](const Content& content) {
    const std::string path = folder.write("made", content);
    const Verdict expected = verdict({path}, {});
    for (const VerifyOptions& way : all_ways()) {
      const Verdict found = verdict({path, folder.file("is not there")}, way);
      CHECK_EQUAL(found.records, expected.records);
      CHECK(!found.status.is_ok());
      if (expected.status.is_ok()) continue;  // cut where a record ends: the second file fails
      CHECK(found.status.failure().code == expected.status.failure().code);
      CHECK_EQUAL(found.status.failure().offset, expected.status.failure().offset);
      CHECK_EQUAL(found.status.failure().record, expected.status.failure().record);
      CHECK(found.status.failure().found == expected.status.failure().found);
      CHECK(found.status.failure().expected == expected.status.failure().expected);
    }
  };
  for (std::size_t size = 0; size < whole.size(); size += 3) {
    compare(Content(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)));
  }
  for (std::size_t place = 0; place < whole.size(); place += 2) {
    Content damaged = whole;
    damaged[place] ^= 1;
    compare(damaged);
  }
}

TEST(records_go_over_the_ends_of_windows) {
  const TemporaryFolder folder;
  std::vector<std::string> payloads;
  for (std::size_t i = 0; i < 300; ++i) payloads.push_back(std::string(i * 37 % 5000, static_cast<char>(i)));
  payloads.insert(payloads.begin() + 100, std::string(3 * kWindowAlignment, 'x'));  // larger than any window
  Content content = framed_all(payloads);
  const std::vector<VerifyOptions> ways{
      {.window = kWindowAlignment},
      {.window = 2 * kWindowAlignment},
      {.window = 0},
      {.threads = 3, .smallest_stretch = 1000, .usual_stretch = 9000, .window = kWindowAlignment}};
  for (const VerifyOptions& way : ways) {
    const Verdict found = verdict({folder.write("made", content)}, way);
    CHECK_OK(found.status);
    CHECK_EQUAL(found.records, payloads.size());
  }
  content[content.size() - 6000] ^= 1;
  const Verdict expected = verdict({folder.write("made", content)}, {.window = 0});
  CHECK(!expected.status.is_ok());
  for (const VerifyOptions& way : ways) {
    const Verdict found = verdict({folder.file("made")}, way);
    CHECK_EQUAL(found.records, expected.records);
    CHECK_EQUAL(found.status.failure().offset, expected.status.failure().offset);
  }
}

TEST(a_file_that_shrinks_meanwhile_is_a_status) {
  const TemporaryFolder folder;
  const Content content = framed_all(std::vector<std::string>(4000, std::string(1000, 'x')));
  const std::string path = folder.write("made", content);
  std::atomic<bool> is_done = false;
  const auto change = [&] {
    CHECK(truncate(path.c_str(), 5000) == 0);
    CHECK(truncate(path.c_str(), static_cast<off_t>(content.size())) == 0);
  };
  change();  // before the first look, as the thread may begin after it
  std::thread changing([&] {
    while (!is_done) change();
  });
  for (int times = 0; times < 50; ++times) {
    const Verdict found = verdict({path}, {.threads = 2, .smallest_stretch = 100'000, .usual_stretch = 1'000'000});
    CHECK(!found.status.is_ok() || found.records < 5);  // zeros are no records
  }
  is_done = true;
  changing.join();
}

TEST(a_length_that_no_file_has_is_refused) {
  const TemporaryFolder folder;
  Content content = framed({"one"});
  content.resize(content.size() + 50);
  write_header(std::uint64_t{1} << 60, content.data() + 19);
  const Verdict found = verdict({folder.write("made", content)}, {});
  CHECK(!found.status.is_ok() && found.status.failure().code == Code::kTooLarge);
  CHECK_EQUAL(found.records, 1u);
}

TEST(a_file_that_is_not_there_stops_what_follows) {
  const TemporaryFolder folder;
  const std::string sound = folder.write("sound", framed({"one", "two"}));
  for (const VerifyOptions& way : all_ways()) {
    const Verdict found = verdict({sound, folder.file("is not there"), sound}, way);
    CHECK(!found.status.is_ok() && found.status.failure().code == Code::kSystem);
    CHECK_EQUAL(found.records, 2u);
  }
}

}  // namespace
}  // namespace recordsmith::testing
