// What a batch of columns has to hold, worked out the slow way.
//
// The batch decoder predicts the shape of each record and only falls back on the general parser. Here every record goes
// through the general parser and comes out as plain vectors, for a plan that is made from the first record, so that the
// plan fits whatever the fuzzer comes up with.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "columns/column_batch.h"
#include "examples/example_wire.h"
#include "fuzz/fuzz_input.h"

namespace recordsmith::fuzz {

// One row, or one step, of a column. Floats are kept as bits: NaN has to come through unchanged.
struct Values {
  std::vector<std::uint32_t> floats;
  std::vector<std::int64_t> int64s;
  std::vector<std::string> bytes;
  bool operator==(const Values&) const = default;
};

// A record's part of a column. A column outside of steps has one step.
struct Row {
  bool present = true;
  std::vector<Values> steps;
  bool operator==(const Row&) const = default;
};

inline std::vector<std::uint32_t> bits_of(const float* values, std::size_t count) {
  std::vector<std::uint32_t> bits(count);
  if (count > 0) std::memcpy(bits.data(), values, 4 * count);
  return bits;
}

inline Values values_of(const WireFeature& feature) {
  Values values;
  const auto count = static_cast<std::size_t>(feature.count());
  if (feature.kind() == Kind::kFloat) {
    std::vector<float> floats(count);
    feature.copy_floats(floats.data());
    values.floats = bits_of(floats.data(), count);
  } else if (feature.kind() == Kind::kInt64) {
    values.int64s.resize(count);
    feature.copy_int64s(values.int64s.data());
  } else if (feature.kind() == Kind::kBytes) {
    std::uint64_t total = 0;
    feature.each_bytes([&](const std::uint8_t* data, std::size_t size) {
      values.bytes.emplace_back(reinterpret_cast<const char*>(data), size);
      total += size;
    });
    REQUIRE(values.bytes.size() == count);
    REQUIRE(total == feature.byte_size());
  }
  return values;
}

// --- the plan ---

enum PlanOptions : std::uint8_t {
  kFixedCounts = 1,  // as many values as the first record has, instead of any number
  kFixedSizes = 2,   // and as many bytes
  kHasDefaults = 4,  // where features are absent; otherwise they are optional,
  kAllRequired = 8,  // or required
  kEveryOther = 16,  // leave out every other feature: it has to be passed over
};

inline PlanColumn column_for(std::string_view key, const WireFeature& feature, std::uint8_t options, bool in_steps) {
  PlanColumn column;
  column.key = key;
  column.kind = feature.kind() == Kind::kNone ? Kind::kInt64 : feature.kind();
  column.count = (options & kFixedCounts) != 0 ? static_cast<std::int64_t>(feature.count()) : kVaries;
  column.in_steps = in_steps;
  if ((options & kFixedSizes) != 0 && column.kind == Kind::kBytes && column.count == 1) {
    column.row_bytes = static_cast<std::int64_t>(feature.byte_size());
  }
  column.presence = (options & kAllRequired) != 0   ? Presence::kRequired
                    : (options & kHasDefaults) != 0 ? Presence::kDefault
                                                    : Presence::kOptional;
  if (column.presence == Presence::kDefault) {
    const std::size_t count = column.count >= 0 ? static_cast<std::size_t>(column.count) : 2;
    const std::size_t size = column.row_bytes >= 0 ? static_cast<std::size_t>(column.row_bytes) : 3;
    if (column.kind == Kind::kFloat) column.default_floats.assign(count, 7.5f);
    if (column.kind == Kind::kInt64) column.default_int64s.assign(count, -7);
    if (column.kind == Kind::kBytes) column.default_bytes.assign(count, std::string(size, 'd'));
    if (in_steps) column.presence = Presence::kOptional;
  }
  return column;
}

inline std::shared_ptr<const FeaturePlan> plan_for(const WireFeatures& features, const WireFeatureLists& lists,
                                                   std::uint8_t options) {
  constexpr std::size_t kMostColumns = 40;
  std::vector<PlanColumn> columns;
  std::size_t met = 0;
  const auto wanted = [&] { return columns.size() < kMostColumns && ((options & kEveryOther) == 0 || ++met % 2 == 0); };
  for (const auto& entry : features.entries()) {
    if (wanted()) columns.push_back(column_for(entry.key, entry.value, options, false));
  }
  for (const auto& entry : lists.entries()) {
    const WireFeature first = entry.value.empty() ? WireFeature() : entry.value.front();
    if (wanted()) columns.push_back(column_for(entry.key, first, options, true));
  }
  std::shared_ptr<const FeaturePlan> plan;
  REQUIRE(FeaturePlan::compile(std::move(columns), &plan).is_ok());
  return plan;
}

// --- what a record should give: nothing where the decoder has to refuse it ---

inline std::optional<Values> expected_values(const PlanColumn& column, const WireFeature& feature) {
  if (feature.kind() != column.kind) return std::nullopt;
  if (column.count >= 0 && feature.count() != static_cast<std::uint64_t>(column.count)) return std::nullopt;
  if (column.row_bytes >= 0 && feature.byte_size() != static_cast<std::uint64_t>(column.row_bytes)) return std::nullopt;
  return values_of(feature);
}

inline std::optional<Row> absent_row(const PlanColumn& column) {
  if (column.presence == Presence::kRequired) return std::nullopt;
  if (column.presence == Presence::kDefault) {
    return Row{true,
               {{bits_of(column.default_floats.data(), column.default_floats.size()), column.default_int64s,
                 column.default_bytes}}};
  }
  Row row{false, {}};
  if (column.in_steps) return row;
  row.steps.emplace_back();
  // In a dense column an absent row is zeros.
  if (column.kind == Kind::kFloat && column.count > 0) row.steps[0].floats.assign(column.count, 0);
  if (column.kind == Kind::kInt64 && column.count > 0) row.steps[0].int64s.assign(column.count, 0);
  if (column.row_bytes >= 0) row.steps[0].bytes.emplace_back(column.row_bytes, '\0');
  if (column.kind == Kind::kBytes && column.count == 1 && column.row_bytes < 0) row.steps[0].bytes.emplace_back();
  return row;
}

inline std::optional<Row> expected_row(const PlanColumn& column, const WireFeatures& features,
                                       const WireFeatureLists& lists) {
  const WireFeature* feature = column.in_steps ? nullptr : features.find(column.key);
  const std::vector<WireFeature>* steps = column.in_steps ? lists.find(column.key) : nullptr;
  if (feature != nullptr && feature->kind() != Kind::kNone) {
    const std::optional<Values> values = expected_values(column, *feature);
    return values ? std::optional(Row{true, {*values}}) : std::nullopt;
  }
  if (steps == nullptr) return absent_row(column);
  Row row;
  for (const WireFeature& step : *steps) {
    const bool is_empty_step = step.kind() == Kind::kNone && column.count < 0;
    const std::optional<Values> values = is_empty_step ? Values() : expected_values(column, step);
    if (!values) return std::nullopt;
    row.steps.push_back(*values);
  }
  return row;
}

// --- what a batch really holds ---

inline Values step_of(const PlanColumn& spec, const Column& column, std::size_t step) {
  Values values;
  const auto count = static_cast<std::size_t>(spec.count);
  const auto offset = [&](std::size_t at) { return static_cast<std::size_t>(column.offsets[at]); };
  const std::size_t begin = spec.is_dense() ? step * count : offset(step);
  const std::size_t end = spec.is_dense() ? begin + count : offset(step + 1);
  REQUIRE(begin <= end);
  if (spec.kind == Kind::kFloat) {
    values.floats = bits_of(column.floats.data() + begin, end - begin);
  } else if (spec.kind == Kind::kInt64) {
    values.int64s.assign(column.int64s.data() + begin, column.int64s.data() + end);
  } else {
    const auto text = reinterpret_cast<const char*>(column.bytes.data());
    if (spec.row_bytes >= 0) {
      values.bytes.emplace_back(text + step * spec.row_bytes, spec.row_bytes);
    } else if (!spec.has_many_bytes()) {
      values.bytes.emplace_back(text + begin, end - begin);
    } else {
      for (std::size_t i = begin; i < end; ++i) {
        REQUIRE(column.value_offsets[i] <= column.value_offsets[i + 1]);
        values.bytes.emplace_back(text + column.value_offsets[i],
                                  column.value_offsets[i + 1] - column.value_offsets[i]);
      }
    }
  }
  return values;
}

inline Row row_in(const ColumnBatch& batch, std::size_t index, std::size_t row) {
  const PlanColumn& spec = batch.plan->columns()[index];
  const Column& column = batch.columns[index];
  Row result;
  if (spec.presence == Presence::kOptional) result.present = column.present[row] != 0;
  const std::size_t begin = spec.in_steps ? static_cast<std::size_t>(column.step_offsets[row]) : row;
  const std::size_t end = spec.in_steps ? static_cast<std::size_t>(column.step_offsets[row + 1]) : row + 1;
  for (std::size_t step = begin; step < end; ++step) result.steps.push_back(step_of(spec, column, step));
  return result;
}

// --- the comparison ---

// A payload in memory of its own size, so that the sanitizer sees the first byte read past it.
struct Payload {
  explicit Payload(Content content) : bytes(std::move(content)) { bytes.shrink_to_fit(); }
  Content bytes;
};

using Parse = Status (*)(const Payload& payload, WireFeatures* features, WireFeatureLists* lists);

// Decodes the two payloads in several orders with one decoder, which learns from each what to expect of the next, and
// compares every row.
inline void check_decoder(const Payload& first, const Payload& second, std::uint8_t options, Parse parse) {
  WireFeatures features;
  WireFeatureLists lists;
  if (!parse(first, &features, &lists).is_ok()) return;
  const std::shared_ptr<const FeaturePlan> plan = plan_for(features, lists, options);
  BatchDecoder decoder(plan);
  for (std::size_t round = 0; round < 2; ++round) {
    std::vector<std::vector<Row>> expected;
    decoder.start(6);
    for (const Payload* payload : {&first, &first, &second, &first, &second, &second}) {
      WireFeatures parsed;
      WireFeatureLists parsed_lists;
      const bool parses = parse(*payload, &parsed, &parsed_lists).is_ok();
      std::vector<Row> rows;
      bool refused = false;
      for (const PlanColumn& column : plan->columns()) {
        std::optional<Row> row = parses ? expected_row(column, parsed, parsed_lists) : std::nullopt;
        refused |= !row.has_value();
        rows.push_back(row.value_or(Row()));
      }
      // In the second round, bytes that do not belong to the payload may be read too.
      Content memory = payload->bytes;
      const std::size_t slack = round * 64;
      memory.insert(memory.end(), slack, 0x0a);
      memory.shrink_to_fit();
      const bool accepted = decoder.add(memory.data(), payload->bytes.size(), slack).is_ok();
      // Features that no column wants are passed over, damaged or not; then there is nothing to compare with.
      if (!parses) rows.clear();
      if (parses) REQUIRE(accepted == !refused);
      if (accepted) expected.push_back(std::move(rows));
    }
    const ColumnBatch batch = decoder.finish();
    REQUIRE(batch.rows == expected.size());
    for (std::size_t row = 0; row < batch.rows; ++row) {
      for (std::size_t index = 0; index < expected[row].size(); ++index) {
        REQUIRE(row_in(batch, index, row) == expected[row][index]);
      }
    }
  }
}

struct TwoPayloads {
  std::uint8_t options;
  Payload first;
  Payload second;
};

// input := PlanOptions u8, size of the first payload u16, first payload, second payload
inline std::optional<TwoPayloads> split_input(const std::uint8_t* data, std::size_t size) {
  if (size < 3) return std::nullopt;
  const std::uint8_t* payloads = data + 3;
  const std::size_t length = std::min<std::size_t>(data[1] | data[2] << 8, size - 3);
  return TwoPayloads{data[0], Payload(Content(payloads, payloads + length)),
                     Payload(Content(payloads + length, data + size))};
}

}  // namespace recordsmith::fuzz
