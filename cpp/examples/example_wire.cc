#include "examples/example_wire.h"

#include <cstring>
#include <string>

#include "base/utf8.h"
#include "examples/varint_run.h"

namespace recordsmith {
namespace {

using wire::Bytes;
using wire::kDelimited;
using wire::tag_of;

// How many levels are left to open inside each message, counted as protobuf counts them.
constexpr int kDepthInTop = wire::kMaxDepth;
constexpr int kDepthInFeatures = kDepthInTop - 1;
constexpr int kDepthInEntry = kDepthInTop - 2;
constexpr int kDepthInValue = kDepthInTop - 3;

// Calls field(tag, at) for each field of `body`; field returns the position after the value, or null to fail.
template <typename Field>
bool each_field(Span body, Field field) {
  for (Bytes at = body.begin; at < body.end;) {
    std::uint32_t tag;
    at = wire::read_tag(at, body.end, &tag);
    if (at == nullptr) return false;
    at = field(tag, at);
    if (at == nullptr) return false;
  }
  return true;
}

// Reads a length-delimited value and hands its span to `use`, which says whether it could.
template <typename Use>
Bytes with_span(Bytes at, Bytes end, Use use) {
  std::size_t size;
  at = wire::read_size(at, end, &size);
  if (at == nullptr || !use(Span{at, at + size})) return nullptr;
  return at + size;
}

bool count_packed(Span packed, std::uint64_t* count) {
  const std::size_t found = wire::count_sound_varints(packed.begin, packed.end);
  if (found != wire::kNotVarints) *count += found;
  return found != wire::kNotVarints;
}

Status malformed(std::string detail, std::string_view feature = {}) {
  Failure failure;
  failure.code = Code::kMalformed;
  failure.detail = std::move(detail);
  failure.feature = feature;
  return Status(std::move(failure));
}

bool merge_value(Span body, WireFeature* feature) { return feature->merge(body, kDepthInValue); }

bool merge_value(Span body, std::vector<WireFeature>* list) {
  return each_field(body, [&](std::uint32_t tag, Bytes at) {
    if (tag != tag_of(1, kDelimited)) return wire::skip_value(at, body.end, tag, kDepthInValue);
    return with_span(at, body.end, [&](Span step) {
      list->emplace_back();
      return list->back().merge(step, kDepthInValue - 1);
    });
  });
}

// Merges a serialized Features or FeatureLists: both are one map.
template <typename Value>
Status merge_map(Span body, WireMap<Value>* map) {
  Status failure;
  const bool sound = each_field(body, [&](std::uint32_t tag, Bytes at) -> Bytes {
    if (tag != tag_of(1, kDelimited)) return wire::skip_value(at, body.end, tag, kDepthInFeatures);
    return with_span(at, body.end, [&](Span entry) {
      std::string_view key;
      Value value;
      bool has_unknown = false;
      const bool entry_is_sound = each_field(entry, [&](std::uint32_t field, Bytes inside) -> Bytes {
        if (field == tag_of(1, kDelimited)) {
          return with_span(inside, entry.end, [&](Span text) {
            key = text.text();
            if (is_utf8(text.begin, key.size())) return true;
            failure = malformed("a feature's name is not UTF-8");
            return false;
          });
        }
        if (field == tag_of(2, kDelimited)) {
          return with_span(inside, entry.end, [&](Span content) {
            if (merge_value(content, &value)) return true;
            failure = malformed("the feature's value does not parse", key);
            return false;
          });
        }
        has_unknown = true;
        return wire::skip_value(inside, entry.end, field, kDepthInEntry);
      });
      if (!entry_is_sound) return false;
      if (!has_unknown) map->insert(key, std::move(value));
      return true;
    });
  });
  if (sound) return Status::ok();
  return failure.is_ok() ? malformed("a map entry of features does not parse") : std::move(failure);
}

}  // namespace

const char* kind_name(Kind kind) {
  switch (kind) {
    case Kind::kBytes:
      return "bytes";
    case Kind::kFloat:
      return "float";
    case Kind::kInt64:
      return "int64";
    case Kind::kNone:
      break;
  }
  return "nothing";
}

bool WireFeature::merge(Span body, int depth) {
  return each_field(body, [&](std::uint32_t tag, Bytes at) -> Bytes {
    const std::uint32_t field = tag >> 3;
    if ((tag & 7) != kDelimited || field < 1 || field > 3) return wire::skip_value(at, body.end, tag, depth);
    return with_span(at, body.end, [&](Span list) { return add_list(static_cast<Kind>(field), list, depth - 1); });
  });
}

bool WireFeature::add_list(Kind kind, Span body, int depth) {
  if (kind_ != kind) {
    *this = WireFeature();
    kind_ = kind;
  }
  if (has_first_) {
    others_.push_back(body);
  } else {
    first_ = body;
    has_first_ = true;
  }
  return each_field(body, [&](std::uint32_t tag, Bytes at) -> Bytes {
    if (tag == tag_of(1, kDelimited)) {
      return with_span(at, body.end, [&](Span value) {
        const auto size = static_cast<std::size_t>(value.end - value.begin);
        if (kind == Kind::kInt64) return count_packed(value, &count_);
        if (kind == Kind::kFloat) {
          count_ += size / 4;
          return size % 4 == 0;
        }
        count_ += 1;
        byte_size_ += size;
        return true;
      });
    }
    if ((kind == Kind::kFloat && tag == tag_of(1, wire::kFixed32)) ||
        (kind == Kind::kInt64 && tag == tag_of(1, wire::kVarint))) {
      ++count_;
    }
    return wire::skip_value(at, body.end, tag, depth);
  });
}

void WireFeature::copy_floats(float* out) const {
  const auto copy = [&](Span body) {
    each_field(body, [&](std::uint32_t tag, Bytes at) -> Bytes {
      if (tag == tag_of(1, kDelimited)) {
        return with_span(at, body.end, [&](Span packed) {
          const auto size = static_cast<std::size_t>(packed.end - packed.begin);
          if (size > 0) std::memcpy(out, packed.begin, size);
          out += size / 4;
          return true;
        });
      }
      if (tag == tag_of(1, wire::kFixed32)) std::memcpy(out++, at, 4);
      return wire::skip_value(at, body.end, tag, wire::kMaxDepth);
    });
  };
  if (has_first_) copy(first_);
  for (const Span& body : others_) copy(body);
}

void WireFeature::copy_int64s(std::int64_t* out) const {
  const auto copy = [&](Span body) {
    each_field(body, [&](std::uint32_t tag, Bytes at) -> Bytes {
      if (tag == tag_of(1, kDelimited)) {
        return with_span(at, body.end, [&](Span packed) {
          out += wire::decode_varints(packed.begin, packed.end, out, packed.size());  // merge() has checked them
          return true;
        });
      }
      if (tag == tag_of(1, wire::kVarint)) {
        std::uint64_t value = 0;
        at = wire::read_varint(at, body.end, &value);
        *out++ = static_cast<std::int64_t>(value);
        return at;
      }
      return wire::skip_value(at, body.end, tag, wire::kMaxDepth);
    });
  };
  if (has_first_) copy(first_);
  for (const Span& body : others_) copy(body);
}

Status parse_example(const std::uint8_t* data, std::size_t size, WireFeatures* features) {
  const Span body{data, data + size};
  Status failure;
  const bool sound = each_field(body, [&](std::uint32_t tag, Bytes at) -> Bytes {
    if (tag != tag_of(1, kDelimited)) return wire::skip_value(at, body.end, tag, kDepthInTop);
    return with_span(at, body.end, [&](Span map) {
      failure = merge_map(map, features);
      return failure.is_ok();
    });
  });
  if (sound) return Status::ok();
  return failure.is_ok() ? malformed("the bytes are not a tf.train.Example") : std::move(failure);
}

Status parse_sequence_example(const std::uint8_t* data, std::size_t size, WireFeatures* context,
                              WireFeatureLists* lists) {
  const Span body{data, data + size};
  Status failure;
  const bool sound = each_field(body, [&](std::uint32_t tag, Bytes at) -> Bytes {
    if (tag != tag_of(1, kDelimited) && tag != tag_of(2, kDelimited)) {
      return wire::skip_value(at, body.end, tag, kDepthInTop);
    }
    return with_span(at, body.end, [&](Span map) {
      failure = tag == tag_of(1, kDelimited) ? merge_map(map, context) : merge_map(map, lists);
      return failure.is_ok();
    });
  });
  if (sound) return Status::ok();
  return failure.is_ok() ? malformed("the bytes are not a tf.train.SequenceExample") : std::move(failure);
}

}  // namespace recordsmith
