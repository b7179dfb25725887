// Columns turned into framed records, in one pass: the reverse of column_batch.h, with the same layouts.
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "columns/encoding/example_assembly.h"
#include "columns/feature_plan.h"
#include "examples/example_encoder.h"
#include "records/record_sink.h"

namespace recordsmith {

// The arrays of one column, owned by the caller. The plan column decides which of them are set.
struct ColumnSource {
  const float* floats = nullptr;
  const std::int64_t* int64s = nullptr;
  const std::uint8_t* bytes = nullptr;
  const std::string_view* views = nullptr;  // in place of bytes and offsets: one byte value a row
  const std::int64_t* offsets = nullptr;
  const std::int64_t* value_offsets = nullptr;
  const std::uint8_t* present = nullptr;
  const std::int64_t* step_offsets = nullptr;  // of a column in steps: its rows above are steps
};

class ColumnEncoder {
 public:
  explicit ColumnEncoder(std::shared_ptr<const FeaturePlan> plan);

  // Appends every step-th of the rows [first, last): as Examples, or as SequenceExamples if the plan has steps. The
  // caller has checked the offsets.
  Status append(std::span<const ColumnSource> columns, std::size_t first, std::size_t last, RecordSink* sink,
                std::size_t step = 1);

 private:
  Status append_example(std::span<const ColumnSource> columns, std::size_t row, RecordSink* sink);
  Status append_sequence(std::span<const ColumnSource> columns, std::size_t row, RecordSink* sink);
  bool takes_prepared_entry(std::size_t index, const ColumnSource& column, std::size_t row) const;
  std::uint8_t* write_prepared_entry(std::size_t index, const ColumnSource& column, std::size_t row,
                                     std::uint8_t* to) const;
  void make_room_for_views(std::span<const ColumnSource> columns, std::size_t row);
  void fill(const PlanColumn& spec, const ColumnSource& column, std::size_t row, FeatureValues* values);

  std::shared_ptr<const FeaturePlan> plan_;
  ExampleAssembly assembly_;
  std::vector<std::uint8_t> payload_;
  // The byte values of the current row. Sized before the row is read, because what points into it must not move.
  std::vector<std::string_view> views_;
  std::size_t views_used_ = 0;
};

}  // namespace recordsmith
