#include "examples/payload_kind.h"

#include <algorithm>
#include <string_view>

#include "base/utf8.h"
#include "examples/example_wire.h"
#include "examples/wire.h"

namespace recordsmith {
namespace {

using wire::Bytes;
using wire::kDelimited;
using wire::tag_of;

bool is_readable(Span text) { return is_readable_text(text.begin, text.size()); }

bool is_list(std::uint32_t kind, Span body) {
  return walk_fields(body, [&](std::uint32_t tag, Span) {
    if (tag == tag_of(1, kDelimited)) return true;
    return (kind == 2 && tag == tag_of(1, wire::kFixed32)) || (kind == 3 && tag == tag_of(1, wire::kVarint));
  });
}

bool is_feature(Span body) {
  return walk_fields(body, [](std::uint32_t tag, Span list) {
    return (tag & 7) == kDelimited && tag >> 3 <= 3 && is_list(tag >> 3, list);
  });
}

bool is_feature_list(Span body) {
  return walk_fields(body,
                     [](std::uint32_t tag, Span step) { return tag == tag_of(1, kDelimited) && is_feature(step); });
}

bool is_text(Span text) { return is_utf8(text.begin, text.size()); }

// A map as writers make it: entries with one key, which is text, and one value.
template <typename IsValue>
bool is_map(Span body, IsValue is_value) {
  return walk_fields(body, [&](std::uint32_t tag, Span entry) {
    int keys = 0;
    int values = 0;
    return tag == tag_of(1, kDelimited) &&
           walk_fields(entry,
                       [&](std::uint32_t field, Span part) {
                         if (field == tag_of(1, kDelimited)) return ++keys == 1 && is_text(part);
                         return field == tag_of(2, kDelimited) && ++values == 1 && is_value(part);
                       }) &&
           keys + values == 2;
  });
}

bool is_features(Span body) { return is_map(body, is_feature); }

// Only the first record of a log of TensorBoard names its format. Other messages may begin with a fixed64, too.
bool names_event_format(Span text) {
  constexpr std::string_view kFormat = "brain.Event:";
  return text.size() >= kFormat.size() && std::equal(kFormat.begin(), kFormat.end(), text.begin);
}

bool is_example(Span body) {
  return walk_fields(body,
                     [](std::uint32_t tag, Span map) { return tag == tag_of(1, kDelimited) && is_features(map); });
}

// Examples, and an Example with their context.
bool is_example_list(Span body) {
  return walk_fields(body, [](std::uint32_t tag, Span example) {
    return (tag == tag_of(1, kDelimited) || tag == tag_of(2, kDelimited)) && is_example(example);
  });
}

}  // namespace

const char* payload_kind_name(PayloadKind kind) {
  switch (kind) {
    case PayloadKind::kEmpty:
      return "empty";
    case PayloadKind::kExample:
      return "example";
    case PayloadKind::kSequenceExample:
      return "sequence_example";
    case PayloadKind::kExampleList:
      return "example_list";
    case PayloadKind::kEvent:
      return "event";
    case PayloadKind::kText:
      return "text";
    case PayloadKind::kOther:
      break;
  }
  return "unknown";
}

PayloadKind payload_kind(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return PayloadKind::kEmpty;
  const Span body{data, data + size};

  bool features = false;  // field 1 exists, and is always a map of features
  bool all_features = true;
  bool lists = false;  // field 2 exists, and is always a map of feature lists
  bool all_lists = true;
  bool other_fields = false;
  bool starts_with_time = false;
  bool is_event = false;
  bool is_first = true;
  const bool parses = walk_fields(body, [&](std::uint32_t tag, Span value) {
    if (is_first) starts_with_time = tag == tag_of(1, wire::kFixed64);
    is_first = false;
    is_event |= starts_with_time && tag == tag_of(3, kDelimited) && names_event_format(value);
    if (tag == tag_of(1, kDelimited)) {
      const bool fits = is_features(value);
      features |= value.begin != value.end && fits;
      all_features &= fits;
    } else if (tag == tag_of(2, kDelimited)) {
      lists = true;
      all_lists &= is_map(value, is_feature_list);
    } else {
      other_fields = true;
    }
    return true;
  });

  if (parses) {
    if (is_event) return PayloadKind::kEvent;
    if (!lists && all_features && (features || !other_fields)) return PayloadKind::kExample;
    if (lists && all_lists && all_features) return PayloadKind::kSequenceExample;
    if (is_example_list(body)) return PayloadKind::kExampleList;
  }
  if (is_readable(body)) return PayloadKind::kText;
  return PayloadKind::kOther;
}

}  // namespace recordsmith
