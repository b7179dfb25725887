#include "columns/column_batch.h"

#include <algorithm>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "base/utf8.h"
#include "examples/varint_run.h"

namespace recordsmith {
namespace {

using wire::Bytes;

constexpr std::uint8_t kFieldOne = 1 << 3 | 2;  // a length-delimited field 1: an entry, a key, a packed list, a value
constexpr std::uint8_t kFieldTwo = 2 << 3 | 2;

Status mismatch(Code code, const PlanColumn& column, std::string found, std::string expected) {
  Failure failure;
  failure.code = code;
  failure.feature = column.key;
  failure.found = std::move(found);
  failure.expected = std::move(expected);
  return Status(std::move(failure));
}

// The number of rows that the inner arrays of a column hold: steps where it is in steps.
std::size_t row_of(const PlanColumn& spec, const Column& column, std::size_t rows) {
  return spec.in_steps ? static_cast<std::size_t>(column.step_offsets[rows]) : rows;
}

}  // namespace

BatchDecoder::BatchDecoder(std::shared_ptr<const FeaturePlan> plan)
    : plan_(std::move(plan)), seen_(plan_->columns().size(), 0), usage_(plan_->columns().size()) {}

void BatchDecoder::start(std::size_t rows, std::size_t payload_bytes) {
  rows_ = 0;
  capacity_ = rows;
  columns_ = std::vector<Column>(plan_->columns().size());
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const PlanColumn& spec = plan_->columns()[i];
    Column& column = columns_[i];
    std::size_t guess = usage_[i].values + usage_[i].values / 16;
    if (guess == 0 && spec.kind == Kind::kBytes) guess = payload_bytes;
    const std::size_t inner_rows = spec.in_steps ? std::max<std::size_t>(usage_[i].inner, 16) : rows;
    if (spec.in_steps) {
      column.step_offsets.reserve(rows + 1, 0);
      column.step_offsets[0] = 0;
    }
    if (spec.presence == Presence::kOptional) column.present.reserve(rows, 0);
    if (spec.kind == Kind::kBytes) {
      column.bytes.reserve(spec.row_bytes >= 0 ? inner_rows * static_cast<std::size_t>(spec.row_bytes) : guess, 0);
    } else {
      const std::size_t values = spec.count >= 0 ? inner_rows * static_cast<std::size_t>(spec.count) : guess;
      if (spec.kind == Kind::kFloat) column.floats.reserve(values, 0);
      if (spec.kind == Kind::kInt64) column.int64s.reserve(values, 0);
    }
    if (!spec.is_dense()) {
      column.offsets.reserve(inner_rows + 1, 0);
      column.offsets[0] = 0;
    }
    if (spec.has_many_bytes()) {
      column.value_offsets.reserve(std::max(inner_rows, usage_[i].inner) + 1, 0);
      column.value_offsets[0] = 0;
    }
  }
}

ColumnBatch BatchDecoder::finish() {
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const PlanColumn& spec = plan_->columns()[i];
    const Column& column = columns_[i];
    const std::size_t inner_rows = row_of(spec, column, rows_);
    usage_[i].inner = inner_rows;
    if (spec.is_dense()) continue;
    const auto last = static_cast<std::size_t>(column.offsets[inner_rows]);
    if (spec.has_many_bytes()) {
      usage_[i].inner = std::max(inner_rows, last);
      usage_[i].values = static_cast<std::size_t>(column.value_offsets[last]);
    } else {
      usage_[i].values = last;
    }
  }
  ColumnBatch batch{plan_, std::move(columns_), rows_};
  columns_.clear();
  rows_ = 0;
  capacity_ = 0;
  return batch;
}

Status BatchDecoder::add(const std::uint8_t* payload, std::size_t size) {
  if (rows_ >= capacity_) return Status::of(Code::kInvalidArgument, "the batch is full");
  ++stamp_;
  if (plan_->has_steps() || !add_predicted(payload, payload + size)) {
    ++stamp_;
    RECORDSMITH_RETURN_IF_ERROR(add_general(payload, size));
  }
  ++rows_;
  return Status::ok();
}

// --- the predicted path: false or null means "not as plain as expected", never "wrong" ---

namespace {

// The bytes from a key to its values, when every length is below 128 and `size` bytes of values follow:
//
//   12 size+4   kind size+2   0a size        Feature value = 2 { *List kind { packed, or one byte value = 1 } }
//
// Read as one little-endian number, this is the head for no values plus `size` times kSizeStep.
constexpr std::uint64_t kSizeStep = 1ULL << 8 | 1ULL << 24 | 1ULL << 40;
constexpr std::size_t kValueHeadBytes = 6;
constexpr std::uint64_t kValueHeadMask = (1ULL << (8 * kValueHeadBytes)) - 1;

std::uint64_t value_head(Kind kind) {
  const std::uint64_t list_tag = static_cast<std::uint64_t>(kind) << 3 | wire::kDelimited;
  return kFieldTwo | 4ULL << 8 | list_tag << 16 | 2ULL << 24 | static_cast<std::uint64_t>(kFieldOne) << 32;
}

template <typename T>
T load(Bytes at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

#if defined(__SSE2__)
std::uint32_t equal_bytes(Bytes left, const std::uint8_t* right) {
  return static_cast<std::uint32_t>(
      _mm_movemask_epi8(_mm_cmpeq_epi8(_mm_loadu_si128(reinterpret_cast<const __m128i*>(left)),
                                       _mm_loadu_si128(reinterpret_cast<const __m128i*>(right)))));
}
#endif

}  // namespace

BatchDecoder::Slot BatchDecoder::make_slot(std::string_view key) const {
  Slot slot;
  slot.key = key;
  for (std::size_t i = 0; i < std::min<std::size_t>(key.size(), 16); ++i) {
    slot.head[i] = static_cast<std::uint8_t>(key[i]);
    slot.head_mask |= 1u << i;
  }
  if (key.size() > 16) std::memcpy(slot.tail.data(), key.data() + key.size() - 16, 16);
  slot.readable = static_cast<std::ptrdiff_t>(4 + std::max<std::size_t>(key.size(), 16) + 8);
  slot.column = plan_->find(key);
  if (slot.column == FeaturePlan::kUnwanted) return slot;
  const PlanColumn& spec = plan_->columns()[static_cast<std::size_t>(slot.column)];
  slot.value_head = value_head(spec.kind);
  slot.take = Take::kList;
  if (spec.presence != Presence::kOptional && spec.count == 1 && spec.row_bytes < 0) {
    if (spec.kind == Kind::kFloat) slot.take = Take::kOneFloat;
    if (spec.kind == Kind::kInt64) slot.take = Take::kOneInt64;
    if (spec.kind == Kind::kBytes) slot.take = Take::kOneBytes;
  }
  return slot;
}

const BatchDecoder::Slot* BatchDecoder::slot_at(std::size_t* place, std::string_view key) {
  for (std::size_t ahead = *place; ahead < slots_.size() && ahead < *place + 2; ++ahead) {
    if (slots_[ahead].key == key) {
      *place = ahead + 1;
      return &slots_[ahead];
    }
  }
  // Checked once for each name: then it is expected.
  if (!is_utf8(reinterpret_cast<const std::uint8_t*>(key.data()), key.size())) return nullptr;
  constexpr std::size_t kMostSlots = 4096;  // a record with more features than this is not worth predicting
  const std::size_t position = std::min(*place, kMostSlots);
  if (position >= slots_.size()) slots_.resize(position + 1);
  slots_[position] = make_slot(key);
  *place = position + 1;
  return &slots_[position];
}

inline bool BatchDecoder::take_values(const Slot& slot, const std::uint8_t* at, std::size_t size,
                                      const std::uint8_t* readable_end) {
  const auto index = static_cast<std::size_t>(slot.column);
  switch (slot.take) {
    case Take::kNothing:
      return true;
    case Take::kOneFloat:
      if (size != 4) return false;
      columns_[index].floats[rows_] = load<float>(at);
      return true;
    case Take::kOneInt64: {
      if (size == 0 || size > 8 || readable_end - at < 8) return take_list(index, at, size);
      const std::uint64_t used = ~std::uint64_t{0} >> (64 - 8 * size);
      const std::uint64_t bytes = load<std::uint64_t>(at) & used;
      constexpr std::uint64_t kContinues = 0x8080808080808080u;
      if ((bytes & kContinues) != (kContinues & (used >> 8))) return false;  // not one varint of this size
      columns_[index].int64s[rows_] = static_cast<std::int64_t>(wire::join_groups(bytes));
      return true;
    }
    case Take::kOneBytes: {
      Column& column = columns_[index];
      const auto written = static_cast<std::size_t>(column.offsets[rows_]);
      if (size > 16 || readable_end - at < 16 || column.bytes.capacity() - written < 16) {
        return take_list(index, at, size);
      }
      std::memcpy(column.bytes.data() + written, at, 16);  // the next row overwrites the surplus
      column.offsets[rows_ + 1] = static_cast<std::int64_t>(written + size);
      return true;
    }
    case Take::kList:
      return take_list(index, at, size);
  }
  return false;
}

inline const std::uint8_t* BatchDecoder::take_entry(const Slot& slot, const std::uint8_t* at, const std::uint8_t* end) {
  if (end - at < slot.readable) return nullptr;
  const std::size_t key_size = slot.key.size();
  const std::size_t entry_size = at[1];
  const std::uint32_t entry_head = load<std::uint32_t>(at);
  const std::uint32_t expected_head = kFieldOne | static_cast<std::uint32_t>(entry_size) << 8 |
                                      static_cast<std::uint32_t>(kFieldOne) << 16 |
                                      static_cast<std::uint32_t>(key_size) << 24;
  if (entry_head != expected_head || entry_size >= 0x80 || entry_size < key_size + 8) return nullptr;
  const Bytes entry_end = at + 2 + entry_size;
  const Bytes key = at + 4;
  if (entry_end > end) return nullptr;
#if defined(__SSE2__)
  if ((equal_bytes(key, slot.head.data()) & slot.head_mask) != slot.head_mask) return nullptr;
  if (key_size > 16) {
    if (equal_bytes(key + key_size - 16, slot.tail.data()) != 0xffff) return nullptr;
    if (key_size > 32 && std::memcmp(key, slot.key.data(), key_size) != 0) return nullptr;
  }
#else
  if (std::memcmp(key, slot.key.data(), key_size) != 0) return nullptr;
#endif
  const Bytes value = key + key_size;
  if (slot.take == Take::kNothing) {
    // Unwanted: it is enough to know that the value fills the rest of the entry.
    return value[0] == kFieldTwo && value[1] == entry_size - key_size - 4 ? entry_end : nullptr;
  }
  const std::size_t size = entry_size - key_size - 8;
  if ((load<std::uint64_t>(value) & kValueHeadMask) != slot.value_head + size * kSizeStep) return nullptr;
  std::uint64_t& seen = seen_[static_cast<std::size_t>(slot.column)];
  if (seen == stamp_) return nullptr;  // twice: the general parser knows which one counts
  if (!take_values(slot, value + kValueHeadBytes, size, end)) return nullptr;
  seen = stamp_;
  return entry_end;
}

bool BatchDecoder::add_predicted(const std::uint8_t* at, const std::uint8_t* end) {
  std::size_t size;
  if (at == end || *at != kFieldOne) return false;
  at = wire::read_size(at + 1, end, &size);
  if (at == nullptr || at + size != end) return false;

  std::size_t place = 0;
  std::size_t met = 0;
  while (at < end) {
    if (place < slots_.size()) {
      const Slot& slot = slots_[place];
      if (const Bytes next = take_entry(slot, at, end)) {
        met += slot.take != Take::kNothing;
        ++place;
        at = next;
        continue;
      }
    }
    // Not as expected, or longer than 127 bytes: step by step.
    if (*at != kFieldOne) return false;
    at = wire::read_size(at + 1, end, &size);
    if (at == nullptr || size < 4) return false;
    const Bytes entry_end = at + size;
    if (at[0] != kFieldOne || at[1] >= 0x80) return false;
    const std::size_t key_size = at[1];
    if (key_size + 4 > size) return false;
    const Slot* slot = slot_at(&place, {reinterpret_cast<const char*>(at + 2), key_size});
    if (slot == nullptr) return false;
    at += 2 + key_size;
    if (*at != kFieldTwo) return false;
    at = wire::read_size(at + 1, entry_end, &size);
    if (at == nullptr || at + size != entry_end) return false;
    if (slot->column != FeaturePlan::kUnwanted) {
      const auto index = static_cast<std::size_t>(slot->column);
      if (seen_[index] == stamp_) return false;
      if (!take_feature_body(index, at, entry_end)) return false;
      seen_[index] = stamp_;
      ++met;
    }
    at = entry_end;
  }
  if (met == columns_.size()) return true;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (seen_[i] != stamp_ && !take_absent(i)) return false;
  }
  return true;
}

bool BatchDecoder::take_feature_body(std::size_t index, const std::uint8_t* at, const std::uint8_t* end) {
  const PlanColumn& spec = plan_->columns()[index];
  if (at == end) return take_absent(index);  // a Feature without a kind
  if (*at != (static_cast<std::uint32_t>(spec.kind) << 3 | wire::kDelimited)) return false;
  std::size_t size;
  at = wire::read_size(at + 1, end, &size);
  if (at == nullptr || at + size != end) return false;
  // What is left is the list's body: one packed run, or byte values.
  if (at == end) {
    if (spec.count >= 0) return false;
    put_empty(index, rows_);
    if (spec.presence == Presence::kOptional) columns_[index].present[rows_] = 1;
    return true;
  }
  if (*at != kFieldOne) return false;
  at = wire::read_size(at + 1, end, &size);
  if (at == nullptr) return false;
  if (at + size == end) return take_list(index, at, size);
  return spec.has_many_bytes() && take_strings(index, at, size, end);
}

bool BatchDecoder::take_strings(std::size_t index, const std::uint8_t* at, std::size_t size, const std::uint8_t* end) {
  const PlanColumn& spec = plan_->columns()[index];
  Column& column = columns_[index];
  const auto first = static_cast<std::size_t>(column.offsets[rows_]);
  auto written = static_cast<std::size_t>(column.value_offsets[first]);
  column.bytes.reserve(written + static_cast<std::size_t>(end - at), written);
  std::size_t last = first;
  for (;;) {
    if (size > 0) std::memcpy(column.bytes.data() + written, at, size);
    written += size;
    at += size;
    ++last;
    column.value_offsets.reserve(last + 1, last);
    column.value_offsets[last] = static_cast<std::int64_t>(written);
    if (at == end) break;
    if (*at != kFieldOne) return false;
    at = wire::read_size(at + 1, end, &size);
    if (at == nullptr) return false;
  }
  if (spec.count >= 0 && last - first != static_cast<std::size_t>(spec.count)) return false;
  column.offsets[rows_ + 1] = static_cast<std::int64_t>(last);
  if (spec.presence == Presence::kOptional) column.present[rows_] = 1;
  return true;
}

// The body of a list that is one packed run, or one byte value.
bool BatchDecoder::take_list(std::size_t index, const std::uint8_t* at, std::size_t size) {
  const PlanColumn& spec = plan_->columns()[index];
  Column& column = columns_[index];
  const Bytes end = at + size;
  if (spec.has_many_bytes()) return take_strings(index, at, size, end);
  switch (spec.kind) {
    case Kind::kFloat: {
      if (size % 4 != 0) return false;
      if (spec.count >= 0) {
        const auto count = static_cast<std::size_t>(spec.count);
        if (size != 4 * count) return false;
        if (size > 0) std::memcpy(column.floats.data() + rows_ * count, at, size);
      } else {
        const auto used = static_cast<std::size_t>(column.offsets[rows_]);
        column.floats.reserve(used + size / 4, used);
        if (size > 0) std::memcpy(column.floats.data() + used, at, size);
        column.offsets[rows_ + 1] = static_cast<std::int64_t>(used + size / 4);
      }
      break;
    }
    case Kind::kInt64: {
      const std::size_t count = wire::count_varints(at, end);
      if (spec.count >= 0) {
        if (count != static_cast<std::size_t>(spec.count)) return false;
        if (!wire::decode_varints(at, end, column.int64s.data() + rows_ * count)) return false;
      } else {
        const auto used = static_cast<std::size_t>(column.offsets[rows_]);
        column.int64s.reserve(used + count, used);
        if (!wire::decode_varints(at, end, column.int64s.data() + used)) return false;
        column.offsets[rows_ + 1] = static_cast<std::int64_t>(used + count);
      }
      break;
    }
    default: {
      if (spec.row_bytes >= 0) {
        const auto width = static_cast<std::size_t>(spec.row_bytes);
        if (size != width) return false;
        if (size > 0) std::memcpy(column.bytes.data() + rows_ * width, at, size);
      } else {
        const auto used = static_cast<std::size_t>(column.offsets[rows_]);
        column.bytes.reserve(used + size, used);
        if (size > 0) std::memcpy(column.bytes.data() + used, at, size);
        column.offsets[rows_ + 1] = static_cast<std::int64_t>(used + size);
      }
    }
  }
  if (spec.presence == Presence::kOptional) column.present[rows_] = 1;
  return true;
}

// --- absent features ---

void BatchDecoder::put_empty(std::size_t index, std::size_t row) {
  const PlanColumn& spec = plan_->columns()[index];
  Column& column = columns_[index];
  if (spec.is_dense()) {
    const auto count = static_cast<std::size_t>(spec.kind == Kind::kBytes ? spec.row_bytes : spec.count);
    if (spec.kind == Kind::kFloat) std::fill_n(column.floats.data() + row * count, count, 0.0f);
    if (spec.kind == Kind::kInt64) std::fill_n(column.int64s.data() + row * count, count, 0);
    if (spec.kind == Kind::kBytes) std::fill_n(column.bytes.data() + row * count, count, std::uint8_t{0});
  } else {
    column.offsets[row + 1] = column.offsets[row];
  }
}

bool BatchDecoder::take_absent(std::size_t index) {
  const PlanColumn& spec = plan_->columns()[index];
  Column& column = columns_[index];
  switch (spec.presence) {
    case Presence::kRequired:
      return false;
    case Presence::kOptional:
      column.present[rows_] = 0;
      if (spec.in_steps) {
        column.step_offsets[rows_ + 1] = column.step_offsets[rows_];
      } else {
        put_empty(index, rows_);
      }
      return true;
    case Presence::kDefault:
      break;
  }
  if (spec.kind == Kind::kBytes && spec.row_bytes >= 0) {
    const std::string& value = spec.default_bytes[0];
    std::copy(value.begin(), value.end(), column.bytes.data() + rows_ * value.size());
  } else if (spec.kind == Kind::kBytes) {
    auto last = static_cast<std::size_t>(column.offsets[rows_]);
    auto written = spec.has_many_bytes() ? static_cast<std::size_t>(column.value_offsets[last]) : last;
    for (const std::string& value : spec.default_bytes) {
      column.bytes.reserve(written + value.size(), written);
      std::copy(value.begin(), value.end(), column.bytes.data() + written);
      written += value.size();
      if (spec.has_many_bytes()) {
        ++last;
        column.value_offsets.reserve(last + 1, last);
        column.value_offsets[last] = static_cast<std::int64_t>(written);
      }
    }
    column.offsets[rows_ + 1] = static_cast<std::int64_t>(spec.has_many_bytes() ? last : written);
  } else {
    const std::size_t count = spec.kind == Kind::kFloat ? spec.default_floats.size() : spec.default_int64s.size();
    const std::size_t used = spec.count >= 0 ? rows_ * count : static_cast<std::size_t>(column.offsets[rows_]);
    if (spec.kind == Kind::kFloat) {
      column.floats.reserve(used + count, used);
      std::copy(spec.default_floats.begin(), spec.default_floats.end(), column.floats.data() + used);
    } else {
      column.int64s.reserve(used + count, used);
      std::copy(spec.default_int64s.begin(), spec.default_int64s.end(), column.int64s.data() + used);
    }
    if (spec.count < 0) column.offsets[rows_ + 1] = static_cast<std::int64_t>(used + count);
  }
  return true;
}

// --- the general path ---

Status BatchDecoder::take_feature(std::size_t index, std::size_t row, const WireFeature& feature) {
  const PlanColumn& spec = plan_->columns()[index];
  Column& column = columns_[index];
  if (feature.kind() != spec.kind) {
    return mismatch(Code::kWrongKind, spec, kind_name(feature.kind()), kind_name(spec.kind));
  }
  const auto count = static_cast<std::size_t>(feature.count());
  if (spec.count >= 0 && count != static_cast<std::size_t>(spec.count)) {
    return mismatch(Code::kWrongCount, spec, std::to_string(count), std::to_string(spec.count));
  }
  if (spec.kind == Kind::kBytes) {
    const auto size = static_cast<std::size_t>(feature.byte_size());
    if (spec.row_bytes >= 0) {
      const auto width = static_cast<std::size_t>(spec.row_bytes);
      if (size != width) {
        return mismatch(Code::kWrongByteLength, spec, std::to_string(size), std::to_string(width));
      }
      column.bytes.reserve((row + 1) * width, row * width);
      feature.each_bytes([&](Bytes data, std::size_t length) {
        if (length > 0) std::memcpy(column.bytes.data() + row * width, data, length);
      });
      return Status::ok();
    }
    auto last = static_cast<std::size_t>(column.offsets[row]);
    auto written = spec.has_many_bytes() ? static_cast<std::size_t>(column.value_offsets[last]) : last;
    column.bytes.reserve(written + size, written);
    if (spec.has_many_bytes()) column.value_offsets.reserve(last + count + 1, last + 1);
    feature.each_bytes([&](Bytes data, std::size_t length) {
      if (length > 0) std::memcpy(column.bytes.data() + written, data, length);
      written += length;
      if (spec.has_many_bytes()) column.value_offsets[++last] = static_cast<std::int64_t>(written);
    });
    column.offsets.reserve(row + 2, row + 1);
    column.offsets[row + 1] = static_cast<std::int64_t>(spec.has_many_bytes() ? last : written);
    return Status::ok();
  }
  const std::size_t used = spec.count >= 0 ? row * count : static_cast<std::size_t>(column.offsets[row]);
  if (spec.kind == Kind::kFloat) {
    column.floats.reserve(used + count, used);
    feature.copy_floats(column.floats.data() + used);
  } else {
    column.int64s.reserve(used + count, used);
    feature.copy_int64s(column.int64s.data() + used);
  }
  if (spec.count < 0) {
    column.offsets.reserve(row + 2, row + 1);
    column.offsets[row + 1] = static_cast<std::int64_t>(used + count);
  }
  return Status::ok();
}

Status BatchDecoder::take_steps(std::size_t index, const std::vector<WireFeature>& steps) {
  const PlanColumn& spec = plan_->columns()[index];
  Column& column = columns_[index];
  auto step = static_cast<std::size_t>(column.step_offsets[rows_]);
  for (std::size_t i = 0; i < steps.size(); ++i, ++step) {
    if (steps[i].kind() == Kind::kNone && spec.count < 0) {
      // A step without a kind is an empty one, where steps may differ in length.
      column.offsets.reserve(step + 2, step + 1);
      put_empty(index, step);
      continue;
    }
    if (Status status = take_feature(index, step, steps[i]); !status.is_ok()) {
      status.failure().detail = "step " + std::to_string(i);
      return status;
    }
  }
  column.step_offsets[rows_ + 1] = static_cast<std::int64_t>(step);
  return Status::ok();
}

Status BatchDecoder::add_general(const std::uint8_t* payload, std::size_t size) {
  WireFeatures features;
  WireFeatureLists lists;
  RECORDSMITH_RETURN_IF_ERROR(plan_->has_steps() ? parse_sequence_example(payload, size, &features, &lists)
                                                 : parse_example(payload, size, &features));
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const PlanColumn& spec = plan_->columns()[i];
    const WireFeature* feature = spec.in_steps ? nullptr : features.find(spec.key);
    const std::vector<WireFeature>* steps = spec.in_steps ? lists.find(spec.key) : nullptr;
    if (steps != nullptr) {
      RECORDSMITH_RETURN_IF_ERROR(take_steps(i, *steps));
    } else if (feature != nullptr && feature->kind() != Kind::kNone) {
      RECORDSMITH_RETURN_IF_ERROR(take_feature(i, rows_, *feature));
    } else {
      if (take_absent(i)) continue;
      Status status = mismatch(Code::kMissingFeature, spec, "", kind_name(spec.kind));
      for (const auto& entry : features.entries()) status.failure().names.emplace_back(entry.key);
      for (const auto& entry : lists.entries()) status.failure().names.emplace_back(entry.key);
      return status;
    }
    if (spec.presence == Presence::kOptional) columns_[i].present[rows_] = 1;
  }
  return Status::ok();
}

}  // namespace recordsmith
