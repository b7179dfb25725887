#include "survey/records/record_content.h"

#include <bit>
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
    return wire::decode_varints(packed.begin, packed.end, content->int64s.data() + values->start, values->count) ==
           values->count;
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

template <typename Number>
Number load(const void* at) {
  Number number;
  std::memcpy(&number, at, sizeof number);
  return number;
}

// memcmp, without a call for keys as most are.
bool are_equal(Bytes one, const char* other, std::size_t size) {
  const auto ends_equal = [&]<typename Number>(Number) {
    const std::size_t last = size - sizeof(Number);
    return load<Number>(one) == load<Number>(other) && load<Number>(one + last) == load<Number>(other + last);
  };
  if (size > 16) return std::memcmp(one, other, size) == 0;
  if (size >= 8) return ends_equal(std::uint64_t{});
  if (size >= 4) return ends_equal(std::uint32_t{});
  if (size >= 2) return ends_equal(std::uint16_t{});
  return size == 0 || *one == static_cast<std::uint8_t>(*other);
}

// A map entry of this key with one value, as most are: then all sizes take one byte, and follow from that of the value.
// False, and nothing done, if it is another one.
bool read_single_value(Bytes* at, Bytes end, std::string_view key, RecordContent* content) {
  static_assert(std::endian::native == std::endian::little);
  constexpr std::size_t kLongest = 100;
  Bytes const entry = *at;
  if (key.size() > kLongest || static_cast<std::size_t>(end - entry) < key.size() + 10) return false;
  Bytes const feature = entry + 4 + key.size();
  Bytes const value = feature + 6;
  const std::uint8_t tag = feature[2];
  const std::size_t size = feature[5];
  const std::size_t inside = key.size() + size + 8;
  // The entry's tag and size, the key's; the feature's, its list's, and the tag of the value.
  const std::size_t head = kFirstField | inside << 8 | kFirstField << 16 | key.size() << 24;
  const std::size_t body = kSecondField | (size + 4) << 8 | std::size_t{tag} << 16 | (size + 2) << 24;
  if (inside >= 0x80 || load<std::uint32_t>(entry) != head || load<std::uint32_t>(feature) != body ||
      feature[4] != kFirstField || static_cast<std::size_t>(end - value) < size ||
      !are_equal(entry + 4, key.data(), key.size())) {
    return false;
  }
  std::uint64_t number = 0;
  if (tag == tag_of(2, kDelimited) && size != sizeof(float)) return false;
  if (tag == tag_of(3, kDelimited) && wire::read_varint(value, value + size, &number) != value + size) return false;
  if (tag != tag_of(1, kDelimited) && tag != tag_of(2, kDelimited) && tag != tag_of(3, kDelimited)) return false;
  FeatureItem& item = content->features.emplace_back();
  item.key = key;
  item.stored_bytes = inside + 2;
  item.values.count = 1;
  if (tag == tag_of(1, kDelimited)) {
    item.values.kind = Kind::kBytes;
    item.values.start = content->strings.size();
    content->strings.push_back({value, size});
  } else if (tag == tag_of(2, kDelimited)) {
    item.values.kind = Kind::kFloat;
    item.values.packed_floats = value;
  } else {
    item.values.kind = Kind::kInt64;
    item.values.start = content->int64s.size();
    content->int64s.push_back(static_cast<std::int64_t>(number));
  }
  *at = value + size;
  return true;
}

// An entry of a map that is a key and a value; use(key, value, stored_bytes) says whether it could.
template <typename Use>
bool read_entry(Bytes* at, Bytes end, Use use) {
  Bytes const begin = *at;
  Span entry{};
  Span key{};
  Span value{};
  if (!take_field(at, end, kFirstField, &entry)) return false;
  Bytes inside = entry.begin;
  return take_field(&inside, entry.end, kFirstField, &key) && take_field(&inside, entry.end, kSecondField, &value) &&
         inside == entry.end && use(key.text(), value, static_cast<std::uint64_t>(*at - begin));
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

bool read_plain_record(const std::uint8_t* data, std::size_t size, std::span<const std::string_view> likely_keys,
                       RecordContent* content) {
  content->clear();
  Bytes at = data;
  Bytes const end = data + size;
  Span map{};
  if (!take_field(&at, end, kFirstField, &map) || map.begin == map.end) return false;
  content->entries = map.begin;
  std::vector<FeatureItem>& features = content->features;
  for (Bytes entry = map.begin; entry < map.end;) {
    const std::string_view likely = features.size() < likely_keys.size() ? likely_keys[features.size()] : "";
    if (read_single_value(&entry, map.end, likely, content)) continue;
    const bool is_read = read_entry(&entry, map.end, [&](std::string_view key, Span value, std::uint64_t stored) {
      features.push_back({key == likely ? likely : key, {}, stored});
      return read_feature(value, content, &features.back().values);
    });
    if (!is_read) return false;
  }
  if (at == end) return true;
  if (!take_field(&at, end, kSecondField, &map) || at != end) return false;
  for (Bytes entry = map.begin; entry < map.end;) {
    const bool is_read = read_entry(&entry, map.end, [&](std::string_view key, Span value, std::uint64_t stored) {
      content->lists.push_back({key, 0, 0, stored});
      return read_steps(value, content, &content->lists.back());
    });
    if (!is_read) return false;
  }
  return true;
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
