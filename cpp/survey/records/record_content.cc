#include "survey/records/record_content.h"

#include <cstring>

#include "examples/varint_run.h"

namespace recordsmith::survey {
namespace {

using wire::Bytes;
using wire::kDelimited;
using wire::tag_of;

constexpr std::uint8_t kFirstField = tag_of(1, kDelimited);
constexpr std::uint8_t kSecondField = tag_of(2, kDelimited);

// --- records as they are usually written ---

// A field with this tag at *at; false if there is another one.
bool take_field(Bytes* at, Bytes end, std::uint8_t tag, Span* value) {
  if (*at == end || **at != tag) return false;
  std::size_t size = 0;
  Bytes const begin = wire::read_size(*at + 1, end, &size);
  if (begin == nullptr) return false;
  *value = {begin, begin + size};
  *at = begin + size;
  return true;
}

bool read_floats(Span body, RecordContent* content, FeatureValues* values) {
  Span packed{};
  Bytes at = body.begin;
  if (take_field(&at, body.end, kFirstField, &packed)) {
    if (at != body.end || packed.size() % 4 != 0) return false;
    values->count = packed.size() / 4;
    values->packed_floats = packed.begin;
    return true;
  }
  constexpr std::uint8_t kOne = tag_of(1, wire::kFixed32);
  constexpr std::size_t kOneBytes = 5;
  if (body.size() % kOneBytes != 0) return false;
  values->start = content->floats.size();
  values->count = body.size() / kOneBytes;
  for (; at < body.end; at += kOneBytes) {
    if (*at != kOne) return false;
    float value;
    std::memcpy(&value, at + 1, sizeof value);
    content->floats.push_back(value);
  }
  return true;
}

bool read_int64s(Span body, RecordContent* content, FeatureValues* values) {
  values->start = content->int64s.size();
  Span packed{};
  Bytes at = body.begin;
  if (take_field(&at, body.end, kFirstField, &packed)) {
    if (at != body.end) return false;
    if (packed.size() == 1) {
      if (*packed.begin >= 0x80) return false;
      content->int64s.push_back(*packed.begin);
      values->count = 1;
      return true;
    }
    values->count = wire::count_varints(packed.begin, packed.end);
    content->int64s.resize(values->start + values->count);
    return wire::decode_varints(packed.begin, packed.end, content->int64s.data() + values->start);
  }
  constexpr std::uint8_t kOne = tag_of(1, wire::kVarint);
  for (; at < body.end; ++values->count) {
    if (*at != kOne) return false;
    std::uint64_t value = 0;
    at = wire::read_varint(at + 1, body.end, &value);
    if (at == nullptr) return false;
    content->int64s.push_back(static_cast<std::int64_t>(value));
  }
  return true;
}

bool read_strings(Span body, RecordContent* content, FeatureValues* values) {
  values->start = content->strings.size();
  Bytes at = body.begin;
  for (Span value{}; at < body.end; ++values->count) {
    if (!take_field(&at, body.end, kFirstField, &value)) return false;
    content->strings.push_back({value.begin, value.size()});
  }
  return true;
}

bool read_feature(Span body, RecordContent* content, FeatureValues* values) {
  if (body.begin == body.end) return true;  // without a kind
  const std::uint8_t tag = *body.begin;
  Bytes at = body.begin;
  Span list{};
  if (!take_field(&at, body.end, tag, &list) || at != body.end) return false;
  switch (tag) {
    case tag_of(1, kDelimited):
      values->kind = Kind::kBytes;
      return read_strings(list, content, values);
    case tag_of(2, kDelimited):
      values->kind = Kind::kFloat;
      return read_floats(list, content, values);
    case tag_of(3, kDelimited):
      values->kind = Kind::kInt64;
      return read_int64s(list, content, values);
    default:
      return false;
  }
}

// A map of which each entry is a key and a value; use(key, value, stored_bytes) says whether it could.
template <typename Use>
bool read_entries(Span body, Use use) {
  for (Bytes at = body.begin; at < body.end;) {
    Bytes const begin = at;
    Span entry{};
    Span key{};
    Span value{};
    if (!take_field(&at, body.end, kFirstField, &entry)) return false;
    Bytes inside = entry.begin;
    if (!take_field(&inside, entry.end, kFirstField, &key) || !take_field(&inside, entry.end, kSecondField, &value) ||
        inside != entry.end || !use(key.text(), value, static_cast<std::uint64_t>(at - begin))) {
      return false;
    }
  }
  return true;
}

bool read_steps(Span body, RecordContent* content, ListItem* list) {
  list->first_step = content->steps.size();
  for (Bytes at = body.begin; at < body.end; ++list->steps) {
    Span step{};
    FeatureValues values;
    if (!take_field(&at, body.end, kFirstField, &step) || !read_feature(step, content, &values)) return false;
    content->steps.push_back(values);
  }
  return true;
}

// --- any record ---

FeatureValues take_values(const WireFeature& feature, RecordContent* content) {
  FeatureValues values;
  values.kind = feature.kind();
  values.count = feature.count();
  const auto count = static_cast<std::size_t>(feature.count());
  switch (feature.kind()) {
    case Kind::kNone:
      break;
    case Kind::kBytes:
      values.start = content->strings.size();
      feature.each_bytes([&](const std::uint8_t* data, std::size_t size) { content->strings.push_back({data, size}); });
      break;
    case Kind::kFloat:
      values.start = content->floats.size();
      content->floats.resize(values.start + count);
      feature.copy_floats(content->floats.data() + values.start);
      break;
    case Kind::kInt64:
      values.start = content->int64s.size();
      content->int64s.resize(values.start + count);
      feature.copy_int64s(content->int64s.data() + values.start);
      break;
  }
  return values;
}

void not_an_example(PayloadKind kind, std::vector<FoundOddity>* oddities) {
  const char* looks = nullptr;
  switch (kind) {
    case PayloadKind::kExampleList:
      looks = "looks like an ExampleListWithContext";
      break;
    case PayloadKind::kEvent:
      looks = "looks like a TensorBoard event";
      break;
    case PayloadKind::kText:
      looks = "looks like text";
      break;
    default:
      looks = "does not parse as one, and is of no known kind";
      break;
  }
  oddities->clear();
  oddities->push_back({Oddity::kNotAnExample, {}, looks});
}

}  // namespace

void RecordContent::clear() {
  // The memory for a giant record is released.
  constexpr std::size_t kMuch = std::size_t{1} << 20;
  const auto empty = [](auto* values) {
    if (values->capacity() > kMuch) *values = {};
    values->clear();
  };
  empty(&features);
  empty(&lists);
  empty(&steps);
  empty(&floats);
  empty(&int64s);
  empty(&strings);
}

bool read_plain_record(const std::uint8_t* data, std::size_t size, RecordContent* content) {
  content->clear();
  Bytes at = data;
  Bytes const end = data + size;
  Span map{};
  if (!take_field(&at, end, kFirstField, &map) || map.begin == map.end) return false;
  const bool has_features = read_entries(map, [&](std::string_view key, Span value, std::uint64_t stored) {
    content->features.push_back({key, {}, stored});
    return read_feature(value, content, &content->features.back().values);
  });
  if (!has_features) return false;
  if (at == end) return true;
  if (!take_field(&at, end, kSecondField, &map) || at != end) return false;
  return read_entries(map, [&](std::string_view key, Span value, std::uint64_t stored) {
    content->lists.push_back({key, 0, 0, stored});
    return read_steps(value, content, &content->lists.back());
  });
}

PayloadKind read_any_record(const std::uint8_t* data, std::size_t size, RecordContent* content,
                            std::vector<FoundOddity>* oddities) {
  content->clear();
  oddities->clear();
  PayloadKind kind = payload_kind(data, size);
  if (kind == PayloadKind::kEmpty) return kind;
  if (kind != PayloadKind::kExample && kind != PayloadKind::kSequenceExample && kind != PayloadKind::kOther) {
    not_an_example(kind, oddities);
    return kind;
  }
  const Inspection inspection = inspect_record({data, data + size}, oddities);
  if (kind == PayloadKind::kOther) {
    // Writers do not make Examples like this. It is still taken for one if most of it is.
    if (!inspection.parses || inspection.sound_entries == 0) {
      not_an_example(kind, oddities);
      return kind;
    }
    kind = inspection.has_lists ? PayloadKind::kSequenceExample : PayloadKind::kExample;
  }
  if (inspection.has_broken_key) return PayloadKind::kOther;  // protobuf refuses the whole record

  WireFeatures features;
  WireFeatureLists lists;
  if (!parse_sequence_example(data, size, &features, &lists).is_ok()) {
    not_an_example(PayloadKind::kOther, oddities);
    return PayloadKind::kOther;
  }
  const auto stored = [&](std::string_view key, bool in_steps) {
    const auto& sizes = inspection.stored_bytes[in_steps ? 1 : 0];
    const auto known = sizes.find(key);
    return known == sizes.end() ? 0 : known->second;
  };
  for (const auto& entry : features.entries()) {
    content->features.push_back({entry.key, take_values(entry.value, content), stored(entry.key, false)});
  }
  for (const auto& entry : lists.entries()) {
    content->lists.push_back({entry.key, content->steps.size(), entry.value.size(), stored(entry.key, true)});
    for (const WireFeature& step : entry.value) content->steps.push_back(take_values(step, content));
  }
  return kind;
}

}  // namespace recordsmith::survey
