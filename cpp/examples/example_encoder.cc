#include "examples/example_encoder.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "examples/wire_writing.h"

namespace recordsmith {
namespace {

constexpr std::uint8_t kFieldOne = 1 << 3 | 2;
constexpr std::uint8_t kFieldTwo = 2 << 3 | 2;

using wire::delimited_size;
using wire::put_bytes;
using wire::put_delimited;
using wire::put_varint;
using wire::varint_size;

// The seven-bit groups of a value below 2^56, each in a byte of its own.
std::uint64_t split_groups(std::uint64_t value) {
  value = ((value & 0x00fffffff0000000u) << 4) | (value & 0x000000000fffffffu);
  value = ((value & 0x0fffc0000fffc000u) << 2) | (value & 0x00003fff00003fffu);
  return ((value & 0x3f803f803f803f80u) << 1) | (value & 0x007f007f007f007fu);
}

}  // namespace

Status message_too_large(std::size_t size, std::string_view feature) {
  Failure failure;
  failure.code = Code::kTooLarge;
  failure.feature = feature;
  failure.found = std::to_string(size);
  failure.expected = std::to_string(kLargestMessage);
  failure.detail = "message";
  return Status(std::move(failure));
}

std::uint8_t* pack_varint(std::int64_t number, std::uint8_t* to) {
  const auto value = static_cast<std::uint64_t>(number);
  if (value >> 28 == 0) {
    // Four bytes at most, which is most numbers: comparisons give the size sooner than counting bits does.
    constexpr std::uint32_t kMore[] = {0, 0x80, 0x8080, 0x808080};
    const auto small = static_cast<std::uint32_t>(value);
    const std::size_t extra = std::size_t{small >= 1u << 7} + (small >= 1u << 14) + (small >= 1u << 21);
    const std::uint32_t bytes =
        (small & 0x7f) | (small & 0x3f80) << 1 | (small & 0x1fc000) << 2 | (small & 0xfe00000) << 3 | kMore[extra];
    std::memcpy(to, &bytes, sizeof bytes);
    return to + extra + 1;
  }
  if (value >> 56 != 0) return put_varint(to, value);
  // Eight bytes are stored whatever the size is; what follows overwrites those too many.
  const std::size_t size = varint_size(value);
  const std::uint64_t more = 0x0080808080808080u & ((std::uint64_t{1} << (8 * (size - 1))) - 1);
  const std::uint64_t bytes = split_groups(value) | more;
  std::memcpy(to, &bytes, sizeof bytes);
  return to + size;
}

std::uint8_t* pack_varints(const std::int64_t* values, std::size_t count, std::uint8_t* to) {
  for (std::size_t i = 0; i < count; ++i) to = pack_varint(values[i], to);
  return to;
}

void ExampleEncoder::measure_item(Item* item) {
  const FeatureValues& values = item->values;
  item->packed_size = 0;
  item->list_size = 0;
  item->feature_size = 0;
  switch (values.kind) {
    case Kind::kFloat:
      item->packed_size = 4 * values.count;
      item->list_size = values.count > 0 ? delimited_size(item->packed_size) : 0;
      break;
    case Kind::kInt64: {
      const std::size_t worst = scratch_used_ + 10 * values.count + kPackSlack;
      if (scratch_.size() < worst) scratch_.resize(std::max(worst, 2 * scratch_.size()));
      std::uint8_t* const packed = scratch_.data() + scratch_used_;
      item->scratch_start = scratch_used_;
      item->packed_size = static_cast<std::size_t>(pack_varints(values.int64s, values.count, packed) - packed);
      scratch_used_ += item->packed_size;
      item->list_size = values.count > 0 ? delimited_size(item->packed_size) : 0;
      break;
    }
    case Kind::kBytes:
      for (std::size_t i = 0; i < values.count; ++i) item->list_size += delimited_size(values.bytes[i].size());
      break;
    case Kind::kNone:
      break;
  }
  if (values.kind != Kind::kNone) item->feature_size = delimited_size(item->list_size);
  item->entry_size = delimited_size(item->key.size()) + delimited_size(item->feature_size);
  features_size_ += delimited_size(item->entry_size);
}

std::size_t ExampleEncoder::measure() {
  scratch_used_ = 0;
  features_size_ = 0;
  for (std::size_t i = 0; i < used_; ++i) measure_item(&items_[i]);
  return used_ == 0 ? 0 : delimited_size(features_size_);
}

std::size_t ExampleEncoder::head_size(std::size_t entries_size) { return 1 + varint_size(entries_size); }

std::uint8_t* ExampleEncoder::write_head(std::size_t entries_size, std::uint8_t* to) {
  return put_delimited(to, kFieldOne, entries_size);
}

std::uint8_t* ExampleEncoder::write_entry(std::size_t index, std::uint8_t* to) const {
  const Item& item = items_[index];
  const FeatureValues& values = item.values;
  to = put_delimited(to, kFieldOne, item.entry_size);
  to = put_delimited(to, kFieldOne, item.key.size());
  to = put_bytes(to, item.key.data(), item.key.size());
  to = put_delimited(to, kFieldTwo, item.feature_size);
  if (values.kind == Kind::kNone) return to;
  to = put_delimited(to, static_cast<std::uint8_t>(static_cast<unsigned>(values.kind) << 3 | 2), item.list_size);
  if (values.count == 0) return to;
  if (values.kind == Kind::kBytes) {
    for (std::size_t i = 0; i < values.count; ++i) {
      to = put_delimited(to, kFieldOne, values.bytes[i].size());
      to = put_bytes(to, values.bytes[i].data(), values.bytes[i].size());
    }
    return to;
  }
  to = put_delimited(to, kFieldOne, item.packed_size);
  const void* packed = values.kind == Kind::kFloat ? static_cast<const void*>(values.floats)
                                                   : static_cast<const void*>(scratch_.data() + item.scratch_start);
  return put_bytes(to, packed, item.packed_size);
}

std::uint8_t* ExampleEncoder::write(std::uint8_t* to) const {
  if (used_ == 0) return to;
  to = write_head(features_size_, to);
  for (std::size_t i = 0; i < used_; ++i) to = write_entry(i, to);
  return to;
}

Status encode_example(std::span<NamedFeature> features, std::vector<std::uint8_t>* out) {
  std::sort(features.begin(), features.end(),
            [](const NamedFeature& left, const NamedFeature& right) { return left.key < right.key; });
  ExampleEncoder encoder;
  encoder.start();
  for (const NamedFeature& feature : features) encoder.add(feature.key) = feature.values;
  const std::size_t size = encoder.measure();
  if (size > kLargestMessage) return message_too_large(size, "");
  out->resize(size);
  encoder.write(out->data());
  return Status::ok();
}

namespace {

// A serialized Feature appended to `out`.
void append_feature(const FeatureValues& values, std::vector<std::uint8_t>* out) {
  std::vector<std::uint8_t> list;
  const auto append_delimited = [](std::vector<std::uint8_t>* to, std::uint8_t tag, const void* data,
                                   std::size_t size) {
    std::uint8_t head[12];
    to->insert(to->end(), head, put_delimited(head, tag, size));
    const auto* bytes = static_cast<const std::uint8_t*>(data);
    to->insert(to->end(), bytes, bytes + size);
  };
  switch (values.kind) {
    case Kind::kFloat:
      if (values.count > 0) append_delimited(&list, kFieldOne, values.floats, 4 * values.count);
      break;
    case Kind::kInt64:
      if (values.count > 0) {
        std::vector<std::uint8_t> packed(10 * values.count + kPackSlack);
        const std::uint8_t* end = pack_varints(values.int64s, values.count, packed.data());
        append_delimited(&list, kFieldOne, packed.data(), static_cast<std::size_t>(end - packed.data()));
      }
      break;
    case Kind::kBytes:
      for (std::size_t i = 0; i < values.count; ++i) {
        append_delimited(&list, kFieldOne, values.bytes[i].data(), values.bytes[i].size());
      }
      break;
    case Kind::kNone:
      return;
  }
  append_delimited(out, static_cast<std::uint8_t>(static_cast<unsigned>(values.kind) << 3 | 2), list.data(),
                   list.size());
}

void append_message(std::vector<std::uint8_t>* to, std::uint8_t tag, const std::vector<std::uint8_t>& body) {
  std::uint8_t head[12];
  to->insert(to->end(), head, put_delimited(head, tag, body.size()));
  to->insert(to->end(), body.begin(), body.end());
}

void append_entry(std::vector<std::uint8_t>* map, std::string_view key, const std::vector<std::uint8_t>& value) {
  std::vector<std::uint8_t> entry;
  append_message(&entry, kFieldOne, {key.begin(), key.end()});
  append_message(&entry, kFieldTwo, value);
  append_message(map, kFieldOne, entry);
}

}  // namespace

Status encode_sequence_example(std::span<NamedFeature> context, std::span<NamedFeatureList> lists,
                               std::vector<std::uint8_t>* out) {
  out->clear();
  // An Example's bytes are just those of a SequenceExample that has only a context.
  RECORDSMITH_RETURN_IF_ERROR(encode_example(context, out));
  std::sort(lists.begin(), lists.end(),
            [](const NamedFeatureList& left, const NamedFeatureList& right) { return left.key < right.key; });
  std::vector<std::uint8_t> map;
  for (const NamedFeatureList& list : lists) {
    std::vector<std::uint8_t> steps;
    for (const FeatureValues& step : list.steps) {
      std::vector<std::uint8_t> feature;
      append_feature(step, &feature);
      append_message(&steps, kFieldOne, feature);
    }
    append_entry(&map, list.key, steps);
    if (map.size() > kLargestMessage) return message_too_large(map.size(), list.key);
  }
  if (!lists.empty()) append_message(out, kFieldTwo, map);
  if (out->size() > kLargestMessage) return message_too_large(out->size(), "");
  return Status::ok();
}

}  // namespace recordsmith
