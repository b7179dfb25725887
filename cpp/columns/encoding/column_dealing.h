// Columns written to several files at once, row by row in turn.
//
// Each file is encoded by one thread, from the columns straight into the file's buffer. Nothing is appended to any of
// them if a row is too large for a record: that is found before.
#pragma once

#include <memory>
#include <span>

#include "columns/encoding/column_encoder.h"

namespace recordsmith {

// Appends rows [0, rows): row i to the sink (first_sink + i) modulo their number.
Status deal_columns(const std::shared_ptr<const FeaturePlan>& plan, std::span<const ColumnSource> columns,
                    std::size_t rows, std::size_t first_sink, std::span<RecordSink* const> sinks, std::size_t threads);

}  // namespace recordsmith
