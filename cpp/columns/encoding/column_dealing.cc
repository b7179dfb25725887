#include "columns/encoding/column_dealing.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <vector>

#include "base/thread_team.h"

namespace recordsmith {
namespace {

constexpr std::size_t kBlockRows = 1024;  // for each file in turn: the columns of narrow rows stay in the cache
constexpr std::size_t kWorthThreads = std::size_t{1} << 20;  // bytes

// At least as many bytes as the values of one column take in any row.
std::size_t most_value_bytes(const PlanColumn& spec, const ColumnSource& column, std::size_t rows) {
  const std::size_t value_bytes = spec.kind == Kind::kFloat ? sizeof(float) : 10;  // a varint has at most ten
  const auto longest = [rows](const auto& bytes_of_row) {
    std::size_t most = 0;
    for (std::size_t row = 0; row < rows; ++row) most = std::max(most, static_cast<std::size_t>(bytes_of_row(row)));
    return most;
  };
  const std::int64_t* const offsets = column.offsets;
  if (spec.kind != Kind::kBytes) {
    if (spec.count >= 0) return value_bytes * static_cast<std::size_t>(spec.count);
    return value_bytes * longest([=](std::size_t row) { return offsets[row + 1] - offsets[row]; });
  }
  if (column.views != nullptr) return longest([&](std::size_t row) { return column.views[row].size(); });
  if (!spec.has_many_bytes()) {
    if (spec.row_bytes >= 0) return static_cast<std::size_t>(spec.row_bytes);
    return longest([=](std::size_t row) { return offsets[row + 1] - offsets[row]; });
  }
  return longest([&](std::size_t row) {
    constexpr std::int64_t kMostHead = 11;  // tag and length of each string
    return column.value_offsets[offsets[row + 1]] - column.value_offsets[offsets[row]] +
           kMostHead * (offsets[row + 1] - offsets[row]);
  });
}

// At least as many bytes as any row takes; of rows with steps, which are rare, it is not known.
std::size_t most_row_bytes(const FeaturePlan& plan, std::span<const ColumnSource> columns, std::size_t rows) {
  if (plan.has_steps()) return kLargestMessage + 1;
  constexpr std::size_t kMostHeads = 64;  // tags and lengths around the key and the values
  std::size_t bytes = kMostHeads;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const PlanColumn& spec = plan.columns()[i];
    bytes += kMostHeads + spec.key.size() + most_value_bytes(spec, columns[i], rows);
  }
  return bytes;
}

// Encodes each row into memory that is reused.
Status try_rows(const std::shared_ptr<const FeaturePlan>& plan, std::span<const ColumnSource> columns,
                std::size_t rows) {
  ColumnEncoder encoder(plan);
  const std::unique_ptr<RecordSink> sink = RecordSink::in_memory();
  std::vector<std::uint64_t> offsets;
  for (std::size_t row = 0; row < rows; ++row) {
    RECORDSMITH_RETURN_IF_ERROR(encoder.append(columns, row, row + 1, sink.get()));
    if (sink->bytes() >= RecordSink::kBufferBytes / 2) sink->take(&offsets);
  }
  return Status::ok();
}

}  // namespace

Status deal_columns(const std::shared_ptr<const FeaturePlan>& plan, std::span<const ColumnSource> columns,
                    std::size_t rows, std::size_t first_sink, std::span<RecordSink* const> sinks, std::size_t threads) {
  const std::size_t row_bytes = most_row_bytes(*plan, columns, rows);
  if (row_bytes > kLargestMessage) RECORDSMITH_RETURN_IF_ERROR(try_rows(plan, columns, rows));

  const std::size_t count = sinks.size();
  const bool is_small = rows < kWorthThreads / row_bytes;
  const std::size_t team = is_small ? 1 : std::min(threads, count);
  std::atomic<std::size_t> next_member{0};
  std::mutex mutex;
  Status failure;
  run_on_threads(team, [&] {
    ColumnEncoder encoder(plan);
    for (std::size_t member; (member = next_member++) < team;) {
      for (std::size_t begin = 0; begin < rows; begin += kBlockRows * count) {
        const std::size_t end = std::min(rows, begin + kBlockRows * count);
        for (std::size_t sink = member; sink < count; sink += team) {
          const std::size_t first = begin + (sink + count - first_sink % count) % count;
          Status status = encoder.append(columns, first, end, sinks[sink], count);
          if (status.is_ok()) continue;
          const std::lock_guard lock(mutex);
          failure = std::move(status);
          return;
        }
      }
    }
  });
  return failure;
}

}  // namespace recordsmith
