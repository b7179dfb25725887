#include "columns/feature_plan.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <set>
#include <utility>

namespace recordsmith {
namespace {

constexpr auto kMostPerRecord = std::int64_t{1} << 31;

Status invalid(const PlanColumn& column, std::string detail) {
  Failure failure;
  failure.code = Code::kInvalidArgument;
  failure.feature = column.key;
  failure.detail = std::move(detail);
  return Status(std::move(failure));
}

std::size_t default_count(const PlanColumn& column) {
  switch (column.kind) {
    case Kind::kBytes:
      return column.default_bytes.size();
    case Kind::kFloat:
      return column.default_floats.size();
    default:
      return column.default_int64s.size();
  }
}

}  // namespace

Status FeaturePlan::compile(std::vector<PlanColumn> columns, std::shared_ptr<const FeaturePlan>* plan) {
  std::set<std::pair<bool, std::string_view>> seen;
  for (const PlanColumn& column : columns) {
    if (column.kind == Kind::kNone) return invalid(column, "a column needs a kind");
    if (!seen.insert({column.in_steps, column.key}).second) return invalid(column, "the key appears twice");
    // Sizes are multiplied by rows: beyond what a record can hold, they would overflow.
    if (column.count > kMostPerRecord || column.row_bytes > kMostPerRecord) {
      return invalid(column, "the shape has more values than a record can hold (2 GiB)");
    }
    if (column.row_bytes >= 0 && (column.kind != Kind::kBytes || column.count != 1)) {
      return invalid(column, "a row size in bytes needs one byte value per record");
    }
    if (column.presence != Presence::kDefault) continue;
    if (column.in_steps) return invalid(column, "a default for steps");
    if (column.count >= 0 && default_count(column) != static_cast<std::size_t>(column.count)) {
      return invalid(column, "the default has another number of values than the column");
    }
    if (column.row_bytes >= 0 && column.default_bytes[0].size() != static_cast<std::size_t>(column.row_bytes)) {
      return invalid(column, "the default has another size than the column's rows");
    }
  }

  auto built = std::make_shared<FeaturePlan>();
  built->columns_ = std::move(columns);
  const std::size_t count = built->columns_.size();
  built->table_.assign(std::bit_ceil(2 * count + 1), kUnwanted);
  const std::size_t mask = built->table_.size() - 1;
  for (std::size_t i = 0; i < count; ++i) {
    const PlanColumn& column = built->columns_[i];
    built->encoding_order_.push_back(i);
    built->has_steps_ |= column.in_steps;
    if (column.in_steps) continue;
    std::size_t slot = std::hash<std::string_view>{}(column.key) & mask;
    while (built->table_[slot] != kUnwanted) slot = (slot + 1) & mask;
    built->table_[slot] = static_cast<std::int32_t>(i);
  }
  std::sort(built->encoding_order_.begin(), built->encoding_order_.end(), [&](std::size_t left, std::size_t right) {
    return built->columns_[left].key < built->columns_[right].key;
  });
  *plan = std::move(built);
  return Status::ok();
}

std::int32_t FeaturePlan::find(std::string_view key) const {
  const std::size_t mask = table_.size() - 1;
  std::size_t slot = std::hash<std::string_view>{}(key)&mask;
  while (table_[slot] != kUnwanted) {
    if (columns_[static_cast<std::size_t>(table_[slot])].key == key) return table_[slot];
    slot = (slot + 1) & mask;
  }
  return kUnwanted;
}

}  // namespace recordsmith
