// The survey: whatever the bytes, a record that is read the plain way has the content that protobuf's meaning gives it,
// and the facts of a file do not depend on how it is cut into units, by how many threads it is read, or whether other
// processes read the units. What those send may be anything.
//
//   input := options u8, payload or file bytes
//          | options u8, number of changes u8, changes (where u32, byte u8), file bytes
//
// options: bit 0  the bytes are one payload; else they are a file
//          bit 1  of a file: repair the CRCs first, or hardly a record would be sound
//          bit 2  of a file: survey its units as other processes do, then change the tallies that they send
#include <algorithm>
#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "base/checksums/crc32c.h"
#include "base/utf8.h"
#include "fuzz/fuzz_input.h"
#include "records/framing/framing.h"
#include "survey/divided_survey.h"
#include "survey/records/record_content.h"
#include "survey/survey.h"
#include "tests/survey_description.h"

namespace recordsmith::fuzz {
namespace {

using survey::FeatureValues;
using survey::RecordContent;

std::string text_of(const RecordContent& content, const FeatureValues& values) {
  std::string text = kind_name(values.kind);
  text += ' ' + std::to_string(values.count) + ':';
  for (std::size_t i = 0; i < values.count; ++i) {
    if (values.kind == Kind::kInt64) {
      text += ' ' + std::to_string(content.int64s.at(values.start + i));
    } else if (values.kind == Kind::kFloat) {
      std::uint32_t bits = 0;
      std::memcpy(&bits, static_cast<const std::uint8_t*>(content.floats_of(values)) + 4 * i, sizeof bits);
      text += ' ' + std::to_string(bits);
    } else if (values.kind == Kind::kBytes) {
      const survey::ByteValue& value = content.strings.at(values.start + i);
      text += ' ' + std::string(reinterpret_cast<const char*>(value.data), value.size) + ';';
    }
  }
  return text + '\n';
}

std::string text_of(const RecordContent& content) {
  std::string text;
  for (const survey::FeatureItem& item : content.features) {
    text += std::string(item.key) + " = " + text_of(content, item.values);
  }
  for (const survey::ListItem& item : content.lists) {
    text += std::string(item.key) + " in steps\n";
    for (std::size_t i = 0; i < item.steps; ++i) text += text_of(content, content.steps.at(item.first_step + i));
  }
  return text;
}

// Whether protobuf would take all entries as they stand: names are text, and each is there once.
template <typename Item>
bool has_sound_names(const std::vector<Item>& items) {
  std::set<std::string_view> seen;
  for (const Item& item : items) {
    if (!is_utf8(reinterpret_cast<const std::uint8_t*>(item.key.data()), item.key.size())) return false;
    if (!seen.insert(item.key).second) return false;
  }
  return true;
}

void check_payload_content(const Content& payload) {
  RecordContent plain;
  if (!survey::read_plain_record(payload.data(), payload.size(), {}, &plain)) return;
  std::vector<std::string_view> keys;  // as if the record before had the same, and as if it had others
  for (const survey::FeatureItem& item : plain.features) keys.push_back(item.key);
  for (int i = 0; i < 2; ++i, std::reverse(keys.begin(), keys.end())) {
    RecordContent again;
    REQUIRE(survey::read_plain_record(payload.data(), payload.size(), keys, &again));
    REQUIRE(text_of(again) == text_of(plain));
  }
  if (!has_sound_names(plain.features) || !has_sound_names(plain.lists)) return;
  RecordContent any;
  std::vector<survey::FoundOddity> oddities;
  const PayloadKind kind = survey::read_any_record(payload.data(), payload.size(), &any, &oddities);
  REQUIRE(kind == PayloadKind::kExample || kind == PayloadKind::kSequenceExample);
  REQUIRE(oddities.empty());
  REQUIRE(text_of(plain) == text_of(any));
}

void repair(Content* content) {
  for (std::size_t at = 0; content->size() - at >= kFramingBytes;) {
    std::uint8_t* header = content->data() + at;
    std::uint64_t length;
    std::memcpy(&length, header, sizeof length);
    if (header[8] % 16 == 0) {  // some stay damaged
      at += kFramingBytes;
      continue;
    }
    length %= 256;
    if (length > content->size() - at - kFramingBytes) length = content->size() - at - kFramingBytes;
    write_header(length, header);
    const std::uint32_t crc = masked_crc32c(header + kHeaderBytes, length);
    std::memcpy(header + kHeaderBytes + length, &crc, sizeof crc);
    at += kFramingBytes + length;
  }
}

std::string facts_of(const std::string& path, unsigned threads, std::uint64_t unit_bytes) {
  survey::SurveyOptions options;
  options.threads = threads;
  options.unit_bytes = unit_bytes;
  options.digests_in_memory = unit_bytes < 100 ? 2 : 1000;
  survey::Summary summary;
  REQUIRE(survey::survey_files({{{path, std::nullopt}, 0}}, {}, options, {}, &summary).is_ok());
  return testing::describe(summary);
}

void check_units(const Content& content) {
  const std::shared_ptr<File> file = as_file(content);
  const std::string whole = facts_of(file->path(), 1, std::uint64_t{1} << 20);
  REQUIRE(facts_of(file->path(), 1, 40) == whole);
  REQUIRE(facts_of(file->path(), 2, 200) == whole);
}

using survey::DividedSurvey;

// The facts of a file by its tallies; empty if these are refused.
std::string divided_facts(const std::string& path, const survey::SurveyOptions& options, const Content& changes) {
  constexpr std::size_t kChange = 5;
  DividedSurvey survey({{{path, std::nullopt}, 0}}, {}, options);
  std::vector<survey::PlannedUnit> units;
  REQUIRE(survey.plan(&units).is_ok());
  for (const survey::PlannedUnit& unit : units) {
    std::string tallies;
    REQUIRE(survey::survey_packed_unit(unit.packed, {}, options, &tallies).is_ok());
    for (std::size_t at = 0; at + kChange <= changes.size(); at += kChange) {
      std::uint32_t where;
      std::memcpy(&where, changes.data() + at, sizeof where);
      tallies[where % tallies.size()] = static_cast<char>(changes[at + sizeof where]);
    }
    if (!survey.add(tallies).is_ok()) return {};
  }
  survey::Summary summary;
  REQUIRE(survey.finish(&summary).is_ok());
  return testing::describe(summary, true);
}

void check_divided(const Content& content, const Content& changes) {
  const std::shared_ptr<File> file = as_file(content);
  survey::SurveyOptions options;
  options.unit_bytes = 200;
  survey::Summary summary;
  REQUIRE(survey::survey_files({{{file->path(), std::nullopt}, 0}}, {}, options, {}, &summary).is_ok());
  REQUIRE(divided_facts(file->path(), options, {}) == testing::describe(summary, true));
  divided_facts(file->path(), options, changes);
}

}  // namespace
}  // namespace recordsmith::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace recordsmith::fuzz;
  if (size == 0) return 0;
  Content content(data + 1, data + size);
  if ((data[0] & 1) != 0) {
    check_payload_content(content);
    return 0;
  }
  Content changes;
  if ((data[0] & 4) != 0 && !content.empty()) {
    const std::size_t taken = std::min<std::size_t>(content.size(), 1 + std::size_t{content[0]} % 8 * 5);
    const auto end = content.begin() + static_cast<std::ptrdiff_t>(taken);
    changes.assign(content.begin() + 1, end);
    content.erase(content.begin(), end);
  }
  if ((data[0] & 2) != 0) repair(&content);
  if ((data[0] & 4) != 0) {
    check_divided(content, changes);
  } else {
    check_units(content);
  }
  return 0;
}
