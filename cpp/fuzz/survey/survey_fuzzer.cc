// The survey: whatever the bytes, a record that is read the plain way has the content that protobuf's meaning gives it,
// and the facts of a file do not depend on how it is cut into units, or by how many threads it is read.
//
//   input := options u8, payload or file bytes
//
// options: bit 0  the bytes are one payload; else they are a file
//          bit 1  of a file: repair the CRCs first, or hardly a record would be sound
#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "base/crc32c.h"
#include "base/utf8.h"
#include "fuzz/fuzz_input.h"
#include "records/framing.h"
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
  if (!survey::read_plain_record(payload.data(), payload.size(), &plain)) return;
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

}  // namespace
}  // namespace recordsmith::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace recordsmith::fuzz;
  if (size == 0) return 0;
  Content content(data + 1, data + size);
  if ((data[0] & 1) != 0) {
    check_payload_content(content);
  } else {
    if ((data[0] & 2) != 0) repair(&content);
    check_units(content);
  }
  return 0;
}
