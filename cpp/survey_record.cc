#include "survey_record.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>
#include <unordered_set>

#include "utf8.h"
#include "varint_run.h"

namespace recordsmith::survey {
namespace {

using wire::Bytes;
using wire::kDelimited;
using wire::tag_of;

constexpr std::uint8_t kFirstField = tag_of(1, kDelimited);
constexpr std::uint8_t kSecondField = tag_of(2, kDelimited);

std::string_view text_of(Span span) {
  return {reinterpret_cast<const char*>(span.begin), static_cast<std::size_t>(span.end - span.begin)};
}

std::size_t size_of(Span span) { return static_cast<std::size_t>(span.end - span.begin); }

// --- records as they are usually written ---

// A field with this tag at *at; false if something else is there.
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
    if (at != body.end || size_of(packed) % 4 != 0) return false;
    values->count = size_of(packed) / 4;
    values->packed_floats = packed.begin;
    return true;
  }
  constexpr std::uint8_t kOne = tag_of(1, wire::kFixed32);
  constexpr std::size_t kOneBytes = 5;
  if (size_of(body) % kOneBytes != 0) return false;
  values->start = content->floats.size();
  values->count = size_of(body) / kOneBytes;
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
    if (size_of(packed) == 1) {
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
    content->strings.push_back({value.begin, size_of(value)});
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
        inside != entry.end || !use(text_of(key), value, static_cast<std::uint64_t>(at - begin))) {
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

// Calls field(tag, value) for each field of `body`, with the value's bytes if it is delimited; false if the bytes do
// not parse, or the field says so.
template <typename Field>
bool each_field(Span body, Field field) {
  for (Bytes at = body.begin; at < body.end;) {
    std::uint32_t tag = 0;
    at = wire::read_tag(at, body.end, &tag);
    if (at == nullptr) return false;
    Span value{at, at};
    if ((tag & 7) == kDelimited) {
      std::size_t size = 0;
      at = wire::read_size(at, body.end, &size);
      if (at == nullptr) return false;
      value = {at, at + size};
      at += size;
    } else {
      at = wire::skip_value(at, body.end, tag, wire::kMaxDepth);
      if (at == nullptr) return false;
    }
    if (!field(tag, value)) return false;
  }
  return true;
}

// Looks for what is odd. Each oddity of a feature is told once a record, and no more than some of all.
class Inspector {
 public:
  explicit Inspector(std::vector<FoundOddity>* oddities) : oddities_(oddities) {}

  // False if the bytes do not parse at all.
  bool inspect(Span record) {
    return each_field(record, [this](std::uint32_t tag, Span map) {
      if (tag == tag_of(1, kDelimited)) return inspect_map(map, false);
      if (tag == tag_of(2, kDelimited)) return inspect_map(map, true);
      tell(Oddity::kUnknownField, {}, "field " + std::to_string(tag >> 3) + " of the record");
      return true;
    });
  }

  // How many map entries are just what an Example has: a name that is text, and values of a kind.
  std::uint64_t sound_entries() const { return sound_entries_; }
  bool has_lists() const { return has_lists_; }
  const std::unordered_map<std::string_view, std::uint64_t>& stored_bytes(bool in_steps) const {
    return stored_bytes_[in_steps ? 1 : 0];
  }

 private:
  static constexpr std::size_t kMostOddities = 64;

  void tell(Oddity oddity, std::string_view feature, std::string detail) {
    if (oddities_->size() >= kMostOddities) return;
    const bool is_known = std::any_of(oddities_->begin(), oddities_->end(), [&](const FoundOddity& found) {
      return found.oddity == oddity && found.feature == feature;
    });
    if (!is_known) oddities_->push_back({oddity, std::string(feature), std::move(detail)});
  }

  bool inspect_map(Span map, bool in_steps) {
    has_lists_ |= in_steps;
    return each_field(map, [&](std::uint32_t tag, Span entry) {
      if (tag != tag_of(1, kDelimited)) {
        tell(Oddity::kUnknownField, {}, "field " + std::to_string(tag >> 3) + " beside the features");
        return true;
      }
      return inspect_entry(entry, in_steps);
    });
  }

  bool inspect_entry(Span entry, bool in_steps) {
    std::string_view key;
    std::vector<Span> values;
    std::uint32_t unknown = 0;
    int keys = 0;
    const bool parses = each_field(entry, [&](std::uint32_t tag, Span value) {
      if (tag == tag_of(1, kDelimited)) {
        key = text_of(value);
        ++keys;
      } else if (tag == tag_of(2, kDelimited)) {
        values.push_back(value);
      } else {
        unknown = tag >> 3;
      }
      return true;
    });
    if (!parses) return false;
    const auto* const name = reinterpret_cast<const std::uint8_t*>(key.data());
    if (!is_utf8(name, key.size())) {
      tell(Oddity::kKeyNotUtf8, {}, quoted(key));
      key = {};
    } else if (!seen_[in_steps ? 1 : 0].insert(key).second) {
      tell(Oddity::kDuplicateKey, key, "");
    }
    if (keys > 1) tell(Oddity::kDuplicateKey, key, "two names in one entry");
    if (unknown != 0) tell(Oddity::kUnknownField, key, "field " + std::to_string(unknown) + " of a map entry");
    stored_bytes_[in_steps ? 1 : 0][key] += size_of(entry) + 2;
    Lists lists;
    bool has_kind = false;
    for (const Span value : values) {
      const bool is_sound = in_steps ? inspect_steps(key, value, &has_kind) : inspect_feature(key, value, &lists);
      if (!is_sound) return false;
    }
    has_kind |= lists.kind != Kind::kNone;
    if (keys == 1 && !key.empty() && has_kind && is_readable_text(name, key.size())) ++sound_entries_;
    return true;
  }

  bool inspect_steps(std::string_view key, Span list, bool* has_kind) {
    return each_field(list, [&](std::uint32_t tag, Span step) {
      if (tag != tag_of(1, kDelimited)) {
        tell(Oddity::kUnknownField, key, "field " + std::to_string(tag >> 3) + " of a feature list");
        return true;
      }
      Lists lists;
      const bool is_sound = inspect_feature(key, step, &lists);
      *has_kind |= lists.kind != Kind::kNone;
      return is_sound;
    });
  }

  struct Lists {
    Kind kind = Kind::kNone;  // of the last list
  };

  bool inspect_feature(std::string_view key, Span feature, Lists* lists) {
    return each_field(feature, [&](std::uint32_t tag, Span list) {
      const std::uint32_t field = tag >> 3;
      if ((tag & 7) != kDelimited || field < 1 || field > 3) {
        tell(Oddity::kUnknownField, key, "field " + std::to_string(field) + " of a feature");
        return true;
      }
      const auto kind = static_cast<Kind>(field);
      if (lists->kind == kind) {
        tell(Oddity::kValuesAfterList, key, std::string("two ") + kind_name(kind) + " lists");
      } else if (lists->kind != Kind::kNone) {
        tell(Oddity::kMixedKinds, key, std::string(kind_name(lists->kind)) + " and " + kind_name(kind));
      }
      lists->kind = kind;
      return inspect_list(key, kind, list);
    });
  }

  bool inspect_list(std::string_view key, Kind kind, Span list) {
    std::uint64_t packed = 0;
    std::uint64_t single = 0;
    const bool parses = each_field(list, [&](std::uint32_t tag, Span) {
      if (tag == tag_of(1, kDelimited)) {
        ++packed;
      } else if ((kind == Kind::kFloat && tag == tag_of(1, wire::kFixed32)) ||
                 (kind == Kind::kInt64 && tag == tag_of(1, wire::kVarint))) {
        ++single;
      } else {
        tell(Oddity::kUnknownField, key, "field " + std::to_string(tag >> 3) + " of a list");
      }
      return true;
    });
    if (!parses) return false;
    if (kind != Kind::kBytes && packed > 1) tell(Oddity::kValuesAfterList, key, "several packed pieces");
    if (packed > 0 && single > 0) tell(Oddity::kValuesAfterList, key, "packed and single values");
    return true;
  }

  static std::string quoted(std::string_view key) {
    constexpr std::size_t kShown = 40;
    constexpr char kDigits[] = "0123456789abcdef";
    std::string shown = "b'";
    for (const char letter : key.substr(0, kShown)) {
      const auto byte = static_cast<std::uint8_t>(letter);
      if (byte >= 0x20 && byte < 0x7f && byte != '\\' && byte != '\'') {
        shown += letter;
      } else {
        shown += {'\\', 'x', kDigits[byte >> 4], kDigits[byte & 15]};
      }
    }
    return shown + (key.size() > kShown ? "'..." : "'");
  }

  std::vector<FoundOddity>* oddities_;
  std::unordered_set<std::string_view> seen_[2];
  std::unordered_map<std::string_view, std::uint64_t> stored_bytes_[2];
  std::uint64_t sound_entries_ = 0;
  bool has_lists_ = false;
};

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
      looks = "does not parse as one, and looks like nothing known";
      break;
  }
  oddities->clear();
  oddities->push_back({Oddity::kNotAnExample, {}, looks});
}

}  // namespace

void RecordContent::clear() {
  // A giant record's memory is not kept for the rest.
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

const char* oddity_name(Oddity oddity) {
  switch (oddity) {
    case Oddity::kNotAnExample:
      return "not-an-example";
    case Oddity::kDuplicateKey:
      return "duplicate-key";
    case Oddity::kMixedKinds:
      return "mixed-kinds";
    case Oddity::kValuesAfterList:
      return "values-after-list";
    case Oddity::kUnknownField:
      return "unknown-field";
    case Oddity::kKeyNotUtf8:
      break;
  }
  return "non-utf8-key";
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
  Inspector inspector(oddities);
  const bool parses = inspector.inspect({data, data + size});
  const bool is_named = std::none_of(oddities->begin(), oddities->end(),
                                     [](const FoundOddity& found) { return found.oddity == Oddity::kKeyNotUtf8; });
  if (kind == PayloadKind::kOther) {
    // Not as writers make Examples. It may be one all the same, if most of it is.
    if (!parses || inspector.sound_entries() == 0) {
      not_an_example(kind, oddities);
      return kind;
    }
    kind = inspector.has_lists() ? PayloadKind::kSequenceExample : PayloadKind::kExample;
  }
  if (!is_named) return PayloadKind::kOther;  // protobuf refuses the whole record

  WireFeatures features;
  WireFeatureLists lists;
  if (!parse_sequence_example(data, size, &features, &lists).is_ok()) {
    not_an_example(PayloadKind::kOther, oddities);
    return PayloadKind::kOther;
  }
  const auto stored = [&](std::string_view key, bool in_steps) {
    const auto known = inspector.stored_bytes(in_steps).find(key);
    return known == inspector.stored_bytes(in_steps).end() ? 0 : known->second;
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
