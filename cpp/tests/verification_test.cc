#include "verification.h"

#include <string>
#include <vector>

#include "made_records.h"

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

// Few and many borders between threads, and pieces that cut records, headers and footers at every byte.
std::vector<VerifyOptions> all_ways() {
  std::vector<VerifyOptions> ways{{}, {.threads = 3}};
  for (const std::uint64_t stretch : {1, 20, 300}) {
    for (const std::size_t piece : {1, 5, 16, 100, 5000}) {
      for (const unsigned threads : {1u, 2u, 4u}) ways.push_back({threads, stretch, 2 * stretch, piece});
    }
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
