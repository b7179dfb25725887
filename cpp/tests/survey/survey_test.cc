#include "survey/survey.h"

#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "tests/made_examples.h"
#include "tests/made_records.h"
#include "tests/survey_description.h"

namespace recordsmith::testing {
namespace {

using survey::Summary;
using survey::SurveyFile;
using survey::SurveyOptions;

Summary look(const std::vector<std::string>& paths, const SurveyOptions& options = {},
             const survey::Expected& expected = {}, const std::vector<std::uint32_t>& splits = {}) {
  std::vector<SurveyFile> files;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    files.push_back({{paths[i], std::nullopt}, i < splits.size() ? splits[i] : 0});
  }
  Summary summary;
  CHECK_OK(survey_files(files, expected, options, {}, &summary));
  return summary;
}

SurveyOptions way(unsigned threads, std::uint64_t unit_bytes, std::size_t digests = 1000) {
  SurveyOptions options;
  options.threads = threads;
  options.unit_bytes = unit_bytes;
  options.digests_in_memory = digests;
  return options;
}

// Few and many units, by one thread and by several; few digests in memory.
std::vector<SurveyOptions> all_ways() {
  std::vector<SurveyOptions> ways;
  for (const std::uint64_t unit : {1, 20, 100, 1000}) {
    for (const unsigned threads : {1U, 2U, 4U}) ways.push_back(way(threads, unit, threads == 2 ? 3 : 1000));
  }
  return ways;
}

const survey::FeatureSummary* feature_of(const Summary& summary, const std::string& key) {
  for (const survey::FeatureSummary& feature : summary.total.features) {
    if (feature.key == key) return &feature;
  }
  return nullptr;
}

std::string png_header(char width) {
  return std::string("\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0", 19) + width + std::string("\0\0\0\x10\x08\x02\0\0\0", 9);
}

std::string list_of(std::string_view key, std::initializer_list<std::string> steps) {
  std::string body;
  for (const std::string& step : steps) body += message(1, step);
  return message(1, message(1, key) + message(2, body));
}

// A file with a little of everything.
Content mixed_records() {
  Content file;
  std::mt19937 random(7);
  for (int i = 0; i < 60; ++i) {
    const auto number = static_cast<std::int64_t>(random() % 5);
    const auto share = static_cast<float>(random() % 100) / 8;
    const std::string label = entry("label", int64_list({i / 13}));
    switch (i % 12) {
      case 3:
        append_record(example({label, entry("x", float_list({share, std::nanf("")}))}), &file);
        break;
      case 5:
        append_record("plain text", &file);
        break;
      case 7:
        append_record(example({label, entry("x", int64_list({number})), entry("late", bytes_list({" a", "b\n"}))}),
                      &file);
        break;
      case 8:
        append_record(example({label, entry("filename", bytes_list({"a.jpg"})),
                               entry("image", bytes_list({png_header(static_cast<char>(16 + number))}))}),
                      &file);
        break;
      case 9:
        append_record(example({entry("x", ""), label, label}), &file);
        break;
      case 10:
        append_record(message(1, entry("label", int64_list({i / 13}))) +
                          message(2, list_of("steps", {int64_list({1, 2}), int64_list({}), ""})),
                      &file);
        break;
      default:
        append_record(example({entry("x", float_list({share})), label, entry("n", int64_list({number, -number}))}),
                      &file);
    }
  }
  return file;
}

TEST(facts_do_not_depend_on_units_and_threads) {
  const TemporaryFolder folder;
  const std::vector<std::string> paths{folder.write("a", mixed_records()), folder.write("empty", {}),
                                       folder.write("b", mixed_records())};
  survey::Expected expected;
  expected.features[{"label", false}] = {Kind::kInt64, 1, -1, 3};
  expected.features[{"n", false}] = {Kind::kInt64, 3, -1};
  const std::string whole = describe(look(paths, way(1, 1 << 20), expected, {0, 0, 1}));
  for (const SurveyOptions& options : all_ways()) CHECK(describe(look(paths, options, expected, {0, 0, 1})) == whole);
}

TEST(raw_numbers_are_what_is_declared_and_do_not_depend_on_units) {
  std::mt19937 random(3);
  Content file;
  for (int i = 0; i < 400; ++i) {
    std::string value;
    for (unsigned j = 0; j < 24 + (i % 50 == 0 ? 1U : 0U); ++j) value.push_back(static_cast<char>(random()));
    append_record(example({entry("x", bytes_list({value})), entry("label", bytes_list({value.substr(0, 1)}))}), &file);
  }
  const TemporaryFolder folder;
  const std::string path = folder.write("a", file);
  using survey::RawType;
  for (const RawType type :
       {RawType::kBool, RawType::kInt8, RawType::kInt16, RawType::kInt32, RawType::kInt64, RawType::kUint8,
        RawType::kUint16, RawType::kUint32, RawType::kUint64, RawType::kHalf, RawType::kFloat, RawType::kDouble}) {
    survey::Expected expected;
    expected.features[{"x", false}] = {Kind::kBytes, 1, -1, -1, {{"", type, 0, -1}}};
    expected.features[{"label", false}] = {Kind::kBytes, 1, 1, -1, {{"", RawType::kUint8, 0, -1}}};
    const Summary whole = look({path}, way(1, 1 << 20), expected);
    const survey::FeatureSummary* const x = feature_of(whole, "x");
    const bool is_byte = type == RawType::kBool || type == RawType::kInt8 || type == RawType::kUint8;
    CHECK_EQUAL(x->raw_numbers.size(), 1u);
    CHECK(x->raw_numbers[0].numbers.count >= (is_byte ? 400u * 24 : 392u * 3));
    CHECK_EQUAL(x->strings.value().count, 400u);
    CHECK_EQUAL(x->strings.value().utf8 == 0 || !is_byte, true);
    for (const SurveyOptions& options : all_ways()) CHECK(describe(look({path}, options, expected)) == describe(whole));
  }
  survey::Expected packed;  // parts, one of which does not fit into the value and is not read beyond it
  packed.features[{"x", false}] = {
      Kind::kBytes, 1, 24, -1, {{"a", RawType::kUint8, 0, 8}, {"b", RawType::kDouble, 8, 2}}};
  CHECK_EQUAL(feature_of(look({path}, {}, packed), "x")->raw_numbers[1].numbers.count, 392u * 2);
  packed.features[{"x", false}].raw_numbers[1].count = 3;
  CHECK_EQUAL(feature_of(look({path}, {}, packed), "x")->raw_numbers[1].numbers.count, 0u);
}

TEST(features_are_counted) {
  const TemporaryFolder folder;
  const Summary summary = look({folder.write("a", mixed_records())});
  CHECK_EQUAL(summary.files[0].records, 60u);
  CHECK_EQUAL(summary.total.examples, 55u);
  const survey::FeatureSummary* const x = feature_of(summary, "x");
  CHECK(x != nullptr);
  CHECK_EQUAL(x->records, 40u);  // a Feature without a kind is none
  CHECK_EQUAL(x->unset, 5u);
  CHECK_EQUAL(x->kinds[static_cast<std::size_t>(Kind::kInt64)], 5u);
  CHECK_EQUAL(x->floats.value().nan, 5u);
  CHECK_EQUAL(x->not_finite_places.all().size(), 5u);
  const survey::FeatureSummary* const late = feature_of(summary, "late");
  CHECK_EQUAL(late->strings.value().leading_space, 5u);
  CHECK_EQUAL(late->strings.value().trailing_space, 5u);
  CHECK_EQUAL(late->missing_places.all().front().record.number, 0u);
  const survey::FeatureSummary* const image = feature_of(summary, "image");
  CHECK_EQUAL(image->strings.value().images.images, 5u);
  CHECK_EQUAL(image->strings.value().images.suffix_differs, 5u);
  CHECK_EQUAL(image->strings.value().images.sample.size(), 5u);
  const survey::FeatureSummary* const steps = feature_of(summary, "steps");
  CHECK(steps->in_steps);
  CHECK_EQUAL(steps->steps.max, 3u);
  CHECK_EQUAL(steps->lengths.max, 2u);
  const survey::FeatureSummary* const label = feature_of(summary, "label");
  CHECK(!label->label.has_value());                                                // only listed by split
  CHECK_EQUAL(summary.splits[0].features[1].label.value().longest_run, 13u - 1u);  // less the text
}

TEST(oddities_of_the_wire_are_reported) {
  const TemporaryFolder folder;
  const std::string number = int64_list({7});
  const std::string broken_key("k\xff", 2);
  Content file;
  append_record(example({entry("a", number), entry("a", number)}), &file);
  append_record(example({entry("a", number + float_list({1}))}), &file);
  append_record(example({entry("a", number + number)}), &file);
  append_record(example({entry("a", message(3, message(1, varint(1)) + varint(8) + varint(2)))}), &file);
  append_record(example({entry("a", number)}) + message(9, "new"), &file);
  append_record(example({message(1, message(1, "a") + message(2, number) + message(3, "x"))}), &file);
  append_record(example({entry("a", number), entry(broken_key, number)}), &file);
  append_record("just some text", &file);
  append_record("", &file);
  const Summary summary = look({folder.write("odd", file)});
  std::string listed;
  for (const survey::AnomalySummary& anomaly : summary.total.anomalies) {
    listed += anomaly.kind + " '" + anomaly.feature + "' " + std::to_string(anomaly.count) + '\n';
  }
  CHECK_EQUAL(listed,
              "not-an-example '' 1\nduplicate-key 'a' 1\nmixed-kinds 'a' 1\nvalues-after-list 'a' 2\n"
              "unknown-field '' 1\nunknown-field 'a' 1\nnon-utf8-key '' 1\n");
  CHECK_EQUAL(summary.total.examples, 7u);  // the empty one is an Example without features
}

TEST(every_damage_and_every_cut_is_told_however_the_file_is_cut) {
  const TemporaryFolder folder;
  Content inner;
  append_record("a", &inner);
  append_record("bb", &inner);
  const std::string nested(inner.begin(), inner.end());
  Content whole;
  for (const std::string& payload : {example({entry("x", int64_list({1}))}), nested, std::string(), "four" + nested,
                                     example({entry("x", int64_list({2}))})}) {
    append_record(payload, &whole);
  }
  const auto compare = [&](const Content& content) {
    const std::string path = folder.write("made", content);
    const Summary one = look({path}, way(1, 1 << 20));
    const std::string expected = describe(one);
    for (const SurveyOptions& options : all_ways()) CHECK(describe(look({path}, options)) == expected);
    return one.files[0];
  };
  for (std::size_t size = 0; size < whole.size(); size += 5) {
    compare(Content(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)));
  }
  for (std::size_t place = 0; place < whole.size(); place += 3) {
    Content damaged = whole;
    damaged[place] ^= 1;
    const survey::FileSummary file = compare(damaged);
    CHECK(file.damage_count >= 1);
    CHECK(file.records >= 4);
  }
}

TEST(records_behind_removed_bytes_are_found) {
  const TemporaryFolder folder;
  Content file = framed({"one", "a second record, long enough to cut", "three", "four"});
  file.erase(file.begin() + 19 + 20, file.begin() + 19 + 25);
  const Summary summary = look({folder.write("cut", file)});
  CHECK_EQUAL(summary.files[0].records, 3u);
  CHECK_EQUAL(summary.files[0].damage_count, 1u);
  const survey::DamageSummary& damage = summary.files[0].damages.front();
  CHECK(damage.failure.code == Code::kCorruptData);
  CHECK_EQUAL(damage.failure.offset, 19u);
  CHECK_EQUAL(damage.bytes, 16u + 35u - 5u);
}

TEST(moments_and_quantiles_are_right_for_many_values) {
  const TemporaryFolder folder;
  Content file;
  constexpr int kRecords = 20'000;
  double sum = 0;
  std::mt19937 random(3);
  std::vector<float> values;
  for (int i = 0; i < kRecords; ++i) {
    const float value = 1000 + static_cast<float>(random() % 1'000'000) / 1e3F;
    values.push_back(value);
    sum += static_cast<double>(value);
    append_record(example({entry("x", float_list({value}))}), &file);
  }
  const std::string path = folder.write("many", file);
  double squares = 0;
  for (const float value : values) squares += std::pow(static_cast<double>(value) - sum / kRecords, 2);
  std::sort(values.begin(), values.end());
  std::vector<double> first;
  for (const unsigned threads : {1U, 3U}) {
    const Summary summary = look({path}, way(threads, 100'000));
    const survey::NumberSummary& numbers = feature_of(summary, "x")->floats.value();
    CHECK_EQUAL(numbers.count, static_cast<std::uint64_t>(kRecords));
    CHECK(std::abs(numbers.mean / (sum / kRecords) - 1) < 1e-12);
    CHECK(std::abs(numbers.deviation / std::sqrt(squares / kRecords) - 1) < 1e-9);
    CHECK(!numbers.values.is_exact && !numbers.quantiles_are_exact);
    std::uint64_t counted = 0;
    for (const std::uint64_t count : numbers.counts) counted += count;
    CHECK_EQUAL(counted, static_cast<std::uint64_t>(kRecords));
    for (std::size_t i = 0; i < survey::kShares.size(); ++i) {
      const auto found = static_cast<float>(numbers.quantiles[i]);
      const auto low = std::lower_bound(values.begin(), values.end(), found) - values.begin();
      const auto high = std::upper_bound(values.begin(), values.end(), found) - values.begin();
      CHECK(static_cast<double>(low) / kRecords <= survey::kShares[i] + numbers.rank_error);
      CHECK(static_cast<double>(high) / kRecords >= survey::kShares[i] - numbers.rank_error);
    }
    if (first.empty()) first = numbers.quantiles;
    CHECK(first == numbers.quantiles);
  }
}

TEST(very_many_names_are_counted_and_not_kept) {
  const TemporaryFolder folder;
  Content file;
  for (int i = 0; i < 10'100; ++i) {
    append_record(example({entry("name " + std::to_string(i), int64_list({i}))}), &file);
  }
  const Summary summary = look({folder.write("names", file)}, way(2, 50'000));
  CHECK_EQUAL(summary.total.features.size(), 10'000u);
  CHECK(std::abs(summary.total.features_left_out - 100) < 10);
}

TEST(copies_are_found_also_under_another_name) {
  const TemporaryFolder folder;
  const std::string content = entry("text", bytes_list({std::string(300, 'x')}));
  Content train;
  append_record(example({entry("filename", bytes_list({"a"})), content}), &train);
  append_record(example({entry("filename", bytes_list({"b"})), content}), &train);
  append_record(example({entry("id", int64_list({1})), entry("n", int64_list({5}))}), &train);
  append_record(example({entry("id", int64_list({2})), entry("n", int64_list({5}))}), &train);
  Content test;
  append_record(example({entry("filename", bytes_list({"a"})), content}), &test);
  const std::vector<std::string> paths{folder.write("train", train), folder.write("test", test)};
  const Summary summary = look(paths, {}, {}, {0, 1});
  CHECK_EQUAL(summary.duplicates.groups.size(), 1u);
  CHECK_EQUAL(summary.duplicates.groups.front().count, 3u);
  CHECK(summary.duplicates.groups.front().payloads_differ);
  CHECK_EQUAL(summary.duplicates.within[0], 1u);
  const std::pair<std::uint32_t, std::uint32_t> both(0, 1);
  CHECK_EQUAL(summary.duplicates.across.at(both), 1u);

  survey::Expected expected;
  expected.provenance = {"id"};
  CHECK_EQUAL(look(paths, {}, expected, {0, 1}).duplicates.groups.size(), 2u);
}

TEST(a_limit_on_records_ends_the_look_at_a_file) {
  const TemporaryFolder folder;
  const std::string path = folder.write("a", mixed_records());
  SurveyOptions options;
  options.records_per_file = 10;
  const Summary some = look({path, path}, options);
  CHECK_EQUAL(some.files[1].records, 10u);
  CHECK(!some.files[0].is_complete);
  options.records_per_file = 60;
  CHECK(look({path}, options).files[0].is_complete);
}

TEST(frames_alone_are_counted_and_checked) {
  const TemporaryFolder folder;
  Content file = mixed_records();
  file[file.size() / 2] ^= 1;
  const std::string path = folder.write("a", file);
  const Summary all = look({path}, {});
  SurveyOptions options;
  options.frames_only = true;
  const Summary frames = look({path}, options);
  CHECK(all.files[0].damage_count > 0);
  CHECK_EQUAL(frames.files[0].damage_count, all.files[0].damage_count);
  CHECK_EQUAL(frames.files[0].records, all.files[0].records);
  CHECK_EQUAL(frames.files[0].payload_bytes, all.files[0].payload_bytes);
  CHECK(frames.total.features.empty());
}

TEST(a_survey_can_be_stopped) {
  const TemporaryFolder folder;
  Content file;
  for (int i = 0; i < 200'000; ++i) append_record("x", &file);
  const std::string path = folder.write("a", file);
  std::vector<SurveyFile> files(200, {{path, std::nullopt}, 0});
  Summary summary;
  const Status status = survey_files(files, {}, way(2, 1 << 20), [](std::uint64_t) { return false; }, &summary);
  CHECK(!status.is_ok());
}

TEST(what_is_missing_is_reported) {
  const Summary summary = look({"/nowhere/at all"});
  CHECK_EQUAL(summary.files[0].damage_count, 1u);
  CHECK(summary.files[0].damages.front().failure.code == Code::kSystem);
}

}  // namespace
}  // namespace recordsmith::testing
