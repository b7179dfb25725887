#include "columns/encoding/column_encoder.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace recordsmith {
namespace {

bool is_absent(const ColumnSource& column, std::size_t row) {
  return column.present != nullptr && column.present[row] == 0;
}

struct RowRange {
  std::size_t first;
  std::size_t last;
};

RowRange range_at(const std::int64_t* offsets, std::size_t row) {
  return {static_cast<std::size_t>(offsets[row]), static_cast<std::size_t>(offsets[row + 1])};
}

std::string_view bytes_at(const ColumnSource& column, RowRange range) {
  return {reinterpret_cast<const char*>(column.bytes) + range.first, range.last - range.first};
}

// The byte value of a row that has just one.
std::string_view one_string(const PlanColumn& spec, const ColumnSource& column, std::size_t row) {
  if (column.views != nullptr) return column.views[row];
  if (spec.row_bytes < 0) return bytes_at(column, range_at(column.offsets, row));
  const auto width = static_cast<std::size_t>(spec.row_bytes);
  return bytes_at(column, {row * width, (row + 1) * width});
}

}  // namespace

ColumnEncoder::ColumnEncoder(std::shared_ptr<const FeaturePlan> plan) : plan_(std::move(plan)), assembly_(*plan_) {}

bool ColumnEncoder::takes_prepared_entry(std::size_t index, const ColumnSource& column, std::size_t row) const {
  const ScalarEntry& entry = assembly_.prepared(index);
  if (!entry.is_prepared()) return false;
  const PlanColumn& spec = plan_->columns()[index];
  return spec.kind != Kind::kBytes || one_string(spec, column, row).size() <= entry.most_value_bytes();
}

std::uint8_t* ColumnEncoder::write_prepared_entry(std::size_t index, const ColumnSource& column, std::size_t row,
                                                  std::uint8_t* to) const {
  const PlanColumn& spec = plan_->columns()[index];
  const ScalarEntry& entry = assembly_.prepared(index);
  if (spec.kind == Kind::kFloat) return write_float(entry, column.floats[row], to);
  if (spec.kind == Kind::kInt64) return write_int64(entry, column.int64s[row], to);
  return write_string(entry, one_string(spec, column, row), to);
}

void ColumnEncoder::make_room_for_views(std::span<const ColumnSource> columns, std::size_t row) {
  std::size_t needed = 0;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const PlanColumn& spec = plan_->columns()[i];
    if (spec.kind != Kind::kBytes || columns[i].views != nullptr) continue;
    const RowRange rows = spec.in_steps ? range_at(columns[i].step_offsets, row) : RowRange{row, row + 1};
    if (!spec.has_many_bytes()) {
      needed += rows.last - rows.first;
    } else {
      needed += static_cast<std::size_t>(columns[i].offsets[rows.last] - columns[i].offsets[rows.first]);
    }
  }
  if (views_.size() < needed) views_.resize(needed);
  views_used_ = 0;
}

// Fills in place: a struct that is built and then copied stalls the processor on its own fresh stores.
void ColumnEncoder::fill(const PlanColumn& spec, const ColumnSource& column, std::size_t row, FeatureValues* values) {
  values->kind = spec.kind;
  if (spec.kind != Kind::kBytes) {
    RowRange range{row, row + 1};
    if (spec.count < 0) {
      range = range_at(column.offsets, row);
    } else if (spec.count != 1) {
      const auto count = static_cast<std::size_t>(spec.count);
      range = {row * count, (row + 1) * count};
    }
    values->count = range.last - range.first;
    if (spec.kind == Kind::kFloat) values->floats = column.floats + range.first;
    if (spec.kind == Kind::kInt64) values->int64s = column.int64s + range.first;
    return;
  }
  values->count = 1;
  if (column.views != nullptr) {
    values->bytes = column.views + row;
    return;
  }
  values->bytes = views_.data() + views_used_;
  if (!spec.has_many_bytes()) {
    views_[views_used_++] = one_string(spec, column, row);
    return;
  }
  const RowRange range = range_at(column.offsets, row);
  values->count = range.last - range.first;
  for (std::size_t i = range.first; i < range.last; ++i) {
    views_[views_used_++] = bytes_at(column, range_at(column.value_offsets, i));
  }
}

Status ColumnEncoder::append_example(std::span<const ColumnSource> columns, std::size_t row, RecordSink* sink) {
  assembly_.start();
  for (const std::size_t index : plan_->encoding_order()) {
    if (is_absent(columns[index], row) || takes_prepared_entry(index, columns[index], row)) continue;
    if (!assembly_.has_measured()) make_room_for_views(columns, row);
    const PlanColumn& spec = plan_->columns()[index];
    fill(spec, columns[index], row, &assembly_.measure(index, spec.key));
  }
  bool written = false;
  return assembly_.append(
      plan_->encoding_order(), [&](std::size_t index) { return is_absent(columns[index], row); },
      [&](std::size_t index, std::uint8_t* to) { return write_prepared_entry(index, columns[index], row, to); }, sink,
      &written);
}

// SequenceExamples are rarer and larger than Examples: they take the plain way, one message at a time.
Status ColumnEncoder::append_sequence(std::span<const ColumnSource> columns, std::size_t row, RecordSink* sink) {
  make_room_for_views(columns, row);
  std::vector<NamedFeature> context;
  std::vector<NamedFeatureList> lists;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const PlanColumn& spec = plan_->columns()[i];
    if (is_absent(columns[i], row)) continue;
    if (!spec.in_steps) {
      context.push_back({spec.key, {}});
      fill(spec, columns[i], row, &context.back().values);
      continue;
    }
    const RowRange steps = range_at(columns[i].step_offsets, row);
    lists.push_back({spec.key, std::vector<FeatureValues>(steps.last - steps.first)});
    for (std::size_t step = steps.first; step < steps.last; ++step) {
      fill(spec, columns[i], step, &lists.back().steps[step - steps.first]);
    }
  }
  RECORDSMITH_RETURN_IF_ERROR(encode_sequence_example(context, lists, &payload_));
  return sink->append(payload_.data(), payload_.size());
}

Status ColumnEncoder::append(std::span<const ColumnSource> columns, std::size_t first, std::size_t last,
                             RecordSink* sink, std::size_t step) {
  for (std::size_t row = first; row < last; row += step) {
    Status status = plan_->has_steps() ? append_sequence(columns, row, sink) : append_example(columns, row, sink);
    if (!status.is_ok()) {
      if (status.failure().code == Code::kTooLarge) status.failure().record = row;
      return status;
    }
  }
  return Status::ok();
}

}  // namespace recordsmith
