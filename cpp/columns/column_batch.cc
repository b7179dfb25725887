#include "columns/column_batch.h"

#include <algorithm>
#include <cstring>

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

Status BatchDecoder::add(const std::uint8_t* payload, std::size_t size, std::size_t slack) {
  if (rows_ >= capacity_) return Status::of(Code::kInvalidArgument, "the batch is full");
  ++stamp_;
  if (plan_->has_steps() || !add_predicted(payload, payload + size, payload + size + slack)) {
    ++stamp_;
    RECORDSMITH_RETURN_IF_ERROR(add_general(payload, size));
  }
  ++rows_;
  return Status::ok();
}

// --- the predicted path: false or null means "not as plain as expected", never "wrong" ---

namespace {

template <typename T>
T load(Bytes at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

constexpr std::size_t kFloatBytes = sizeof(float);
constexpr std::size_t kMostSlots = 4096;  // a record with more features than this is not worth predicting

}  // namespace

// A map entry of less than 128 bytes, with a key of K bytes and values of S bytes, which the column wants, or not:
//
//   0a K+8+S   0a K key   12 S+4   kind S+2   0a S   values       kind: a list, packed, or one byte value
//   0a K+4+S   0a K key   12 S     anything
BatchDecoder::Slot BatchDecoder::make_slot(std::string_view key) const {
  Slot slot;
  slot.key = key;
  slot.column = plan_->find(key);
  const bool is_wanted = slot.column != FeaturePlan::kUnwanted;
  slot.least_size = key.size() + (is_wanted ? 8 : 4);
  slot.head_size = slot.least_size + 2;
  if (slot.head_size <= 8 * kHeadWords) {
    slot.words = (slot.head_size + 7) / 8;
    const auto put = [&slot](std::size_t at, std::size_t byte, bool has_size = false) {
      Word& word = slot.head[at / 8];
      word.bytes |= static_cast<std::uint64_t>(byte) << (8 * (at % 8));
      word.per_size |= static_cast<std::uint64_t>(has_size) << (8 * (at % 8));
      word.mask |= std::uint64_t{0xff} << (8 * (at % 8));
    };
    put(0, kFieldOne);
    put(1, slot.least_size, true);
    put(2, kFieldOne);
    put(3, key.size());
    for (std::size_t i = 0; i < key.size(); ++i) put(4 + i, static_cast<std::uint8_t>(key[i]));
    const std::size_t value = 4 + key.size();
    put(value, kFieldTwo);
    put(value + 1, is_wanted ? 4 : 0, true);
    if (is_wanted) {
      const Kind kind = plan_->columns()[static_cast<std::size_t>(slot.column)].kind;
      put(value + 2, static_cast<std::size_t>(kind) << 3 | wire::kDelimited);
      put(value + 3, 2, true);
      put(value + 4, kFieldOne);
      put(value + 5, 0, true);
    }
  }
  if (!is_wanted) return slot;
  const PlanColumn& spec = plan_->columns()[static_cast<std::size_t>(slot.column)];
  slot.take = Take::kList;
  if (spec.presence != Presence::kOptional && spec.count == 1 && spec.row_bytes < 0) {
    if (spec.kind == Kind::kFloat) slot.take = Take::kOneFloat;
    if (spec.kind == Kind::kInt64) slot.take = Take::kOneInt64;
    if (spec.kind == Kind::kBytes) slot.take = Take::kOneBytes;
  }
  return slot;
}

void BatchDecoder::know_slots() {
  ++stamp_;
  runs_.assign(slots_.size(), Run());
  are_slots_known_ = true;
  are_slots_single_ = note_met(0, slots_.size());
  wanted_slots_ = static_cast<std::size_t>(
      std::count_if(slots_.begin(), slots_.end(), [](const Slot& slot) { return slot.take != Take::kNothing; }));
  const auto is_fixed = [](const Slot& slot) { return slot.take == Take::kOneFloat && slot.words > 0; };
  for (std::size_t first = 0, last = 0; first < slots_.size(); first = std::max(last, first + 1)) {
    Run& run = runs_[first];
    std::vector<std::uint8_t> bytes;
    std::vector<std::uint8_t> mask;
    for (last = first; last < slots_.size() && is_fixed(slots_[last]); ++last) {
      const Slot& slot = slots_[last];
      for (std::size_t i = 0; i < slot.head_size; ++i) {
        const Word& word = slot.head[i / 8];
        bytes.push_back(static_cast<std::uint8_t>((word.bytes + kFloatBytes * word.per_size) >> (8 * (i % 8))));
      }
      mask.resize(bytes.size(), 0xff);
      run.values.push_back({static_cast<std::uint32_t>(bytes.size()), slot.column});
      bytes.resize(bytes.size() + kFloatBytes);
      mask.resize(bytes.size());
    }
    for (std::size_t place = first; place < last; ++place) slots_[place].run = 0;
    if (last < first + 2) continue;
    slots_[first].run = last - first;
    run.size = bytes.size();
    bytes.resize((run.size + 7) / 8 * 8);
    mask.resize(bytes.size());
    run.bytes.resize(bytes.size() / 8);
    run.mask.resize(bytes.size() / 8);
    std::memcpy(run.bytes.data(), bytes.data(), bytes.size());
    std::memcpy(run.mask.data(), mask.data(), mask.size());
  }
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
  const std::size_t position = std::min(*place, kMostSlots);
  if (position >= slots_.size()) slots_.resize(position + 1);
  slots_[position] = make_slot(key);
  are_slots_known_ = false;
  ++learnt_;
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

bool BatchDecoder::note_met(std::size_t first, std::size_t last) {
  for (std::size_t place = first; place < last; ++place) {
    if (slots_[place].column == FeaturePlan::kUnwanted) continue;
    std::uint64_t& seen = seen_[static_cast<std::size_t>(slots_[place].column)];
    if (seen == stamp_) return false;
    seen = stamp_;
  }
  return true;
}

inline const std::uint8_t* BatchDecoder::take_run(const Run& run, const std::uint8_t* at, const std::uint8_t* end,
                                                  const std::uint8_t* readable_end) {
  const std::size_t words = run.bytes.size();
  if (end - at < static_cast<std::ptrdiff_t>(run.size) || readable_end - at < static_cast<std::ptrdiff_t>(8 * words)) {
    return nullptr;
  }
  std::uint64_t difference = 0;
  for (std::size_t i = 0; i < words; ++i) {
    difference |= (load<std::uint64_t>(at + 8 * i) ^ run.bytes[i]) & run.mask[i];
  }
  if (difference != 0) return nullptr;
  for (const Run::Value& value : run.values) {
    columns_[static_cast<std::size_t>(value.column)].floats[rows_] = load<float>(at + value.offset);
  }
  return at + run.size;
}

inline const std::uint8_t* BatchDecoder::take_entry(const Slot& slot, const std::uint8_t* at, const std::uint8_t* end,
                                                    const std::uint8_t* readable_end) {
  if (slot.words == 0 || readable_end - at < static_cast<std::ptrdiff_t>(8 * slot.words)) return nullptr;
  const std::size_t entry_size = at[1];
  if (entry_size >= 0x80 || entry_size < slot.least_size) return nullptr;
  const std::size_t size = entry_size - slot.least_size;
  std::uint64_t difference = 0;
  for (std::size_t i = 0; i < slot.words; ++i) {
    const Word& word = slot.head[i];
    difference |= (load<std::uint64_t>(at + 8 * i) ^ (word.bytes + size * word.per_size)) & word.mask;
  }
  const Bytes entry_end = at + 2 + entry_size;
  if (difference != 0 || entry_end > end) return nullptr;
  return take_values(slot, at + slot.head_size, size, readable_end) ? entry_end : nullptr;
}

const std::uint8_t* BatchDecoder::take_steps_of_entry(std::size_t* place, const std::uint8_t* at,
                                                      const std::uint8_t* end) {
  std::size_t size;
  if (*at != kFieldOne) return nullptr;
  at = wire::read_size(at + 1, end, &size);
  if (at == nullptr || size < 4) return nullptr;
  const Bytes entry_end = at + size;
  if (at[0] != kFieldOne || at[1] >= 0x80) return nullptr;
  const std::size_t key_size = at[1];
  if (key_size + 4 > size) return nullptr;
  const Slot* slot = slot_at(place, {reinterpret_cast<const char*>(at + 2), key_size});
  if (slot == nullptr) return nullptr;
  at += 2 + key_size;
  if (*at != kFieldTwo) return nullptr;
  at = wire::read_size(at + 1, entry_end, &size);
  if (at == nullptr || at + size != entry_end) return nullptr;
  if (slot->column == FeaturePlan::kUnwanted) return entry_end;
  return take_feature_body(static_cast<std::size_t>(slot->column), at, entry_end) ? entry_end : nullptr;
}

bool BatchDecoder::add_predicted(const std::uint8_t* at, const std::uint8_t* end, const std::uint8_t* readable_end) {
  std::size_t size;
  if (at == end || *at != kFieldOne) return false;
  at = wire::read_size(at + 1, end, &size);
  if (at == nullptr || at + size != end) return false;

  // As long as all features come in the order of the slots, it is clear which columns were met. A feature that occurs
  // twice is left to the general parser, which knows which one counts.
  std::size_t place = 0;
  bool is_noted = !are_slots_known_ || !are_slots_single_;
  const std::uint64_t learnt_before = learnt_;
  while (at < end) {
    if (place < slots_.size()) {
      const Slot& slot = slots_[place];
      std::size_t taken = are_slots_known_ ? slot.run : 0;
      Bytes next = taken > 0 ? take_run(runs_[place], at, end, readable_end) : nullptr;
      if (next == nullptr) {
        taken = 1;
        next = take_entry(slot, at, end, readable_end);
      }
      if (next != nullptr) {
        if (is_noted && !note_met(place, place + taken)) return false;
        place += taken;
        at = next;
        continue;
      }
    }
    // Not as expected, or longer than 127 bytes.
    if (!is_noted && !note_met(0, place)) return false;
    is_noted = true;
    at = take_steps_of_entry(&place, at, end);
    if (at == nullptr || !note_met(place - 1, place)) return false;
  }
  if (!is_noted && place == slots_.size() && wanted_slots_ == columns_.size()) return true;
  if (!is_noted && !note_met(0, place)) return false;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (seen_[i] != stamp_ && !take_absent(i)) return false;
  }
  if (!are_slots_known_ && learnt_ == learnt_before) know_slots();
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
      if (spec.count >= 0) {
        const auto count = static_cast<std::size_t>(spec.count);
        if (wire::decode_varints(at, end, column.int64s.data() + rows_ * count, count) != count) return false;
      } else {
        const auto used = static_cast<std::size_t>(column.offsets[rows_]);
        column.int64s.reserve(used + size, used);  // no value has less than a byte
        const std::size_t count = wire::decode_varints(at, end, column.int64s.data() + used, size);
        if (count == wire::kNotVarints) return false;
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
