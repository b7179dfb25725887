#include "survey/divided_survey.h"

#include <cmath>
#include <cstdio>
#include <random>
#include <string>
#include <vector>

#include "tests/made_examples.h"
#include "tests/made_records.h"
#include "tests/survey_description.h"

namespace recordsmith::testing {
namespace {

using survey::DividedSurvey;
using survey::PlannedUnit;
using survey::Summary;
using survey::SurveyFile;
using survey::SurveyOptions;

std::string some_bytes(std::mt19937* random, std::size_t count) {
  std::string bytes;
  for (std::size_t i = 0; i < count; ++i) bytes.push_back(static_cast<char>((*random)()));
  return bytes;
}

std::string png_header(char width) {
  return std::string("\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0", 19) + width + std::string("\0\0\0\x10\x08\x02\0\0\0", 9);
}

// Some thousand different numbers, of which some hundred are frequent: more than the sketch of frequent ones can hold.
std::string often_repeated(std::mt19937* random) {
  std::string packed;
  for (int i = 0; i < 40; ++i) {
    const std::uint64_t one = (*random)() % 4000;
    packed += varint((*random)() % 2 == 0 ? one : one * one / 4000 / 8);
  }
  return message(3, message(1, packed));
}

std::string example_of(const std::vector<std::string>& entries) {
  std::string all;
  for (const std::string& one : entries) all += one;
  return message(1, all);
}

// Few and many different values of all kinds, oddities, repeated records, contradicting labels.
Content records(unsigned seed, int count) {
  std::mt19937 random(seed);
  Content file;
  for (int i = 0; i < count; ++i) {
    const auto number = static_cast<std::int64_t>(random());
    const auto real = static_cast<float>(random()) / 1000;
    const float strange = i % 70 != 0 ? real / 7 : i % 140 == 0 ? std::nanf("") : -INFINITY;
    std::vector<std::string> entries{
        entry("label", int64_list({i / 40 % 7})),
        entry("floats", float_list({real, -real, strange, real * 3, 1.5F, real / 3})),
        entry("int64s", int64_list({number, number % 3, -number})),
        entry("repeated", often_repeated(&random)),
        entry("text", bytes_list({" " + std::to_string(number), i % 3 == 0 ? "often" : "rare" + std::to_string(i)})),
        entry("raw", bytes_list({some_bytes(&random, i % 90 == 0 ? 31 : 32)})),
        entry("pixels", bytes_list({some_bytes(&random, 9)}))};
    if (i % 5 == 0) entries.push_back(entry("filename", bytes_list({"a.jpg"})));
    if (i % 5 == 0) entries.push_back(entry("image", bytes_list({png_header(static_cast<char>(number % 64))})));
    if (i % 31 == 0) entries.push_back(entry("label", int64_list({0})));
    if (i > count / 2) entries.push_back(entry("late", int64_list({i})));
    append_record(example_of(entries), &file);
    if (i % 50 == 7) append_record(example_of(entries), &file);
    entries[0] = entry("label", int64_list({6}));
    if (i % 50 == 8) append_record(example_of(entries), &file);
    if (i % 60 == 9) append_record(i % 120 == 9 ? "plain text" : "", &file);
    if (i % 80 == 11) {
      const std::string steps = message(1, int64_list({1, i})) + message(1, "");
      append_record(message(1, entries[0]) + message(2, message(1, message(1, "steps") + message(2, steps))), &file);
    }
  }
  return file;
}

survey::Expected expectations() {
  using survey::RawType;
  survey::Expected expected;
  expected.features[{"label", false}] = {Kind::kInt64, 1, -1, 5};
  expected.features[{"raw", false}] = {
      Kind::kBytes,
      1,
      32,
      -1,
      {{"a", RawType::kDouble, 0, 2}, {"b", RawType::kUint64, 16, 1}, {"c", RawType::kHalf, 24, 4}}};
  expected.features[{"pixels", false}] = {Kind::kBytes, 1, 9, -1, {{"", RawType::kUint8, 0, -1}}};
  return expected;
}

struct Files {
  TemporaryFolder folder;
  std::vector<SurveyFile> files;

  void add(const std::string& name, const Content& content, std::uint32_t split) {
    files.push_back({{folder.write(name, content), std::nullopt}, split});
  }
};

SurveyOptions options_of(std::uint64_t unit_bytes, unsigned threads = 2) {
  SurveyOptions options;
  options.threads = threads;
  options.unit_bytes = unit_bytes;
  options.digests_in_memory = 1000;
  return options;
}

std::vector<std::string> all_tallies(DividedSurvey* survey, const SurveyOptions& options) {
  std::vector<PlannedUnit> units;
  CHECK_OK(survey->plan(&units));
  std::vector<std::string> tallies(units.size());
  for (std::size_t i = units.size(); i-- > 0;) {  // in any order
    CHECK_OK(survey_packed_unit(units[i].packed, expectations(), options, &tallies[i]));
  }
  return tallies;
}

void check_equal(const std::vector<SurveyFile>& files, const SurveyOptions& options) {
  Summary whole;
  CHECK_OK(survey_files(files, expectations(), options, {}, &whole));
  DividedSurvey survey(files, expectations(), options);
  for (const std::string& one : all_tallies(&survey, options)) CHECK_OK(survey.add(one));
  Summary divided;
  CHECK_OK(survey.finish(&divided));
  CHECK(describe(divided, true) == describe(whole, true));
}

TEST(units_that_others_survey_give_the_same_facts_in_every_bit) {
  Files files;
  files.add("a", records(1, 2500), 0);
  files.add("empty", {}, 0);
  files.add("b", records(2, 1200), 1);
  Content damaged = records(3, 600);
  for (std::size_t at = 5000; at < damaged.size(); at += damaged.size() / 6) damaged[at] ^= 0x40;
  damaged.resize(damaged.size() - 7);
  files.add("damaged", damaged, 1);
  files.add("text", Content(200, 'x'), 0);
  files.files.push_back({{files.folder.file("missing"), std::nullopt}, 1});
  for (const std::uint64_t unit_bytes : {1 << 12, 1 << 15, 1 << 17, 1 << 24}) {
    check_equal(files.files, options_of(unit_bytes));
  }
  SurveyOptions frames = options_of(1 << 15);
  frames.frames_only = true;
  check_equal(files.files, frames);
  SurveyOptions few = options_of(1 << 15);
  few.records_per_file = 100;
  check_equal(files.files, few);
}

TEST(more_names_than_are_kept_are_counted_the_same) {
  Content file;
  for (int i = 0; i < 150; ++i) {
    std::vector<std::string> entries;
    for (int j = 0; j < 200; ++j) entries.push_back(entry("f" + std::to_string(i * 120 + j), int64_list({i * j})));
    append_record(example_of(entries), &file);
  }
  Files files;
  files.add("a", file, 0);
  check_equal(files.files, options_of(1 << 16));
}

TEST(a_file_that_changed_or_is_not_seen_by_others_is_surveyed_here) {
  Files files;
  files.add("a", records(4, 300), 0);
  const SurveyOptions options = options_of(1 << 12);
  Summary whole;
  CHECK_OK(survey_files(files.files, expectations(), options, {}, &whole));
  DividedSurvey survey(files.files, expectations(), options);
  std::vector<PlannedUnit> units;
  CHECK_OK(survey.plan(&units));
  const std::string path = files.files[0].input.path;
  CHECK_EQUAL(std::rename(path.c_str(), (path + ".away").c_str()), 0);
  std::vector<std::string> tallies(units.size());
  for (std::size_t i = 0; i < units.size(); ++i) {
    CHECK_OK(survey_packed_unit(units[i].packed, expectations(), options, &tallies[i]));
  }
  CHECK_EQUAL(std::rename((path + ".away").c_str(), path.c_str()), 0);
  for (const std::string& one : tallies) CHECK_OK(survey.add(one));
  Summary divided;
  CHECK_OK(survey.finish(&divided));
  CHECK(describe(divided, true) == describe(whole, true));
}

TEST(tallies_of_another_unit_or_too_few_are_refused) {
  Files files;
  files.add("a", records(5, 100), 0);
  const SurveyOptions options = options_of(1 << 12);
  DividedSurvey survey(files.files, expectations(), options);
  const std::vector<std::string> tallies = all_tallies(&survey, options);
  CHECK(tallies.size() > 2);
  CHECK(!survey.add(tallies[1]).is_ok());
  CHECK(!survey.add("").is_ok());
  CHECK_OK(survey.add(tallies[0]));
  CHECK(!survey.add(tallies[0]).is_ok());
  Summary summary;
  CHECK(!survey.finish(&summary).is_ok());
}

// Whatever the bytes, they are refused, or merged to something.
TEST(damaged_tallies_do_no_harm) {
  Files files;
  files.add("a", records(6, 420), 0);
  const SurveyOptions options = options_of(1 << 24);
  DividedSurvey planned(files.files, expectations(), options);
  const std::string sound = all_tallies(&planned, options).at(0);
  std::mt19937 random(11);
  int refused = 0;
  const auto take = [&](const std::string& tallies) {
    DividedSurvey survey(files.files, expectations(), options);
    std::vector<PlannedUnit> units;
    CHECK_OK(survey.plan(&units));
    Summary summary;
    if (survey.add(tallies).is_ok()) {
      CHECK_OK(survey.finish(&summary));
    } else {
      ++refused;
    }
  };
  constexpr int kCuts = 300;
  for (int i = 0; i < kCuts; ++i) take(sound.substr(0, random() % sound.size()));
  CHECK_EQUAL(refused, kCuts);
  take(sound + "x");
  for (int i = 0; i < 1500; ++i) {
    std::string changed = sound;
    // Mostly near the beginning: most of the bytes at the end are digests, which may be anything.
    const std::size_t at = random() % (i % 4 == 0 ? changed.size() : changed.size() / 2);
    const std::size_t length = std::min<std::size_t>(changed.size() - at, i % 3 == 0 ? 8 : 1);
    const int way = static_cast<int>(random() % 3);
    for (std::size_t j = 0; j < length; ++j) {
      changed[at + j] = way == 0 ? '\xff' : way == 1 ? '\0' : static_cast<char>(random());
    }
    take(changed);
  }
}

}  // namespace
}  // namespace recordsmith::testing
